"""The window classes that can be opened by name, and how a window is made of one."""

from collections.abc import Iterable

from contextui.errors import UnknownWindowError, WindowDefinitionError
from contextui.text import quote
from contextui.windowing.activity import running
from contextui.windowing.base import Window
from contextui.windowing.phrases import WindowWords
from contextui.windowing.trouble import reason_of


class Catalog:
    """The classes that there are, by name."""

    def __init__(self, classes: Iterable[type[Window]] = ()) -> None:
        self.classes: dict[str, type[Window]] = {}
        for cls in classes:
            self.register(cls)

    def register(self, cls: type[Window]) -> None:
        """Make a class known by its name.

        Raises:
            WindowDefinitionError: Another class has that name.
        """
        known = self.classes.setdefault(cls.name, cls)
        if known is not cls:
            raise WindowDefinitionError(
                f"Two window classes are called {cls.name}: "
                f"{known.__module__}.{known.__qualname__} and {cls.__module__}.{cls.__qualname__}."
            )

    def window(self, asked: Window | type[Window] | str, words: WindowWords) -> Window:
        """A window that was not opened yet, by name, class or instance.

        Raises:
            UnknownWindowError: No class has that name, or the window was opened before.
            WindowDefinitionError: Its class cannot be made into a window.
        """
        if isinstance(asked, str):
            if asked not in self.classes:
                there_is = ", ".join(sorted(self.classes)) or words.none
                raise UnknownWindowError(words.no_class.format(name=quote(asked), names=there_is))
            asked = self.classes[asked]
        if isinstance(asked, type):
            return make(asked)
        if asked._runtime is not None:
            raise UnknownWindowError(f"{asked.id} was opened before.")
        return asked


def make(cls: type[Window]) -> Window:
    """A window of this class.

    Raises:
        WindowDefinitionError: Its own `__init__` raised.
    """
    try:
        with running(cls.name):
            return cls()
    except (Exception, SystemExit) as problem:  # an author's __init__, on the caller's thread
        raise WindowDefinitionError(
            f"No {cls.name} window can be made: {reason_of(problem)}"
        ) from problem

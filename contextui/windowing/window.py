"""`Window`, the base class of every window, and the checks of its definition."""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, get_origin

from contextui.errors import WindowClosedError, WindowDefinitionError
from contextui.names import NAMING, WINDOW_NAME
from contextui.text import quote
from contextui.windowing.action import Action, checked_says, mark_of
from contextui.windowing.anchor import AnyAnchor
from contextui.windowing.params import Params
from contextui.windowing.preview import Preview
from contextui.windowing.snapshot import Body, ContextVersion, Lod, Snapshot
from contextui.windowing.state import WindowState
from contextui.words import Lang, translate

if TYPE_CHECKING:
    from contextui.windowing.env import Env
    from contextui.windowing.job import Job
    from contextui.windowing.runtime import Runtime


_WIDGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


class _Members(dict[str, Any]):
    """A class body that rejects two actions of the same name."""

    def __setitem__(self, name: str, value: Any) -> None:
        if mark_of(value) and mark_of(self.get(name)):
            raise WindowDefinitionError(
                f"{self.get('__qualname__')} declares two actions called {name}."
            )
        super().__setitem__(name, value)


class _WindowType(type):
    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **_: Any) -> _Members:
        return _Members()


class _StateAccess:
    """``self.state``: the live state inside the window's own calls, else a read-only copy."""

    def __get__(self, window: "Window | None", _: object = None) -> Any:
        if window is None:
            return self
        if window._runtime is not None:
            return window._runtime.store.state
        try:
            return window.__dict__["state"]
        except KeyError:
            raise AttributeError("state") from None

    def __set__(self, window: "Window", state: Any) -> None:
        if window._runtime is not None:
            window._runtime.store.state = state
        else:
            window.__dict__["state"] = state


class Window(metaclass=_WindowType):
    """A live object that the person and the model look at and act on.

    Implement `content`, declare actions with `@action`, and keep data in a ``State``:

        class Counter(Window):
            \"\"\"Counts things.\"\"\"

            class State(Window.State):
                count: int = 0

            state: State

            def content(self, lod: Lod) -> Body:
                return f"{self.state.count} so far"

            @action("Count up")
            def up(self, by: int = 1) -> str:
                self.state.count += by
                return f"Now {self.state.count}"

    The docstring's first line is the description that the model reads. All code of the author runs
    on the window's own thread, one call at a time; state changes only in actions and hooks, each of
    which commits or rolls back as a whole.
    """

    class State(WindowState):
        """Base class of a window's state."""

    name: ClassVar[str] = ""
    """The class's name for `create` and the palette; by default from the Python class name."""
    description: str = ""
    """One line on what the window is for; by default the first line of the docstring."""
    description_zh: ClassVar[str] = ""
    """The description in Chinese."""
    actions: Mapping[str, Action] = {}
    """The actions by id: those declared and, of an open window, those of `more_actions`. Every
    window also has `close(summary)`."""
    opening: ClassVar[Params]
    """The params of `opened`."""
    max_content: ClassVar[int] = 200_000
    """Maximum characters of content, and of a result; the rest is truncated."""
    history_limit: ClassVar[int] = 50
    """Maximum number of actions with results that a snapshot keeps."""
    action_seconds: ClassVar[float] = 30.0
    """Timeout of an action in seconds; then it is rolled back."""
    job_conflicts: ClassVar[bool] = True
    """Whether a model's action is refused once if a job has changed the window since the model saw
    it last, as it is if the person has. False where jobs change it all the time."""
    widget: ClassVar[str | None] = None
    """`module:Class` of the Textual widget that renders this window; imported lazily, by the screen
    only. Without one, the content is shown."""
    wide: ClassVar[bool] = False
    """Whether the window needs 60 columns or more, as code does. It opens in the main place of the
    screen; the others stand side by side."""

    if TYPE_CHECKING:
        state: WindowState
    else:
        state = _StateAccess()
    _runtime: "Runtime | None" = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.actions = _declared(cls)
        if "state" in cls.__dict__:
            del cls.state  # a default; `__init__` creates a state per window
        own_name = cls.__name__.strip("_").removesuffix("Window")
        own_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", own_name).lower()
        cls.name = checked_name(cls, cls.__dict__.get("name") or own_name)
        check_state(cls, cls.State, made_here=cls.__init__ is Window.__init__)
        check_members(cls)
        check_looks(cls)
        doc = inspect.cleandoc(cls.__dict__.get("__doc__") or "").partition("\n")[0]
        cls.description = cls.__dict__.get("description") or doc or cls.description or cls.name
        if not isinstance(cls.description, str):
            raise WindowDefinitionError(f"{cls.__name__}.description must be text.")
        # A base class's Chinese description does not match this class's English one.
        cls.description_zh = str(cls.__dict__.get("description_zh", ""))
        if cls.widget is not None and not _WIDGET.fullmatch(str(cls.widget)):
            raise WindowDefinitionError(
                f"{cls.__name__}: {quote(str(cls.widget))} names no widget "
                "(write it as package.module:Class)."
            )
        takes_nothing = cls.opened is Window.opened
        cls.opening = Params(cls.restored if takes_nothing else cls.opened, cls.__name__)

    def __init__(self) -> None:
        self.state = self.State()

    @classmethod
    def described(cls, lang: Lang) -> str:
        """Return the description in this language, or in English if there is no translation."""
        return (lang == "zh" and cls.description_zh) or translate(cls.description, lang)

    # --- what an author implements -----------------------------------------------------

    def content(self, lod: Lod) -> Body:
        """Render the content at this level of detail, as a pure function of the state."""
        raise NotImplementedError(f"{type(self).__name__} has no content()")

    def anchors(self, lod: Lod) -> Iterable[AnyAnchor]:  # noqa: ARG002  for those who override it
        """Return the places in the content that can be acted on or referred to."""
        return ()

    def more_actions(self) -> Iterable[Action]:
        """Return actions that depend on the state, beside those declared with `@action`.

        Read-only, like `content`, and called before it.

        Example:
            >>> for tool in self.state.tools:
            ...     yield Action(tool.name, tool.title, params=tool.schema, call=self._caller(tool))
        """
        return ()

    def preview(
        self,
        action_id: str,  # noqa: ARG002  for those who override it
        params: Mapping[str, Any],  # noqa: ARG002
    ) -> Preview | str | None:
        """Describe what a `write` action would change, for the approval prompt.

        Read-only, like `content`. It is computed again after the approval: if the result differs,
        the action does not run and the person is asked again. If it raises, the action is refused
        with that reason.

        Args:
            action_id: The declared action, even if an anchor was pressed; `close` if the window is
                about to be closed with unsaved edits.
            params: The validated params, without those that were omitted.

        Returns:
            The target and the complete change. Plain text names no target, so an approval for the
            session then covers this window's action with these params. None if the params say
            everything.
        """
        return None

    def shown_files(self) -> Iterable[str] | None:
        """Return the files whose content the window shows now; None means all that it has read.

        Read-only, like `content`. Content of files that may hold secrets is withheld from the model
        until the person allows it.
        """
        return None

    def unsaved(self) -> str | None:
        """Describe in a few words what closing the window now would discard; None if nothing.

        Read-only, like `content`. A model needs approval to close a window with the person's
        unsaved edits; `preview` of the action `close` can show them in full.

        Example:
            >>> def unsaved(self) -> str | None:
            ...     return f"a draft for {self.state.to}" if self.state.draft else None
        """
        return None

    def opened(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called once when the window opens; its type hints declare the args of `create`.

        Override it with the params the window needs, or none. It may be async.
        """

    def opened_again(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called instead of `opened` when the window's file is to be opened once more.

        A class that overrides it, with the params of `opened`, has one window for each file:
        `path` is a param of its `opened`, and a part of its state.
        """

    def restored(self) -> Any:
        """Hook, called when the window is restored with its state in a later run.

        It may be async.
        """

    def closed(self, *args: Any, **kwargs: Any) -> Any:
        """Hook, called after the window was closed, or when the program exits.

        Override it as ``closed(self, reason: ClosingReason)``, or without the param. It may be
        async. Its jobs are cancelled before it, and `job_ended` has run for them. At exit it has
        two seconds; then the processes that the window started are terminated.
        """

    def job_ended(self, job: "Job") -> Any:
        """Hook, called in a transaction of its own when a job has ended, however it ended."""

    # --- what the framework provides ---------------------------------------------------

    @property
    def id(self) -> str:
        """The window's id, such as `todo_1`."""
        return self.runtime.place.window_id

    @property
    def env(self) -> "Env":
        """The window's environment: language, clock, files, other windows, timers."""
        return self.runtime.place.env

    @property
    def lod(self) -> Lod:
        """The current level of detail."""
        return self.runtime.store.lod

    @property
    def version(self) -> ContextVersion:
        """The current version, counted by the framework."""
        return self.runtime.store.version

    @property
    def is_opening(self) -> bool:
        """Whether `opened` or `restored` is still running; the window cannot be acted on yet."""
        return self.runtime.store.is_opening

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """Return a snapshot of the window, at its current or another level of detail."""
        return self.runtime.snapshot(lod)

    def to_xml(self, lod: Lod | None = None) -> str:
        """Return the `<Window>` block that the model reads."""
        return self.runtime.renders.at(lod).xml

    @property
    def runtime(self) -> "Runtime":
        """The framework's side of the open window; widgets use `contextui.windowing.host`."""
        if self._runtime is None:
            raise WindowClosedError("This {name} window was never opened.", name=self.name)
        return self._runtime


def _declared(cls: type[Window]) -> dict[str, Action]:
    """Collect the actions of a class: those of its bases first, in order of declaration."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    actions = {}
    for name in names:
        method = inspect.getattr_static(cls, name)
        if mark := mark_of(method) or mark_of(getattr(method, "__func__", None)):
            if name == "close":
                raise WindowDefinitionError(
                    f"{cls.__name__} declares close, which every window has; "
                    "override closed() instead."
                )
            if hasattr(Window, name) or name in Window.__annotations__:
                raise WindowDefinitionError(
                    f"{cls.__name__} declares an action {name}, which is an attribute of "
                    "every window: choose another name."
                )
            if not inspect.isfunction(method) or inspect.isgeneratorfunction(method):
                raise WindowDefinitionError(f"{cls.__name__}.{name} must be a plain method.")
            check_self(cls, method)
            params = Params(method, cls.__name__)
            says = checked_says(mark.says, params, f"{cls.__name__}.{name}")
            actions[name] = Action(
                name, mark.label, mark.effect, params, label_zh=mark.label_zh, says=says
            )
    return actions


_LOOKS = {
    "more_actions": (),
    "content": ("lod",),
    "anchors": ("lod",),
    "preview": ("action_id", "params"),
    "unsaved": (),
    "shown_files": (),
}
"""The read-only methods and their params."""


def checked_name(cls: type, name: object) -> str:
    """Validate a window class's name and return it.

    Raises:
        WindowDefinitionError: It is invalid; the message suggests another.
    """
    if isinstance(name, str) and WINDOW_NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
    proposal = f' Write name = "{plain}".' if WINDOW_NAME.fullmatch(plain) else ""
    raise WindowDefinitionError(
        f"{cls.__name__}: {quote(str(name))} cannot be a window's name ({NAMING}).{proposal}"
    )


def check_state(cls: type, state: object, *, made_here: bool) -> None:
    """Check that the state class is valid and has defaults.

    Args:
        cls: The window's class.
        state: Its ``State``.
        made_here: Whether the framework creates the state: true unless the class has an
            ``__init__``.

    Raises:
        WindowDefinitionError: It is not a `Window.State`, or a field lacks a default.
    """
    if not (isinstance(state, type) and issubclass(state, WindowState)):
        raise WindowDefinitionError(
            f"{cls.__name__}.State must extend Window.State: write class State(Window.State)."
        )
    bare = [name for name, field in state.model_fields.items() if field.is_required()]
    if made_here and bare:
        raise WindowDefinitionError(
            f"{cls.__name__}.State: {bare[0]} needs a default, which it has when the window opens."
        )


def check_members(cls: type) -> None:
    """Check that the class has no mutable attribute, which would be shared and not saved.

    Raises:
        WindowDefinitionError: It has one.
    """
    hints = inspect.get_annotations(cls)
    for name, value in vars(cls).items():
        is_constant = name.startswith("_") or name.isupper() or _is_of_the_class(hints.get(name))
        if isinstance(value, (list, dict, set)) and name != "actions" and not is_constant:
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} would be shared by all its windows, and not saved: write "
                f"it into class State(Window.State), or as {name.upper()} if it never changes."
            )


def _is_of_the_class(hint: object) -> bool:
    if isinstance(hint, str):
        return "ClassVar" in hint
    return hint is ClassVar or get_origin(hint) is ClassVar


def check_looks(cls: type) -> None:
    """Check the signatures of the read-only methods, and that they are not async.

    Raises:
        WindowDefinitionError: One has other params, or is async.
    """
    for name, params in _LOOKS.items():
        method = getattr(cls, name)
        waits = inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)
        if waits and name != "preview":  # rendering does not wait for previews
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} must be a plain def: it only renders. Await in an "
                "action, which may be async."
            )
        try:
            inspect.signature(method).bind("self", *params)
        except (TypeError, ValueError):
            whole = f"def {name}({', '.join(('self', *params))})"
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} must be written as {whole}."
            ) from None


def check_self(cls: type, method: Any) -> None:
    """Check that an action has a ``self``.

    Raises:
        WindowDefinitionError: It has none.
    """
    first = next(iter(inspect.signature(method).parameters.values()), None)
    if first is None or (first.name != "self" and first.annotation is not first.empty):
        raise WindowDefinitionError(
            f"{cls.__name__}.{method.__name__} has no self: write def {method.__name__}(self, …)."
        )

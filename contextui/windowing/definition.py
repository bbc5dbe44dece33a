"""What a window's class may not look like: told when it is made, with what to write instead."""

import inspect
import re
from typing import Any, ClassVar, get_origin

from contextui.errors import WindowDefinitionError
from contextui.names import NAMING, WINDOW_NAME
from contextui.text import quote
from contextui.windowing.state import WindowState

_LOOKS = {
    "content": ("lod",),
    "anchors": ("lod",),
    "preview": ("action_id", "params"),
    "unsaved": (),
    "shown_files": (),
}
"""What only looks, and the params of each."""


def checked_name(cls: type, name: object) -> str:
    """The name, if a window can have it.

    Raises:
        WindowDefinitionError: It cannot; the text proposes one.
    """
    if isinstance(name, str) and WINDOW_NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
    proposal = f' Write name = "{plain}".' if WINDOW_NAME.fullmatch(plain) else ""
    raise WindowDefinitionError(
        f"{cls.__name__}: {quote(str(name))} cannot be a window's name ({NAMING}).{proposal}"
    )


def check_state(cls: type, state: object, *, made_here: bool) -> None:
    """See that the state is one, and can be made of nothing.

    Args:
        cls: The window's class.
        state: Its ``State``.
        made_here: Whether the framework makes it, as it does unless a class has an ``__init__``.

    Raises:
        WindowDefinitionError: It is not, or cannot.
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
    """See that nothing that changes is kept in the class, where it is shared and not saved.

    Raises:
        WindowDefinitionError: Something is.
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
    """See that what only looks can be called, and gives what it shows at once.

    Raises:
        WindowDefinitionError: One cannot, or is async.
    """
    for name, params in _LOOKS.items():
        method = getattr(cls, name)
        waits = inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)
        if waits and name != "preview":  # which nobody waits for while drawing
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} must be a plain def: it shows what is there. What waits "
                "goes into an action, which may be async."
            )
        try:
            inspect.signature(method).bind("self", *params)
        except (TypeError, ValueError):
            whole = f"def {name}({', '.join(('self', *params))})"
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} must be written as {whole}."
            ) from None


def check_self(cls: type, method: Any) -> None:
    """See that an action has a ``self``.

    Raises:
        WindowDefinitionError: It was forgotten.
    """
    first = next(iter(inspect.signature(method).parameters.values()), None)
    if first is None or (first.name != "self" and first.annotation is not first.empty):
        raise WindowDefinitionError(
            f"{cls.__name__}.{method.__name__} has no self: write def {method.__name__}(self, …)."
        )

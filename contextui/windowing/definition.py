"""Checks of a window class when it is defined, with messages that say what to write instead."""

import inspect
import re
from typing import Any, ClassVar, get_origin

from contextui.errors import WindowDefinitionError
from contextui.names import NAMING, WINDOW_NAME
from contextui.text import quote
from contextui.windowing.action import Action, checked_says, mark_of
from contextui.windowing.params import Params
from contextui.windowing.state import WindowState

_WIDGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_LOOKS = {
    "more_actions": (),
    "content": ("lod",),
    "anchors": ("lod",),
    "preview": ("action_id", "params"),
    "unsaved": (),
    "shown_files": (),
}
"""The read-only methods and their params."""


def declared_actions(cls: type, window: type) -> dict[str, Action]:
    """Collect the actions of a class: those of its bases first, in order of declaration."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    actions = {}
    for name in names:
        method = inspect.getattr_static(cls, name)
        mark = mark_of(method) or mark_of(getattr(method, "__func__", None))
        if mark is None:
            continue
        where = f"{cls.__name__}.{name}"
        if name == "close":
            raise WindowDefinitionError(
                f"{cls.__name__} declares close, which every window has; override closed() instead."
            )
        if hasattr(window, name) or name in window.__annotations__:
            raise WindowDefinitionError(
                f"{cls.__name__} declares an action {name}, which is an attribute of "
                "every window: choose another name."
            )
        if not inspect.isfunction(method) or inspect.isgeneratorfunction(method):
            raise WindowDefinitionError(f"{where} must be a plain method.")
        first = next(iter(inspect.signature(method).parameters.values()), None)
        if first is None or (first.name != "self" and first.annotation is not first.empty):
            raise WindowDefinitionError(f"{where} has no self: write def {name}(self, …).")
        params = Params(method, cls.__name__)
        says = checked_says(mark.says, params, where)
        actions[name] = Action(
            name, mark.label, mark.effect, params, label_zh=mark.label_zh, says=says
        )
    return actions


def name_of(cls: type) -> str:
    """Return a window class's name, by default from its Python name."""
    own_name = cls.__name__.strip("_").removesuffix("Window")
    own_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", own_name).lower()
    name = cls.__dict__.get("name") or own_name
    if isinstance(name, str) and WINDOW_NAME.fullmatch(name):
        return name
    plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-")
    proposal = f' Write name = "{plain}".' if WINDOW_NAME.fullmatch(plain) else ""
    raise WindowDefinitionError(
        f"{cls.__name__}: {quote(str(name))} cannot be a window's name ({NAMING}).{proposal}"
    )


def check(cls: Any, window: Any) -> None:
    """Check the state, the attributes and the read-only methods of a window class."""
    if not (isinstance(cls.State, type) and issubclass(cls.State, WindowState)):
        raise WindowDefinitionError(
            f"{cls.__name__}.State must extend Window.State: write class State(Window.State)."
        )
    bare = [name for name, field in cls.State.model_fields.items() if field.is_required()]
    if bare and cls.__init__ is window.__init__:  # its own may create a state without defaults
        raise WindowDefinitionError(
            f"{cls.__name__}.State: {bare[0]} needs a default, which it has when the window opens."
        )
    if cls.widget is not None and not _WIDGET.fullmatch(str(cls.widget)):
        raise WindowDefinitionError(
            f"{cls.__name__}: {quote(str(cls.widget))} names no widget "
            "(write it as package.module:Class)."
        )
    hints = inspect.get_annotations(cls)
    for name, value in vars(cls).items():
        is_constant = name.startswith("_") or name.isupper() or _is_class_var(hints.get(name))
        if isinstance(value, (list, dict, set)) and name != "actions" and not is_constant:
            raise WindowDefinitionError(
                f"{cls.__name__}.{name} would be shared by all its windows, and not saved: write "
                f"it into class State(Window.State), or as {name.upper()} if it never changes."
            )
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


def _is_class_var(hint: object) -> bool:
    if isinstance(hint, str):
        return "ClassVar" in hint
    return hint is ClassVar or get_origin(hint) is ClassVar

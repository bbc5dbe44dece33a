"""Actions: what a window can do, declared once for the model, the screen and the code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from contextui import text
from contextui.config.choices import Lang
from contextui.errors import ContextUIError, WindowDefinitionError
from contextui.windowing.params import Params

Effect = Literal["state", "read", "write"]
"""What an action touches: the window's own state; nothing; or the world outside of it."""

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__contextui_action__"
_LONGEST = 4_000  # characters of an error that a model is given to read


@dataclass(frozen=True, slots=True)
class Mark:
    """What `@action` says of a method."""

    label: str
    effect: Effect
    label_zh: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One declared action of a window class."""

    id: str
    label: str
    effect: Effect
    params: Params
    label_zh: str = ""

    def labelled(self, lang: Lang) -> str:
        """What it does, in a language if its author gave it in that."""
        return (lang == "zh" and self.label_zh) or self.label


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What came of an action: the text the model reads, and the error if it failed."""

    ok: bool
    text: str
    error: ContextUIError | None = None

    @classmethod
    def failed(cls, error: ContextUIError, lang: Lang = "en") -> "ActionResult":
        """The result of a call that did nothing, and why, in the language to speak."""
        return cls(False, text.for_model(text.cap(error.told(lang), _LONGEST)), error)


def action(label: str, effect: Effect = "state", *, zh: str = "") -> Callable[[F], F]:
    """Declare a method of a window as an action.

    Its params are those of the method, by their type hints; what it returns is the result that
    the model reads. It may be ``async``. While it runs the state may be changed at will: if it
    raises, or leaves a state that does not validate, nothing of it remains.

    Args:
        label: What the person and the model read.
        effect: ``write`` for what touches the world outside the window: that needs approval.
        zh: The label for those who read Chinese.

    Example:
        >>> class Counter(Window):
        ...     class State(Window.State):
        ...         count: int = 0
        ...     state: State
        ...
        ...     @action("Count up")
        ...     def up(self, by: int = 1) -> str:
        ...         self.state.count += by
        ...         return f"Now {self.state.count}"
    """

    if callable(label):
        name = getattr(label, "__name__", "")
        raise WindowDefinitionError(f'Write @action("label") above {name}, not @action alone.')
    if not (isinstance(label, str) and isinstance(zh, str)) or effect not in get_args(Effect):
        raise WindowDefinitionError(
            f'Write @action("label") or @action("label", effect), with an effect out of '
            f"{', '.join(get_args(Effect))}; not @action({label!r}, {effect!r})."
        )

    def declare(method: F) -> F:
        setattr(method, _MARK, Mark(label, effect, zh))
        return method

    return declare


def mark_of(method: object) -> Mark | None:
    """What `@action` said of this method, if anything."""
    mark = getattr(method, _MARK, None)
    return mark if isinstance(mark, Mark) else None

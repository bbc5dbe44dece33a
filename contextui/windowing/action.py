"""Window actions: the `@action` decorator, the declared `Action`, its result, and its anchors.

An anchor is a place in the content that is bound to an action, or can be referred to.
"""

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import BaseModel, Field

from contextui import text
from contextui.errors import (
    AnchorConflictError,
    ContextUIError,
    InvalidSourceDataError,
    UnknownActionError,
    WindowDefinitionError,
)
from contextui.names import ANCHOR_ID
from contextui.secrets import mask_own
from contextui.text import quote
from contextui.windowing.params import ModelParams, Params, SchemaParams
from contextui.windowing.snapshot import AnchorType
from contextui.words import Lang, msg, translate

if TYPE_CHECKING:
    from contextui.windowing.job import Job

Effect = Literal["state", "read", "write"]
"""What an action changes: the window's state, nothing, or something outside the window."""

EffectOf = Callable[..., Effect]
"""Returns the effect of an action for its params, validated and without those omitted. It takes the
params, or the window and the params; the window's state is then a read-only copy."""

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__contextui_action__"
_LONGEST = 4_000  # characters of an error message that the model reads
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MOST_SAYS, _LONGEST_SAYS = 20, 200  # phrasings of an action, and characters of each


@dataclass(frozen=True, slots=True)
class Mark:
    """The arguments of `@action`, stored on the method."""

    label: str
    effect: Effect | EffectOf
    label_zh: str = ""
    says: Sequence[str] = ()


@dataclass(frozen=True, slots=True, init=False)
class Action:
    """One action of a window: declared with `@action`, or yielded by `Window.more_actions`.

    Attributes:
        label: The label that the person and the model read.
        effect: What it changes, or a function of the params that returns that.
        params: Its params; a pydantic model or a JSON schema becomes `Params`.
        says: Phrasings for the offline model; no other model receives them.
        call: The function to call with the params, for an action that is not a method.
    """

    id: str
    label: str
    effect: Effect | EffectOf
    params: Params
    label_zh: str
    says: tuple[str, ...]
    call: Callable[..., Any] | None

    def __init__(
        self,
        id: str,  # noqa: A002
        label: str,
        effect: Effect | EffectOf = "state",
        params: Params | type[BaseModel] | Mapping[str, Any] | None = None,
        *,
        label_zh: str = "",
        says: tuple[str, ...] = (),
        call: Callable[..., Any] | None = None,
    ) -> None:
        given: object = {} if params is None else params
        if isinstance(given, type) and issubclass(given, BaseModel):
            given = ModelParams(given)
        elif isinstance(given, Mapping):
            given = SchemaParams(given)
        if not isinstance(given, Params):
            raise WindowDefinitionError(
                f"{id}: params must be a pydantic model or a JSON schema, not "
                f"{type(given).__name__}."
            )
        values = (id, label, effect, given, label_zh, says, call)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def effect_of(self, params: Mapping[str, Any], window: object = None) -> Effect:
        """Return the effect for these params; `write` if the author's function fails."""
        if isinstance(self.effect, str):
            return self.effect
        try:
            takes_window = len(inspect.signature(self.effect).parameters) > 1
            found = self.effect(window, params) if takes_window else self.effect(params)
        except Exception:  # an author's function; the person is asked then
            return "write"
        return found if found in get_args(Effect) else "write"

    def described(self, lang: Lang) -> str:
        """Return everything about the action: label, params, bounds, defaults, descriptions."""
        lines = [f"{self.id}({self.params}): {self.labelled(lang)}"]
        for one in self.params.listing:
            lines.append(f"  {one}" + (f" - {one.description}" if one.description else ""))
        if isinstance(self.params, SchemaParams) and self.params.schema:
            schema = json.dumps(dict(self.params.schema), ensure_ascii=False, default=str)
            lines.append(text.cap(schema, _LONGEST))
        return "\n".join(lines)

    def labelled(self, lang: Lang) -> str:
        """Return the label in this language, or in English if there is no translation."""
        return (lang == "zh" and self.label_zh) or translate(self.label, lang)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action.

    Attributes:
        job: The job that the action started and returned, if any; it may have ended.
    """

    ok: bool
    text: str
    error: ContextUIError | None = None
    job: "Job | None" = field(default=None, repr=False, compare=False)

    @property
    def status(self) -> int | None:
        """The exit status of the command that it ran; None if it ran none, or it still runs."""
        return getattr(self.job.result, "status", None) if self.job is not None else None

    @classmethod
    def failed(cls, error: ContextUIError, lang: Lang = "en") -> "ActionResult":
        """Create the result of a failed call, with the error's message in this language."""
        return cls(False, text.for_model(text.cap(mask_own(error.text(lang)), _LONGEST)), error)


class ActionCancelledError(asyncio.CancelledError):
    """The caller of an action was cancelled while it waited for jobs, which were cancelled too."""

    def __init__(self, result: ActionResult) -> None:
        super().__init__(result.text)
        self.result = result


def action(
    label: str, effect: Effect | EffectOf = "state", *, zh: str = "", says: Sequence[str] = ()
) -> Callable[[F], F]:
    """Declare a method of a window as an action.

    Its params are the method's, by their type hints; its return value is the result that the model
    reads. It may be ``async``. It may change the state freely: if it raises, or leaves a state that
    does not validate, everything is rolled back.

    Args:
        label: The label that the person and the model read.
        effect: ``write`` for changes outside the window, which need approval; or a function that
            returns the effect for the params, such as one that asks only for a query that writes.
        zh: The label in Chinese.
        says: Phrasings in any language, up to 20, by which the offline model recognizes the action;
            ``{name}`` is the value of a param, as in ``"stage {file}"``.

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
    is_effect = callable(effect) or effect in get_args(Effect)
    if not (isinstance(label, str) and isinstance(zh, str)) or not is_effect:
        raise WindowDefinitionError(
            f'Write @action("label") or @action("label", effect), with an effect out of '
            f"{', '.join(get_args(Effect))}; not @action({label!r}, {effect!r})."
        )

    def declare(method: F) -> F:
        setattr(method, _MARK, Mark(label, effect, zh, says))
        return method

    return declare


def mark_of(method: object) -> Mark | None:
    """Return what `@action` stored on this method, if anything."""
    mark = getattr(method, _MARK, None)
    return mark if isinstance(mark, Mark) else None


def checked_says(says: object, params: Params, where: str) -> tuple[str, ...]:
    """Validate the phrasings of an action and return them."""
    if not isinstance(says, list | tuple) or not all(isinstance(one, str) for one in says):
        raise WindowDefinitionError(
            f'{where}: says takes a list of texts: write says=["…"], not '
            f"says={text.one_line(repr(says), 60)}."
        )
    if len(says) > _MOST_SAYS:
        raise WindowDefinitionError(
            f"{where}: says has {len(says)} phrasings; the maximum is {_MOST_SAYS}."
        )
    names = [param.name for param in params.listing]
    for one in says:
        if len(one) > _LONGEST_SAYS:
            raise WindowDefinitionError(
                f"{where}: says: {quote(one)} has {len(one)} characters; the maximum is "
                f"{_LONGEST_SAYS}."
            )
        used = _PLACEHOLDER.findall(one)
        unknown = [name for name in used if name not in names]
        if unknown:
            raise WindowDefinitionError(
                f"{where}: says: {quote(one)}: there is no param {unknown[0]}. Available: "
                f"{', '.join(names) or 'none'}."
            )
        if len(set(used)) < len(used):
            raise WindowDefinitionError(f"{where}: says: {quote(one)} names a param twice.")
        if not _PLACEHOLDER.sub("", one).strip():  # it would match whatever is typed
            raise WindowDefinitionError(
                f"{where}: says: {quote(one)} has no words: write what a person types."
            )
    return tuple(one.strip() for one in says)


def _close(window: object, summary: str | None = None) -> None:
    """Declare the params of `close`, which every window has."""


CLOSE = Action("close", msg("Close"), "state", Params(_close, "Window"))
"""The `close` action that every window has."""


def _wait(window: object, seconds: Annotated[float, Field(ge=0, le=3_600)] = 60) -> None:
    """Declare the params of `wait`."""


def _cancel(window: object, job: int | None = None) -> None:
    """Declare the params of `cancel`."""


def _describe(window: object, action_id: str) -> None:
    """Declare the params of `describe`."""


BUILT_IN = {
    "wait": Params(_wait, "Window"),
    "cancel": Params(_cancel, "Window"),
    "describe": Params(_describe, "Window"),
}
"""The actions that every window has beside its queue; its own of the same name comes first."""


def unknown_action(window_id: str, asked: str, known: Iterable[str]) -> UnknownActionError:
    """Return the error for an action that a window does not have."""
    return UnknownActionError(
        "{id} has no action {name}. It has: {names}.",
        id=window_id,
        name=quote(asked),
        names=", ".join([*known, "close"]),
    )


# --- anchors ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Button:
    """An action with all its params given; one press runs it.

    Example:
        >>> Button("expand-entry-1", "expand", {"entry": 1}, target="entry-1")
    """

    id: str
    action: str
    params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    label: str | None = None
    kind: ClassVar = AnchorType.BUTTON
    fields: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """An action with fields to fill in, named after its params."""

    id: str
    action: str
    fields: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    label: str | None = None
    kind: ClassVar = AnchorType.FORM


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that can be referred to, without an action."""

    id: str
    target: str | None = None
    kind: ClassVar = AnchorType.REFERENCE
    fields: ClassVar[tuple[str, ...]] = ()


AnyAnchor = Button | Form | Reference


def register(
    anchors: Iterable[AnyAnchor],
    actions: Mapping[str, Action],
    warn: Callable[[ContextUIError], None],
) -> dict[str, AnyAnchor]:
    """Validate the anchors of one render and return them by id."""
    registry: dict[str, AnyAnchor] = {}
    for anchor in anchors:
        if not ANCHOR_ID.fullmatch(anchor.id):
            raise InvalidSourceDataError(f"{quote(anchor.id)} cannot be an anchor's id.")
        if not isinstance(anchor, Reference):
            _check_binding(anchor, actions)
        if anchor.id in registry or anchor.id in actions or anchor.id == "close":
            twice = f"two anchors or actions are called {anchor.id}: the first stays"
            warn(AnchorConflictError(twice))
            continue
        registry[anchor.id] = anchor
    return registry


def _check_binding(anchor: Button | Form, actions: Mapping[str, Action]) -> None:
    if anchor.action not in actions:
        raise InvalidSourceDataError(
            f"Anchor {anchor.id} names an action that is not declared: {quote(anchor.action)}."
        )
    params = actions[anchor.action].params
    for name in (*anchor.fields, *anchor.params):
        if name not in {param.name for param in params.listing}:
            raise InvalidSourceDataError(
                f"Anchor {anchor.id} names a param that {anchor.action} does not have: "
                f"{quote(name)}."
            )

"""Window actions: the `@action` decorator, params with validation, and results."""

import inspect
import json
import re
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, TypeAdapter, ValidationError

from contextui import text
from contextui.errors import ContextUIError, InvalidParamsError, WindowDefinitionError
from contextui.text import quote
from contextui.windowing.trouble import reason_of
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


_TYPE_ERRORS = (
    "_type",
    "_parsing",
    "_from_float",
    "literal_error",
    "enum",
)  # as pydantic names them
_PLAIN = re.compile(r"[\w.-]+")
_PROBLEMS = 5  # errors reported per param
_NAMES: dict[object, str] = {
    str: "string",
    int: "int",
    float: "float",
    bool: "bool",
    Any: "any",
    object: "any",
    types.NoneType: "null",
    dict: "object",
    list: "any[]",
    datetime: "datetime",
    date: "date",
    time: "time",
}


class Param(NamedTuple):
    """One param as declared to the model."""

    name: str
    type: str
    optional: bool

    def __str__(self) -> str:
        return f"{self.name}:{self.type}{'?' if self.optional else ''}"


class Params:
    """The params of a method, derived from its type hints (without `self`).

    Attributes:
        listing: The params, in order; `str` of the whole is ``text:string,index:int?``.

    Raises:
        WindowDefinitionError: A param has no type hint, or a type that cannot be declared.
    """

    def __init__(self, function: Callable[..., Any], owner: str) -> None:
        where = f"{owner}.{function.__name__}"
        try:
            hints = get_type_hints(function, include_extras=True)
        except Exception as problem:
            raise WindowDefinitionError(f"{where}: its type hints fail: {problem}") from problem
        self.listing: list[Param] = []
        self._absent: dict[str, None] = {}
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            name = parameter.name
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise WindowDefinitionError(f"{where}: {parameter} cannot be declared as a param.")
            if name not in hints:
                raise WindowDefinitionError(
                    f"{where}: {name} needs a type hint, such as {name}: str."
                )
            plain = _without_none(hints[name])
            has_default, nullable = parameter.default is not parameter.empty, plain != hints[name]
            try:
                shown = type_name(plain, f"{where}: {name}")
            except RecursionError:
                raise WindowDefinitionError(f"{where}: {name} has a recursive type.") from None
            self.listing.append(Param(name, shown, has_default or nullable))
            if nullable and not has_default:
                self._absent[name] = None  # if omitted, it must still be passed to the method
        self._hints = {param.name: hints[param.name] for param in self.listing}

    def __str__(self) -> str:
        return ",".join(map(str, self.listing))

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        """Build the adapters on the first call: of many declared classes, few are used."""
        return {name: TypeAdapter(hint) for name, hint in self._hints.items()}

    def validate(self, given: Mapping[str, Any], what: str, lang: Lang = "en") -> dict[str, Any]:
        """Validate params and return the arguments to call with.

        Args:
            given: The params as requested.
            what: The name of the call, for the error message.
            lang: The language of the error message.

        Raises:
            InvalidParamsError: It lists every problem, and what was expected.
        """
        words = Words(lang)
        arguments: dict[str, Any] = dict(self._absent)
        missing = [p.name for p in self.listing if not p.optional and p.name not in given]
        problems = [words("{name} is missing", name=name) for name in missing]
        for name, value in given.items():
            if name not in self._hints:
                problems.append(words("there is no param {name}", name=quote(str(name))))
                continue
            try:
                arguments[name] = self._adapters[name].validate_python(value)
            except ValidationError as error:
                first = error.errors(include_url=False)[:_PROBLEMS]
                problems += [self._problem(name, one, words) for one in first]
            except (Exception, SystemExit) as error:  # a faulty validator of the author
                problems.append(f"{name}: {reason_of(error, lang)}")
        if problems:
            expected = str(self) or words("no params")
            message = words(
                "{what}: {problems}. Expected: {expected}",
                what=what,
                problems="; ".join(problems),
                expected=expected,
            )
            raise InvalidParamsError(message)
        return arguments

    def _problem(self, name: str, error: "ErrorDetails", words: Words) -> str:
        path = ".".join([name, *map(str, error["loc"])])
        known = next((p.type for p in self.listing if p.name == path), None)
        of_type = error["type"].endswith(_TYPE_ERRORS)
        expected = words("expected {type}", type=known) if known and of_type else error["msg"]
        return words(
            "{name}: {expected}, got {value}",
            name=path,
            expected=expected,
            value=quote(_shown(error["input"])),
        )


def type_name(hint: Any, where: str) -> str:
    """Return the type's name as declared to the model (``string``, ``int[]``, ``a|b`` …)."""
    origin, arguments = get_origin(hint), get_args(hint)
    name: str | None = None
    if origin is Annotated:
        name = type_name(arguments[0], where)
    elif origin is Literal:
        name = "|".join(map(_choice, arguments))
    elif origin in (list, set, frozenset, tuple) and arguments:
        inner = type_name(arguments[0], where)
        name = f"({inner})[]" if "|" in inner else f"{inner}[]"
    elif origin in (Union, types.UnionType):
        name = "|".join(type_name(one, where) for one in arguments)
    elif origin is dict and all(type_name(one, where) for one in arguments):
        name = "object"
    elif isinstance(hint, type) and issubclass(hint, Enum):
        name = "|".join(_choice(member.value) for member in hint)
    elif isinstance(hint, type) and issubclass(hint, BaseModel):
        name = f"{{{','.join(_model_fields(hint, where))}}}"
    elif isinstance(hint, Hashable):
        name = _NAMES.get(hint)
    if name is None:
        shown = hint.__name__ if isinstance(hint, type) else repr(hint)
        raise WindowDefinitionError(
            f"{where}: {shown} cannot be declared as the type of a param. Take str, int, float, "
            "bool, a date, Literal, an enum, a pydantic model, or a list of one of these."
        )
    return name


def _model_fields(model: type[BaseModel], where: str) -> list[str]:
    return [
        str(Param(field.alias or name, type_name(_without_none(field.annotation), where),
                  not field.is_required()))
        for name, field in model.model_fields.items()
    ]  # fmt: skip


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _without_none(hint: Any) -> Any:
    rest = tuple(one for one in _members(hint) if one is not types.NoneType)
    return Union[rest] if rest and len(rest) < len(_members(hint)) else hint  # noqa: UP007


def _choice(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _shown(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


Effect = Literal["state", "read", "write"]
"""What an action changes: the window's state, nothing, or something outside the window."""

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__contextui_action__"
_LONGEST = 4_000  # characters of an error message that the model reads
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MOST_SAYS, _LONGEST_SAYS = 20, 200  # phrasings of an action, and characters of each


@dataclass(frozen=True, slots=True)
class Mark:
    """The arguments of `@action`, stored on the method."""

    label: str
    effect: Effect
    label_zh: str = ""
    says: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """One declared action of a window class.

    Attributes:
        says: Phrasings for the offline model; no other model receives them.
    """

    id: str
    label: str
    effect: Effect
    params: Params
    label_zh: str = ""
    says: tuple[str, ...] = ()

    def labelled(self, lang: Lang) -> str:
        """Return the label in this language, or in English if there is no translation."""
        return (lang == "zh" and self.label_zh) or self.label


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action: the text that the model reads, and the error if it failed."""

    ok: bool
    text: str
    error: ContextUIError | None = None

    @classmethod
    def failed(cls, error: ContextUIError, lang: Lang = "en") -> "ActionResult":
        """Create the result of a failed call, with the error's message in this language."""
        return cls(False, text.for_model(text.cap(error.text(lang), _LONGEST)), error)


def action(
    label: str, effect: Effect = "state", *, zh: str = "", says: Sequence[str] = ()
) -> Callable[[F], F]:
    """Declare a method of a window as an action.

    Its params are the method's, by their type hints; its return value is the result that the model
    reads. It may be ``async``. It may change the state freely: if it raises, or leaves a state that
    does not validate, everything is rolled back.

    Args:
        label: The label that the person and the model read.
        effect: ``write`` for changes outside the window, which need approval.
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
    if not (isinstance(label, str) and isinstance(zh, str)) or effect not in get_args(Effect):
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
    """Validate the phrasings of an action and return them.

    Args:
        says: What the author wrote.
        params: The action's params, which the phrasings may name.
        where: The class and the method, for the error message.

    Raises:
        WindowDefinitionError: They are no list of texts, or one of them is invalid.
    """
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
                f"{where}: says: {quote(one)}: there is no param {unknown[0]}. There is: "
                f"{', '.join(names) or 'none'}."
            )
        if len(set(used)) < len(used):
            raise WindowDefinitionError(f"{where}: says: {quote(one)} names a param twice.")
        if not _PLACEHOLDER.sub("", one).strip():  # it would match whatever is typed
            raise WindowDefinitionError(
                f"{where}: says: {quote(one)} has no words: write what a person types."
            )
    return tuple(one.strip() for one in says)

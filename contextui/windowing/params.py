"""Params of actions: derived from type hints, a pydantic model or a JSON schema, and validated.

Each is declared to the model in short form, such as ``count:int(1..5)=3``.
"""

import inspect
import json
import re
import types
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime, time
from enum import Enum
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from contextui import text
from contextui.errors import InvalidParamsError, WindowDefinitionError
from contextui.text import quote
from contextui.windowing.error_text import reason_of
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
_ABSENT = object()  # a param without a default
_PROBLEMS = 5  # errors reported per param
_LONGEST_DESCRIPTION, _LONGEST_DEFAULT = 500, 40  # characters
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


Length = tuple[int | None, int | None]
"""The least and the largest length; None for no limit."""


class Param(NamedTuple):
    """One param as declared to the model; `str` of it is such as ``count:int(1..5)=3``.

    Attributes:
        bounds: The allowed numbers, such as ``(1..5)``; or empty.
        default: The value if it is omitted, where that says something; or empty.
        length: The least and the largest number of characters or entries, where it is limited.
    """

    name: str
    type: str
    optional: bool
    bounds: str = ""
    default: str = ""
    description: str = ""
    length: "Length" = (None, None)

    def __str__(self) -> str:
        end = f"={self.default}" if self.default else "?" if self.optional else ""
        return f"{self.name}:{self.type}{self.bounds}{end}"


class Params:
    """The params of a method, derived from its type hints (without `self`).

    Bounds and descriptions come from pydantic's `Field`, in `Annotated` or as the default, and
    descriptions also from the section ``Args:`` of the docstring.

    Args:
        owner: The name of its class, for error messages; empty for a plain function. A plain
            function has no `self`, and its params may have any type that pydantic knows.

    Attributes:
        listing: The params, in order; `str` of the whole is ``text:string,index:int?``.
    """

    def __init__(self, function: Callable[..., Any], owner: str) -> None:
        where = f"{owner}.{function.__name__}" if owner else function.__name__
        try:
            hints = get_type_hints(function, include_extras=True)
        except Exception as problem:
            raise WindowDefinitionError(f"{where}: its type hints fail: {problem}") from problem
        self._start()
        about = documented(function)
        for parameter in list(inspect.signature(function).parameters.values())[bool(owner) :]:
            name, default = parameter.name, parameter.default
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise WindowDefinitionError(f"{where}: {parameter} cannot be declared as a param.")
            if name not in hints and owner:
                raise WindowDefinitionError(
                    f"{where}: {name} needs a type hint, such as {name}: str."
                )
            hint = hints.get(name, Any)
            if isinstance(default, FieldInfo):
                hint = Annotated[hint, default]
                default = _ABSENT if default.is_required() else default.get_default()
                if default is not _ABSENT:
                    self._absent[name] = default  # otherwise the method would get the `Field`
            elif default is parameter.empty:
                default = _ABSENT
            if default is _ABSENT and _is_nullable(hint):
                default = self._absent[name] = None  # it must still be passed to the method
            self._declare(name, hint, default, f"{where}: {name}" if owner else "", about.get(name))

    def _start(self) -> None:
        self.listing: list[Param] = []
        self._absent: dict[str, Any] = {}
        self._hints: dict[str, Any] = {}
        self._defaults: dict[str, Any] = {}

    def _declare(self, name: str, hint: Any, default: Any, where: str, about: str | None) -> None:
        """Add a param; its default is `_ABSENT` if it has none."""
        plain = _without_none(_bare(hint))
        try:
            shown = type_name(plain, where)
        except RecursionError:
            raise WindowDefinitionError(f"{where} has a recursive type.") from None
        bounds, words, length = _field_facts(hint)
        if not (bounds or words or any(length)):
            bounds, words, length = _field_facts(plain)  # of a type that may be null
        words = text.one_line(words or about or "", _LONGEST_DESCRIPTION)
        known = "" if default is _ABSENT else _shown_default(default)
        optional = default is not _ABSENT
        self.listing.append(Param(name, shown, optional, bounds, known, words, length))
        self._hints[name] = hint
        if optional:
            self._defaults[name] = default

    def json_schema(self) -> dict[str, Any]:
        """Return the params as a JSON schema of type ``object``."""
        found, shared = TypeAdapter.json_schemas(
            [(name, "validation", adapter) for name, adapter in self._adapters.items()]
        )
        properties = {}
        for param in self.listing:
            declared = properties[param.name] = dict(found[param.name, "validation"])
            if param.description:
                declared.setdefault("description", param.description)
            if param.name in self._defaults:
                default = self._defaults[param.name]
                declared["default"] = self._adapters[param.name].dump_python(default, mode="json")
        required = [param.name for param in self.listing if not param.optional]
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {}) | shared

    def __str__(self) -> str:
        return ",".join(map(str, self.listing))

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        """Build the adapters on the first call: of many declared classes, few are used."""
        return {name: TypeAdapter(hint) for name, hint in self._hints.items()}

    def validate(self, given: Mapping[str, Any], what: str, lang: Lang = "en") -> dict[str, Any]:
        """Validate params and return the arguments to call with."""
        words = Words(lang)
        arguments = dict(self._absent)
        missing = [one.name for one in self.listing if not one.optional and one.name not in given]
        problems = [words("{name} is missing", name=name) for name in missing]
        for name, value in given.items():
            problems += self._take(name, value, arguments, words)
        if problems:
            raise InvalidParamsError(
                words(
                    "{what}: {problems}. Expected: {expected}",
                    what=what,
                    problems="; ".join(problems),
                    expected=str(self) or words("no params"),
                )
            )
        return arguments

    def default(self, name: str) -> Any:
        """Return the value that a param has if it is omitted; None if it has none."""
        return self._defaults.get(name)

    def problems(self, name: str, value: Any, words: Words) -> list[str]:
        """Return why a param cannot have a value; empty if it can."""
        return self._take(name, value, {}, words)

    def _take(self, name: str, value: Any, arguments: dict[str, Any], words: Words) -> list[str]:
        """Add a param to the arguments, validated; return its problems."""
        if name not in self._hints:
            return [_unknown(name, words)]
        try:
            arguments[name] = self._adapters[name].validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[:_PROBLEMS]
            return [self._problem(name, one, words) for one in first]
        except (Exception, SystemExit) as error:  # a faulty validator of the author
            return [f"{name}: {reason_of(error, words.lang)}"]
        return []

    def _problem(self, name: str, error: "ErrorDetails", words: Words) -> str:
        path = ".".join([name, *map(str, error["loc"])])
        known = next((p.type for p in self.listing if p.name == path), None)
        of_type = error["type"].endswith(_TYPE_ERRORS)
        expected = words("expected {type}", type=known) if known and of_type else error["msg"]
        return _mismatch(path, expected, error["input"], words)


def _unknown(name: str, words: Words) -> str:
    return words("there is no param {name}", name=quote(str(name)))


def _mismatch(name: str, expected: str, value: object, words: Words) -> str:
    return words(
        "{name}: {expected}, got {value}",
        name=name,
        expected=expected,
        value=quote(_shown(value)),
    )


class SchemaParams(Params):
    """The params that a JSON schema declares, not a method.

    Names, required ones and plain types are checked here; whatever the action calls checks the
    rest.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._start()
        self.schema = schema
        properties = schema.get("properties")
        self._kinds: dict[str, Mapping[str, Any]] = {
            str(name): _resolved(kind, schema)
            for name, kind in (properties.items() if isinstance(properties, Mapping) else ())
        }
        required = schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list | tuple) else set()
        self.listing = [_schema_param(name, kind, name in needed) for name, kind in
                        self._kinds.items()]  # fmt: skip

    def _take(self, name: str, value: Any, arguments: dict[str, Any], words: Words) -> list[str]:
        kind = self._kinds.get(name)
        if kind is None and self.schema.get("additionalProperties") in (None, False):
            return [_unknown(name, words)]
        arguments[name] = value
        if kind and not (value is None and _NULLABLE in kind) and not fits(value, kind.get("type")):
            expected = words("expected {type}", type=_schema_type(kind))
            return [_mismatch(name, expected, value, words)]
        return []


JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "array": (list, tuple), "object": (Mapping,), "null": (types.NoneType,),
}  # fmt: skip
"""The types of values by the names that JSON schemas give them."""
_JSON_NAMES = {"integer": "int", "number": "float", "boolean": "bool"}
_DEEPEST = 3  # levels of a schema that are shown


_NULLABLE = "nullable"  # marks a schema that also allows null


def _resolved(kind: object, root: Mapping[str, Any], depth: int = 0) -> Mapping[str, Any]:
    """Return a schema with its references filled in and ``null`` taken out of its unions.

    A schema may refer to itself: below a few levels it counts as anything.
    """
    if not isinstance(kind, Mapping) or depth > _DEEPEST + 3:
        return {}
    found = dict(kind)
    if isinstance(ref := found.pop("$ref", None), str):
        return {**_resolved(_referred(ref, root), root, depth + 1), **found}
    for key in ("anyOf", "oneOf", "allOf"):
        options = found.get(key)
        if not isinstance(options, list) or not options or len(options) > 20:
            continue
        given = [_resolved(option, root, depth + 1) for option in options]
        rest = [one for one in given if one.get("type") != "null"]
        if len(rest) < len(given):
            found[_NULLABLE] = True
        if len(rest) == 1:
            del found[key]
            found = {**rest[0], **found}
        else:
            found[key] = rest
    if isinstance(items := found.get("items"), Mapping):
        found["items"] = _resolved(items, root, depth + 1)
    if isinstance(inner := found.get("properties"), Mapping) and depth < _DEEPEST:
        found["properties"] = {
            name: _resolved(one, root, depth + 1) for name, one in list(inner.items())[:50]
        }
    return found


def _referred(ref: str, root: Mapping[str, Any]) -> object:
    found: object = root
    for part in ref.removeprefix("#/").split("/")[:10] if ref.startswith("#/") else [""]:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def fits(value: object, kind: object) -> bool:
    """Whether a value is of a type of JSON, or of one of several."""
    kinds = kind if isinstance(kind, list) else [kind]
    allowed = [one for name in kinds for one in JSON_TYPES.get(str(name), (object,))]
    if isinstance(value, bool) and object not in allowed:
        return bool in allowed
    return isinstance(value, tuple(allowed))


def _schema_param(name: str, kind: Mapping[str, Any], needed: bool) -> Param:
    def limit(key: str) -> Any:
        value = kind.get(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    bounds = _bounds(*map(limit, ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")))
    counted = "Items" if kind.get("type") == "array" else "Length"
    length = (limit(f"min{counted}"), limit(f"max{counted}"))
    default = _shown_default(kind.get("default"))
    words = text.one_line(str(kind.get("description", "")), _LONGEST_DESCRIPTION)
    return Param(name, _schema_type(kind), not needed, bounds, default, words, length)


def _schema_type(kind: Mapping[str, Any], depth: int = 0) -> str:
    """Return the type that a JSON schema declares, in the short form."""
    choices = [kind["const"]] if "const" in kind else kind.get("enum")
    if isinstance(choices, list) and choices:
        return "|".join(_choice(choice)[:_LONGEST_DEFAULT] for choice in choices[:20])
    union = kind.get("anyOf") or kind.get("oneOf")
    if isinstance(union, list) and depth < _DEEPEST and "type" not in kind:
        shown = [_schema_type(one, depth + 1) for one in union if isinstance(one, Mapping)]
        return "|".join(dict.fromkeys(shown)) or "any"
    named = kind.get("type")
    if isinstance(named, list):
        names = [one for one in named[:10] if isinstance(one, str) and one != "null"]
        return "|".join(_schema_type({**kind, "type": name}, depth) for name in names) or "any"
    if named == "array" and isinstance(inner := kind.get("items"), Mapping):
        item = _schema_type(inner, depth + 1)
        return f"({item})[]" if "|" in item else f"{item}[]"
    if named == "object" and depth < _DEEPEST and kind.get("properties"):
        return f"{{{SchemaParams(kind)}}}" if depth + 1 < _DEEPEST else "object"
    named = str(named)
    return _JSON_NAMES.get(named, named if named in JSON_TYPES else "any")


class ModelParams(Params):
    """The params of an action that are declared by a pydantic model."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._start()
        for name, info in model.model_fields.items():
            hint = Annotated[info.annotation, info]  # type: ignore[name-defined]
            default = _ABSENT if info.is_required() else info.get_default()
            self._declare(name, hint, default, f"{model.__name__}: {name}", None)
            if default is not _ABSENT:
                self._absent[name] = info.get_default(call_default_factory=True, validated_data={})


def type_name(hint: Any, where: str) -> str:
    """Return the type's name as declared to the model (``string``, ``int[]``, ``a|b`` …).

    Args:
        where: The param, for the error message; empty if a type that has no name is ``any``.
    """
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
        name = "|".join(type_name(argument, where) for argument in arguments)
    elif origin is dict and all(type_name(argument, where) for argument in arguments):
        name = "object"
    elif isinstance(hint, type) and issubclass(hint, Enum):
        name = "|".join(_choice(member.value) for member in hint)
    elif isinstance(hint, type) and issubclass(hint, BaseModel):
        name = f"{{{','.join(_model_fields(hint, where))}}}"
    elif isinstance(hint, Hashable):
        name = _NAMES.get(hint)
    if name is None and not where:
        return "any"
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


def _is_nullable(hint: Any) -> bool:
    return types.NoneType in _members(_bare(hint))


def _without_none(hint: Any) -> Any:
    rest = tuple(member for member in _members(hint) if member is not types.NoneType)
    return Union[rest] if rest and len(rest) < len(_members(hint)) else hint  # noqa: UP007


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _field_facts(hint: Any) -> tuple[str, str, Length]:
    info = FieldInfo.from_annotation(hint)

    def limit(name: str) -> Any:
        found = (getattr(one, name, None) for one in info.metadata)
        return next((one for one in found if one is not None), None)

    bounds = _bounds(limit("ge"), limit("le"), limit("gt"), limit("lt"))
    return bounds, info.description or "", (limit("min_length"), limit("max_length"))


def _bounds(least: object, most: object, above: object, below: object) -> str:
    """Return bounds in short form: ``(1..5)``, ``(>0)``, ``(>0..5)``."""
    low = f">{_plain(above)}" if least is None and above is not None else _plain(least)
    high = f"<{_plain(below)}" if most is None and below is not None else _plain(most)
    if least is None and most is None:
        return f"({low}{high})" if low or high else ""
    return f"({low}..{high})"


def _plain(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _shown_default(value: object) -> str:
    """Return a default if it says something: not that something is absent, empty or off."""
    if value is None or value is False or isinstance(value, list | tuple | dict | set):
        return ""
    if value is True:
        return "true"
    if isinstance(value, int | float):
        return _plain(value)
    if isinstance(value, Enum):
        value = value.value
    return _choice(value) if isinstance(value, str) and 0 < len(value) <= _LONGEST_DEFAULT else ""


_ARGS = re.compile(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)
_ARG = re.compile(r"^(\w+)(?: \([^)]*\))?:[ \t]*(.*(?:\n[ \t]+.*)*)", re.MULTILINE)


def documented(function: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring says about each arg."""
    found = _ARGS.search(inspect.getdoc(function) or "")
    rows = _ARG.findall(inspect.cleandoc(found[1])) if found else []
    return {name: " ".join(words.split()) for name, words in rows}


def _choice(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _shown(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__

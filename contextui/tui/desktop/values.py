"""Param values: parse typed text by declared type, validate it, and choose from options."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.style import Style

from contextui.tui.lines import FAINT, MUTED, Rows, fold, line
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.windowing.params import Param, Params

_TEXTS = {"string", "datetime", "date", "time"}
_TYPES = {*_TEXTS, "int", "float", "bool", "any", "null", "object"}
_OPENS, _CLOSES = "({", ")}"
_LIMIT = re.compile(r"([<>]=?)(-?[\d.]+(?:e[+-]?\d+)?)(?![^<>])")
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {">": gt, ">=": ge, "<": lt, "<=": le}


@dataclass(frozen=True, slots=True)
class Kind:
    """How a param is entered."""

    type: str
    options: tuple[str, ...] = ()
    many: bool = False


def kind_of(declared: str) -> Kind:
    """Return how a param with this declared type is entered.

    Example:
        >>> kind_of("(cpu|memory)[]")
        Kind(type='cpu|memory', options=('cpu', 'memory'), many=True)
    """
    parts = list(_split(declared, "|"))
    if len(parts) > 1:
        return Kind(declared) if all(map(_is_type, parts)) else Kind(declared, tuple(parts))
    if declared.endswith("[]"):
        bare = declared[:-2]
        is_group = bare.startswith("(") and bare.endswith(")")
        inner = kind_of(bare[1:-1] if is_group else bare)
        return Kind(inner.type, inner.options if inner.type != "bool" else (), many=True)
    if declared == "bool":
        return Kind(declared, ("false", "true"))
    return Kind(declared) if _is_type(declared) else Kind(declared, (declared,))


def read(kind: Kind, typed: str) -> Any:
    """Parse text into a value of the type; return the text itself if that fails."""
    if not kind.many:
        return _read_one(kind.type, typed)
    whole = _json(typed) if typed.lstrip().startswith("[") else None
    if isinstance(whole, list):
        return whole
    return [_read_one(kind.type, one) for one in typed.split("\n") if one.strip()]


def chosen(option: str) -> Iterator[Any]:
    """Yield the possible values of an option, the likeliest first."""
    if (value := _json(option)) is not None:
        yield value
    yield option


def limits(param: "Param", words: Words) -> str:
    """Return the bounds and the length that a param allows, such as ``1..5``; or nothing.

    Example:
        >>> limits(Param("text", "string", False, length=(None, 80)), Words())
        'at most 80 characters'
    """
    least, most = param.length
    is_list = kind_of(param.type).many
    parts = [param.bounds[1:-1]] if param.bounds else []
    if least is not None and least > 0:
        text = msg("at least {count} entries") if is_list else msg("at least {count} characters")
        parts.append(words(text, count=least))
    if most is not None:
        text = msg("at most {count} entries") if is_list else msg("at most {count} characters")
        parts.append(words(text, count=most))
    return ", ".join(parts)


def problems(params: "Params", given: dict[str, Any], words: Words) -> dict[str, str]:
    """Return the validation errors by param name; empty if there are none."""
    required = [param.name for param in params.listing if not param.optional]
    known = {param.name: param for param in params.listing}
    found = {name: words("is missing") for name in required if name not in given}
    for name, value in given.items():
        own, param = "; ".join(params.problems(name, value, words)), known.get(name)
        own = own.removeprefix(f"{name}: ")
        # What a schema declares is checked only by what the action calls.
        if param is not None and _is_beyond(param, value):
            own = words("must be {limits}", limits=limits(param, words))
        if own:
            found[name] = own
    return found


def _is_beyond(param: "Param", value: object) -> bool:
    if isinstance(value, str | list):
        least, most = param.length
        return len(value) < (least or 0) or (most is not None and len(value) > most)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    low, dots, high = param.bounds[1:-1].partition("..")
    if dots:  # 1..5, >0..5
        low, high = (low if low[:1] in (">", "") else f">={low}"), high and f"<={high}"
    found = _LIMIT.findall(low + high.replace("<=<", "<"))
    return not all(_COMPARED[sign](value, float(number)) for sign, number in found)


def _read_one(declared: str, typed: str) -> Any:
    parts = list(_split(declared, "|"))
    lists = [one for one in parts if one.endswith("[]")]
    if len(parts) > 1 and lists and "\n" in typed.strip("\n"):
        return read(kind_of(lists[0]), typed)
    readers: dict[str, Callable[[str], Any]] = {
        "int": int,
        "float": float,
        "any": json.loads,
        "object": json.loads,
    }
    for part in parts:
        reader = json.loads if part.startswith("{") or part in lists else readers.get(part)
        if part == "bool" and typed in ("true", "false"):
            return typed == "true"
        try:
            if reader is not None:
                return reader(typed)
        except ValueError:
            continue
    return typed


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_type(part: str) -> bool:
    return part in _TYPES or part.startswith("{") or part.endswith("[]")


def _split(text: str, mark: str) -> Iterator[str]:
    depth, quoted, start = 0, False, 0
    for at, char in enumerate(text):
        if char == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in _OPENS) - (char in _CLOSES)
            if char == mark and depth == 0:
                yield text[start:at]
                start = at + 1
    yield text[start:]


_OPTION = "option"
_SHOWN = 40  # maximum cells of an option


class Choice(Rows, can_focus=True):
    """Options to choose one or several from; left and right move, space selects."""

    BINDINGS = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("space", "choose", show=False),
    ]
    DEFAULT_CSS = "Choice { width: 1fr; }"

    def __init__(
        self,
        options: Sequence[str],
        chosen: Sequence[str] = (),
        *,
        many: bool = False,
        may_be_empty: bool = True,
        labels: Sequence[str] = (),
        note: str = "",
    ) -> None:
        super().__init__()
        self._options, self._many, self._may_be_empty = tuple(options), many, may_be_empty
        self._labels, self._note = tuple(labels) or self._options, note
        self.chosen = [one for one in chosen if one in options]
        if not self.chosen and not may_be_empty and not many:
            self.chosen = [self._options[0]]
        self._at = self._options.index(self.chosen[0]) if self.chosen else 0

    def rows(self, width: int) -> list[Content]:
        shown = [self._shown(number) for number in range(len(self._options))]
        shown += [Content.styled(self._note, FAINT)] if self._note else []
        return fold(Content("  ").join(shown), width)

    def _shown(self, number: int) -> Content:
        is_chosen = self._options[number] in self.chosen
        label = line(self._labels[number])
        label = label if len(label) <= _SHOWN else label[: _SHOWN - 1] + "…"
        mark, style = ("✓", "bold") if is_chosen else ("·", MUTED)
        here = " on $cursor" if self.has_focus and number == self._at else ""
        shown = Content.assemble((f"{mark} ", FAINT + here), (label, style + here))
        return shown.stylize(Style.from_meta({_OPTION: number}))

    def action_step(self, by: int) -> None:
        self._at = (self._at + by) % len(self._options)
        if not self._many:
            self.chosen = [self._options[self._at]]
        self.refresh()

    def action_choose(self) -> None:
        option = self._options[self._at]
        if option in self.chosen and (self._many or self._may_be_empty):
            self.chosen.remove(option)
        elif self._many:
            self.chosen = [one for one in self._options if one in (*self.chosen, option)]
        else:
            self.chosen = [option]
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        number = event.style.meta.get(_OPTION)
        if number is not None:
            self._at = int(number)
            self.action_choose()

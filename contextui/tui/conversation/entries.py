"""Conversation entries and their widgets: messages, tool calls, thinking and notices."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Markdown, Static
from textual.widgets._markdown import MarkdownTable
from textual.widgets.markdown import MarkdownBlock

from contextui.agent.prompt import is_report
from contextui.context.item import ContextItem, ItemType
from contextui.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    CompactionFinished,
    CompactionStarted,
    Event,
    Notice,
    TurnFinished,
    TurnStarted,
)
from contextui.secrets import mask_own, partial_secret
from contextui.session.entry import Entry as LogEntry
from contextui.session.usage import usage_of
from contextui.text import for_terminal
from contextui.tui.code import CodeFence
from contextui.tui.conversation.shell import TypedCommand
from contextui.tui.conversation.status import figures
from contextui.tui.lines import FAINT, MUTED, fit, inert, line, short
from contextui.tui.timers import sure_timer
from contextui.words import Words, msg


@dataclass(frozen=True, slots=True)
class PersonMessage:
    """A message from the person."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """A message from the model, in Markdown."""

    text: str
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call and its end; None while it runs."""

    title: str
    what: str
    end: CallFinished | None = None


Entry = PersonMessage | ModelMessage | Called | Notice | TurnFinished | TypedCommand


def entries_of(
    items: Iterable[ContextItem], words: Words, asides: Mapping[int, Sequence[LogEntry]]
) -> list[Entry]:
    """Return the entries of a conversation, in order; includes hidden items, which were read.

    `asides` is what was shown beside the items, by the seq of the item before.
    """
    entries: list[Entry] = []
    for event in _events_of(items, words, asides):
        if isinstance(event, CallFinished):
            started = entries.pop()
            assert isinstance(started, Called)
            entries.append(replace(started, end=event))
        else:
            entries += made_of(event, words)
    return entries


def _events_of(
    items: Iterable[ContextItem], words: Words, asides: Mapping[int, Sequence[LogEntry]]
) -> Iterator[Event | TypedCommand]:
    """Yield the events by which a conversation came about, as they were emitted."""
    calls: dict[str, CallStarted] = {}
    for item in items:
        match item.type:
            case ItemType.USER if not item.is_added:  # else attached files: seen elsewhere
                yield TurnStarted(item.content, item.id)
            case ItemType.ASSISTANT:
                yield AnswerGiven(item.id, item.content)
                for block in item.blocks or ():
                    if block.get("type") == "tool_use":
                        given = block.get("input", {})
                        calls[block["id"]] = CallStarted(0, block["name"], given)
            case ItemType.TOOL if call := calls.pop(item.tool_call_id or "", None):
                yield call
                yield replace(item.finished, text=item.content)
        for entry in asides.get(item.seq, ()):
            match entry.subtype, entry.data:
                case "command", facts:
                    yield TypedCommand.of(facts, words)
                case "aside", facts:
                    yield Notice(facts["text"], facts.get("isError", False))
                case "turn_end", {"finished": facts}:
                    yield TurnFinished(**{**facts, "usage": usage_of(facts["usage"])})
    yield from calls.values()


def made_of(event: Event | TypedCommand, words: Words) -> Iterator[Entry]:
    """Yield what the conversation shows of an event; a call that ends changes its entry."""
    match event:
        case TypedCommand():
            yield event
        case TurnStarted(text):
            yield Notice(text) if is_report(text) else PersonMessage(text)
        case AnswerGiven(_, text) if text.strip():
            yield ModelMessage(text)
        case CallStarted(_, name, given):
            yield called(name, given)
        case Notice(text, is_error):
            yield Notice(words(text), is_error)
        case CompactionStarted():
            template = msg("Compacting: {goes} messages become a summary, {stays} stay.")
            yield Notice(words(template, goes=event.goes, stays=event.stays))
        case CompactionFinished(result):
            text = result.text(words.lang) if result else words("Nothing was compacted.")
            yield Notice(text, result is not None and not result.success)
        case TurnFinished():
            if event.steps or event.calls:  # else it was stopped before any answer
                yield event
            if event.explanation or event.reason == "stopped":
                yield Notice(_end(event, words), event.is_error)


def _end(event: TurnFinished, words: Words) -> str:
    """Return how a stopped or failed turn ended, and what the person can do."""
    if event.reason == "failed":
        return words("{why} Enter to retry, ↑ to edit.", why=event.explanation)
    return words(event.explanation or msg("Stopped."))


def called(name: str, given: object) -> Called:
    """Return the entry for a tool call, titled by window and action or by tool name."""
    arguments: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    if name == "read_file" and "path" in arguments:
        return Called(name, str(arguments["path"]))
    title, what = CallStarted(0, name, arguments).named
    return Called(title, in_short(what))


_NAMED = (bool, int, float)  # types of arguments that say little without their name


def in_short(value: object) -> str:
    """Format a value in one line without its syntax: ``milk, eggs``."""
    match value:
        case str():
            return " ".join(value.split())
        case Mapping():
            named = (f"{k}={in_short(v)}" if type(v) in _NAMED else v for k, v in value.items())
            return "  ".join(part for one in named if (part := in_short(one)))
        case list() | tuple():
            return ", ".join(in_short(one) for one in value)
        case None:
            return ""
    return str(value).lower()  # a number, or true


async def _grow(self: MarkdownBlock, block: MarkdownBlock) -> None:
    there = list(self.children)
    if not there or type(block) is not type(self):
        await MarkdownBlock._update_from_block(self, block)
        return
    rows = list(block.compose())
    kept = len(there) - 1
    if len(str(len(rows))) != len(str(len(there))):
        kept = 0  # the right-aligned numbers got wider
    await self.remove_children(there[kept:])
    await self.mount_all(rows[kept:])


def _growing(name: str) -> type[MarkdownBlock]:
    base = Markdown.BLOCKS[name]

    def compose(self: MarkdownBlock) -> ComposeResult:
        for item in self._blocks:
            _check(item)
        yield from base.compose(self)

    own = {"_update_from_block": _grow, "compose": compose}
    return type(f"Growing{base.__name__}", (base,), own)


_TASKS = {"[ ] ": "☐ ", "[x] ": "✓ ", "[X] ": "✓ "}


def _check(item: MarkdownBlock) -> None:
    """Show whether a task of a list is done in place of its bullet."""
    first = item._blocks[0] if item._blocks else None
    if first is not None and (mark := _TASKS.get(first._content.plain[:4])):
        item.bullet = mark  # type: ignore[attr-defined]  # not exported: an item of a list
        first.set_content(first._content[4:])


class Table(MarkdownTable):
    """A table whose columns are aligned as its second row says."""

    def on_mount(self) -> None:
        self.call_after_refresh(self._align)

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        await super()._update_from_block(block)
        self.call_after_refresh(self._align)

    def _align(self) -> None:
        heads = self._blocks[0]._blocks[0]._blocks
        styles = [str(one._token.attrs.get("style", "")) for one in heads]
        for number, cell in enumerate(self.query(".header, .cell")):
            if style := styles[number % len(styles)]:  # text-align, as the parser writes it
                cell.set_styles(f"{style};")


LISTS = {name: _growing(name) for name in ("bullet_list_open", "ordered_list_open")}
"""Replacement widgets for lists, by Markdown block name."""


LONGEST = 40_000
"""Maximum characters rendered of one message; the inspector shows all of it."""

_MANY, _FIRST = 24, 12  # lines from which only the first are shown, and how many
_BEAT = 1 / 10  # minimum seconds between two renders of a streaming response


class YourWords(Static):
    """A message from the person; a click expands one with many lines."""

    def __init__(self, text: str, words: Words) -> None:
        self.entry, self._words = PersonMessage(text), words
        self._rows = text.count("\n") + 1
        self._is_whole = self._rows <= _MANY
        super().__init__(self._shown(), classes="you")

    def on_click(self) -> None:
        if self._rows > _MANY:
            self._is_whole = not self._is_whole
            self.update(self._shown())

    def _shown(self) -> Content:
        lines = self.entry.text[:LONGEST].split("\n")
        left_out, more = len(self.entry.text) - LONGEST, ""
        if not self._is_whole:
            count = self._rows - _FIRST
            more = f"\n… {self._words('{count} more lines, click to show', count=f'{count:,}')}"
            lines = lines[:_FIRST]
        elif left_out > 0:
            more = f"\n… {self._words('{count} more characters', count=short(left_out))}"
        return Content.assemble(inert("\n".join(lines)), (more, FAINT))


class ModelWords(Markdown):
    """A message from the model, rendered in throttled batches while it streams.

    It keeps its text, which may change at any time, also before it is mounted; `_draw` makes the
    screen follow.

    Only its last block is rebuilt, but a table or code block takes longer as it grows, and so does
    the layout of a long response. The delay between renders grows with both, so that half of the
    time is left to the rest of the UI.
    """

    BLOCKS = (
        Markdown.BLOCKS
        | LISTS
        | {"table_open": Table}
        | dict.fromkeys(("fence", "code_block"), CodeFence)
    )

    def __init__(self, words: Words, text: str | None = None, omitted: int = 0) -> None:
        self._text, self._omitted, self._is_whole = "", omitted, text is not None
        self._take(text or "")
        super().__init__(self.shown, open_links=False)
        self._words = words
        self._will_draw = False
        self._due = 0.0  # when the next render is due

    @property
    def entry(self) -> ModelMessage:
        """What it shows, or will show when it is drawn."""
        return ModelMessage(self._text, self._omitted)

    @property
    def shown(self) -> str:
        """The text as it is drawn, without a secret that may be incomplete at its end."""
        text = self._text
        if self._omitted or not self._is_whole:
            text = text[: len(text) - partial_secret(text)]
        return for_terminal(mask_own(text))

    def feed(self, text: str) -> None:
        self._take(text)
        self._draw_soon()

    def finish(self, text: str | None = None) -> None:
        self._is_whole = True
        if text is not None:
            self._text, self._omitted = "", 0
            self._take(text)
        self._draw_soon()

    def _take(self, text: str) -> None:
        room = LONGEST - len(self._text)
        self._text += text[:room]
        self._omitted += max(len(text) - room, 0)

    def _draw_soon(self, seconds: float = _BEAT) -> None:
        if not self._will_draw:
            self._will_draw, self._due = True, time.monotonic() + seconds
            # Not before it is mounted, which would discard what was drawn.
            self.call_later(sure_timer, self, seconds, self._draw)

    async def _draw(self) -> None:
        """Render what is not drawn yet, then schedule the next render if more arrived."""
        shown, drawn = self.shown, self.source
        if not shown.startswith(drawn):
            await self.update(shown)
        elif shown != drawn:
            await self.append(shown[len(drawn) :])
        self._show_omitted()
        self._will_draw = False
        if self.shown != shown:
            # The timer is late if the layout of the previous render took long.
            self._draw_soon(max(_BEAT, time.monotonic() - self._due))

    def _show_omitted(self) -> None:
        if not self._omitted:
            return
        count = short(self._omitted)
        self.border_subtitle = Content.styled(
            self._words("{count} more characters: see the inspector", count=count), FAINT
        )
        self.add_class("-cut")

    on_mount = _show_omitted


class TurnLine(Static):
    """The figures of a turn, at the right."""

    def __init__(self, entry: TurnFinished, words: Words) -> None:
        super().__init__(Content.styled(figures(entry, words), FAINT), classes="turn")
        self.entry = entry


class AsideLine(Static):
    """A notice line."""

    def __init__(self, text: str, *, is_error: bool = False) -> None:
        super().__init__(inert(text), classes="aside -error" if is_error else "aside")
        self.entry = Notice(text, is_error)


class FoldedLine(Static):
    """A line that expands to show more below it."""

    def __init__(self) -> None:
        super().__init__(classes="call")
        self.is_open = False

    def head(self) -> Content:
        raise NotImplementedError

    def rest(self, width: int) -> Content:
        """Return what is shown below the line now."""
        raise NotImplementedError

    def toggle(self) -> None:
        self.is_open = not self.is_open
        self.refresh(layout=True)

    on_click = toggle

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        rest = self.rest(width)
        return 1 + rest.get_height({}, max(width, 1)) if rest else 1

    def render(self) -> Content:
        rest = self.rest(self.size.width)
        return Content("\n").join([self.head(), rest]) if rest else self.head()


_NAME, _TIME, _LEAST = 18, 6, 8  # cells; the last: of arguments, beside further facts
_LONGEST = 4_000  # maximum characters of an expanded result


class CallLine(FoldedLine):
    """A tool call: its status, title, arguments and duration."""

    def __init__(self, entry: Called, words: Words) -> None:
        super().__init__()
        self.entry, self._words = entry, words
        self._waits = False

    def finish(self, end: CallFinished) -> None:
        self.entry = replace(self.entry, end=end)
        self.refresh(layout=True)

    def wait(self, is_waiting: bool) -> None:
        self._waits = is_waiting
        self.refresh(layout=True)

    def head(self) -> Content:
        end = self.entry.end
        mark, style = ("·", "$text-warning") if end is None else ("✓", "$text-success")
        if end is not None and end.failed:
            mark, style = ("⊘", MUTED) if end.refused else ("✗", "$text-error")
        name, width = self._columns(self.size.width)
        took = f"{end.seconds:.1f}s" if end is not None else ""
        failed = end is not None and not end.ok and not end.refused and not self.is_open
        what = self.entry.what
        if end and (end.ran or failed):
            what = end.ran or end.text
        facts = self._facts(width)
        if facts:  # they follow the arguments, which give way
            room = width - facts.cell_length
            shown = min(room, cell_len(line(what)))
            what = fit(what, max(shown, 0))
            facts += " " * (room - shown)
        else:
            what = fit(what, width)
        return Content.assemble(
            (f"{mark} ", style),
            (fit(self.entry.title, name) + " ", "$foreground 85%"),
            (what, "$text-error" if failed else MUTED),
            facts,
            (fit(took, _TIME, right=True), FAINT),
        )

    def _columns(self, width: int) -> tuple[int, int]:
        """Return the cells of the title, and those of the arguments with the facts."""
        name = max(_NAME, min(len(self.entry.title), 30))
        return name, max(width - 2 - name - 1 - _TIME, 4)

    def _facts(self, width: int) -> Content:
        words, end = self._words, self.entry.end
        if self._waits:
            return Content.styled(f"   {words('waits for you')}", "$text-warning")
        if end is not None and end.refused:
            return Content.styled(f"   {words('refused')}", MUTED)
        counts, allowed = Content(), Content()
        if end is not None and end.ok and (end.added or end.removed):
            counts = Content.assemble(
                (f"   +{end.added}", "$text-success"), (f" -{end.removed}", "$text-error")
            )
        if end is not None and end.status:
            status = words("exit {status}", status=end.status)
            counts += Content.styled(f"   {status}", "$text-error")
        if end is not None and end.allowed:
            text = f" {words(msg('you edited it') if end.ran else msg('you allowed it'))}"
            allowed = Content.assemble(("   ◇", "$text-secondary"), (text, MUTED))
        kept = [counts + allowed, counts, Content()]
        return next(one for one in kept if not one or one.cell_length + _LEAST <= width)

    def rest(self, width: int) -> Content:
        end, (_, room) = self.entry.end, self._columns(width)
        parts = [self.entry.what] if self.is_open else []
        if end is not None and cell_len(line(end.ran)) > room - self._facts(room).cell_length:
            parts.append(end.ran)
        if end and (self.is_open or end.refused or (end.ran and not end.ok)):  # why is not folded
            parts.append(end.text[:_LONGEST])
        return Content("\n").join(inert(part).stylize(MUTED) for part in parts if part.strip())


_THOUGHT_NAME = 18  # cells, as wide as the titles of calls
_SEEN = 400  # characters from the end that are considered for the line
_LONGEST_THOUGHT = 20_000  # maximum characters when expanded


class Thought(FoldedLine):
    """The model's thinking: its newest words as they stream, and all of it when expanded."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._text = ""

    def feed(self, text: str) -> None:
        self._text += text
        self.refresh(layout=self.is_open)

    def head(self) -> Content:
        room = max(self.size.width - 2 - _THOUGHT_NAME - 1, 4)
        text = mask_own(self._text[-_SEEN:])
        newest = " ".join(text[: len(text) - partial_secret(text)].split())
        return Content.assemble(
            ("· ", FAINT),
            (fit(self._words("thinking"), _THOUGHT_NAME) + " ", MUTED),
            ("" if self.is_open else fit(newest[-room:], room), FAINT),
        )

    def rest(self, width: int) -> Content:  # noqa: ARG002
        text = mask_own(self._text[:_LONGEST_THOUGHT]) if self.is_open else ""
        return inert(text[: len(text) - partial_secret(text)].strip()).stylize(MUTED)

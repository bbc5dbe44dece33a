"""The dialog before a manual compaction: what is summarized, and what stays."""

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from contextui.context.compaction.plan import CompactionPlan
from contextui.context.item import Calls, ContextItem, is_conversation
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.inspector.labels import KINDS, label
from contextui.tui.lines import FAINT, MUTED, Rows, fit, short
from contextui.words import Words, msg

_KIND = 8  # cells
_SHOWN = 200  # maximum items listed of each kind


class What(Rows):
    """The items that are summarized and those that stay, one per line."""

    def __init__(self, words: Words, plan: CompactionPlan, calls: Calls) -> None:
        super().__init__(id="items")
        self._words, self._plan, self._calls = words, plan, calls

    def rows(self, width: int) -> list[Content]:
        words, plan, room = self._words, self._plan, max(width - _KIND - 12, 10)
        return [
            Content.styled(words("Goes into the summary"), "bold"),
            *self._listed(plan.goes, "− ", "$text-error", room),
            Content(""),
            Content.styled(words("Stays as it is"), "bold"),
            *self._listed(plan.stays, "· ", "$text-success", room),
        ]

    def _listed(
        self, items: tuple[ContextItem, ...], mark: str, style: str, width: int
    ) -> Iterable[Content]:
        for item in items[:_SHOWN]:
            sign = "★ " if item.pinned else mark
            name = self._words("summary" if item.is_summary else KINDS[item.type])
            yield Content.assemble(
                (sign, style),
                (f"{item.seq:04} ", FAINT),
                (fit(name, _KIND), MUTED),
                fit(label(item, self._calls, self._words), width),
            )
        if (more := len(items) - _SHOWN) > 0:
            yield Content.styled(self._words("… {count} more", count=more), FAINT)


class CompactScreen(QuestionScreen):
    """Previews a compaction and asks for confirmation."""

    DEFAULT_CSS = """
    CompactScreen {
        #box { width: 104; border: round $primary; border-title-color: $primary; }
        #what { height: auto; max-height: 45vh; margin: 1 0; }
        #note { margin: 0 0 1 0; }
    }
    """
    no = ("n", msg("Cancel; Esc does the same"))
    delay = 0.0

    def __init__(self, words: Words, plan: CompactionPlan, calls: Calls) -> None:
        super().__init__(words, words("Compact the conversation?"), "y", words("Compact it"))
        self._plan, self._calls = plan, calls

    def details(self) -> ComposeResult:
        plan, words = self._plan, self._words
        headline = words(
            "{goes} messages (~{tokens} tokens) go; {stays} (~{rest} tokens) stay.",
            goes=sum(map(is_conversation, plan.goes)),
            tokens=short(plan.tokens),
            stays=len(plan.stays),
            rest=short(plan.stays_tokens),
        )
        yield Static(Content(headline), id="headline")
        with VerticalScroll(id="what"):
            yield What(words, plan, self._calls)
        note = words("The model writes the summary. /undo restores everything.")
        yield Static(Content.styled(note, MUTED), id="note")

    def on_mount(self) -> None:
        self.query_one("#what").focus()

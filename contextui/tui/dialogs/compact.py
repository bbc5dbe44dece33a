"""The dialog before a manual compaction: what is summarized, and what stays."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from contextui.context.compaction.plan import CompactionPlan
from contextui.context.item import Calls, ContextItem, is_conversation
from contextui.text import cut
from contextui.tui.dialogs.diff import Kind, Line
from contextui.tui.dialogs.question import ChangeQuestion
from contextui.tui.inspector.labels import KINDS, label
from contextui.tui.lines import MUTED, fit, short
from contextui.words import Words

_KIND, _LABEL = 8, 80  # cells


class CompactScreen(ChangeQuestion):
    """Previews a compaction and asks for confirmation."""

    DEFAULT_CSS = """
    CompactScreen {
        #box { border: round $primary; border-title-color: $primary; }
        ChangeView { max-height: 45vh; }
    }
    """
    delay = 0.0

    def __init__(self, words: Words, plan: CompactionPlan, calls: Calls) -> None:
        headline = words(
            "{goes} messages (~{tokens} tokens) go; {stays} (~{rest} tokens) stay.",
            goes=sum(map(is_conversation, plan.goes)),
            tokens=short(plan.tokens),
            stays=len(plan.stays),
            rest=short(plan.stays_tokens),
        )
        note = words("The model writes the summary. /undo restores everything.")
        about = Content.assemble(f"{headline}\n", (note, MUTED))
        title, lines = words("Compact the conversation?"), [*_lines(words, plan, calls)]
        super().__init__(words, title, words("Compact it"), about=about, lines=lines)


def _lines(words: Words, plan: CompactionPlan, calls: Calls) -> Iterator[Line]:
    parts: tuple[tuple[str, Kind, Sequence[ContextItem]], ...] = (
        (words("Goes into the summary"), "-", plan.goes),
        (words("Stays as it is"), " ", plan.stays),
    )
    for title, kind, items in parts:
        yield Line("!", title)
        for item in items:
            name = words("summary" if item.is_summary else KINDS[item.type])
            said = cut(label(item, calls, words), _LABEL)
            sign = "★" if item.pinned else " "
            yield Line(kind, f"{sign} {item.seq:04} {fit(name, _KIND)}{said}")

"""The context budget bar: tokens of system prompt, history, windows and outdated content."""

from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from contextui.tui.desktop.rowlist import spread
from contextui.tui.lines import MUTED, line, short
from contextui.words import Words, msg

FULL = 0.8
"""The default share of the budget from which the conversation is compacted."""

_STYLES = {
    msg("system"): "$foreground 55%",
    msg("history"): "$primary 55%",
    msg("windows"): "$primary",
    msg("outdated"): "$outdated",
}
_NAMES = {"system": MUTED, "history": "$primary 80%", "windows": "$primary"}  # text needs contrast
_OUTDATED = msg("outdated {tokens}")
_REST, _BEYOND = "$foreground 28%", "$foreground 40%"


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens of the parts of a request, by the provider's count."""

    system: int = 0
    history: int = 0
    windows: int = 0
    outdated: int = 0

    @property
    def total(self) -> int:
        return self.system + self.history + self.windows + self.outdated


def bar(shares: Shares, budget: int, width: int, full: float = FULL) -> list[tuple[str, str]]:
    """Return the bar in exactly `width` cells; every used part gets at least one."""
    spans: list[tuple[str, str]] = []
    used = 0
    for name, style in _STYLES.items():
        tokens = getattr(shares, name)
        cells = max(round(tokens / budget * width), 1) if tokens else 0
        cells = min(cells, width - used)
        spans.append((("╍" if name == "outdated" else "━") * cells, style))
        used += cells
    mark = max(round(width * full), used)
    return [*spans, ("─" * (mark - used), _REST), ("╌" * (width - mark), _BEYOND)]


class BudgetBar(Widget):
    """The used share of the budget, the bar, and its legend in one line or two."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="budget")
        self._words = words
        self._shares, self._budget, self._banner = Shares(), 0, ""
        self._full, self._cost, self._has_cache = FULL, "", True

    def show(
        self,
        shares: Shares,
        budget: int,
        banner: str = "",
        full: float = FULL,
        *,
        cost: float | None = None,
        has_cache: bool = True,
    ) -> None:
        self._shares, self._budget, self._banner, self._full = shares, budget, banner, full
        self._cost, self._has_cache = f"${cost:,.2f}" if cost else "", has_cache
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        if not self._budget:
            name, state = self._words("Context"), self._words("opening…")
            return spread(Content.styled(name, "bold"), Content.styled(state, MUTED), width)
        drawn = bar(self._shares, self._budget, width, self._full)
        lines = [self._head(width), Content.assemble(*drawn)]
        return Content("\n").join([*lines, self._legend(width)])

    def _head(self, width: int) -> Content:
        name, total = Content.styled(self._words("Context"), "bold"), self._shares.total
        share = total / self._budget
        style = "$text-error" if share >= 1 else "$text-warning" if share >= self._full else MUTED
        budget = short(self._budget).replace(".0", "")
        percent = (f"{100 * share:.0f}%", style)
        figures = Content.assemble((f"~{short(total)} / {budget}   ", MUTED), percent)
        if self._cost:  # at the right, and the figures beside the name
            return spread(name + "   " + figures, Content.styled(self._cost, "bold"), width)
        return spread(name, figures, width)

    def _legend(self, width: int) -> Content:
        if self._banner:
            return Content.styled(line(self._banner), "$text-warning")
        gap = " " * (2 if width < 60 else 3 if self._shares.outdated else 5)
        parts = Content.assemble(
            *(
                span
                for name, style in _NAMES.items()
                for span in (
                    (self._words(name), style),
                    (f" {short(getattr(self._shares, name))}{gap}", MUTED),
                )
            )
        )
        if not self._shares.outdated:
            return parts
        tokens = short(self._shares.outdated)
        kept = msg("outdated {tokens}, kept for the cache")
        outdated = Content.assemble(
            ("╍ ", "$outdated"),
            (self._words(kept if self._has_cache else _OUTDATED, tokens=tokens), MUTED),
        )
        is_wide = parts.cell_length + outdated.cell_length <= width
        parts = parts if is_wide else parts.rstrip()
        return Content("" if is_wide else "\n").join([parts, outdated])

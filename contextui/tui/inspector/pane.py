"""The inspector pane: pages for items, request, usage and log, now or at an earlier turn."""

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.widget import Widget

from contextui.events import Event, TurnFinished, TurnStarted, UsageSpent
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.inspector.budget import BudgetBar
from contextui.tui.inspector.draft import Order
from contextui.tui.inspector.edit import Changing
from contextui.tui.inspector.history import EarlierTurns, OlderItems, Watch
from contextui.tui.inspector.item_page import ItemPage
from contextui.tui.inspector.log import LogPage
from contextui.tui.inspector.request import RequestPage
from contextui.tui.inspector.tabs import PAGES, TabBar
from contextui.tui.inspector.usage import UsagePage, total_cost
from contextui.tui.keys import run_meant
from contextui.tui.timers import sure_timer
from contextui.words import Words

_PAUSE = 0.05  # minimum seconds between two refreshes
_BESIDE = 90  # cells from which list and detail are side by side


class Inspector(Vertical):
    """Items, request, usage and log of a session, now or after an earlier turn."""

    BINDINGS = [
        Binding("comma", "turn(-1)", "turn", key_display=",."),
        Binding("full_stop", "turn(1)", show=False),
        Binding("left_square_bracket", "page(-1)", "tab", key_display="[]"),
        Binding("right_square_bracket", "page(1)", show=False),
        Binding("end", "now", show=False, priority=True),
        Binding("z", "screen.zoom", "zoom"),
    ]

    def __init__(self, words: Words, desk: AppSession) -> None:
        super().__init__(id="inspector")
        self._words, self._desk, session = words, desk, desk.session
        self._watch = watch = Watch(desk, lambda one: self.call_later(self._log.add_sweep, one))
        self._earlier, self._older = EarlierTurns(desk, watch), OlderItems(session)
        cached, cost = (lambda: watch.snapshot().cached_tokens), desk.rewrite_cost
        recall = self._older.recall
        self._changing = Changing(session.context, words, recall, cached, cost)
        self._items = ItemPage(words, self._look_soon)
        self._usage = UsagePage(words, self._show_its_request)
        self._log = LogPage(words, desk, lambda: self._tabs.mark("Log"))
        self._pages: dict[str, Widget] = {
            "Items": self._items,
            "Request": RequestPage(words, desk.controller),
            "Usage": self._usage,
            "Log": self._log,
        }
        self._tabs = TabBar(words, self._turn_to, self._items.listing.follow)
        self._items.listing.followed = self._tabs.show_following
        self._page = PAGES[0]
        self._is_waiting = self._is_stale = False

    def compose(self) -> ComposeResult:
        yield BudgetBar(self._words)
        yield self._tabs
        yield from self._pages.values()

    def on_descendant_focus(self) -> None:
        self.screen.query("#edge").set_class(True, "-focused")

    def on_descendant_blur(self) -> None:
        self.screen.query("#edge").set_class(False, "-focused")

    def on_mount(self) -> None:
        self._show_page(PAGES[0])
        if self._desk.session.turn:
            self.run_worker(self._read_past(), name="past turns")
        self._look_soon()

    def on_unmount(self) -> None:
        self._watch.stop()

    async def _read_past(self) -> None:
        watch = self._watch
        await watch.read_past()
        if self._desk.has_cache:
            turns = [turn for turn in watch.spending.turns if turn.turn < watch.first_turn]
            sweeps = [sweep for turn in turns for sweep in turn.sweeps]
            self._log.put_before(sweeps)
        self._look_soon()

    # --- events ------------------------------------------------------------------------

    def take(self, changes: Changes) -> None:
        if self.query(LogPage):  # else the app is closing
            self._log.take(changes)
            self._look_soon()

    def handle(self, event: Event) -> None:
        if self.query(LogPage):  # else the app is closing
            self._log.handle(event)
            self._watch.handle(event)
            if isinstance(event, TurnStarted | UsageSpent | TurnFinished):
                self._look_soon()

    # --- refreshing --------------------------------------------------------------------

    def _look_soon(self) -> None:
        """Schedule a refresh, at most 20 times a second."""
        if not self._is_waiting:
            self._is_waiting = True
            sure_timer(self, _PAUSE, self._look)

    on_show = _look_soon

    def _look(self) -> None:
        self._is_waiting = False
        self._is_stale = not self.region.area  # hidden: refresh when it is shown
        if self._is_stale:
            return
        snapshot, is_now, desk = self._earlier.snapshot(), self._earlier.is_now, self._desk
        spending = self._watch.spending
        self.query_one(BudgetBar).show(
            snapshot.shares,
            desk.controller.options.budget,
            self._earlier.banner(self._words),
            desk.controller.compaction.threshold,
            cost=total_cost(spending.turns),
            has_cache=desk.has_cache,
        )
        match self._page:
            case "Items":
                changing, older = (self._changing, self._older) if is_now else (None, None)
                self._items.show(snapshot, spending.turn_of, changing, older)
            case "Request":
                turn = desk.session.turn + 1 if is_now else self._earlier.wanted or 0
                sent = list(self._watch.sent) if is_now else []
                order = Order(snapshot.composition, sent, turn, not is_now, desk.has_cache)
                self.query_one(RequestPage).show(order)
            case "Usage":
                provider = desk.session.context.counter.calibrated
                self._usage.show_turns(
                    spending.turns, provider, has_cache=desk.has_cache, cost_of=desk.cost_of
                )

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= _BESIDE, "-beside")
        if self._is_stale:
            self._look_soon()

    # --- pages -------------------------------------------------------------------------

    def action_page(self, step: int) -> None:
        self._turn_to(PAGES[(PAGES.index(self._page) + step) % len(PAGES)])

    def _turn_to(self, page: str) -> None:
        has_focus = self.has_focus_within
        self._show_page(page)
        if has_focus:
            shown = self._pages[page]
            (shown if isinstance(shown, RowList) else shown.query_one(RowList)).focus()
        self._look()

    def _show_page(self, page: str) -> None:
        self._page = page
        self._tabs.show(page)
        for name, one in self._pages.items():
            one.display = name == page

    # --- turns -------------------------------------------------------------------------

    def action_turn(self, step: int) -> None:
        if self._earlier.step(step):
            self._read_earlier()
        else:
            self.notify(self._words("There is no earlier turn."), markup=False)
        self._look()

    @work
    async def _read_earlier(self) -> None:
        await self._earlier.read()
        self._look()

    def _show_its_request(self, turn: int) -> None:
        self._earlier.go(turn)
        self._read_earlier()
        self._turn_to("Request")

    def action_now(self) -> None:
        self._earlier.return_to_now()
        self._look()

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002
    ) -> bool | None:
        return self._earlier.wanted is not None or action != "now"

    async def on_key(self, event: Key) -> None:
        await run_meant(self.screen, event)

"""The inspector pane: pages for items, request, usage and log, now or at an earlier turn."""

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Key, Resize, Show
from textual.message import Message

from contextui.events import Event, TurnFinished, TurnStarted, UsageSpent
from contextui.session.usage import Sweep
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.desktop.rowlist import RowList
from contextui.tui.inspector.budget import BudgetBar
from contextui.tui.inspector.draft import Drafting, Order
from contextui.tui.inspector.edit import Changing
from contextui.tui.inspector.history import EarlierTurns, OlderItems, Watch
from contextui.tui.inspector.item_page import ItemPage
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.log import LogPage
from contextui.tui.inspector.request import RequestPage
from contextui.tui.inspector.tabs import PAGES, TabBar
from contextui.tui.inspector.usage import UsagePage
from contextui.tui.keys import meant_key
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

    class Swept(Message):
        """Posted when a request was sent without what was outdated."""

        def __init__(self, sweep: Sweep) -> None:
            super().__init__()
            self.sweep = sweep

    def __init__(self, words: Words) -> None:
        super().__init__(id="inspector")
        self._words = words
        self._desk: AppSession | None = None
        self._watch: Watch | None = None
        self._earlier: EarlierTurns | None = None
        self._changing: Changing | None = None
        self._older: OlderItems | None = None
        self._page = PAGES[0]
        self._is_waiting = self._is_stale = False

    def compose(self) -> ComposeResult:
        yield BudgetBar(self._words)
        yield TabBar(self._words)
        yield ItemPage(self._words)
        yield RequestPage(self._words)
        yield UsagePage(self._words)
        yield LogPage(self._words)

    def on_descendant_focus(self) -> None:
        self.screen.query("#edge").set_class(True, "-focused")

    def on_descendant_blur(self) -> None:
        self.screen.query("#edge").set_class(False, "-focused")

    def on_mount(self) -> None:
        self._show_page(PAGES[0])

    def on_unmount(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    def attach(self, desk: AppSession) -> None:
        if self._watch is not None:
            self._watch.stop()
        self._desk, session = desk, desk.session
        self._watch = watch = Watch(desk, lambda sweep: self.post_message(self.Swept(sweep)))
        self._earlier = EarlierTurns(desk, watch)
        self._older = older = OlderItems(session)
        cached, cost = (lambda: watch.snapshot().cached_tokens), desk.rewrite_cost
        self._changing = Changing(session.context, self._words, older.recall, cached, cost)
        drafting = Drafting(desk.controller, self._words)
        self.query_one(RequestPage).attach(drafting, session.context.counter)
        self.query_one(LogPage).attach(desk)
        if session.turn:
            self.run_worker(self._read_past(watch), name="past turns")
        self._look()

    async def _read_past(self, watch: Watch) -> None:
        await watch.read_past()
        if watch is not self._watch or self._desk is None:
            return
        if self._desk.has_cache:
            turns = [turn for turn in watch.spending.turns if turn.turn < watch.first_turn]
            sweeps = [sweep for turn in turns for sweep in turn.sweeps]
            self.query_one(LogPage).put_before(sweeps, self._provider)
        self._look_soon()

    def _provider(self, counted: int) -> int:
        assert self._desk is not None
        return self._desk.session.context.counter.calibrated(counted)

    # --- events ------------------------------------------------------------------------

    def take(self, changes: Changes) -> None:
        if not self.query(LogPage):
            return
        self.query_one(LogPage).take(changes)
        if changes.context or changes.windows:
            self._look_soon()

    def handle(self, event: Event) -> None:
        if not self.query(LogPage):  # the app is closing
            return
        self.query_one(LogPage).handle(event)
        if self._watch is not None:
            self._watch.handle(event)
        if isinstance(event, TurnStarted | UsageSpent | TurnFinished):
            self._look_soon()

    @on(Swept)
    def _log_sweep(self, message: Swept) -> None:
        self.query_one(LogPage).add_sweep(message.sweep, self._provider)

    @on(ItemList.Followed)
    def _show_following(self, message: ItemList.Followed) -> None:
        message.stop()
        self.query_one(TabBar).show_following(message.follows, message.new)

    @on(TabBar.EndRequested)
    def _go_to_newest(self, message: TabBar.EndRequested) -> None:
        message.stop()
        self.query_one(ItemPage).listing.follow()

    @on(LogPage.Grew)
    def _mark_log(self) -> None:
        self.query_one(TabBar).mark("Log")

    # --- refreshing --------------------------------------------------------------------

    @on(ItemPage.Changed)
    def _look_soon(self) -> None:
        """Schedule a refresh, at most 20 times a second."""
        if not self._is_waiting:
            self._is_waiting = True
            sure_timer(self, _PAUSE, self._look)

    def _look(self) -> None:
        self._is_waiting = False
        if self._watch is None or self._desk is None or self._earlier is None:
            return
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
            cost=spending.cost,
            has_cache=desk.has_cache,
        )
        match self._page:
            case "Items":
                changing, older = (self._changing, self._older) if is_now else (None, None)
                self.query_one(ItemPage).show(snapshot, spending.turn_of, changing, older)
            case "Request":
                turn = desk.session.turn + 1 if is_now else self._earlier.wanted or 0
                sent = list(self._watch.sent) if is_now else []
                order = Order(snapshot.composition, sent, turn, not is_now, desk.has_cache)
                self.query_one(RequestPage).show(order)
            case "Usage":
                self.query_one(UsagePage).show(
                    spending.turns, self._provider, has_cache=desk.has_cache, cost_of=desk.cost_of
                )

    def on_show(self, _: Show) -> None:
        self._look_soon()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= _BESIDE, "-beside")
        if self._is_stale:
            self._look_soon()

    # --- pages -------------------------------------------------------------------------

    def action_page(self, step: int) -> None:
        self._turn_to(PAGES[(PAGES.index(self._page) + step) % len(PAGES)])

    @on(TabBar.Chosen)
    def _turn_to_chosen(self, message: TabBar.Chosen) -> None:
        self._turn_to(message.page)

    def _turn_to(self, page: str) -> None:
        has_focus = self.has_focus_within
        self._show_page(page)
        if has_focus:
            shown = self._pages()[page]
            has_list = isinstance(shown, ItemPage | RequestPage)
            (shown.query_one(RowList) if has_list else shown).focus()
        self._look()

    def _show_page(self, page: str) -> None:
        self._page = page
        self.query_one(TabBar).show(page)
        for name, one in self._pages().items():
            one.display = name == page

    def _pages(self) -> dict[str, ItemPage | RequestPage | UsagePage | LogPage]:
        return {
            "Items": self.query_one(ItemPage),
            "Request": self.query_one(RequestPage),
            "Usage": self.query_one(UsagePage),
            "Log": self.query_one(LogPage),
        }

    # --- turns -------------------------------------------------------------------------

    def action_turn(self, step: int) -> None:
        if self._earlier is not None:
            if self._earlier.step(step):
                self._read_earlier(self._earlier)
            else:
                self.notify(self._words("There is no earlier turn."), markup=False)
        self._look()

    @work
    async def _read_earlier(self, earlier: EarlierTurns) -> None:
        await earlier.read()
        self._look()

    @on(UsagePage.Opened)
    def _show_its_request(self, message: UsagePage.Opened) -> None:
        if self._earlier is not None:
            self._earlier.go(message.turn)
            self._read_earlier(self._earlier)
        self._turn_to("Request")

    def action_now(self) -> None:
        if self._earlier is not None:
            self._earlier.return_to_now()
        self._look()

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002
    ) -> bool | None:
        is_away = self._earlier is not None and self._earlier.wanted is not None
        return is_away or action != "now"

    # --- keys --------------------------------------------------------------------------

    async def on_key(self, event: Key) -> None:
        """Map full-width letters of an input method to the intended keys."""
        meant = meant_key(event)
        active = self.screen.active_bindings.get(meant) if meant is not None else None
        if active is not None and active.enabled:
            event.stop()
            await self.app.run_action(active.binding.action, active.node)

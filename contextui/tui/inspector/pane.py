"""The inspector pane: pages for items, request, usage and log, now or at an earlier turn."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Key, Resize, Show
from textual.message import Message
from textual.widget import Widget

from contextui.events import Event, TurnFinished, TurnStarted, UsageSpent
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.inspector.budget import BudgetBar
from contextui.tui.inspector.draft import Drafting, Order
from contextui.tui.inspector.edit import Changing
from contextui.tui.inspector.history import Earlier, EarlierTurn, OlderItems, Watch
from contextui.tui.inspector.item_page import ItemPage
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.log import LogPage
from contextui.tui.inspector.request import RequestPage
from contextui.tui.inspector.sweeps import Sweep
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

    class PastKnown(Message):
        """Posted when the usage of turns before this run is read from the log."""

    class Swept(Message):
        """Posted when a request was sent without what was outdated."""

        def __init__(self, sweep: Sweep) -> None:
            super().__init__()
            self.sweep = sweep

    class OlderRead(Message):
        """Posted when older items are read from the log."""

    class EarlierRead(Message):
        """Posted when an earlier turn is read from the log."""

        def __init__(self, earlier: EarlierTurn) -> None:
            super().__init__()
            self.earlier = earlier

    def __init__(self, words: Words) -> None:
        super().__init__(id="inspector")
        self._words = words
        self._desk: AppSession | None = None
        self._watch: Watch | None = None
        self._earlier: Earlier | None = None
        self._changing: Changing | None = None
        self._older: OlderItems | None = None
        self._page = PAGES[0]
        self._is_waiting = self._is_stale = False

    def compose(self) -> ComposeResult:
        """Compose the budget bar, the page names and the pages."""
        yield BudgetBar(self._words)
        yield TabBar(self._words)
        yield ItemPage(self._words)
        yield RequestPage(self._words)
        yield UsagePage(self._words)
        yield LogPage(self._words)

    def on_descendant_focus(self) -> None:
        """Color the rule to the left."""
        self.screen.query("#edge").set_class(True, "-focused")

    def on_descendant_blur(self) -> None:
        """Restore the rule."""
        self.screen.query("#edge").set_class(False, "-focused")

    def on_mount(self) -> None:
        """Show the items page."""
        self._show_page(PAGES[0])

    def on_unmount(self) -> None:
        """Unsubscribe from the session."""
        if self._watch is not None:
            self._watch.stop()

    def attach(self, desk: AppSession) -> None:
        """Inspect a session."""
        if self._watch is not None:
            self._watch.stop()
        self._desk = desk
        self._watch = watch = Watch(
            desk,
            lambda: self.post_message(self.PastKnown()),
            lambda sweep: self.post_message(self.Swept(sweep)),
        )
        self._earlier = Earlier(desk, watch, lambda one: self.post_message(self.EarlierRead(one)))
        self._older = OlderItems(desk.session, lambda: self.post_message(self.OlderRead()))
        context, recall = desk.session.context, self._older.recall
        self._changing = Changing(
            context, self._words, recall, lambda: watch.look().cached_tokens, desk.rewrite_cost
        )
        drafting = Drafting(desk.controller, self._words)
        self.query_one(RequestPage).attach(drafting, context.counter)
        self.query_one(LogPage).attach(desk)
        self._look()

    # --- events ------------------------------------------------------------------------

    def take(self, changes: Changes) -> None:
        """Refresh what changed."""
        if not self.query(LogPage):
            return
        self.query_one(LogPage).take(changes)
        if changes.context or changes.windows:
            self._look_soon()

    def handle(self, event: Event) -> None:
        """Record the usage and errors of a turn."""
        if not self.query(LogPage):  # the app is closing
            return
        self.query_one(LogPage).handle(event)
        if self._watch is not None:
            self._watch.handle(event)
        if isinstance(event, TurnStarted | UsageSpent | TurnFinished):
            self._look_soon()

    @on(OlderRead)
    def _show_older(self) -> None:
        self.query_one(ItemPage).show_older()

    @on(Swept)
    def _log_sweep(self, message: Swept) -> None:
        if self._desk is not None:
            provider = self._desk.session.context.counter.calibrated
            self.query_one(LogPage).add_sweep(message.sweep, provider)

    @on(PastKnown)
    def _log_past(self) -> None:
        if self._desk is not None and self._watch is not None and self._desk.has_cache:
            first, provider = self._watch.first_turn, self._desk.session.context.counter.calibrated
            turns = [turn for turn in self._watch.spending.turns if turn.turn < first]
            sweeps = [sweep for turn in turns for sweep in turn.sweeps]
            self.query_one(LogPage).put_before(sweeps, provider)

    @on(ItemList.Followed)
    def _show_following(self, message: ItemList.Followed) -> None:
        message.stop()
        self.query_one(TabBar).show_following(message.follows, message.new)

    @on(TabBar.EndRequested)
    def _go_to_newest(self, message: TabBar.EndRequested) -> None:
        message.stop()
        self.query_one(ItemPage).listing.follow(True)

    @on(LogPage.Grew)
    def _mark_log(self) -> None:
        self.query_one(TabBar).mark("Log")

    # --- refreshing --------------------------------------------------------------------

    @on(ItemPage.Changed)
    @on(PastKnown)
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
        look, is_now = self._earlier.look(), self._earlier.is_now
        budget = self._desk.controller.options.budget
        full = self._desk.controller.compaction.threshold
        banner = self._earlier.banner(self._words)
        bar, cost = self.query_one(BudgetBar), self._watch.spending.cost
        bar.show(look.shares, budget, banner, full, cost=cost, has_cache=self._desk.has_cache)
        match self._page:
            case "Items":
                changing, older = (self._changing, self._older) if is_now else (None, None)
                turn_of = self._watch.spending.turn_of
                self.query_one(ItemPage).show(look, turn_of, changing, older)
            case "Request":
                turn = self._desk.session.turn + 1 if is_now else self._earlier.wanted or 0
                sent = self._watch.sent.requests if is_now else []
                order = Order(look.composition, sent, turn, not is_now, self._desk.has_cache)
                self.query_one(RequestPage).show(order)
            case "Usage":
                provider = self._desk.session.context.counter.calibrated
                turns, has_cache = self._watch.spending.turns, self._desk.has_cache
                self.query_one(UsagePage).show(
                    turns, provider, has_cache=has_cache, cost_of=self._desk.cost_of
                )

    def on_show(self, _: Show) -> None:
        """Refresh what changed while the pane was hidden."""
        self._look_soon()

    def on_resize(self, event: Resize) -> None:
        """Arrange list and detail side by side if there is room."""
        self.set_class(event.size.width >= _BESIDE, "-beside")
        if self._is_stale:
            self._look_soon()

    # --- pages -------------------------------------------------------------------------

    def action_page(self, step: int) -> None:
        """Show the next or previous page."""
        self._turn_to(PAGES[(PAGES.index(self._page) + step) % len(PAGES)])

    @on(TabBar.Chosen)
    def _turn_to_chosen(self, message: TabBar.Chosen) -> None:
        self._turn_to(message.page)

    def _turn_to(self, page: str) -> None:
        has_focus = self.has_focus_within
        self._show_page(page)
        if has_focus:
            self._stop(page).focus()
        self._look()

    def _show_page(self, page: str) -> None:
        self._page = page
        self.query_one(TabBar).show(page)
        for name, one in self._pages().items():
            one.display = name == page
            one.take_focus(name == page)

    def _pages(self) -> dict[str, ItemPage | RequestPage | UsagePage | LogPage]:
        return {
            "Items": self.query_one(ItemPage),
            "Request": self.query_one(RequestPage),
            "Usage": self.query_one(UsagePage),
            "Log": self.query_one(LogPage),
        }

    def _stop(self, page: str) -> Widget:
        """Return the widget that takes the focus on a page."""
        match self._pages()[page]:
            case ItemPage() as items:
                return items.listing
            case RequestPage() as request:
                return request.outline
            case other:
                return other

    # --- turns -------------------------------------------------------------------------

    def action_turn(self, step: int) -> None:
        """Show an earlier or later turn."""
        if self._earlier is not None and not self._earlier.step(step):
            self.notify(self._words("There is no earlier turn."), markup=False)
        self._look()

    @on(EarlierRead)
    def _show_earlier(self, message: EarlierRead) -> None:
        if self._earlier is not None:
            self._earlier.take(message.earlier)
        self._look()

    @on(UsagePage.Opened)
    def _show_its_request(self, message: UsagePage.Opened) -> None:
        if self._earlier is not None:
            self._earlier.go(message.turn)
        self._turn_to("Request")

    def action_now(self) -> None:
        """Return to the present."""
        if self._earlier is not None:
            self._earlier.return_to_now()
        self._look()

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002
    ) -> bool | None:
        """Enable `now` only while an earlier turn is shown."""
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

"""The inspector: what the model sees, what it costs, and what went wrong."""

import unicodedata

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.events import Key, Resize, Show
from textual.message import Message
from textual.widget import Widget

from contextui.agent.events import (
    AnswerDiscarded,
    Notice,
    RetryScheduled,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.events import Event
from contextui.text import one_line
from contextui.tui.desk import Desk
from contextui.tui.inspector.budget import BudgetBar
from contextui.tui.inspector.changing import Changing
from contextui.tui.inspector.draft import Drafting
from contextui.tui.inspector.earlier import Earlier, EarlierTurn
from contextui.tui.inspector.itempage import ItemPage
from contextui.tui.inspector.log import Kind, LogPage
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.request import Order, RequestPage
from contextui.tui.inspector.tabs import PAGES, TabBar
from contextui.tui.inspector.usage import UsagePage
from contextui.tui.inspector.watching import Watch
from contextui.tui.link import Changes
from contextui.tui.words import Words

_PAUSE = 0.05  # seconds at least between two looks
_BESIDE = 90  # cells from which on things stand side by side
_KEYS = {"。": ".", "【": "[", "】": "]", "、": "/"}  # what input methods make of keys


class Inspector(Vertical):
    """Items, request, usage and log of a session, now or as they were after an earlier turn."""

    BINDINGS = [
        Binding("comma", "turn(-1)", "turn", key_display=",."),
        Binding("full_stop", "turn(1)", show=False),
        Binding("left_square_bracket", "page(-1)", "tab", key_display="[]"),
        Binding("right_square_bracket", "page(1)", show=False),
        Binding("end", "now", show=False, priority=True),
        Binding("z", "screen.zoom", "zoom"),
    ]

    class PastKnown(Message):
        """It is known now what the turns before this run cost."""

    class EarlierRead(Message):
        """An earlier turn was read."""

        def __init__(self, earlier: EarlierTurn) -> None:
            super().__init__()
            self.earlier = earlier

    def __init__(self, words: Words) -> None:
        super().__init__(id="inspector")
        self._words = words
        self._desk: Desk | None = None
        self._watch: Watch | None = None
        self._earlier: Earlier | None = None
        self._changing: Changing | None = None
        self._page = PAGES[0]
        self._wanted_turn: int | None = None
        self._shown_turn: EarlierTurn | None = None
        self._is_waiting = self._is_stale = False
        self._notices = self._attempt = 0

    def compose(self) -> ComposeResult:
        """The budget, the names of the pages, and the pages."""
        yield BudgetBar(self._words)
        yield TabBar(self._words)
        yield ItemPage(self._words)
        yield RequestPage(self._words)
        yield UsagePage(self._words)
        yield LogPage(self._words)

    def on_mount(self) -> None:
        """Begin with the items."""
        self._show_page(PAGES[0])

    def on_unmount(self) -> None:
        """Follow the session no longer."""
        if self._watch is not None:
            self._watch.stop()

    def attach(self, desk: Desk) -> None:
        """Inspect a session."""
        if self._watch is not None:
            self._watch.stop()
        self._desk = desk
        self._watch = watch = Watch(desk, lambda: self.post_message(self.PastKnown()))
        self._earlier = Earlier(desk.session, watch.tools, self._earlier_read)
        context = desk.session.context
        self._changing = Changing(context, self._words, lambda: watch.look().cached_tokens)
        drafting = Drafting(desk.controller, self._words)
        self.query_one(RequestPage).attach(drafting, context.counter)
        for entry in desk.entries:
            if not entry.usable:
                self._log(str(entry), "error")
        for notice in dict.fromkeys([*desk.notices, *desk.session.notices]):
            self._log(notice)
        self._notices = len(desk.session.notices)
        self._look()

    # --- what happens ------------------------------------------------------------------

    def take(self, changes: Changes) -> None:
        """Show what changed."""
        for trouble in changes.troubles:
            self._log(trouble)
        self._take_notices()
        if changes.context or changes.windows:
            self._look_soon()

    def hear(self, event: Event) -> None:
        """Note what a turn costs, and what goes wrong in it."""
        if self._watch is not None:
            self._watch.hear(event)
        match event:
            case Notice():
                self._log(event.text, "notice")
            case AnswerDiscarded():
                self._log(event.reason)
            case RetryScheduled() if event.attempt != self._attempt:
                self._attempt = event.attempt
                self._log(event.reason)
            case TurnStarted() | UsageSpent():
                self._attempt = 0
                self._look_soon()
            case TurnFinished():
                if event.is_error and event.explanation:
                    self._log(event.explanation, "error")
                self._take_notices()
                self._look_soon()

    def _take_notices(self) -> None:
        notices = self._desk.session.notices if self._desk is not None else []
        for notice in notices[self._notices :]:
            self._log(notice)
        self._notices = len(notices)

    def _log(self, text: str, kind: Kind = "warning") -> None:
        self.query_one(LogPage).tell(text, kind)
        self.query_one(TabBar).mark("Log")

    # --- looking -----------------------------------------------------------------------

    @on(ItemPage.Changed)
    @on(PastKnown)
    def _look_soon(self) -> None:
        """Look again, but not more than 20 times a second."""
        if not self._is_waiting:
            self._is_waiting = True
            self.set_timer(_PAUSE, self._look)

    def _look(self) -> None:
        self._is_waiting = False
        if self._watch is None or self._desk is None:
            return
        self._is_stale = not self.region.area  # nobody sees it: look when it is shown
        if self._is_stale:
            return
        earlier = self._shown_turn
        look = earlier.look if earlier is not None and earlier.look else self._watch.look()
        budget = self._desk.controller.options.budget
        self.query_one(BudgetBar).show(look.shares, budget, self._banner())
        match self._page:
            case "Items":
                changing = self._changing if earlier is None else None
                turn_of = self._watch.spending.turn_of
                self.query_one(ItemPage).show(look, turn_of, changing)
            case "Request":
                self._show_request(look)
            case "Usage":
                self.query_one(UsagePage).show(self._watch.spending.turns)

    def _show_request(self, look: Look) -> None:
        if self._watch is None:
            return
        page, earlier = self.query_one(RequestPage), self._shown_turn
        if earlier is not None:
            page.show(Order(look.composition, [], earlier.turn, is_earlier=True))
        else:
            page.show(Order(look.composition, self._watch.sent.requests, self._turns_now()))

    def _banner(self) -> str:
        if self._wanted_turn is None:
            return ""
        turns = {"turn": self._wanted_turn, "turns": self._turns_now()}
        if self._shown_turn is None or self._shown_turn.turn != self._wanted_turn:
            return self._words("Turn {turn} of {turns} is being read …", **turns)
        if self._shown_turn.look is None:
            reason = one_line(self._shown_turn.reason, 120)
            return self._words("Turn {turn} cannot be shown: {reason}", reason=reason, **turns)
        return self._words("Turn {turn} of {turns}, as it was then. End returns.", **turns)

    def on_show(self, _: Show) -> None:
        """Catch up with what happened while nobody looked."""
        self._look_soon()

    def on_resize(self, event: Resize) -> None:
        """Put things side by side if there is room."""
        self.set_class(event.size.width >= _BESIDE, "-beside")
        if self._is_stale:
            self._look_soon()

    # --- pages -------------------------------------------------------------------------

    def action_page(self, step: int) -> None:
        """Turn to the next page."""
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
        """What has the focus on a page."""
        match self._pages()[page]:
            case ItemPage() as items:
                return items.listing
            case RequestPage() as request:
                return request.outline
            case other:
                return other

    # --- turns -------------------------------------------------------------------------

    def _turns_now(self) -> int:
        """The number of the turn under way, or of the last one."""
        if self._desk is None:
            return 0
        return self._desk.session.turn + self._desk.controller.is_running

    def action_turn(self, step: int) -> None:
        """Go to an earlier or a later turn."""
        now = self._turns_now()
        here = self._wanted_turn if self._wanted_turn is not None else now
        if here + step >= now:
            self.action_now()
        elif here + step < 1:
            self.notify(self._words("There is no earlier turn."), markup=False)
        else:
            self._go_to_turn(here + step)

    def _go_to_turn(self, turn: int) -> None:
        self._wanted_turn = turn
        if self._earlier is not None:
            self._earlier.ask(turn)
        self._look()

    def _earlier_read(self, earlier: EarlierTurn) -> None:
        self.post_message(self.EarlierRead(earlier))

    @on(EarlierRead)
    def _show_earlier(self, message: EarlierRead) -> None:
        if message.earlier.turn == self._wanted_turn:
            self._shown_turn = message.earlier
            self._look()

    @on(UsagePage.Opened)
    def _show_its_request(self, message: UsagePage.Opened) -> None:
        self._turn_to("Request")
        if message.turn < self._turns_now():
            self._go_to_turn(message.turn)
        else:
            self.action_now()

    def action_now(self) -> None:
        """Return to what is now."""
        self._wanted_turn = self._shown_turn = None
        self._look()

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002
    ) -> bool | None:
        """The way back is there only for who went away."""
        return action != "now" or self._wanted_turn is not None

    # --- keys --------------------------------------------------------------------------

    async def on_key(self, event: Key) -> None:
        """With an input method on, letters arrive full-width: take them for what they are."""
        given = event.character or ""
        plain = _KEYS.get(given, unicodedata.normalize("NFKC", given))
        if len(plain) != 1 or plain == given:
            return
        for active in list(self.screen.active_bindings.values()):
            if active.enabled and active.binding.key == _key_name(plain):
                event.stop()
                await self.app.run_action(active.binding.action, active.node)
                return


def _key_name(character: str) -> str:
    """What bindings call a key."""
    if character.isalnum():
        return character
    return unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")

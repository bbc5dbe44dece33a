"""When approval questions open: never where a key may be meant for something else."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from rich.cells import cell_len
from textual.app import App
from textual.content import Content
from textual.widgets import Static

from contextui.agent.approval import Decision, Question
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.dialogs.approval import ApprovalScreen, filled, wording_of
from contextui.tui.dialogs.command import screen_for
from contextui.tui.dialogs.diff import shortened, spelled
from contextui.tui.dialogs.help import GoTo
from contextui.tui.keys import KeyLine, focus_of
from contextui.tui.lines import KEY, MUTED
from contextui.words import Words

QUIET = 1.5
"""Seconds without a key, click or paste before a question may open by itself."""
_LOOK = 0.1  # seconds between two checks
_LONGEST = 400  # maximum characters of a target to consider
_EDGE = 6  # cells of the prompt's border beside the notice


async def ask_in(app: App[Any], words: Words, question: Question) -> Decision:
    """Open a question and return the person's decision."""
    answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

    def take(decision: Decision | None) -> None:
        if not answer.done():
            answer.set_result(decision or Decision("no"))

    screen = screen_for(words, question)
    app.push_screen(screen, take)
    try:
        return await answer
    finally:
        if not answer.done() or answer.cancelled():
            screen.withdraw()  # the turn was stopped


class WaitingLine(Static):
    """A notice of a pending question, shown if the prompt's border is hidden; a click opens it."""

    DEFAULT_CSS = """
    WaitingLine {
        dock: bottom; layer: waiting; width: 100%; height: 1; padding: 0 2;
        background: $background; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, text: Content, opens: Callable[[], object]) -> None:
        super().__init__(text)
        self._opens = opens

    def on_click(self) -> None:
        self._opens()


class Asker:
    """Asks the person to approve the model's actions, one question at a time.

    A question opens by itself only at an empty prompt or the conversation, after a pause. In a
    window, in the inspector and over another dialog, however long the pause, a notice shows that
    it is pending; `ctrl+g` and `a`, or a click, opens it.
    """

    def __init__(
        self,
        app: KeyLine[int],
        words: Words,
        prompt: Callable[[], Prompt],
        mark: Callable[[bool], object],
    ) -> None:
        self._app, self._words, self._prompt, self._mark = app, words, prompt, mark
        self._wanted, self._turns = asyncio.Event(), asyncio.Lock()
        self.is_waiting = False
        """Whether a question is pending."""
        self.announce: Callable[[str], object] = lambda _: None
        """Callback with the question in one line, before it opens."""

    def open_now(self) -> None:
        if self.is_waiting:
            self._app.hold(lambda: isinstance(self._app.screen, ApprovalScreen))
            self._wanted.set()

    async def ask(self, question: Question) -> Decision:
        async with self._turns:
            self._mark(True)
            asks = self._words(wording_of(question).asks)
            self.announce(asks.replace("{target}", question.target))
            try:
                await self._wait_for_quiet(question)
                return await ask_in(self._app, self._words, question)
            finally:
                self._mark(False)

    # --- waiting -----------------------------------------------------------------------

    async def _wait_for_quiet(self, question: Question) -> None:
        prompt = self._prompt()
        self._wanted.clear()
        self.is_waiting = True
        line: WaitingLine | None = None
        try:
            while self._is_busy(prompt) and not self._wanted.is_set():
                if prompt.is_attached:  # else the app is shutting down
                    prompt.notice = self.notice(question, prompt.outer_size.width - _EDGE)
                    prompt.add_class("-asks")
                    line = self._show_line(question, prompt, line)
                try:
                    await asyncio.wait_for(self._wanted.wait(), _LOOK)
                except TimeoutError:
                    continue
        finally:
            self.is_waiting = False
            prompt.notice = None
            prompt.remove_class("-asks")
            if line is not None:
                line.remove()

    def _is_busy(self, prompt: Prompt) -> bool:
        """Return whether a dialog would take a key that is meant for something else.

        At the prompt and in the conversation, letters are text, and a pause shows that the person
        types none. In the other panes they are commands, answers, or input of a program, and the
        next one may follow after any pause: `y` for a shell, `p` to pin an item.
        """
        app = self._app
        if not prompt.is_attached or app.has_keys_waiting or app.screen is not prompt.screen:
            return True
        if time.monotonic() - app.last_input < QUIET or prompt.text or prompt.is_completing:
            return True
        focused = focus_of(prompt.screen)
        return focused is None or prompt.screen.query_one("#chat") not in focused.ancestors

    def _show_line(
        self, question: Question, prompt: Prompt, line: WaitingLine | None
    ) -> WaitingLine | None:
        """Show the notice on the current screen, unless the prompt's border is visible there."""
        screen = self._app.screen
        sees_prompt = screen is prompt.screen and prompt.region.height > 0
        sees_border = sees_prompt and prompt.region.y >= 0 and bool(prompt.styles.border_top[0])
        needs_line = not isinstance(screen, GoTo) and not sees_border
        if line is not None and (not needs_line or line.parent is not screen):
            line.remove()
            line = None
        if needs_line:
            text = self.notice(question, screen.size.width - 4)
            if line is None:
                line = WaitingLine(text, self.open_now)
                screen.mount(line)
            else:
                line.update(text)
        return line

    def notice(self, question: Question, room: int) -> Content:
        """Return the notice; truncates long paths at the start and commands at the end."""
        words = self._words
        template = words(wording_of(question).asks)
        mark = ("◆ ", "$text-accent")
        keys = Content.assemble(("   ^g a ", f"{KEY} bold"), (words("opens"), MUTED))
        rest = keys.cell_length + 2 + cell_len(template.replace("{target}", ""))
        target = _cut(question.target, room - rest, at_end=question.verb in ("run", "type"))
        parts = filled(template, target=target.stylize_before("bold"))
        asks = Content.assemble(*parts).stylize_before("$text-warning")
        return Content.assemble(mark, asks, keys)


def _cut(target: str, room: int, *, at_end: bool) -> Content:
    some = target[:_LONGEST] if at_end else target[-_LONGEST:]
    shown = spelled(some)
    if len(some) == len(target) and shown.cell_length <= room:
        return shown
    return shortened(shown, room, at_end=at_end)

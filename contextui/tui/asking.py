"""When a question may stand in the person's way: never while they are typing."""

import asyncio
import time
from collections.abc import Callable

from textual.app import App
from textual.content import Content

from contextui.agent.approval import Decision, Question
from contextui.tui.approval import ApprovalScreen
from contextui.tui.cells import KEY, MUTED, line
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.words import Words

_QUIET = 1.5  # seconds without a key after which a question may open by itself
_LOOK = 0.1  # seconds between two looks whether it may


class Asker:
    """Asks the person about what the model wants to do.

    While they type, or have something written, only the prompt's border says that there is a
    question; a key opens it. What they have written stays.

    Args:
        app: Where the question opens.
        words: Its language.
        prompt: Where the person types.
    """

    def __init__(self, app: App[int], words: Words, prompt: Callable[[], Prompt]) -> None:
        self._app, self._words, self._prompt = app, words, prompt
        self._wanted = asyncio.Event()
        self.is_waiting = False
        """Whether a question waits to be opened."""

    def open_now(self) -> None:
        """Open the question that waits."""
        self._wanted.set()

    async def ask(self, question: Question) -> Decision:
        """The person's decision."""
        await self._wait_for_quiet(question)
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

        def take(decision: Decision | None) -> None:
            if not answer.done():
                answer.set_result(decision or Decision("no"))

        screen = ApprovalScreen(self._words, question)
        self._app.push_screen(screen, take)
        try:
            return await answer
        finally:
            if not answer.done() or answer.cancelled():
                screen.dismiss(Decision("no"))  # the turn was stopped meanwhile

    async def _wait_for_quiet(self, question: Question) -> None:
        prompt = self._prompt()
        self._wanted.clear()
        self.is_waiting = True
        try:
            while self._is_busy(prompt) and not self._wanted.is_set():
                prompt.notice = self._notice(question)
                prompt.add_class("-asks")
                await asyncio.sleep(_LOOK)
        finally:
            self.is_waiting = False
            prompt.notice = None
            prompt.remove_class("-asks")

    def _is_busy(self, prompt: Prompt) -> bool:
        return bool(prompt.text) or time.monotonic() - prompt.pressed_at < _QUIET

    def _notice(self, question: Question) -> Content:
        name = line(f"{question.window_id}.{question.action_id}")
        asks = self._words("asks to run {name}", name=name)
        return Content.assemble(
            ("◆ ", "$text-accent"), (asks, "$text-warning"), ("   ^g ", KEY),
            (self._words("opens"), MUTED),
        )  # fmt: skip

"""`InteractionController`: the agent loop. Build a request, send it, run its tool calls, repeat."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace

from contextui.agent import phrases
from contextui.agent.approval import ApprovalGate
from contextui.agent.events import (
    AnswerDiscarded,
    TurnFinished,
    TurnStarted,
)
from contextui.agent.loop import Steps, end_in_words, judge, make_whole
from contextui.agent.preamble import Beforehand, Meanwhile, retrieved
from contextui.agent.prompt import install, project_block, system_prompt
from contextui.agent.protocol import TagFilter, calls_of
from contextui.agent.retry import Tell
from contextui.agent.room import RoomMaker, Strategist, outcome
from contextui.agent.tools import ToolBox, ToolCall
from contextui.agent.turn import Setup, Turn, TurnOptions, TurnUnderWayError
from contextui.config.settings import ToolProtocol
from contextui.context.changes import admit
from contextui.context.compaction.service import CompactionResult, CompactionService
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import ContextTooLargeError, ContextUIError
from contextui.events import Event
from contextui.model import Answer, Model, ModelError, ModelRequest, Tool
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from contextui.windowing.trouble import reason_of


class Telling:
    """Thread-safe queue of a turn's events, ended by None."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()

    def tell(self, event: Event | None) -> None:
        """Queue an event from any thread; None ends the queue.

        Windows emit on their own threads; going through the loop keeps all events in order.
        """
        with suppress(RuntimeError):  # the loop is closed: nothing reads the queue any more
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def next(self) -> Event | None:
        """Return the next event; None at the end."""
        return await self._events.get()


class InteractionController:
    """Runs a conversation: takes the person's messages and emits events. It knows no screen.

    Args:
        model: The model that answers.
        context: The conversation; by default a new one with the installed windows.
        approval: Asks before anything outside a window is changed.
        options: Limits of a turn.
        tool_protocol: How the model calls tools.

    Example:
        >>> controller = InteractionController(model=ScriptedModel("Hello."))
        >>> async for event in controller.run_turn("Hi"):
        ...     print(event)
    """

    def __init__(
        self,
        *,
        model: Model,
        context: ContextManager | None = None,
        approval: ApprovalGate | None = None,
        options: TurnOptions | None = None,
        tool_protocol: ToolProtocol = "native",
    ) -> None:
        if context is None:
            context = ContextManager(WindowManager(discover().classes()))
        if context.windows is None:
            raise ContextUIError("A conversation needs windows: ContextManager(WindowManager(…)).")
        self.model, self.context, self.windows = model, context, context.windows
        self.options = options or TurnOptions()
        self.tools = ToolBox(self.windows, approval)
        self.tool_protocol: ToolProtocol = tool_protocol
        self._calls = calls_of(tool_protocol, self.windows.lang)
        self._words = phrases.of(self.windows.lang)
        self._meanwhile, self._beforehand = Meanwhile(context), Beforehand(context)
        self._setup = Setup(context, lambda: self.model, self.options, self._calls)
        self._room = RoomMaker(self._setup, is_idle=lambda: self._task is None)
        self._steps = Steps(self._setup, self.tools, self._meanwhile.take_failures)
        self._task: asyncio.Task[None] | asyncio.Task[CompactionResult] | None = None

    @property
    def declared(self) -> Sequence[Tool]:
        """Tools as declared to the provider; empty if calls are written as tags in the text."""
        return self._calls.tools

    # --- before and after --------------------------------------------------------------

    def install_prompt(self, guide: str = "") -> ContextItem:
        """Put the system prompt and the project's own instructions at the start of the context.

        Args:
            guide: The text of the folder's AGENTS.md. It is sent as a user message.
        """
        classes, lang = self.windows.classes.values(), self.windows.lang
        prompt = system_prompt(classes, lang, self.tool_protocol)
        return install(self.context, prompt, project_block(classes, lang, guide))

    def check_budget(self) -> None:
        """Check that the budget leaves room for a conversation.

        Raises:
            ContextTooLargeError: The system prompt and the tools alone use up the budget.
        """
        self._room.check()

    def close(self) -> None:
        """Report the person's last window actions to the context, and unsubscribe."""
        self._room.strategist.cancel()
        self._meanwhile.tell()
        self._meanwhile.stop()

    async def aclose(self) -> None:
        """Like `close`, and also close the model's connections, if it has any."""
        self.close()
        let_go = getattr(self.model, "aclose", None)
        if let_go is not None:
            await let_go()

    # --- a turn ------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether a turn or a manual compaction is running."""
        return self._task is not None

    def check_idle(self) -> None:
        """Raise `TurnUnderWayError` while a turn or a manual compaction is running."""
        if self._task is not None:
            raise TurnUnderWayError(self._words.still_working)

    def stop(self) -> None:
        """Cancel what is running; a turn ends with the reason ``stopped``."""
        if self._task is not None:
            self._task.cancel()

    async def run_turn(self, text: str) -> AsyncIterator[Event]:
        """Send a message to the model and yield events; the last one is `TurnFinished`.

        Closing the iterator, or cancelling its consumer, cancels the turn. The context stays
        consistent.

        Raises:
            InvalidItemError: The message is empty.
            TurnUnderWayError: Another turn is running.
        """
        self.check_idle()
        admit(ContextItem(ItemType.USER, text))
        told = Telling()
        turn = Turn(told.tell, self.options.budget - self._setup.reserved)
        if self.tool_protocol == "text":
            turn.tags = TagFilter()
        stop_hearing = self.windows.subscribe(told.tell)
        task = self._task = asyncio.create_task(self._run(turn, text))
        task.add_done_callback(lambda _: told.tell(None))
        try:
            while (event := await told.next()) is not None:
                yield event
            if task.cancelled():  # cancelled before it started
                yield self._keep(turn, text)
                yield turn.finished("stopped")
        finally:
            stop_hearing()
            self._task = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if not turn.words_id:  # the iterator was closed before the turn started
                self._keep(turn, text)
            self._room.strategist.after()

    async def compact(self, tell: Tell = lambda _: None) -> CompactionResult:
        """Compact the conversation manually; `tell` is called with start, end and retry events.

        Nothing changes if it would save too little.

        Raises:
            TurnUnderWayError: A turn is running.
            NothingToCompactError: Nothing can be compacted, or it would save too little.
            CompactionStoppedError: It was cancelled; nothing was changed.
        """
        self.check_idle()
        task = self._task = asyncio.create_task(self._room.compact("manual", tell))
        try:
            return await outcome(task, self.windows.lang)
        finally:
            self._task = None

    @property
    def compaction(self) -> CompactionService:
        """The compaction service, which also previews what a compaction would remove."""
        return self._room.service

    @property
    def auto_compact(self) -> bool:
        """Whether a turn that starts with little room left compacts first."""
        return self._room.auto_compact

    @auto_compact.setter
    def auto_compact(self, wanted: bool) -> None:
        self._room.auto_compact = wanted

    @property
    def strategist(self) -> Strategist:
        """Runs the context strategy, also in the background."""
        return self._room.strategist

    def request_of(self, composition: Composition) -> ModelRequest:
        """Build the request for a composition, as the model receives it."""
        return self._steps.request_of(composition)

    # --- internals ---------------------------------------------------------------------

    async def _run(self, turn: Turn, text: str) -> None:
        finished, crash = turn.finished("stopped"), None
        try:
            try:
                turn.beforehand = await self._beforehand.gather(text, turn.tell)
                await self._room.before(turn, text)
            finally:  # keep the person's message even if that fails
                turn.tell(self._begin(turn, text))
            finished = await self._repeat(turn)
        except asyncio.CancelledError:
            pass  # this is how a turn is cancelled
        except ContextTooLargeError as error:
            if not turn.answered:
                # Keeping the message would make every later request too large as well.
                self.context.drop(turn.words_id)
            # If the provider asked for less than the budget, the budget is not the reason.
            finished = turn.finished(
                "failed", turn.shrunk or phrases.too_much(error, self.windows.lang)
            )
        except ContextUIError as error:
            finished = turn.finished("failed", str(error))
        except Exception as error:
            finished, crash = turn.finished("failed", reason_of(error)), error
        self._make_whole(turn)
        turn.tell(replace(finished, text=turn.text, steps=turn.steps, usage=turn.usage))
        if crash is not None:
            raise crash

    def _begin(self, turn: Turn, text: str) -> TurnStarted:
        """Add the person's message to the context, preceded by their window actions."""
        # The previous turn may have ended with the process.
        end_in_words(self.context, self._words)
        self._meanwhile.tell()
        for told in (*turn.beforehand, *retrieved(self.strategist.take_retrieved())):
            self._beforehand.tell(told)
        turn.words_id = self.context.add(ContextItem(ItemType.USER, text)).id
        return TurnStarted(text, turn.words_id)

    async def _repeat(self, turn: Turn) -> TurnFinished:
        steps, words = self._steps, self._words
        if turn.room <= 0:
            self.check_budget()
        while turn.step < self.options.max_steps:
            turn.step += 1
            try:
                answer = await steps.send(turn, await steps.build(turn))
            except ModelError as error:
                if not steps.repairs.can_help(turn, error):
                    raise
                continue
            if answer.stop_reason == "model_context_window_exceeded" and not turn.shrunk:
                turn.hear(AnswerDiscarded(words.window_full))
                steps.repairs.shrink(turn, words.window_full)
                continue
            if calls := steps.take(turn, answer):
                await steps.act(turn, calls)
            if finished := self._judge(turn, answer, calls):
                return finished
        return turn.finished("paused", words.paused.format(steps=self.options.max_steps))

    def _judge(self, turn: Turn, answer: Answer, calls: Sequence[ToolCall]) -> TurnFinished | None:
        words = self._words
        if turn.is_stuck:
            return turn.finished("stuck", words.stuck)
        verdict = None if calls else judge(answer, words, self.options.max_tokens)
        if verdict is None:
            return None
        if verdict.nudge and not turn.nudged:
            turn.nudged = True
            self.context.add(ContextItem(ItemType.USER, verdict.nudge))
            return None
        return turn.finished(verdict.reason, verdict.explanation)

    def _make_whole(self, turn: Turn) -> None:
        make_whole(turn, self.context, self._calls, self._words)

    def _keep(self, turn: Turn, text: str) -> TurnStarted:
        """Keep the message of a turn that ended before it started."""
        started = self._begin(turn, text)
        self._make_whole(turn)
        return started

"""`InteractionController`: the loop. Build a request, send it, act on the answer, repeat."""

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
    """Takes events in and gives them out, until it is told that there are no more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()

    def tell(self, event: Event | None) -> None:
        """Take an event; None is the end. Windows tell on their own threads: this way all of it
        stays in order."""
        with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def next(self) -> Event | None:
        """The next event; None at the end."""
        return await self._events.get()


class InteractionController:
    """Carries a conversation: a person's words in, events out. It knows no screen.

    Args:
        model: Who answers.
        context: The conversation; by default a new one with the windows that are installed.
        approval: Asks before anything outside of a window is touched.
        options: What a turn may take.
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
        """The tools as the provider is told of them; none where calls are written as tags."""
        return self._calls.tools

    # --- before and after --------------------------------------------------------------

    def install_prompt(self, guide: str = "") -> ContextItem:
        """Begin the context with the system prompt, and with what the project provides.

        Args:
            guide: The text of the folder's AGENTS.md. It is sent as a user message.
        """
        classes, lang = self.windows.classes.values(), self.windows.lang
        prompt = system_prompt(classes, lang, self.tool_protocol)
        return install(self.context, prompt, project_block(classes, lang, guide))

    def check_budget(self) -> None:
        """Make sure that there is room for a conversation at all.

        Raises:
            ContextTooLargeError: The system prompt and the tools alone take all of it.
        """
        self._room.check()

    def close(self) -> None:
        """Tell the context what the person did last, and listen no more."""
        self._room.strategist.cancel()
        self._meanwhile.tell()
        self._meanwhile.stop()

    async def aclose(self) -> None:
        """The same, and let go of the model's connections, if it has any."""
        self.close()
        let_go = getattr(self.model, "aclose", None)
        if let_go is not None:
            await let_go()

    # --- a turn ------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether a turn, or a compaction by hand, is under way."""
        return self._task is not None

    def check_idle(self) -> None:
        """Raise `TurnUnderWayError` while a turn, or a compaction by hand, is under way."""
        if self._task is not None:
            raise TurnUnderWayError(self._words.still_working)

    def stop(self) -> None:
        """Stop what is under way; a turn ends with the reason ``stopped``."""
        if self._task is not None:
            self._task.cancel()

    async def run_turn(self, text: str) -> AsyncIterator[Event]:
        """Say something to the model, and hear what happens; the last event is `TurnFinished`.

        Whoever stops listening, or is cancelled, ends the turn. The context is whole then too.

        Raises:
            InvalidItemError: There are no words.
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
            if task.cancelled():  # it was stopped before it began
                yield self._keep(turn, text)
                yield turn.finished("stopped")
        finally:
            stop_hearing()
            self._task = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if not turn.words_id:  # nobody listened any more before it began
                self._keep(turn, text)
            self._room.strategist.after()

    async def compact(self, tell: Tell = lambda _: None) -> CompactionResult:
        """Compact the conversation by hand; `tell` hears of its start, its end, and countdowns.

        Where it would save too little, nothing is changed.

        Raises:
            TurnUnderWayError: A turn is running.
            NothingToCompactError: Nothing can go, or that would save too little.
            CompactionStoppedError: It was stopped; nothing was changed.
        """
        self.check_idle()
        task = self._task = asyncio.create_task(self._room.compact("manual", tell))
        try:
            return await outcome(task, self.windows.lang)
        finally:
            self._task = None

    @property
    def compaction(self) -> CompactionService:
        """What compacts the conversation, and says what would go."""
        return self._room.service

    @property
    def auto_compact(self) -> bool:
        """Whether a turn that finds little room begins with a compaction."""
        return self._room.auto_compact

    @auto_compact.setter
    def auto_compact(self, wanted: bool) -> None:
        self._room.auto_compact = wanted

    @property
    def strategist(self) -> Strategist:
        """What has the strategy decide: which one it is, and what it does in the background."""
        return self._room.strategist

    def request_of(self, composition: Composition) -> ModelRequest:
        """The request as the model is given it."""
        return self._steps.request_of(composition)

    # --- within ------------------------------------------------------------------------

    async def _run(self, turn: Turn, text: str) -> None:
        finished, crash = turn.finished("stopped"), None
        try:
            try:
                turn.beforehand = await self._beforehand.gather(text, turn.tell)
                await self._room.before(turn, text)
            finally:  # whatever becomes of that, the words are kept
                turn.tell(self._begin(turn, text))
            finished = await self._repeat(turn)
        except asyncio.CancelledError:
            pass  # that is how a turn is stopped
        except ContextTooLargeError as error:
            if not turn.answered:
                # The words would be in the way of all that is said from now on.
                self.context.drop(turn.words_id)
            # Where the provider asked for less than the budget, the budget is not the reason.
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
        """Put the person's words into the context, after what they did meanwhile."""
        # The turn before may have ended with the program.
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
        """Keep the words of a turn that has ended before it began."""
        started = self._begin(turn, text)
        self._make_whole(turn)
        return started

"""`InteractionController`: the loop. Build a request, send it, act on the answer, repeat."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace

from contextui.agent import gate, phrases
from contextui.agent.approval import ApprovalGate
from contextui.agent.beforehand import Beforehand
from contextui.agent.ending import end_in_words, make_whole
from contextui.agent.events import (
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    CallStarted,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.agent.file_reader import FileResult
from contextui.agent.hiding import TagFilter
from contextui.agent.judging import judge, says_something, words_in
from contextui.agent.making_room import RoomMaker, outcome
from contextui.agent.meanwhile import Meanwhile
from contextui.agent.patience import Tell
from contextui.agent.prompt import install, system_prompt
from contextui.agent.protocol import calls_of
from contextui.agent.repairing import Repairs
from contextui.agent.retry import answer_to
from contextui.agent.strategist import Strategist
from contextui.agent.telling import Telling
from contextui.agent.tools import ToolBox, ToolCall
from contextui.agent.turn import Turn, TurnOptions, TurnUnderWayError
from contextui.config.choices import ToolProtocol
from contextui.context.admission import admit
from contextui.context.compaction.result import CompactionResult
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.pieces import Composition
from contextui.errors import ContextTooLargeError, ContextUIError
from contextui.events import Event
from contextui.model import Answer, Model, ModelError, ModelRequest, Usage, UsageTold
from contextui.text import cap
from contextui.windowing.action import ActionResult
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from contextui.windowing.trouble import reason_of


class InteractionController:
    """Carries a conversation: a person's words in, events out. It knows no screen.

    The steps of a turn, `build`, `send`, `take` and `act`, are short and can be overridden.

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
        self._repairs = Repairs(context, self.windows.lang)
        self._meanwhile, self._beforehand = Meanwhile(context), Beforehand(context)
        self._room = RoomMaker(
            context,
            lambda: self.model,
            self.options,
            tools=self._calls.tools,
            is_idle=lambda: self._task is None,
        )
        self._task: asyncio.Task[None] | asyncio.Task[CompactionResult] | None = None

    # --- before and after --------------------------------------------------------------

    def install_prompt(self, guide: str = "") -> ContextItem:
        """Have the context begin with the system prompt.

        Args:
            guide: The text of the folder's AGENTS.md.
        """
        classes, lang = self.windows.classes.values(), self.windows.lang
        return install(self.context, system_prompt(classes, lang, guide, self.tool_protocol))

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
            raise TurnUnderWayError(phrases.of(self.windows.lang).still_working)

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
        turn = Turn(told.tell, self.options.budget - self._room.reserved)
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

        Raises:
            TurnUnderWayError: A turn is running.
            NothingToCompactError: Nothing can go.
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
    def strategist(self) -> Strategist:
        """What has the strategy decide: which one it is, and what it does in the background."""
        return self._room.strategist

    def begin(self, turn: Turn, text: str) -> TurnStarted:
        """Put the person's words into the context, after what they did meanwhile."""
        # The turn before may have ended with the program.
        end_in_words(self.context, phrases.of(self.windows.lang))
        self._meanwhile.tell()
        for told in turn.beforehand:
            self._beforehand.tell(told)
        turn.words_id = self.context.add(ContextItem(ItemType.USER, text)).id
        return TurnStarted(text, turn.words_id)

    async def build(self, turn: Turn) -> Composition:
        """Compose the next request; from here on its bytes are fixed."""
        await self.context.prepare(turn.room)
        messages = self.context.compose(turn.room).messages  # whose end may have been dropped
        if messages and messages[-1].role == "assistant" and turn.stop_reason != "pause_turn":
            self.context.add(ContextItem(ItemType.USER, phrases.of(self.windows.lang).go_on))
        return self.context.request(turn.room)

    async def send(self, turn: Turn, composition: Composition) -> Answer:
        """Send a request and wait for the whole answer."""
        turn.request = self.request_of(composition, without_thinking=turn.without_thinking)
        turn.tell(StepStarted(turn.step, composition.tokens))
        turn.await_answer()
        counted = composition.tokens + self._room.reserved  # the provider counts both

        def hear(event: Event) -> None:
            if isinstance(event, UsageTold):
                self._spend(turn, counted, event.usage)
            else:
                turn.hear(event)

        answer = await answer_to(
            self.model, turn.request, self.options.retry, hear, self.windows.lang
        )
        turn.steps += 1
        turn.stop_reason = answer.stop_reason
        return answer

    def request_of(
        self, composition: Composition, *, without_thinking: bool = False
    ) -> ModelRequest:
        """The request as the model is given it."""
        return gate.admit(
            composition.messages,
            stable=composition.stable,
            tools=self._calls.tools,
            max_tokens=self._repairs.repair.longest(self.options.max_tokens),
            without_thinking=without_thinking,
            plain=self._repairs.repair.is_plain,
            lang=self.windows.lang,
        )

    def take(self, turn: Turn, answer: Answer) -> list[ToolCall]:
        """Put an answer into the context; the calls that it asks for."""
        if answer.stop_reason == "refusal":  # what was begun before it must not be done either
            spoken = [one for one in answer.blocks if one.get("type") != "tool_use"]
            answer = replace(answer, blocks=tuple(spoken))
        blocks, calls = self._calls.read(answer, self.context.ledger.calls.known)
        turn.partial.clear()
        words = "\n\n".join(words_in(blocks))
        if says_something(blocks):
            item = self.context.add(ContextItem(ItemType.ASSISTANT, words, blocks=blocks))
            turn.answered, turn.text = True, words or turn.text
            turn.tell(AnswerGiven(item.id, words))
        return calls

    async def act(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """Carry out calls, one after the other, and put their results into the context."""
        # All results of a step are sent together, and must leave room for what stands before.
        longest = max(turn.room // 2 // len(calls), 500)
        for number, call in enumerate(calls, 1):
            given = call.input if isinstance(call.input, dict) else {}
            turn.tell(CallStarted(number, call.name, given))
            result = await self.carry_out(turn, call)
            text = self.note(turn, call, result, longest)
            turn.tell(CallFinished(number, call.name, result.ok, text))

    def note(self, turn: Turn, call: ToolCall, result: ActionResult, longest: int) -> str:
        """Put a result into the context; the text that the model reads, `longest` at most."""
        text = cap(result.text, longest)
        gist = result.gist if isinstance(result, FileResult) else None
        item = self._calls.result(call, text, ok=result.ok, gist=gist)
        if turn.files.has(item):
            text = phrases.of(self.windows.lang).unchanged
            item = self._calls.result(call, text, ok=True)
        turn.files.note(self.context.add(item))
        return text

    async def carry_out(self, turn: Turn, call: ToolCall) -> ActionResult:
        """Carry out one call, unless it failed too often in this turn."""
        if turn.gave_up(call):
            return ActionResult(False, phrases.of(self.windows.lang).failed_too_often)
        result = await self.tools.carry_out(call)
        if not result.ok:
            turn.note_failure(call)
        return result

    # --- within ------------------------------------------------------------------------

    async def _run(self, turn: Turn, text: str) -> None:
        finished, crash = turn.finished("stopped"), None
        try:
            try:
                turn.beforehand = await self._beforehand.gather(text, turn.tell)
                await self._room.before(turn, text, self.windows.lang)
            finally:  # whatever becomes of that, the words are kept
                turn.tell(self.begin(turn, text))
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

    async def _repeat(self, turn: Turn) -> TurnFinished:
        words = phrases.of(self.windows.lang)
        if turn.room <= 0:
            self.check_budget()
        while turn.step < self.options.max_steps:
            turn.step += 1
            try:
                answer = await self.send(turn, await self.build(turn))
            except ModelError as error:
                if not self._repairs.can_help(turn, error):
                    raise
                continue
            if answer.stop_reason == "model_context_window_exceeded" and not turn.shrunk:
                turn.hear(AnswerDiscarded(words.window_full))
                self._repairs.shrink(turn, words.window_full)
                continue
            if calls := self.take(turn, answer):
                await self.act(turn, calls)
            if finished := self._judge(turn, answer, calls):
                return finished
        return turn.finished("paused", words.paused.format(steps=self.options.max_steps))

    def _judge(self, turn: Turn, answer: Answer, calls: Sequence[ToolCall]) -> TurnFinished | None:
        words = phrases.of(self.windows.lang)
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

    def _spend(self, turn: Turn, counted: int, usage: Usage) -> None:
        """Take down what an attempt cost, be it that an answer came of it or not."""
        turn.usage += usage
        if usage:
            self.context.report_usage(counted, usage.as_dict())
        turn.tell(UsageSpent(usage, turn.step))

    def _make_whole(self, turn: Turn) -> None:
        make_whole(turn, self.context, self._calls, phrases.of(self.windows.lang))

    def _keep(self, turn: Turn, text: str) -> TurnStarted:
        """Keep the words of a turn that has ended before it began."""
        started = self.begin(turn, text)
        self._make_whole(turn)
        return started

"""The steps of a turn: build a request, send it, take the answer, act on its calls."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from contextui.agent import gate, phrases
from contextui.agent.approval import NotAllowedError
from contextui.agent.events import (
    ActionRefused,
    AnswerGiven,
    CallFinished,
    CallStarted,
    Notice,
    StepStarted,
    UsageSpent,
)
from contextui.agent.file_reader import FileResult
from contextui.agent.judging import says_something, words_in
from contextui.agent.repairing import Repairs
from contextui.agent.retry import answer_to
from contextui.agent.setup import Setup
from contextui.agent.tools import ToolBox, ToolCall
from contextui.agent.turn import Turn
from contextui.context.item import BESIDE, ContextItem, ItemType, Origin
from contextui.context.pieces import Composition
from contextui.events import Event
from contextui.model import Answer, ModelRequest, Usage, UsageTold
from contextui.text import cap
from contextui.windowing.action import ActionResult


class Steps:
    """What a turn does again and again, until an answer asks for nothing more.

    Args:
        setup: What all turns share.
        tools: Carries out calls.
        notices: Takes what the model must learn beside the results, such as a window that failed
            to open late.

    Attributes:
        repairs: What is changed about requests that the provider refused.
    """

    def __init__(self, setup: Setup, tools: ToolBox, notices: Callable[[], str]) -> None:
        self._notices = notices
        self.repairs = Repairs(setup.context, setup.lang)
        self._setup, self._tools, self._context = setup, tools, setup.context
        self._words = phrases.of(setup.lang)

    async def build(self, turn: Turn) -> Composition:
        """Compose the next request; from here on its bytes are fixed."""
        await self._context.prepare(turn.room)
        if not self._asks_something(turn, self._context.compose(turn.room)):
            item = ContextItem(ItemType.USER, self._words.go_on, id=f"{BESIDE}{uuid.uuid4().hex}")
            self._context.add(item)
        return self._context.request(turn.room)

    def _asks_something(self, turn: Turn, composition: Composition) -> bool:
        """Whether there is something to answer: the person may have dropped it meanwhile.

        Windows alone are not enough: with no item to stand with, they would move in mid-turn.
        """
        messages = composition.messages
        if not composition.in_turn or not messages:
            return False
        return messages[-1].role != "assistant" or turn.stop_reason == "pause_turn"

    async def send(self, turn: Turn, composition: Composition) -> Answer:
        """Send a request and wait for the whole answer."""
        turn.request = self.request_of(composition, without_thinking=turn.without_thinking)
        turn.tell(StepStarted(turn.step, composition.tokens))
        turn.await_answer()
        counted = composition.tokens + self._setup.reserved  # the provider counts both

        def hear(event: Event) -> None:
            if isinstance(event, UsageTold):
                self._spend(turn, counted, event.usage)
            else:
                turn.hear(event)

        setup = self._setup
        answer = await answer_to(setup.model(), turn.request, setup.options.retry, hear, setup.lang)
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
            tools=self._setup.calls.tools,
            max_tokens=self.repairs.repair.longest(self._setup.options.max_tokens),
            without_thinking=without_thinking,
            plain=self.repairs.repair.is_plain,
            lang=self._setup.lang,
        )

    def take(self, turn: Turn, answer: Answer) -> list[ToolCall]:
        """Put an answer into the context; the calls that it asks for."""
        if answer.stop_reason == "refusal":  # what was begun before it must not be done either
            spoken = [one for one in answer.blocks if one.get("type") != "tool_use"]
            answer = replace(answer, blocks=tuple(spoken))
        blocks, calls = self._setup.calls.read(answer, self._context.ledger.calls.known)
        turn.partial.clear()
        words = "\n\n".join(words_in(blocks))
        if says_something(blocks):
            origin = Origin(answer.model or self._setup.model().name, answer.usage.as_dict())
            given = ContextItem(ItemType.ASSISTANT, words, blocks=blocks, origin=origin)
            item = self._context.add(given)
            turn.answered, turn.text = True, words or turn.text
            turn.tell(AnswerGiven(item.id, words))
        return calls

    async def act(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """Carry out calls, one after the other, and put their results into the context."""
        most = self._setup.options.max_calls
        calls, refused = calls[:most], calls[most:]
        # All results of a step are sent together, and must leave room for what stands before.
        longest = max(turn.room // 2 // len(calls), 500)
        for number, call in enumerate(calls, 1):
            given = call.input if isinstance(call.input, dict) else {}
            turn.tell(CallStarted(number, call.name, given))
            waited = self._tools.gate.waited
            result = await self._carry_out(turn, call)
            waited = self._tools.gate.waited - waited
            if isinstance(error := result.error, NotAllowedError):
                facts = error.question.facts()
                turn.tell(ActionRefused(**facts, reason=result.text, allowed_by=error.remedy))
            text = self._note(turn, call, result, longest)
            turn.tell(CallFinished(number, call.name, result.ok, text, waited))
        if refused:
            self._refuse(turn, refused, most)

    def _refuse(self, turn: Turn, calls: Sequence[ToolCall], most: int) -> None:
        """Answer calls that are too many for one answer, without carrying them out."""
        text = self._words.too_many_calls.format(most=most)
        paired = [call for call in calls if call.id is not None]
        for call in paired or calls[:1]:  # calls without ids need no result each
            self._context.add(self._setup.calls.result(call, text, ok=False))
        turn.tell(Notice(self._words.calls_refused.format(count=len(calls), most=most)))

    def _note(self, turn: Turn, call: ToolCall, result: ActionResult, longest: int) -> str:
        """Put a result into the context; the text that the model reads, `longest` at most."""
        text = cap(result.text, longest)
        if notices := self._notices():
            text = f"{text}\n\n{notices}"
        gist = result.gist if isinstance(result, FileResult) else None
        item = self._setup.calls.result(call, text, ok=result.ok, gist=gist)
        if turn.files.has(item):
            text = self._words.unchanged
            item = self._setup.calls.result(call, text, ok=True)
        turn.files.note(self._context.add(item))
        return text

    async def _carry_out(self, turn: Turn, call: ToolCall) -> ActionResult:
        """Carry out one call, unless it failed too often in this turn.

        A `read` action that was just carried out on the same version is not carried out again.
        """
        if turn.gave_up(call):
            return ActionResult(False, self._words.failed_too_often)
        key = self._tools.read_key(call)
        known = turn.reads.get(key) if key is not None else None
        if known is not None:
            return known
        result = await self._tools.carry_out(call)
        if not result.ok:
            turn.note_failure(call)
        if key is None:
            turn.reads.clear()  # what it did may be what such an action reads
        elif result.ok:
            turn.reads.put(key, result)
        return result

    def _spend(self, turn: Turn, counted: int, usage: Usage) -> None:
        """Take down what an attempt cost, be it that an answer came of it or not."""
        turn.usage += usage
        if usage:
            self._context.report_usage(counted, usage.as_dict())
        turn.tell(UsageSpent(usage, turn.step))

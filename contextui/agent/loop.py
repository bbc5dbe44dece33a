"""The steps of a turn: build a request, send it, store the answer, run its tool calls.

Also here: `judge` decides whether an answer ends the turn, `Repairs` changes requests that the
provider rejected, and `complete_turn` leaves the context consistent however the turn ends.
"""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from contextui.agent import request
from contextui.agent.approval import Allowed, NotAllowedError
from contextui.agent.protocol import CallProtocol
from contextui.agent.request import PLAIN, THINKING, RequestBuilder, plain_block
from contextui.agent.retry import answer_to
from contextui.agent.tools import FileResult, ToolBox, ToolCall
from contextui.agent.turn import Setup, Turn
from contextui.agent.wire import CUT_CALL, EMPTY_ANSWER, GO_ON
from contextui.context.item import BESIDE, ContextItem, ItemType, Origin, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import StaleRequestError
from contextui.events import (
    ActionRefused,
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    CallStarted,
    Event,
    Notice,
    Reason,
    RetryScheduled,
    StepStarted,
    UsageSpent,
)
from contextui.model import (
    Answer,
    Block,
    CachePrices,
    Model,
    ModelError,
    ModelRequest,
    Tool,
    UsageUpdated,
)
from contextui.text import cap, one_line
from contextui.tokens import Usage
from contextui.windowing.action import ActionCancelledError, ActionResult
from contextui.windowing.manager import WindowManager
from contextui.words import Lang, Words

_USUAL = ("end_turn", "stop_sequence", "tool_use")
_CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a turn.

    Attributes:
        reason: Why it ends.
        explanation: What the person should know about it.
        nudge: Message that asks the model to try again, sent once per turn; empty to end at once.
    """

    reason: Reason
    explanation: str = ""
    nudge: str = ""


def texts_in(blocks: Iterable[Block]) -> list[str]:
    """Return the texts of the text blocks, without blank ones."""
    texts = (one.get("text") for one in blocks if one["type"] == "text")
    return [text for text in texts if isinstance(text, str) and text.strip()]


def has_content(blocks: Iterable[Block]) -> bool:
    """Whether blocks hold more than thinking: text, a call, or a block of an unknown type."""
    kept = list(blocks)
    return bool(texts_in(kept)) or any(one["type"] not in ("text", *THINKING) for one in kept)


def judge(answer: Answer, words: Words, max_tokens: int) -> Verdict | None:
    """Decide whether an answer without calls ends the turn; None if the turn continues."""
    stop = answer.stop_reason
    cut = words(CUT_CALL) if answer.cut_calls else ""
    if stop == "pause_turn" and has_content(answer.blocks):
        return None
    if stop == "refusal":
        return Verdict("refused", words("The model declined to answer."))
    if stop in _CUT:
        return Verdict(
            "cut_off",
            words(
                "The answer was cut off at {tokens} tokens. Say “go on” to get the rest.",
                tokens=max_tokens,
            ),
            cut,
        )
    if cut or not texts_in(answer.blocks):
        return Verdict(
            "empty",
            words("The model gave no answer."),
            cut or words(EMPTY_ANSWER),
        )
    unknown = (
        ""
        if stop in _USUAL
        else words(
            "The model stopped for an unknown reason: {reason}.",
            reason=one_line(stop, 80),
        )
    )
    return Verdict("done", unknown)


_LIMIT = re.compile(r"max_tokens\D{1,40}\d+\s*>\s*(\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class Repair:
    """Changes that are applied to every request.

    Attributes:
        is_plain: Whether to keep only blocks and fields that every provider supports.
        max_tokens: Upper limit of an answer's length; None to use the person's setting.
    """

    is_plain: bool = False
    max_tokens: int | None = None

    def longest(self, wanted: int) -> int:
        """Return the limit for an answer's length."""
        return min(wanted, self.max_tokens or wanted)


class Repairs:
    """Changes requests that the provider rejected, so that identical bytes are not resent.

    Args:
        context: The conversation.
        lang: The person's language.

    Attributes:
        repair: Changes for all later requests: what was rejected stays in the history.
    """

    def __init__(self, context: ContextManager, lang: Lang) -> None:
        self._context, self._words = context, Words(lang)
        self.repair = Repair()

    def repair_for(self, turn: Turn, error: ModelError) -> bool:
        """Apply a fix for the error; return whether there was one."""
        match error.kind:
            case "thinking" if turn.has_thinking:
                turn.without_thinking = True
                turn.emit(
                    Notice(
                        self._words(
                            "The provider rejected the model's thinking; it is left out of "
                            "this turn."
                        )
                    )
                )
                return True
            case "too_large" if not turn.shrunk:
                self.shrink(turn, self._words(error))
                return True
            case "bad_request" if turn.request is not None:
                return self._repair_request(turn, turn.request, error)
        return False

    def shrink(self, turn: Turn, reason: str) -> None:
        """Lower the token limit for the rest of this turn."""
        turn.shrunk = reason
        needed = self._context.counter.calibrated(self._context.compose().tokens)
        turn.room = max(min(turn.room, needed) * 2 // 3, 1)
        turn.emit(
            Notice(
                self._words("The request was too large for the model: older parts are left out.")
            )
        )

    def _repair_request(self, turn: Turn, refused: ModelRequest, error: ModelError) -> bool:
        odd = sorted(set(_unsupported(refused)))
        if limit := _limit(str(error), refused.max_tokens):
            self.repair = replace(self.repair, max_tokens=limit)
            what = self._words("with at most {tokens} tokens per answer", tokens=limit)
        elif odd and not self.repair.is_plain:
            self.repair = replace(self.repair, is_plain=True)
            what = self._words(
                "without parts that some providers do not support ({what})",
                what=one_line(", ".join(odd), 100),
            )
        else:
            return False
        turn.emit(Notice(self._words("{reason} Retrying {what}.", reason=error, what=what)))
        return True


def _limit(message: str, wanted: int) -> int | None:
    found = _LIMIT.search(message)
    limit = int(found[1]) if found else 0
    return limit if 0 < limit < wanted else None


def _unsupported(request: ModelRequest) -> Iterator[str]:
    """Yield block types and fields that not every provider supports."""
    for block in _all_blocks(request):
        if block["type"] not in PLAIN:
            yield str(block["type"])
        elif plain_block(block) != block:
            yield from (str(name) for name in block if name not in PLAIN[block["type"]])


def _all_blocks(request: ModelRequest) -> Iterator[Block]:
    for block in request.blocks():
        yield block
        inner = block.get("content") if block["type"] == "tool_result" else None
        yield from inner if isinstance(inner, list | tuple) else ()


def phrasings_of(windows: WindowManager | None) -> dict[str, tuple[str, ...]]:
    """Return the phrasings of the open windows' actions by ``class.action``."""
    classes = (
        dict.fromkeys(type(window) for window in windows.windows()) if windows is not None else ()
    )
    return {
        f"{cls.name}.{action.id}": action.says
        for cls in classes
        for action in cls.actions.values()
        if action.says
    }


def _digest(tools: Sequence[Tool]) -> str:
    """Identify a list of tools: with another one the provider's cache is of no use."""
    text = repr([(one.name, one.description, one.input_schema) for one in tools])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Steps:
    """The steps that a turn repeats until an answer contains no calls.

    Args:
        setup: What all turns share.
        tools: Runs tool calls.
        notices: Returns text that is appended to the next result, such as a window that failed to
            open late.

    Attributes:
        repairs: Fixes for requests that the provider rejected.
    """

    def __init__(self, setup: Setup, tools: ToolBox, notices: Callable[[], str]) -> None:
        self._notices = notices
        self.repairs = Repairs(setup.context, setup.lang)
        self._setup, self._tools, self._context = setup, tools, setup.context
        self._words = Words(setup.lang)
        self._builder = RequestBuilder()
        self._odd_prices = ""  # the model whose invalid prices were reported

    async def build(self, turn: Turn) -> Composition:
        """Compose the next request; its bytes are fixed from here on."""
        model = self._setup.model()
        prices = self._prices_of(model, turn)
        self._context.use(prices, f"{model.name} {_digest(self._setup.calls.tools)}")
        await self._context.prepare(turn.room)
        composition = self._context.compose(turn.room)
        if not self._has_question(turn, composition):
            item = ContextItem(ItemType.USER, self._words(GO_ON), id=f"{BESIDE}{uuid.uuid4().hex}")
            self._context.add(item)
            return self._context.request(turn.room, is_answered=False)
        try:
            self._context.mark_sent(composition, is_answered=False)
        except StaleRequestError:  # another thread changed the context since
            return self._context.request(turn.room, is_answered=False)
        return composition

    def _prices_of(self, model: Model, turn: Turn) -> CachePrices:
        """Return a model's cache prices; the usual ones if it has none or they are invalid."""
        try:
            given = getattr(model, "prices", None)
            if given is None:
                return CachePrices()
            if not isinstance(given, CachePrices):
                raise TypeError(f"{type(given).__name__} instead of CachePrices")
            return replace(given)  # checks them again
        except Exception as error:  # models may be third-party code
            if self._odd_prices != model.name:
                self._odd_prices = model.name
                text = self._words(
                    "The cache prices of {model} are not valid ({reason}). The usual ones apply.",
                    model=one_line(model.name, 40),
                    reason=one_line(str(error), 80),
                )
                turn.emit(Notice(text))
            return CachePrices()

    def _has_question(self, turn: Turn, composition: Composition) -> bool:
        """Whether there is something to answer: the person may have dropped the message.

        Windows alone are not enough: without an item to follow, they would move within the turn.
        """
        messages = composition.messages
        if not composition.in_turn or not messages:
            return False
        return messages[-1].role != "assistant" or turn.stop_reason == "pause_turn"

    async def query(self, turn: Turn, composition: Composition) -> Answer:
        """Send a request, with retries, and wait for the whole answer."""
        turn.request = self.request_of(
            composition, self._builder, without_thinking=turn.without_thinking
        )
        turn.emit(StepStarted(turn.step, composition.tokens))
        turn.reset_stream()
        counted = turn.request.tokens

        def on_event(event: Event) -> None:
            if not isinstance(event, RetryScheduled | AnswerDiscarded):
                self._context.answer_began()
            if isinstance(event, UsageUpdated):
                self._record_usage(turn, counted, event.usage)
            else:
                turn.on_event(event)

        setup, retry = self._setup, self._setup.options.retry
        try:
            answer = await answer_to(setup.model(), turn.request, retry, on_event, setup.lang)
        finally:  # of a request that was answered, this changes nothing
            self._context.request_failed()
        turn.steps += 1
        turn.stop_reason = answer.stop_reason
        return answer

    def request_of(
        self,
        composition: Composition,
        builder: RequestBuilder | None = None,
        *,
        without_thinking: bool = False,
    ) -> ModelRequest:
        """Build the request for a composition, as the model receives it; see `request.admit`."""
        return request.admit(
            composition.messages,
            stable=composition.stable,
            marks=composition.plan.marks if composition.plan is not None else None,
            tools=self._setup.calls.tools,
            max_tokens=self.repairs.repair.longest(self._setup.options.max_tokens),
            without_thinking=without_thinking,
            plain=self.repairs.repair.is_plain,
            lang=self._setup.lang,
            says=phrasings_of(self._context.windows),
            tokens=composition.tokens + self._setup.reserved,  # the provider counts both
            builder=builder,
        )

    def store(self, turn: Turn, answer: Answer) -> list[ToolCall]:
        """Add an answer to the context and return its tool calls."""
        if answer.stop_reason == "refusal":  # calls that precede a refusal must not run either
            spoken = [one for one in answer.blocks if one.get("type") != "tool_use"]
            answer = replace(answer, blocks=tuple(spoken))
        blocks, calls = self._setup.calls.read(answer, self._context.calls.known)
        turn.partial.clear()
        words = "\n\n".join(texts_in(blocks))
        if has_content(blocks):
            origin = Origin(answer.model or self._setup.model().name, answer.usage.as_dict())
            given = ContextItem(ItemType.ASSISTANT, words, blocks=blocks, origin=origin)
            item = self._context.add(given)
            turn.answered, turn.text = True, words or turn.text
            turn.emit(AnswerGiven(item.id, words))
        return calls

    async def act(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """Run tool calls one after the other and add their results to the context."""
        most = self._setup.options.max_calls
        calls, refused = calls[:most], calls[most:]
        # All results of a step are sent together and must leave room for the history.
        longest = max(turn.room // 2 // len(calls), 500)
        for number, call in enumerate(calls, 1):
            given = call.input if isinstance(call.input, dict) else {}
            turn.emit(CallStarted(number, call.name, given))
            gate = self._tools.gate
            gate.allowed, waited = None, gate.waited
            stopped: ActionCancelledError | None = None
            try:
                result = await self._run_call(turn, call)
            except ActionCancelledError as cancelled:
                result, stopped = cancelled.result, cancelled
            waited, allowed = gate.waited - waited, gate.allowed or Allowed(asked=False)
            if isinstance(error := result.error, NotAllowedError):
                facts = error.question.facts()
                turn.emit(ActionRefused(**facts, reason=result.text, allowed_by=error.remedy))
            text = self._add_result(turn, call, result, longest)
            figures = (waited, allowed.asked, allowed.added, allowed.removed)
            turn.emit(CallFinished(number, call.name, result.ok, text, *figures))
            if stopped is not None:
                turn.cancelled = "" if result.ok else result.text
                raise stopped
        if refused:
            self._refuse(turn, refused, most)

    def _refuse(self, turn: Turn, calls: Sequence[ToolCall], most: int) -> None:
        """Answer the calls beyond the limit per answer without running them."""
        text = self._words(
            "Not carried out: the limit is {most} calls per answer. Make fewer at a time.",
            most=most,
        )
        paired = [call for call in calls if call.id is not None]
        for call in paired or calls[:1]:  # calls without ids need no result each
            self._context.add(self._setup.calls.result(call, text, ok=False))
        turn.emit(
            Notice(
                self._words(
                    "{count:,} calls were refused: the limit is {most} per answer (max_calls).",
                    count=len(calls),
                    most=most,
                )
            )
        )

    def _add_result(self, turn: Turn, call: ToolCall, result: ActionResult, longest: int) -> str:
        """Add a result, truncated to `longest`, to the context; return the text the model reads."""
        text = cap(result.text, longest)
        if notices := self._notices():
            text = f"{text}\n\n{notices}"
        gist = result.gist if isinstance(result, FileResult) else None
        item = self._setup.calls.result(call, text, ok=result.ok, gist=gist)
        if turn.files.has(item, self._context.is_whole):
            text = self._words("Unchanged since it was read above in this turn.")
            item = self._setup.calls.result(call, text, ok=True)
        turn.files.note(self._context.add(item))
        return text

    async def _run_call(self, turn: Turn, call: ToolCall) -> ActionResult:
        """Run one call, unless it failed too often in this turn.

        Results of `read` actions are cached until the window changes or a call of another kind
        runs.
        """
        if turn.has_given_up(call):
            return ActionResult(
                False,
                self._words(
                    "Not carried out: the same call failed three times. Try something else."
                ),
            )
        key = self._tools.read_key(call)
        known = turn.reads.get(key) if key is not None else None
        if known is not None:
            return known
        result = await self._tools.run(call)
        if not result.ok:
            turn.note_failure(call)
        if key is None:
            turn.reads.clear()  # the call may have changed what a cached action reads
        elif result.ok:
            turn.reads.put(key, result)
        return result

    def _record_usage(self, turn: Turn, counted: int, usage: Usage) -> None:
        """Record the usage of an attempt, whether or not it produced an answer."""
        turn.usage += usage
        if usage:
            self._context.report_usage(counted, usage.figures())
        turn.emit(UsageSpent(usage, turn.step))


def complete_turn(turn: Turn, context: ContextManager, calls: CallProtocol, words: Words) -> None:
    """Leave the context consistent: keep streamed text, and answer every open call.

    Args:
        turn: The turn that ends.
        context: The conversation.
        calls: How the model calls tools.
        words: Texts for missing results and interrupted answers.
    """
    if partial := "".join(turn.partial).strip():
        turn.text = partial
        context.add(ContextItem(ItemType.ASSISTANT, f"{partial}\n\n{words('(stopped here)')}"))
    for call_id in context.calls.unanswered:
        lost = ToolCall(call_id, "", {})
        context.add(
            calls.result(
                lost,
                words(
                    "The turn was stopped before this was finished. It may or may not have been "
                    "carried out."
                ),
                ok=False,
            )
        )
    end_with_text(context, words)
    context.end_turn()


def end_with_text(context: ContextManager, words: Words) -> None:
    """End on text, not on a tool result: a message right after one causes empty answers."""
    talk = (one for one in reversed(context.get_active()) if is_conversation(one))
    last = next(talk, None)
    if last is not None and last.tool_call_id is not None:
        context.add(ContextItem(ItemType.ASSISTANT, words("(stopped here)")))

"""The agent loop, from top to bottom: `run` → `step` → `query` → `act`.

A turn runs steps. A step sends one request and runs the tool calls of its answer; the turn ends
with an answer that has no calls. What these four methods call follows in the same order.
"""

import asyncio
import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from contextui.agent.approval import Allowed, NotAllowedError
from contextui.agent.context_space import ContextSpace, TurnOptions, fit_options, size_of
from contextui.agent.prompt import (
    Preamble,
    PreambleText,
    install,
    phrasings,
    project_block,
    system_prompt,
)
from contextui.agent.request import Form, RequestBuilder, unsupported
from contextui.agent.retry import Emit, answer_to
from contextui.agent.tools import FileResult, TagFilter, ToolBox, ToolCall, calls_of, digest_of
from contextui.config.schema import ToolProtocol
from contextui.context.item import (
    THINKING,
    ContextItem,
    ItemType,
    Origin,
    assign,
    is_conversation,
)
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import ContextTooLargeError, ContextUIError, StaleRequestError
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
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.model import (
    Answer,
    Block,
    CachePrices,
    Model,
    ModelError,
    ModelRequest,
    TextDelta,
    UsageUpdated,
    has_cache,
)
from contextui.names import BESIDE
from contextui.text import cap, one_line
from contextui.tokens import Usage
from contextui.windowing.action import ActionCancelledError, ActionResult
from contextui.windowing.error_text import reason_of
from contextui.windowing.runtime import runtime_of
from contextui.words import Words, msg

_GO_ON = msg("(Go on.)")
_EMPTY_ANSWER = msg("(Your answer was empty. Answer in words, or go on.)")
_CUT_CALL = msg(
    "(Your answer was cut off within a call, so that call was not carried out. Make shorter calls.)"
)
_FAILURES = 3  # how often the same call may fail in one turn
_USUAL = ("end_turn", "stop_sequence", "tool_use")
_CUT = ("max_tokens", "model_context_window_exceeded")
_LIMIT = re.compile(r"max_tokens\D{1,40}\d+\s*>\s*(\d{1,9})\b")


@dataclass(slots=True)
class Turn:
    """State of the running turn."""

    emit: Emit
    limit: int
    preamble: tuple[PreambleText, ...] = ()
    beside: list[str] = field(default_factory=list)
    message_id: str = ""
    step: int = 0
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    answered: bool = False
    began: float = 0.0
    waited: float = 0.0  # for the person, before it
    calls: int = 0
    text: str = ""
    partial: list[str] = field(default_factory=list)
    tags: TagFilter | None = None
    stop_reason: str = ""
    nudged: bool = False
    request: ModelRequest | None = None
    shrunk: str = ""
    doubted: bool = False  # whether a request that seems to fit was sent again as it was
    without_thinking: bool = False
    files: list[ContextItem] = field(default_factory=list)
    cancelled: str = ""
    failures: Counter[str] = field(default_factory=Counter)  # of calls with their arguments

    def notify(self, text: str) -> None:
        """Emit a message for the person."""
        self.emit(Notice(text))

    def spend(self, usage: Usage) -> None:
        """Count tokens that the turn used."""
        self.usage += usage

    def on_event(self, event: Event) -> None:
        """Emit an event, and remember streamed text: the person has seen it."""
        if isinstance(event, TextDelta) and self.tags is not None:
            event = TextDelta(self.tags.feed(event.text))
            if not event.text:
                return
        if isinstance(event, TextDelta):
            self.partial.append(event.text)
        elif isinstance(event, AnswerDiscarded):
            self.reset_stream()
        self.emit(event)

    def reset_stream(self) -> None:
        """Reset what is remembered of the streamed answer."""
        self.partial.clear()
        if self.tags is not None:
            self.tags = TagFilter()

    def finished(self, reason: Reason, explanation: str = "", **figures: Any) -> TurnFinished:
        """Return the turn's last event."""
        facts = (reason, self.text, self.steps, self.usage, explanation, self.stop_reason)
        return TurnFinished(*facts, calls=self.calls, **figures)


class End(NamedTuple):
    """Why a turn ends, and what the person should know about it."""

    reason: Reason
    explanation: str = ""


class AgentLoop:
    """Runs the turns of a conversation."""

    def __init__(
        self,
        model: Model,
        context: ContextManager,
        tools: ToolBox,
        *,
        options: TurnOptions,
        protocol: ToolProtocol,
        adds_prompt: bool,
    ) -> None:
        self.model, self.context, self.tools = model, context, tools
        self.windows = windows = tools.windows
        self._usual = (options, protocol)  # for models that do not need others
        self.options = options
        self.protocol: ToolProtocol = getattr(model, "tool_protocol", protocol)
        self.calls = calls_of(self.protocol, windows.lang, tools.more)
        self.space = ContextSpace(context, lambda: self.model, options, self.calls.tools)
        self.preamble = Preamble(context, windows)
        self._words = Words(windows.lang)
        self._builder = RequestBuilder()
        self._adds_prompt, self._guide = adds_prompt, ""
        self._measured: Model | None = None  # whose server was asked for its context
        # Changes for all later requests: what a provider rejected stays in the history.
        self._is_plain = False
        self._longest: int | None = None

    def use_model(self, model: Model) -> None:
        """Answer with another model: nothing is cached for it, and its server was not asked."""
        self.model, self._measured, (options, protocol) = model, None, self._usual
        self._use(options, getattr(model, "tool_protocol", protocol))
        self.note_prices()

    def note_prices(self) -> None:
        """Tell the context for which model and tools the next request is."""
        prices = getattr(self.model, "prices", None) or CachePrices()
        self.context.use(prices, f"{self.model.name} {digest_of(self.calls.tools)}")

    # --- run → step → query → act ------------------------------------------------------

    async def run(self, turn: Turn, text: str) -> None:
        """Run a turn to its end, and leave the context consistent however it ends."""
        end: End | None = None
        crash: Exception | None = None
        try:
            await self._prepare(turn, text)
            while end is None:
                end = await self.step(turn)
        except asyncio.CancelledError:
            end = End("stopped", self._jobs_after(turn))
        except ContextTooLargeError as error:
            if not turn.answered:
                # Keeping the message would make every later request too large as well.
                for item_id in (*turn.beside, turn.message_id):
                    self.context.drop(item_id)
            # If the provider asked for less than the budget, the budget is not the reason.
            end = End("failed", turn.shrunk or error.text(self.windows.lang))
        except ContextUIError as error:
            end = End("failed", error.text(self.windows.lang))
        except Exception as error:
            end, crash = End("failed", reason_of(error)), error
        turn.emit(self._complete(turn, end))
        if crash is not None:
            raise crash

    async def step(self, turn: Turn) -> End | None:
        """Send one request and run the calls of its answer; None if the turn continues."""
        if turn.step >= self.options.max_steps:
            text = msg("The turn paused after {steps} steps, the maximum. Say “go on” to continue.")
            return End("paused", self._words(text, steps=self.options.max_steps))
        turn.step += 1
        try:
            answer = await self.query(turn)
        except ModelError as error:
            if not self._repair(turn, error):
                raise
            return None
        if answer.stop_reason == "model_context_window_exceeded" and not turn.shrunk:
            reason = self._words("The model's context window is full.")
            turn.on_event(AnswerDiscarded(reason))
            turn.doubted = True  # part of the answer came: the model had the request
            self._shrink(turn, reason)
            return None
        if calls := self._store(turn, answer):
            await self.act(turn, calls)
        if max(turn.failures.values(), default=0) >= _FAILURES:
            text = msg("The turn was stopped: the same call failed three times.")
            return End("stuck", self._words(text))
        return self._judge(turn, answer, calls)

    async def query(self, turn: Turn) -> Answer:
        """Compose a request, send it with retries, and wait for the whole answer."""
        composition = await self._compose(turn)
        turn.request = self.request_of(composition, self._builder, turn.without_thinking)
        turn.emit(StepStarted(turn.step, composition.tokens))
        turn.reset_stream()
        counted = turn.request.tokens

        def on_event(event: Event) -> None:
            if not isinstance(event, RetryScheduled | AnswerDiscarded):
                self.context.answer_began()
            if not isinstance(event, UsageUpdated):
                turn.on_event(event)
                return
            turn.spend(event.usage)
            if event.usage:
                self.context.report_usage(counted, event.usage.figures())
            turn.emit(UsageSpent(event.usage, turn.step))

        retry, lang = self.options.retry, self.windows.lang
        try:
            answer = await answer_to(self.model, turn.request, retry, on_event, lang)
        finally:  # of a request that was answered, this changes nothing
            self.context.request_failed()
        turn.steps += 1
        turn.stop_reason = answer.stop_reason
        return answer

    async def act(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """Run tool calls one after the other and add their results to the context."""
        most, gate = self.options.max_calls, self.tools.gate
        calls, refused = calls[:most], calls[most:]
        # All results of a step are sent together and must leave room for the history.
        longest = max(turn.limit // 2 // len(calls), 500)
        turn.calls += len(calls)
        for number, call in enumerate(calls, 1):
            given = call.input if isinstance(call.input, dict) else {}
            turn.emit(CallStarted(number, call.name, given))
            gate.allowed, waited, began = None, gate.waited, time.monotonic()
            stopped: ActionCancelledError | None = None
            try:
                result = await self._run_call(turn, call)
            except ActionCancelledError as cancelled:
                result, stopped = cancelled.result, cancelled
            waited, allowed = gate.waited - waited, gate.allowed or Allowed(asked=False)
            outcome: dict[str, Any] = {
                "allowed": allowed.asked,
                "added": allowed.added,
                "removed": allowed.removed,
                "seconds": round(max(time.monotonic() - began - waited, 0.0), 1),
                "status": result.status,
                "ran": allowed.ran,
                "refused": isinstance(error := result.error, NotAllowedError),
            }
            if isinstance(error, NotAllowedError):
                facts = error.question.facts()
                turn.emit(ActionRefused(**facts, reason=result.text, allowed_by=error.remedy))
            text = self._add_result(turn, call, result, longest, outcome)
            turn.emit(CallFinished(number, call.name, result.ok, text, waited, **outcome))
            if stopped is not None:
                turn.cancelled = "" if result.ok else result.text
                raise stopped
        if refused:
            self._refuse(turn, refused, most)

    # --- the beginning of a turn -------------------------------------------------------

    async def _prepare(self, turn: Turn, text: str) -> None:
        """Collect what precedes the message, make room for it, and add it to the context."""
        try:
            if self._adds_prompt and not self._has_prompt():
                self.install_prompt(self._guide)
            await self._measure(turn)
            turn.preamble = (*await self.preamble.code_files(turn.emit), *turn.preamble)
            await self.space.make_room(text, turn.emit, turn.spend)
        finally:  # keep the person's message even if that fails
            turn.emit(self._add_message(turn, text))
        if turn.limit <= 0:
            self.space.check_budget()

    def _add_message(self, turn: Turn, text: str) -> TurnStarted:
        """Add the person's message to the context, preceded by their window actions."""
        self._end_with_text()  # the previous turn may have ended with the process
        self.preamble.report()
        before = [self.preamble.add(one) for one in turn.preamble]
        if (retrieved := self.space.take_retrieved()).strip():
            before.append(self.preamble.add_retrieved(retrieved))
        turn.beside += [item.id for item in before]
        turn.message_id = self.context.add(ContextItem(ItemType.USER, text)).id
        turn.began, turn.waited = time.monotonic(), self.tools.gate.waited
        return TurnStarted(text, turn.message_id)

    async def _measure(self, turn: Turn) -> None:
        """Ask a new model's server how large its context is, and stay below it.

        Local servers drop the start of a longer request without an error.
        """
        model = self.model
        if model is self._measured:
            return
        self._measured = model
        (options, protocol), size = self._usual, await size_of(model)
        protocol = getattr(model, "tool_protocol", protocol)
        name = one_line(model.name, 60)
        if size.calls_tools is False and protocol == "native":
            protocol = "text"
            turn.notify(
                self._words(
                    "{model} does not call tools by itself: calls are written in its text.",
                    model=name,
                )
            )
        self._use(fit_options(options, size), protocol)
        if self.options.budget < options.budget:
            turn.notify(
                self._words(
                    "The server of {model} has a context of {tokens} tokens, and drops what is "
                    "longer without a word. The budget is {budget} instead of {wanted}.",
                    model=name,
                    tokens=f"{size.tokens:,}",
                    budget=f"{self.options.budget:,}",
                    wanted=f"{options.budget:,}",
                )
            )
        turn.limit = self.options.budget - self.space.reserved
        turn.tags = TagFilter() if protocol == "text" else None

    def _use(self, options: TurnOptions, protocol: ToolProtocol) -> None:
        if (options, protocol) == (self.options, self.protocol):
            return
        if protocol != self.protocol:
            self.protocol = protocol
            self.calls = calls_of(protocol, self.windows.lang, self.tools.more)
            if self._has_prompt() and self._adds_prompt:
                self.install_prompt(self._guide)
        self.options = options
        self.space.use_limits(options, self.calls.tools)

    def install_prompt(self, guide: str) -> ContextItem:
        """Put the system prompt and the project's own instructions at the start of the context."""
        self._guide = guide
        classes, lang = self.windows.classes.values(), self.windows.lang
        by_price = self.context.placement == "price"
        prompt = system_prompt(
            classes, lang, self.protocol, has_changes=by_price, more=self.tools.more
        )
        return install(self.context, prompt, project_block(classes, lang, guide))

    def _has_prompt(self) -> bool:
        active = self.context.get_active()
        return any(one.type is ItemType.SYSTEM and not one.is_summary for one in active)

    # --- a request ---------------------------------------------------------------------

    async def _compose(self, turn: Turn) -> Composition:
        """Compose the next request; its bytes are fixed from here on."""
        self.note_prices()
        await self.context.prepare(turn.limit)
        composition = self.context.compose(turn.limit)
        if self._has_question(turn, composition):
            with suppress(StaleRequestError):  # another thread changed the context since
                self.context.mark_sent(composition, is_answered=False)
                return composition
        else:
            self._add_aside(self._words(_GO_ON))
        return self.context.request(turn.limit, is_answered=False)

    def _has_question(self, turn: Turn, composition: Composition) -> bool:
        """Whether there is something to answer: the person may have dropped the message.

        Windows alone are not enough: without an item to follow, they would move within the turn.
        """
        messages = composition.messages
        if not composition.in_turn or not messages:
            return False
        return messages[-1].role != "assistant" or turn.stop_reason == "pause_turn"

    def _add_aside(self, text: str) -> None:
        name = f"{BESIDE}{uuid.uuid4().hex}"
        self.context.add(ContextItem(ItemType.USER, text, id=name))

    def request_of(
        self, composition: Composition, builder: RequestBuilder, without_thinking: bool = False
    ) -> ModelRequest:
        """Build the request for a composition, as the model receives it."""
        wanted = self.options.max_tokens
        return builder.build(
            composition.messages,
            Form(without_thinking, self._is_plain, self.windows.lang),
            stable=composition.stable,
            marks=composition.plan.marks if composition.plan is not None else None,
            tools=tuple(self.calls.tools),
            max_tokens=min(wanted, self._longest or wanted),
            says=phrasings(self.windows),
            tokens=composition.tokens + self.space.reserved,  # the provider counts both
        )

    def _repair(self, turn: Turn, error: ModelError) -> bool:
        """Change what the provider rejected, so that the same bytes are not sent again."""
        words, refused = self._words, turn.request
        blocks = refused.blocks() if refused is not None else ()
        if error.kind == "thinking" and any(block["type"] in THINKING for block in blocks):
            turn.without_thinking = True
            turn.notify(
                words("The provider rejected the model's thinking; it is left out of this turn.")
            )
        elif error.kind == "too_large" and not turn.shrunk:
            self._shrink(turn, words(error))
        elif error.kind == "bad_request" and refused is not None:
            odd = sorted(set(unsupported(refused)))
            named = _LIMIT.search(str(error))
            if named and 0 < int(named[1]) < refused.max_tokens:
                self._longest = int(named[1])
                what = words("with at most {tokens} tokens per answer", tokens=self._longest)
            elif odd and not self._is_plain:
                self._is_plain = True
                what = words(
                    "without parts that some providers do not support ({what})",
                    what=one_line(", ".join(odd), 100),
                )
            else:
                return False
            turn.notify(words("{reason} Retrying {what}.", reason=error, what=what))
        else:
            return False
        return True

    def _shrink(self, turn: Turn, reason: str) -> None:
        """Lower the token limit for the rest of this turn, unless the server may be wrong.

        What is left out stays out, so a request far below the limit is sent once more as it was.
        """
        needed = self.context.counter.calibrated(self.context.compose().tokens)
        if not turn.doubted and 2 * needed < turn.limit:
            turn.doubted = True
            turn.notify(self._words("{reason} Retrying once more.", reason=reason))
            return
        turn.shrunk = reason
        turn.limit = max(min(turn.limit, needed) * 2 // 3, 1)
        turn.notify(
            self._words("The request was too large for the model: older parts are left out.")
        )

    # --- an answer and its calls -------------------------------------------------------

    def _store(self, turn: Turn, answer: Answer) -> list[ToolCall]:
        if answer.stop_reason == "refusal":  # calls that precede a refusal must not run either
            spoken = [block for block in answer.blocks if block.get("type") != "tool_use"]
            answer = replace(answer, blocks=tuple(spoken))
        blocks, calls = self.calls.read(answer, self.context.calls.known)
        turn.partial.clear()
        words = "\n\n".join(_texts_in(blocks))
        if _has_content(blocks):
            origin = Origin(answer.model or self.model.name, answer.usage.as_dict())
            item = self.context.add(
                ContextItem(ItemType.ASSISTANT, words, blocks=blocks, origin=origin)
            )
            turn.answered, turn.text = True, words or turn.text
            turn.emit(AnswerGiven(item.id, words))
        return calls

    async def _run_call(self, turn: Turn, call: ToolCall) -> ActionResult:
        """Run one call, unless it failed too often in this turn."""
        key = json.dumps([call.name, call.input], sort_keys=True, default=str)
        if turn.failures[key] >= _FAILURES:
            text = msg("Not carried out: the same call failed three times. Try something else.")
            return ActionResult(False, self._words(text))
        result = await self.tools.run(call)
        turn.failures[key] += not result.ok
        return result

    def _add_result(
        self,
        turn: Turn,
        call: ToolCall,
        result: ActionResult,
        longest: int,
        outcome: Mapping[str, Any],
    ) -> str:
        """Add a result, truncated to `longest`, to the context; return the text the model reads."""
        text = cap(result.text, longest)
        if notices := self.preamble.take_reports():
            text = f"{text}\n\n{notices}"
        gist = result.gist if isinstance(result, FileResult) else None
        item = self.calls.result(call, text, ok=result.ok, gist=gist)
        if gist is not None and self._has_read(turn, item):
            text = self._words("Unchanged since it was read above in this turn.")
            item = self.calls.result(call, text, ok=True)
        assign(item, outcome={name: value for name, value in outcome.items() if value})
        item = self.context.add(item)
        if item.gist is not None:
            turn.files.append(item)
        return text

    def _has_read(self, turn: Turn, new: ContextItem) -> bool:
        """Whether the model already sees the same text of the same file.

        It no longer does if room was made within the turn and only the gist is left.
        """
        return any(
            (item.gist, item.content) == (new.gist, new.content)
            for item in turn.files
            if self.context.is_whole(item)
        )

    def _refuse(self, turn: Turn, calls: Sequence[ToolCall], most: int) -> None:
        text = self._words(
            "Not carried out: the limit is {most} calls per answer. Make fewer at a time.",
            most=most,
        )
        paired = [call for call in calls if call.id is not None]
        for call in paired or calls[:1]:  # calls without ids need no result each
            self.context.add(self.calls.result(call, text, ok=False))
        turn.notify(
            self._words(
                "{count:,} calls were refused: the limit is {most} per answer (max_calls).",
                count=len(calls),
                most=most,
            )
        )

    # --- the end of a turn -------------------------------------------------------------

    def _judge(self, turn: Turn, answer: Answer, calls: Sequence[ToolCall]) -> End | None:
        """Decide whether the turn ends after an answer; None if it continues."""
        words, stop = self._words, answer.stop_reason
        if calls or (stop == "pause_turn" and _has_content(answer.blocks)):
            return None
        if stop == "refusal":
            return End("refused", words("The model declined to answer."))
        nudge = words(_CUT_CALL) if answer.cut_calls else ""
        if stop in _CUT:
            text = msg("The answer was cut off at {tokens} tokens. Say “go on” to get the rest.")
            end = End("cut_off", words(text, tokens=self.options.max_tokens))
        elif nudge or not _texts_in(answer.blocks):
            end = End("empty", words("The model gave no answer."))
            nudge = nudge or words(_EMPTY_ANSWER)
        elif stop in _USUAL:
            return End("done")
        else:
            text = msg("The model stopped for an unknown reason: {reason}.")
            return End("done", words(text, reason=one_line(stop, 80)))
        if nudge and not turn.nudged:
            turn.nudged = True
            self._add_aside(nudge)
            return None
        return end

    def _jobs_after(self, turn: Turn) -> str:
        """Return which jobs a stopped turn cancelled, and which still run; empty if none."""
        words = self._words
        lines = turn.cancelled.splitlines()
        for window in self.windows.windows():
            for job in runtime_of(window).jobs.running():
                if not job.is_quiet:
                    lines.append(words("{name} still runs in {id}.", name=job.name, id=window.id))
        text = ("" if words.lang == "zh" else " ").join(lines)
        return words("Stopped. {jobs}", jobs=one_line(text, 500)) if lines else ""

    def keep_message(self, turn: Turn, text: str) -> TurnStarted:
        """Keep the message of a turn that ended before it started."""
        started = self._add_message(turn, text)
        self._complete(turn, End("stopped"))
        return started

    def _complete(self, turn: Turn, end: End) -> TurnFinished:
        """Leave the context consistent: keep streamed text, and answer every open call."""
        words, add = self._words, self.context.add
        if partial := "".join(turn.partial).strip():
            turn.text = partial
            add(ContextItem(ItemType.ASSISTANT, f"{partial}\n\n{words('(stopped here)')}"))
        lost = words(
            "The turn was stopped before this was finished. It may or may not have been carried "
            "out."
        )
        for call_id in self.context.calls.unanswered:
            add(self.calls.result(ToolCall(call_id, "", {}), lost, ok=False))
        self._end_with_text()
        waited = self.tools.gate.waited - turn.waited
        finished = turn.finished(
            *end,
            seconds=round(max(time.monotonic() - turn.began - waited, 0.0), 2),
            cached=turn.usage.cached if has_cache(self.model) else None,
        )
        self.context.end_turn(finished)
        return finished

    def _end_with_text(self) -> None:
        """End on text, not on a tool result: a message right after one causes empty answers."""
        talk = (item for item in reversed(self.context.get_active()) if is_conversation(item))
        last = next(talk, None)
        if last is not None and last.tool_call_id is not None:
            self.context.add(ContextItem(ItemType.ASSISTANT, self._words("(stopped here)")))


def _texts_in(blocks: Iterable[Block]) -> list[str]:
    texts = (block.get("text") for block in blocks if block["type"] == "text")
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _has_content(blocks: Sequence[Block]) -> bool:
    """Whether blocks hold more than thinking: text, a call, or a block of an unknown type."""
    is_other = any(block["type"] not in ("text", *THINKING) for block in blocks)
    return is_other or bool(_texts_in(blocks))

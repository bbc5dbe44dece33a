"""`InteractionController`: the agent loop. Build a request, send it, run its tool calls, repeat."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from contextui.agent.approval import ApprovalGate
from contextui.agent.functions import function_tools
from contextui.agent.loop import Steps, complete_turn, end_with_text, judge
from contextui.agent.preamble import PersonActions, Preamble, PreambleText, retrieved
from contextui.agent.prompt import install, project_block, system_prompt
from contextui.agent.protocol import TagFilter, calls_of
from contextui.agent.request import RequestBuilder
from contextui.agent.retry import Emit
from contextui.agent.room import RoomMaker, Strategist, outcome
from contextui.agent.tools import TOOLS, ToolBox, ToolCall
from contextui.agent.turn import (
    Setup,
    Turn,
    TurnOptions,
    TurnRunningError,
    fit_options,
    size_of,
)
from contextui.config.schema import ToolProtocol
from contextui.context.changes import admit
from contextui.context.compaction.service import CompactionService
from contextui.context.item import BESIDE, ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import ContextTooLargeError, ContextUIError
from contextui.events import (
    AnswerDiscarded,
    CompactionResult,
    Event,
    Notice,
    TurnFinished,
    TurnStarted,
)
from contextui.model import Answer, ContextSize, Model, ModelError, ModelRequest, Tool
from contextui.text import one_line
from contextui.windowing.error_text import reason_of
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.words import Words

if TYPE_CHECKING:
    from contextui.agent.mention import Attachments


class EventQueue:
    """Thread-safe queue of a turn's events, ended by None."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(self, event: Event | None) -> None:
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
        prompt: Add contextui's system prompt before the first turn, unless the context has a
            system item already.
        tools: Further tools: functions, whose schema follows from signature and docstring, or
            objects with `name`, `description`, `input_schema` and `call`. One that declares the
            effect ``read`` runs; every other call needs approval.

    Raises:
        ValueError: One of the tools cannot be one.

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
        prompt: bool = True,
        tools: Sequence[Callable[..., Any] | Any] = (),
    ) -> None:
        if context is None:
            context = ContextManager(WindowManager(discover().classes()))
        if context.windows is None:
            raise ContextUIError("A conversation needs windows: ContextManager(WindowManager(…)).")
        self.model, self.context, self.windows = model, context, context.windows
        self.options = options or TurnOptions()
        functions = function_tools(tools, [one.name for one in TOOLS["en"]])
        self._more = tuple(one.declared for one in functions)
        self.tools = ToolBox(self.windows, approval, context.get_all, functions)
        self._usual = (self.options, tool_protocol)
        tool_protocol = getattr(model, "tool_protocol", tool_protocol)
        self.tool_protocol: ToolProtocol = tool_protocol
        self._measured: Model | None = None  # whose server was asked for its context
        self._guide = ""
        self._adds_prompt = prompt
        self._prompt: ContextItem | None = None  # found last
        self._calls = calls_of(tool_protocol, self.windows.lang, self._more)
        self._words = Words(self.windows.lang)
        self._person_actions, self._preamble = PersonActions(context), Preamble(context)
        self._setup = Setup(context, lambda: self.model, self.options, self._calls)
        self._room = RoomMaker(self._setup, is_idle=lambda: self._task is None)
        self._steps = Steps(self._setup, self.tools, self._person_actions.take_reports)
        self._previews = RequestBuilder()  # apart from the turn's: it may be used on other threads
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
        self._guide = guide
        classes, lang = self.windows.classes.values(), self.windows.lang
        by_price = self.context.placement == "price"
        prompt = system_prompt(
            classes, lang, self.tool_protocol, has_changes=by_price, more=self._more
        )
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
        self._person_actions.report()
        self._person_actions.stop()

    async def aclose(self) -> None:
        """Like `close`, and also close the model's connections, if it has any."""
        self.close()
        close = getattr(self.model, "aclose", None)
        if close is not None:
            await close()

    # --- a turn ------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether a turn or a manual compaction is running."""
        return self._task is not None

    def check_idle(self) -> None:
        """Raise `TurnRunningError` while a turn or a manual compaction is running."""
        if self._task is not None:
            raise TurnRunningError(
                "The model is still working. Wait until it finishes, or stop it."
            )

    def stop(self) -> None:
        """Cancel what is running; a turn ends with the reason ``stopped``."""
        if self._task is not None:
            self._task.cancel()

    @cached_property
    def attachments(self) -> "Attachments":
        """Reads the files that a message mentions, for `run_turn`."""
        from contextui.agent.mention import Attachments  # noqa: PLC0415  (few messages mention one)

        return Attachments(
            self.windows,
            self.tools.gate,
            self.context.counter.count,
            lambda: bool(getattr(self.model, "sees", False)),
        )

    async def run_turn(
        self, text: str, attached: Sequence[PreambleText] | None = None
    ) -> AsyncIterator[Event]:
        """Send a message to the model and yield events; the last one is `TurnFinished`.

        Closing the iterator, or cancelling its consumer, cancels the turn. The context stays
        consistent.

        Args:
            text: The message.
            attached: What precedes it, see `attachments`; by default one line about each file that
                it mentions.

        Raises:
            InvalidItemError: The message is empty.
            TurnRunningError: Another turn is running.
        """
        self.check_idle()
        admit(ContextItem(ItemType.USER, text))
        queue = EventQueue()
        turn = Turn(queue.put, self.options.budget - self._setup.reserved)
        if self.tool_protocol == "text":
            turn.tags = TagFilter()
        unsubscribe = self.windows.subscribe(queue.put)
        turn.preamble = tuple(attached or ())
        task = self._task = asyncio.create_task(self._run(turn, text, attached is None))
        task.add_done_callback(lambda _: queue.put(None))
        try:
            while (event := await queue.next()) is not None:
                yield event
                if isinstance(event, TurnFinished):
                    break  # windows may go on
            if task.cancelled():  # cancelled before it started
                yield self._keep_message(turn, text)
                yield turn.finished("stopped")
        finally:
            unsubscribe()
            self._task = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if not turn.message_id:  # the iterator was closed before the turn started
                self._keep_message(turn, text)
            self._room.strategist.after()

    async def compact(self, emit: Emit = lambda _: None) -> CompactionResult:
        """Compact the conversation manually; `emit` is called with start, end and retry events.

        Nothing changes if it would save too little.

        Raises:
            TurnRunningError: A turn is running.
            NothingToCompactError: Nothing can be compacted, or it would save too little.
            CompactionStoppedError: It was cancelled; nothing was changed.
        """
        self.check_idle()
        task = self._task = asyncio.create_task(self._room.compact("manual", emit))
        try:
            return await outcome(task)
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
        return self._steps.request_of(composition, self._previews)

    # --- internals ---------------------------------------------------------------------

    async def _run(self, turn: Turn, text: str, describes_files: bool) -> None:
        finished, crash = turn.finished("stopped"), None
        if self._adds_prompt and not self._has_prompt():
            self.install_prompt()
        try:
            try:
                await self._measure(turn)
                named = text if describes_files else ""
                before = await self._preamble.gather(named, turn.emit)
                turn.preamble = (*before, *turn.preamble)
                await self._room.before(turn, text)
            finally:  # keep the person's message even if that fails
                turn.emit(self._begin(turn, text))
            finished = await self._repeat(turn)
        except asyncio.CancelledError:
            finished = turn.finished("stopped", self._jobs_after(turn))
        except ContextTooLargeError as error:
            if not turn.answered:
                # Keeping the message would make every later request too large as well.
                for item_id in (*turn.beside, turn.message_id):
                    self.context.drop(item_id)
            # If the provider asked for less than the budget, the budget is not the reason.
            finished = turn.finished("failed", turn.shrunk or error.text(self.windows.lang))
        except ContextUIError as error:
            finished = turn.finished("failed", error.text(self.windows.lang))
        except Exception as error:
            finished, crash = turn.finished("failed", reason_of(error)), error
        self._make_whole(turn)
        turn.emit(replace(finished, text=turn.text, steps=turn.steps, usage=turn.usage))
        if crash is not None:
            raise crash

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
        if size.calls_tools is False and protocol == "native":
            protocol = "text"
            text = self._words(
                "{model} does not call tools by itself: calls are written in its text.",
                model=one_line(model.name, 60),
            )
            turn.emit(Notice(text))
        self._use(fit_options(options, size), protocol)
        if self.options.budget < options.budget:
            turn.emit(Notice(self._smaller(size, options.budget)))
        turn.room = self.options.budget - self._setup.reserved
        turn.tags = TagFilter() if protocol == "text" else None

    def _smaller(self, size: ContextSize, wanted: int) -> str:
        return self._words(
            "The server of {model} has a context of {tokens} tokens, and drops what is longer "
            "without a word. The budget is {budget} instead of {wanted}.",
            model=one_line(self.model.name, 60),
            tokens=f"{size.tokens:,}",
            budget=f"{self.options.budget:,}",
            wanted=f"{wanted:,}",
        )

    def _use(self, options: TurnOptions, protocol: ToolProtocol) -> None:
        """Change the limits and the way of calling tools, between two turns."""
        if protocol != self.tool_protocol:
            had_prompt = self._has_prompt()
            self.tool_protocol = protocol
            self._calls = calls_of(protocol, self.windows.lang, self._more)
            self._setup.calls = self._calls
            if had_prompt and self._adds_prompt:
                self.install_prompt(self._guide)
        elif options == self.options:
            return
        self.options = self._setup.options = options
        self._room.reset_limits()

    def _has_prompt(self) -> bool:
        if self._prompt is None or self._prompt.hidden:
            system = (one for one in self.context.get_active() if one.type is ItemType.SYSTEM)
            self._prompt = next((one for one in system if not one.is_summary), None)
        return self._prompt is not None

    def _begin(self, turn: Turn, text: str) -> TurnStarted:
        """Add the person's message to the context, preceded by their window actions."""
        # The previous turn may have ended with the process.
        end_with_text(self.context, self._words)
        self._person_actions.report()
        for before in (*turn.preamble, *retrieved(self.strategist.take_retrieved())):
            turn.beside.append(self._preamble.add(before).id)
        turn.message_id = self.context.add(ContextItem(ItemType.USER, text)).id
        return TurnStarted(text, turn.message_id)

    async def _repeat(self, turn: Turn) -> TurnFinished:
        if turn.room <= 0:
            self.check_budget()
        while turn.step < self.options.max_steps:
            turn.step += 1
            if finished := await self._step(turn):
                return finished
        return turn.finished(
            "paused",
            self._words(
                "The turn paused after {steps} steps, the maximum. Say “go on” to continue.",
                steps=self.options.max_steps,
            ),
        )

    async def _step(self, turn: Turn) -> TurnFinished | None:
        """Send one request and run the calls of its answer; None if the turn continues."""
        steps = self._steps
        try:
            answer = await steps.query(turn, await steps.build(turn))
        except ModelError as error:
            if not steps.repairs.repair_for(turn, error):
                raise
            return None
        if answer.stop_reason == "model_context_window_exceeded" and not turn.shrunk:
            reason = self._words("The model's context window is full.")
            turn.on_event(AnswerDiscarded(reason))
            steps.repairs.shrink(turn, reason)
            return None
        if calls := steps.store(turn, answer):
            await steps.act(turn, calls)
        return self._judge(turn, answer, calls)

    def _judge(self, turn: Turn, answer: Answer, calls: Sequence[ToolCall]) -> TurnFinished | None:
        words = self._words
        if turn.is_stuck:
            return turn.finished(
                "stuck", words("The turn was stopped: the same call failed three times.")
            )
        verdict = None if calls else judge(answer, words, self.options.max_tokens)
        if verdict is None:
            return None
        if verdict.nudge and not turn.nudged:
            turn.nudged = True
            name = f"{BESIDE}{uuid.uuid4().hex}"
            self.context.add(ContextItem(ItemType.USER, verdict.nudge, id=name))
            return None
        return turn.finished(verdict.reason, verdict.explanation)

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

    def _make_whole(self, turn: Turn) -> None:
        complete_turn(turn, self.context, self._calls, self._words)

    def _keep_message(self, turn: Turn, text: str) -> TurnStarted:
        """Keep the message of a turn that ended before it started."""
        started = self._begin(turn, text)
        self._make_whole(turn)
        return started

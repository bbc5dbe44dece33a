"""`InteractionController`: the API around the agent loop, which is in `contextui.agent.loop`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from contextui.agent.approval import ApprovalGate
from contextui.agent.context_space import ContextSpace, TurnOptions
from contextui.agent.functions import function_tools
from contextui.agent.loop import AgentLoop, Turn
from contextui.agent.prompt import PreambleText
from contextui.agent.request import RequestBuilder
from contextui.agent.retry import Emit
from contextui.agent.tools import TOOLS, TagFilter, ToolBox
from contextui.config.schema import ToolProtocol
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem, ItemType, admit
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import ContextUIError
from contextui.events import CompactionResult, Event, TurnFinished
from contextui.model import Model, ModelRequest, Tool
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager

if TYPE_CHECKING:
    from contextui.agent.mention import Attachments


class TurnRunningError(ContextUIError):
    """A turn or a compaction was requested while another one is running."""


class CompactionStoppedError(ContextUIError):
    """A compaction was cancelled; nothing was changed."""


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

    Attributes:
        context: The conversation.
        windows: Its windows.
        tools: Runs the model's tool calls.
        strategist: Makes room before a turn; its `use` selects a context strategy.

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
        self.context, self.windows = context, context.windows
        functions = function_tools(tools, [tool.name for tool in TOOLS["en"]])
        self.tools = ToolBox(self.windows, approval, context.get_all, functions)
        self._loop = AgentLoop(
            model,
            context,
            self.tools,
            options=options or TurnOptions(),
            protocol=tool_protocol,
            adds_prompt=prompt,
        )
        self._loop.note_prices()
        self.strategist: ContextSpace = self._loop.space
        self.strategist.is_idle = lambda: not self.is_running
        self._previews = RequestBuilder()  # apart from the turn's: it may be used on other threads
        self._task: asyncio.Task[None] | asyncio.Task[CompactionResult] | None = None

    @property
    def model(self) -> Model:
        """The model that answers; another one can be set between turns."""
        return self._loop.model

    @model.setter
    def model(self, model: Model) -> None:
        self.check_idle()
        self._loop.use_model(model)

    @property
    def options(self) -> TurnOptions:
        """Limits of a turn; lower than given if the model's context is smaller."""
        return self._loop.options

    @property
    def declared(self) -> Sequence[Tool]:
        """Tools as declared to the provider; empty if calls are written as tags in the text."""
        return self._loop.calls.tools

    # --- before and after --------------------------------------------------------------

    def install_prompt(self, guide: str = "") -> ContextItem:
        """Put the system prompt and the project's own instructions at the start of the context.

        Args:
            guide: The text of the folder's AGENTS.md. It is sent as a user message.
        """
        return self._loop.install_prompt(guide)

    @property
    def unread_reports(self) -> str:
        """What windows reported since the model last read their reports."""
        return self._loop.preamble.unread

    def close(self) -> None:
        """Report the person's last window actions to the context, and unsubscribe."""
        self.strategist.cancel()
        self._loop.preamble.report()
        self._loop.preamble.stop()

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
        self, text: str, attached: Sequence[PreambleText] = ()
    ) -> AsyncIterator[Event]:
        """Send a message to the model and yield events; the last one is `TurnFinished`.

        Closing the iterator, or cancelling its consumer, cancels the turn. The context stays
        consistent.

        Args:
            text: The message.
            attached: The files that it mentions, as `attachments` reads them.

        Raises:
            InvalidItemError: The message is empty.
            TurnRunningError: Another turn is running.
        """
        self.check_idle()
        admit(ContextItem(ItemType.USER, text))
        events, running = asyncio.Queue[Event | None](), asyncio.get_running_loop()

        def emit(event: Event | None) -> None:
            """Queue an event from any thread: windows emit on their own, and order is kept."""
            with suppress(RuntimeError):  # the event loop is closed: nothing reads the queue
                running.call_soon_threadsafe(events.put_nowait, event)

        loop = self._loop
        turn = Turn(emit, self.options.budget - self.strategist.reserved, tuple(attached))
        if loop.protocol == "text":
            turn.tags = TagFilter()
        unsubscribe = self.windows.subscribe(emit)
        task = self._task = asyncio.create_task(loop.run(turn, text))
        task.add_done_callback(lambda _: emit(None))
        try:
            while (event := await events.get()) is not None:
                yield event
                if isinstance(event, TurnFinished):
                    break  # windows may go on
            if task.cancelled():  # cancelled before it started
                yield loop.keep_message(turn, text)
                yield turn.finished("stopped")
        finally:
            unsubscribe()
            self._task = None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if not turn.message_id:  # the iterator was closed before the turn started
                loop.keep_message(turn, text)
            self.strategist.start_background()

    def request_of(self, composition: Composition) -> ModelRequest:
        """Build the request for a composition, as the model receives it."""
        return self._loop.request_of(composition, self._previews)

    # --- compaction --------------------------------------------------------------------

    async def compact(self, emit: Emit = lambda _: None) -> CompactionResult:
        """Compact the conversation manually; `emit` is called with start, end and retry events.

        Nothing changes if it would save too little.

        Raises:
            TurnRunningError: A turn is running.
            NothingToCompactError: Nothing can be compacted, or it would save too little.
            CompactionStoppedError: It was cancelled; nothing was changed.
        """
        self.check_idle()
        task = self._task = asyncio.create_task(self.strategist.compact("manual", emit))
        try:
            await asyncio.wait([task])
            if task.cancelled():
                raise CompactionStoppedError("The compaction was stopped. Nothing was changed.")
            return task.result()
        finally:
            task.cancel()
            self._task = None

    @property
    def compaction(self) -> CompactionService:
        """The compaction service, which also previews what a compaction would remove."""
        return self.strategist.compaction

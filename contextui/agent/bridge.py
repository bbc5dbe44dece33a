"""`ContextBridge`: windows, cache marks and the approval gate around your own loop."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal

from contextui.agent.approval import ApprovalGate
from contextui.agent.cache_marks import Payload, payload
from contextui.agent.context_space import TurnOptions
from contextui.agent.controller import InteractionController
from contextui.agent.models.chat import ChatReader, Dialect, chat_body
from contextui.agent.request import fit_id
from contextui.context.item import ContextItem, ItemType, admit
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, TurnFinished
from contextui.model import LOCAL_PRICES, Answer, Block, CachePrices, ModelError, ModelRequest
from contextui.tokens import Usage

Api = Literal["messages", "chat"]


class _CallersModel:
    """The model that the caller asks: it hands each request over and waits for the reply."""

    def __init__(self, name: str, prices: CachePrices) -> None:
        self.name, self.prices = name, prices

    def wait_for_request(self) -> "asyncio.Future[ModelRequest]":
        self._request = asyncio.get_running_loop().create_future()
        return self._request

    async def stream(self, request: ModelRequest) -> AsyncIterator[Answer]:
        self._reply = asyncio.get_running_loop().create_future()
        self._request.set_result(request)
        yield await self._reply

    def reply(self, answer: Answer) -> None:
        self._reply.set_result(answer)


class ContextBridge:
    """Gives the arguments of a model call, and carries out the calls of its reply.

    The turns are those of `InteractionController`, with the same limits, compaction and approval:
    whatever writes outside a window asks, and is refused if nobody answers. Only the requests are
    sent by the caller. One that failed can be sent again, or abandoned with `stop`.

    Args:
        model: The model's name, as the provider knows it.
        api: The form of requests and replies: Anthropic's Messages API, or chat completions.
        context: The conversation; by default a new one with the installed windows.
        approval: Asks before anything outside a window is changed.
        options: The limits: budget, length of an answer, calls per answer.
        tools: Further tools, see `InteractionController`.
        prices: What the provider's cache costs; by default Anthropic's, or nothing with ``chat``.
        on_event: Called with each event of a turn.

    Attributes:
        finished: How the last turn ended.

    Example:
        >>> bridge = ContextBridge("claude-opus-5-5")
        >>> bridge.say("Make a todo list with milk.")
        >>> while await bridge.pending():
        ...     reply = await client.messages.create(**bridge.request())
        ...     text = await bridge.take(reply)
    """

    def __init__(
        self,
        model: str,
        api: Api = "messages",
        *,
        context: ContextManager | None = None,
        approval: ApprovalGate | None = None,
        options: TurnOptions | None = None,
        tools: Sequence[Any] = (),
        prices: CachePrices | None = None,
        on_event: Callable[[Event], object] = lambda _: None,
    ) -> None:
        self._api: Api = api
        usual = CachePrices() if api == "messages" else LOCAL_PRICES
        self._model = _CallersModel(model, prices or usual)
        self._controller = InteractionController(
            model=self._model, context=context, approval=approval, options=options, tools=tools
        )
        self.context, self.windows = self._controller.context, self._controller.windows
        self.finished: TurnFinished | None = None
        self._on_event = on_event
        self._said: deque[str] = deque()
        self._turn: asyncio.Task[None] | None = None
        self._asked: asyncio.Future[ModelRequest] | None = None
        self._sent: Payload | None = None
        self._body: dict[str, Any] | None = None

    def say(self, text: str) -> None:
        """Queue the person's next message; `pending` starts its turn when the last one ended.

        Raises:
            InvalidItemError: The message is empty.
        """
        admit(ContextItem(ItemType.USER, text))
        self._said.append(text)

    async def pending(self) -> bool:
        """Prepare the next request; False if there is none: all messages are answered.

        Raises:
            ContextUIError: The turn failed, for example because the message is too long.
        """
        while not self._is_waiting:
            if self._turn is None:
                if not self._said:
                    return False
                self.finished, self._asked = None, self._model.wait_for_request()
                self._turn = asyncio.create_task(self._run(self._said.popleft()))
            elif self._turn.done():
                self._end()
            else:  # also after a `take` that was cancelled: its calls go on
                await self._next()
        return True

    def request(self) -> dict[str, Any]:
        """Return the arguments for `messages.create`, or for `chat.completions.create`.

        Those of chat completions have no limit of the answer, as servers disagree about its name.

        Raises:
            RuntimeError: `pending` was not awaited, or said that nothing is to be sent.
        """
        if self._body is None or not self._is_waiting:
            raise RuntimeError("Call say(), and then await pending(), before request().")
        return dict(self._body)

    async def take(self, reply: Any) -> str:
        """Take a reply, carry out its calls, and return its text.

        Args:
            reply: What the SDK returned, or the same as a mapping.

        Raises:
            RuntimeError: There is no request that it could answer.
            ValueError: It is not a reply of this API.
        """
        if not self._is_waiting:
            raise RuntimeError("There is no request that this reply could answer.")
        answer = _answer(reply, self._api, self._model.name)
        self._body = None
        self._asked = self._model.wait_for_request()
        self._model.reply(answer)
        await self._next()
        return "\n\n".join(block["text"] for block in answer.blocks if block["type"] == "text")

    def stop(self) -> None:
        """Abandon the turn; its messages and results stay in the context."""
        self._body = None
        self._controller.stop()

    def note(self, text: str) -> None:
        """Add a message for the model without asking for an answer."""
        self.context.add(ContextItem(ItemType.USER, text))

    def close(self) -> None:
        """Report the person's last window actions to the context, and unsubscribe."""
        self.stop()
        self._controller.close()

    # --- internals ---------------------------------------------------------------------

    @property
    def _is_waiting(self) -> bool:
        """Whether a request waits for its reply; a turn ends with the event loop it runs in."""
        return self._body is not None and self._turn is not None and not self._turn.done()

    async def _run(self, text: str) -> None:
        async for event in self._controller.run_turn(text):
            if isinstance(event, TurnFinished):
                self.finished = event
            self._on_event(event)

    async def _next(self) -> None:
        asked, turn = self._asked, self._turn
        assert turn is not None
        if asked is None:  # its request was written already
            await asyncio.wait((turn,))
            return
        await asyncio.wait((asked, turn), return_when=asyncio.FIRST_COMPLETED)
        if asked.done() and asked is self._asked:  # no other task was faster
            self._asked, self._body = None, self._written(asked.result())

    def _end(self) -> None:
        turn, self._turn, self._body, self._asked = self._turn, None, None, None
        assert turn is not None
        if not turn.cancelled():
            turn.result()
        if self.finished is not None and self.finished.reason == "failed":
            raise ContextUIError(self.finished.explanation)

    def _written(self, request: ModelRequest) -> dict[str, Any]:
        if self._api == "messages":
            self._sent = payload(request, self._model.name, self._sent)
            return self._sent.body
        dialect = Dialect(counts=False)
        body = chat_body(request, self._model.name, dialect)
        return {name: one for name, one in body.items() if name not in ("stream", dialect.limit)}


def _answer(reply: Any, api: Api, model: str) -> Answer:
    dump = getattr(reply, "model_dump", None)
    data = dump(mode="json", exclude_none=True) if dump is not None else reply
    if not isinstance(data, Mapping):
        raise ValueError(f"A reply is an SDK's object or a mapping, not {type(reply).__name__}.")
    try:
        blocks, stop, usage = _messages_reply(data) if api == "messages" else _chat_reply(data)
    except (AttributeError, KeyError, TypeError, ModelError) as error:
        raise ValueError(f"The reply is incomplete: {error}") from error
    return Answer(blocks, stop, usage, str(data.get("model") or model))


def _messages_reply(data: Mapping[str, Any]) -> tuple[tuple[Block, ...], str, Usage]:
    content = data.get("content")
    if not isinstance(content, list):
        raise ValueError("The reply has no content: is it one of the Messages API?")
    blocks = tuple(one for one in content if isinstance(one, Mapping) and one.get("type"))
    if not all(isinstance(block["text"], str) for block in blocks if block["type"] == "text"):
        raise TypeError("a text is none")
    counts = {name: (data.get("usage") or {}).get(name) for name in Usage().as_dict()}
    known = {name: one if type(one) is int and one >= 0 else 0 for name, one in counts.items()}
    return blocks, str(data.get("stop_reason") or "end_turn"), Usage(**known)


def _chat_reply(data: Mapping[str, Any]) -> tuple[tuple[Block, ...], str, Usage]:
    """Read a whole completion with the reader of streams: it checks the same things."""
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ValueError("The reply has no choices: is it one of chat completions?")
    message = dict(choices[0].get("message") or {})
    calls = message.get("tool_calls") or []
    message["tool_calls"] = [{**one, "index": at} for at, one in enumerate(calls)]
    reason = choices[0].get("finish_reason") or "stop"
    reader = ChatReader(str(data.get("model") or ""))
    chunk = {"index": 0, "delta": message, "finish_reason": reason}
    reader.read({**data, "choices": [chunk]})
    answer = reader.answer()
    blocks = tuple(
        {**block, "id": fit_id(block["id"])} if block["type"] == "tool_use" else block
        for block in answer.blocks
    )
    return blocks, answer.stop_reason, answer.usage

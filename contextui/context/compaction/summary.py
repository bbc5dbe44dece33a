"""Asking a model for a summary: what it is given to read, and in which form it is to answer."""

import json
from collections.abc import Iterable, Iterator, Sequence

from contextui.context.compaction.files import FileText
from contextui.context.item import ContextItem, ItemType
from contextui.errors import ContextUIError
from contextui.model import Answer, LlmMessage, Model, ModelRequest
from contextui.text import cap
from contextui.tokens import TokenCounter
from contextui.windowing.env import Lang

_LONGEST_RESULT = 2_000  # characters of a tool's result that the summary is made from
_LONGEST_WORDS = 20_000  # characters of one message
_SYSTEM: dict[Lang, str] = {
    "en": "You summarize conversations between a person and an agent, so that the agent can go "
    "on with nothing but your summary. Keep names, numbers, paths and decisions exactly.",
    "zh": "你负责总结用户与智能体之间的对话，使智能体仅凭你的总结就能继续工作。"
    "名称、数字、路径和决定必须准确无误。",
}
_ASK: dict[Lang, str] = {
    "en": """\
Summarize the conversation above. Write nothing but the summary, under these headings:
## Goal
## Decisions
## Files
## Open ends
## Next step""",
    "zh": """\
请总结以上对话。只写总结，使用以下标题：
## 目标
## 决定
## 文件
## 未完成的事
## 下一步""",
}
_EARLIER: dict[Lang, str] = {"en": "Summary of what was before:", "zh": "此前的总结："}
_TOLD: dict[Lang, str] = {
    "en": "Summary of the conversation so far, which is left out:",
    "zh": "到目前为止的对话总结（原文已省略）：",
}


class NoSummaryError(ContextUIError):
    """A model that gave no summary that could be used."""


async def summarize(
    model: Model,
    items: Sequence[ContextItem],
    files: Sequence[FileText],
    counter: TokenCounter,
    *,
    room: int,
    max_tokens: int,
    lang: Lang,
) -> str:
    """A summary of these items, made piece by piece if they are too much for one request.

    Args:
        model: Who summarizes.
        items: What is to be summarized, oldest first; an earlier summary among them.
        files: The files that matter, as they are now.
        counter: Counts tokens.
        room: The tokens that a request may have.
        max_tokens: The tokens that the summary may have.
        lang: The language of what is asked.

    Raises:
        ModelError: The model gave no answer.
        NoSummaryError: It gave one, and it is no summary.
    """
    earlier = "\n\n".join(item.content for item in items if item.is_summary)
    pieces = list(_pieces(_transcript(items), counter, room))
    for number, piece in enumerate(pieces, 1):
        attached = _attached(files) if number == len(pieces) else ""
        before = [LlmMessage("user", f"{_EARLIER[lang]}\n{earlier}")] if earlier else []
        asking = LlmMessage("user", "\n\n".join(filter(None, [attached, _ASK[lang]])))
        request = ModelRequest(
            _SYSTEM[lang], _joined([*before, *piece, asking]), max_tokens=max_tokens
        )
        earlier = await _answer(model, request)
    return f"{_TOLD[lang]}\n\n{earlier}"


async def _answer(model: Model, request: ModelRequest) -> str:
    async for event in model.stream(request):
        if isinstance(event, Answer):
            return _checked(event)
    raise NoSummaryError("The summary broke off.")


def _checked(answer: Answer) -> str:
    if answer.stop_reason == "refusal":
        raise NoSummaryError("The model declined to summarize.")
    if answer.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise NoSummaryError("The summary was cut off.")
    words = "\n".join(one["text"] for one in answer.blocks if one["type"] == "text").strip()
    if not words:
        raise NoSummaryError("The summary is empty.")
    return words


# --- what is read ------------------------------------------------------------------------


def _transcript(items: Iterable[ContextItem]) -> Iterator[LlmMessage]:
    """The conversation in words alone: no tools are declared here, so no calls may stand in it."""
    for item in items:
        match item.type:
            case ItemType.USER:
                yield LlmMessage("user", cap(item.content, _LONGEST_WORDS))
            case ItemType.ASSISTANT:
                yield LlmMessage("assistant", cap(_said(item), _LONGEST_WORDS))
            case ItemType.TOOL:
                told = item.gist or cap(item.content, _LONGEST_RESULT)
                yield LlmMessage("user", f"[{item.tool_name or 'tool'}] {told}")


def _said(item: ContextItem) -> str:
    calls = [
        f"[{block['name']} {json.dumps(block.get('input'), ensure_ascii=False, default=str)}]"
        for block in item.blocks or ()
        if block.get("type") == "tool_use"
    ]
    return "\n".join(filter(None, [item.content, *calls])) or "…"


def _pieces(
    messages: Iterable[LlmMessage], counter: TokenCounter, room: int
) -> Iterator[list[LlmMessage]]:
    piece: list[LlmMessage] = []
    used, limit = 0, max(room // 2, 1)
    for message in messages:
        tokens = counter.count_messages([message])
        if piece and used + tokens > limit:
            yield piece
            piece, used = [], 0
        piece.append(message)
        used += tokens
    if piece:
        yield piece


def _attached(files: Sequence[FileText]) -> str:
    return "\n\n".join(f"{one.path} as it is now:\n{one.text}" for one in files)


def _joined(messages: Iterable[LlmMessage]) -> tuple[LlmMessage, ...]:
    """User and assistant in turns, user first, as providers want it."""
    joined: list[tuple[str, list[str]]] = [("user", [])]
    for message in messages:
        if joined[-1][0] != message.role:
            joined.append((message.role, []))
        joined[-1][1].append(str(message.content))
    return tuple(
        LlmMessage(
            "assistant" if role == "assistant" else "user",
            tuple({"type": "text", "text": text} for text in texts if text.strip())
            or ({"type": "text", "text": "…"},),
        )
        for role, texts in joined
    )

"""Asking a model something beside the conversation, and counting what that costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from contextui.context.compaction.transcript import in_turns
from contextui.model import Answer, LlmMessage, Model, ModelRequest, Usage
from contextui.tokens import TokenCounter

Report = Callable[[int, Mapping[str, int]], object]
"""Hears what a request was counted as, and what the provider says it cost."""


@dataclass(slots=True)
class Asker:
    """Sends requests without tools.

    Attributes:
        model: Who is asked.
        counter: Counts tokens.
        report: Hears what each request cost.
        counted: The tokens of the last request.
        usage: What all requests cost.
        requests: How many were answered.
    """

    model: Model
    counter: TokenCounter
    report: Report
    counted: int = 0
    usage: Usage = field(default_factory=Usage)
    requests: int = 0

    async def answer(
        self, system: str, messages: Sequence[LlmMessage], max_tokens: int
    ) -> Answer | None:
        """The whole answer; None if it broke off.

        Raises:
            ModelError: There is none.
        """
        request = ModelRequest(system, in_turns(messages), max_tokens=max_tokens)
        overhead = self.counter.message_overhead("system") + self.counter.count(system)
        self.counted = overhead + self.counter.count_messages(request.messages)
        answer = await self._whole(request)
        if answer is not None:
            self.requests += 1
            self.usage += answer.usage
            if any(answer.usage.as_dict().values()):
                self.report(self.counted, answer.usage.as_dict())
        return answer

    async def _whole(self, request: ModelRequest) -> Answer | None:
        stream = self.model.stream(request)
        try:
            async for event in stream:
                if isinstance(event, Answer):
                    return event
        finally:
            close = getattr(stream, "aclose", None)  # an async generator has it
            if close is not None:
                await close()
        return None


def words_of(answer: Answer) -> str:
    """What an answer says in words."""
    return "\n".join(one["text"] for one in answer.blocks if one["type"] == "text").strip()

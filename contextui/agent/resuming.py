"""Where the provider still keeps what an earlier run of the program sent.

What a run remembers of its requests ends with it. The conversation tells enough: where the
request before this one ended, or where the last finished turn began, a mark stood.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from contextui.agent import phrases
from contextui.model import Block, LlmMessage, ModelRequest

_RESULT = re.compile(r"\[\w+( failed| 失败)?\] ")  # as the text protocol writes one


def likely_mark(request: ModelRequest) -> int:
    """After how many blocks a request of an earlier run most likely had a mark; 0 if it had none.

    Within a turn that is where its last answer begins. At the start of a turn it is where the
    turn before began: its own bytes are others now that it is final.
    """
    sizes = [len(message.content) for message in request.messages]
    starts = [0, *accumulate(sizes)]
    placed = list(zip(starts, request.messages, strict=False))
    answers = [start for start, message in placed if message.role == "assistant"]
    if answers and answers[-1] >= request.stable:
        return answers[-1]
    began = (start for start, one in reversed(placed) if start < request.stable and _begins(one))
    return next(began, 0)


def _begins(message: LlmMessage) -> bool:
    """Whether a turn begins with this message: neither results nor the loop's own words do."""
    if message.role != "user" or isinstance(message.content, str):
        return False
    texts = [_words(block) for block in message.content]
    return not any(one is None or _RESULT.match(one) for one in texts) and not _is_nudge(texts)


def _words(block: Block) -> str | None:
    return block.get("text", "") if block["type"] != "tool_result" else None


def _is_nudge(texts: Sequence[str | None]) -> bool:
    return all(text in phrases.NUDGES for text in texts)

"""What a request and its answer cost, counted as a provider would count them."""

from collections.abc import Sequence
from functools import lru_cache

from contextui.agent.protocol import declaration_tokens
from contextui.model import Block, ModelRequest
from contextui.tokens import TokenCounter, Usage

_MOST = 1_024  # texts whose counts are kept: most of a request stood in the one before

_counter = TokenCounter(lru_cache(_MOST)(TokenCounter().count))


def usage_of(request: ModelRequest, answer: Sequence[Block]) -> Usage:
    """The tokens of everything in a request, tools included, and of what was answered."""
    asked = _counter.count_messages(request.messages) + declaration_tokens(request.tools, _counter)
    if request.system:
        asked += _counter.message_overhead("system") + _counter.count(request.system)
    return Usage(asked, _counter.count_content(answer))

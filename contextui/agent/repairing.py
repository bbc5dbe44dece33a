"""What is changed about requests that a provider refused: each change once, and told.

A conversation may hold what another model left in it, and this one does not know; or an answer
may be asked for that is longer than the model gives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from contextui.agent import phrases
from contextui.agent.blocks import PLAIN, plain_block
from contextui.agent.events import Notice
from contextui.agent.turn import Turn
from contextui.config.choices import Lang
from contextui.context.manager import ContextManager
from contextui.model import Block, ModelError, ModelRequest
from contextui.text import one_line

_LIMIT = re.compile(r"max_tokens\D{1,40}\d+\s*>\s*(\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class Repair:
    """How requests are changed before they are sent.

    Attributes:
        is_plain: Only blocks and fields that every provider knows are left in.
        max_tokens: How long an answer may be at most; None: as long as the person set.
    """

    is_plain: bool = False
    max_tokens: int | None = None

    def longest(self, wanted: int) -> int:
        """How long an answer may be."""
        return min(wanted, self.max_tokens or wanted)


class Repairs:
    """Helps requests that were refused: the same bytes are never sent again.

    Args:
        context: The conversation.
        lang: The language of the person.

    Attributes:
        repair: How requests are changed from now on: what was refused stands in the history.
    """

    def __init__(self, context: ContextManager, lang: Lang) -> None:
        self._context, self._words = context, phrases.of(lang)
        self.repair = Repair()

    def can_help(self, turn: Turn, error: ModelError) -> bool:
        """Change what was refused, each way once; whether there is anything to change."""
        match error.kind:
            case "thinking" if turn.thought:
                turn.without_thinking = True
                turn.tell(Notice(self._words.without_thinking))
                return True
            case "too_large" if not turn.shrunk:
                self.shrink(turn, str(error))
                return True
            case "bad_request" if turn.request is not None:
                return self._change(turn, turn.request, error)
        return False

    def shrink(self, turn: Turn, reason: str) -> None:
        """Leave less room for what is sent in this turn."""
        turn.shrunk = reason
        needed = self._context.counter.calibrated(self._context.compose().tokens)
        turn.room = max(min(turn.room, needed) * 2 // 3, 1)
        turn.tell(Notice(self._words.shrunk))

    def _change(self, turn: Turn, refused: ModelRequest, error: ModelError) -> bool:
        odd = sorted(set(_odd(refused)))
        if limit := _limit(str(error), refused.max_tokens):
            self.repair = replace(self.repair, max_tokens=limit)
            what = self._words.shorter_answers.format(tokens=limit)
        elif odd and not self.repair.is_plain:
            self.repair = replace(self.repair, is_plain=True)
            what = self._words.without_odd.format(what=one_line(", ".join(odd), 100))
        else:
            return False
        turn.tell(Notice(self._words.repaired.format(reason=error, what=what)))
        return True


def _limit(said: str, wanted: int) -> int | None:
    found = _LIMIT.search(said)
    limit = int(found[1]) if found else 0
    return limit if 0 < limit < wanted else None


def _odd(request: ModelRequest) -> Iterator[str]:
    """What of a request is not known to every provider: types of blocks, and fields."""
    for block in _all(request):
        if block["type"] not in PLAIN:
            yield str(block["type"])
        elif plain_block(block) != block:
            yield from (str(name) for name in block if name not in PLAIN[block["type"]])


def _all(request: ModelRequest) -> Iterator[Block]:
    for block in request.blocks():
        yield block
        inner = block.get("content") if block["type"] == "tool_result" else None
        yield from inner if isinstance(inner, list | tuple) else ()

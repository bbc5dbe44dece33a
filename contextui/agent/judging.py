"""Whether a turn is over after an answer, and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from contextui.agent.blocks import THINKING
from contextui.agent.events import Reason
from contextui.agent.phrases import Phrases
from contextui.model import Answer, Block
from contextui.text import one_line

_USUAL = ("end_turn", "stop_sequence", "tool_use")
_CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(frozen=True, slots=True)
class Verdict:
    """An end of the turn.

    Attributes:
        reason: Why it ends.
        explanation: What the person should know about it.
        nudge: What the model is told instead, the first time in a turn; empty: nothing helps.
    """

    reason: Reason
    explanation: str = ""
    nudge: str = ""


def words_in(blocks: Iterable[Block]) -> list[str]:
    """What blocks say in words, the blank ones left out."""
    texts = (one.get("text") for one in blocks if one["type"] == "text")
    return [text for text in texts if isinstance(text, str) and text.strip()]


def says_something(blocks: Iterable[Block]) -> bool:
    """Whether blocks say more than thinking, be it words, a call, or what is not known here."""
    kept = list(blocks)
    return bool(words_in(kept)) or any(one["type"] not in ("text", *THINKING) for one in kept)


def judge(answer: Answer, words: Phrases, max_tokens: int) -> Verdict | None:
    """What an answer without calls means for its turn; None if the turn simply goes on."""
    stop = answer.stop_reason
    cut = words.call_cut if answer.cut_calls else ""
    if stop == "pause_turn" and says_something(answer.blocks):
        return None
    if stop == "refusal":
        return Verdict("refused", words.refused)
    if stop in _CUT:
        return Verdict("cut_off", words.cut_off.format(tokens=max_tokens), cut)
    if cut or not words_in(answer.blocks):
        return Verdict("empty", words.silent, cut or words.empty)
    unknown = "" if stop in _USUAL else words.unknown_stop.format(reason=one_line(stop, 80))
    return Verdict("done", unknown)

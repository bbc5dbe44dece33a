"""Runs: what is left of a clause once the verb and the window are known, each a value."""

from dataclasses import dataclass

from contextui.agent.models.offline.lexicon.cues import CUES
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.shown.declared import Param

COLON, COMMA, SENTENCE = ":", ",", "sentence"
"""What may lead to a run besides small words and the names of params."""

_DIRECTIONS = ("@up", "@down", "@next", "@previous")


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens that belong together.

    Attributes:
        tokens: The tokens, without articles and small words at the edges.
        cues: What leads to them: groups of a small word, a mark, or ``=`` and a param's name.
        words: All that the person said.
    """

    tokens: tuple[Token, ...]
    cues: frozenset[str]
    words: str

    @property
    def text(self) -> str:
        """The run as it was said; of a quotation what is in it."""
        if len(self.tokens) == 1:
            return self.tokens[0].text
        return self.words[self.tokens[0].start : self.tokens[-1].end].strip()

    @property
    def is_quote(self) -> bool:
        """Whether it is one quotation."""
        return len(self.tokens) == 1 and self.tokens[0].kind is Kind.QUOTE

    @property
    def is_remark(self) -> bool:
        """Whether it is a sentence of its own, behind the wish."""
        return not self.cues.isdisjoint((SENTENCE, "~because"))

    @property
    def weight(self) -> float:
        """How many of its words say something; a verb that is none here says less."""
        return sum(
            0.5 if one.is_verb else 1.0
            for one in self.tokens
            if one.kind is not Kind.MARK
            and not one.is_small
            and not one.has(*_DIRECTIONS)
            and not is_once(one)
        )

    def leads_to(self, param: Param) -> bool:
        """Whether what stands before it leads to this param."""
        return any(leads_to(cue, param) for cue in self.cues)


def is_once(token: Token) -> bool:
    """Whether it only says that something is done a single time (每分钟采样一次)."""
    return token.number is not None and token.number.value == 1 and token.has("次", "once")


def leads_to(cue: str, param: Param) -> bool:
    """Whether a small word, or the param's own name, leads to this param."""
    if cue.startswith("="):
        return cue == f"={param.name}"
    if cue == "~with" and param.type.of is not None and not param.type.takes_text:
        return True
    if cue in ("~for", "~called") and param.type.of is not None:
        return False  # what a list is for, or called, is none of its things
    if cue == COLON and not param.optional and param.type.takes_text:
        return True
    wanted = {one.removesuffix("s") for one in CUES.get(cue, "").split()}
    return any(word.removesuffix("s") in wanted for word in param.words)

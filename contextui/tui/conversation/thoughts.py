"""What the model thinks before it answers, in one line; a click or Enter unfolds it."""

from textual.content import Content

from contextui.secrets import begun_own, mask_own
from contextui.tui.cells import FAINT, MUTED, fit, inert
from contextui.tui.conversation.folding import FoldedLine
from contextui.tui.words import Words

_NAME = 18  # cells, as the names of calls have
_SEEN = 400  # characters of which the newest that fit are shown
_LONGEST = 20_000  # characters that are unfolded


class Thought(FoldedLine):
    """Some thinking: its newest words as they come, and all of it once unfolded."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._text = ""

    def feed(self, text: str) -> None:
        """Some more of it."""
        self._text += text
        self.refresh(layout=self.is_open)

    def head(self) -> Content:
        """Its newest words."""
        room = max(self.size.width - 2 - _NAME - 1, 4)
        text = mask_own(self._text[-_SEEN:])
        newest = " ".join(text[: len(text) - begun_own(text)].split())
        return Content.assemble(
            ("· ", FAINT),
            (fit(self._words("thinking"), _NAME) + " ", MUTED),
            ("" if self.is_open else fit(newest[-room:], room), FAINT),
        )

    def rest(self) -> Content:
        """All of it."""
        text = mask_own(self._text[:_LONGEST])
        return inert(text[: len(text) - begun_own(text)].strip()).stylize(MUTED)

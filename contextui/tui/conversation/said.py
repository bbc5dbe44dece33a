"""What was said, as widgets: the person's words, the model's Markdown, and what happened beside."""

import time

from textual.content import Content
from textual.widgets import Markdown, Static

from contextui.secrets import OwnMasked, begun_own, mask_own
from contextui.text import for_terminal
from contextui.tui.cells import FAINT, inert, short
from contextui.tui.conversation.lists import LISTS
from contextui.tui.words import Words

LONGEST = 40_000
"""Characters of one answer that are drawn; the inspector has the whole of it."""

_MANY, _FIRST = 24, 12  # lines from which on only the first ones are shown, and how many
_BEAT = 1 / 15  # seconds, at least, between two drawings of an answer that is being streamed


class YourWords(Static):
    """The person's words, with a bar at their left; of many lines, a click shows all."""

    def __init__(self, text: str, words: Words) -> None:
        self._text, self._words = text, words
        self._is_whole = text.count("\n") < _MANY
        super().__init__(self._shown(), classes="you")

    def on_click(self) -> None:
        """Show all lines, or the first ones again."""
        if self._text.count("\n") >= _MANY:
            self._is_whole = not self._is_whole
            self.update(self._shown())

    def _shown(self) -> Content:
        lines = self._text[:LONGEST].split("\n")
        left_out = len(self._text) - LONGEST
        more = ""
        if not self._is_whole:
            count = self._text.count("\n") + 1 - _FIRST
            more = (
                f"\n… {self._words('{count} more lines, a click shows them', count=f'{count:,}')}"
            )
            lines = lines[:_FIRST]
        elif left_out > 0:
            more = f"\n… {self._words('{count} more characters', count=short(left_out))}"
        return Content.assemble(inert("\n".join(lines)), (more, FAINT))


class ModelWords(Markdown):
    """The model's words as they come: gathered, and drawn as often as there is time for that.

    A table or a block of code is built anew for every word that comes to its end. The longer it
    gets, the longer that takes, so half of the time belongs to everything else on the screen.
    """

    BLOCKS = Markdown.BLOCKS | LISTS

    def __init__(self, words: Words, text: str = "") -> None:
        super().__init__(_beginning(text), open_links=False)
        self._words = words
        self._drawn = min(len(text), LONGEST)
        self._length = len(text)
        self._waiting: list[str] = []
        self._masked = OwnMasked()
        self._is_whole = False
        self._will_draw = False

    def on_mount(self) -> None:
        """Start to draw what comes."""
        self._say_what_is_left_out()
        if self._waiting:
            self._draw_after(_BEAT)

    def feed(self, text: str) -> None:
        """Some more words."""
        self._length += len(text)
        if self._drawn < LONGEST:
            self._waiting.append(text)
        if self.is_attached and not self._will_draw:
            self._draw_after(_BEAT)

    def finish(self) -> None:
        """All words have come."""
        self._is_whole = True
        if self._masked and not self._will_draw:
            self._draw_after(_BEAT)

    def put(self, text: str) -> None:
        """Other words in the place of all that came."""
        self._waiting, self._masked, self._length = [], OwnMasked(), len(text)
        self._drawn = min(len(text), LONGEST)
        self.update(_beginning(text))
        self._say_what_is_left_out()

    def _draw_after(self, seconds: float) -> None:
        self._will_draw = True
        self.set_timer(seconds, self._draw_waiting)

    async def _draw_waiting(self) -> None:
        """Draw what came since the last time, and no more before that is done."""
        began = time.monotonic()
        text, self._waiting = self._masked.take("".join(self._waiting)), []
        if self._is_whole:
            text += self._masked.rest()
        if text and (room := LONGEST - self._drawn):
            self._drawn += min(len(text), room)
            await self.append(for_terminal(text[:room]))
        self._say_what_is_left_out()
        self._will_draw = False
        if self._waiting or (self._masked and self._is_whole):
            self._draw_after(max(_BEAT, time.monotonic() - began))

    def _say_what_is_left_out(self) -> None:
        if self._drawn < LONGEST or self._length == self._drawn:
            return
        count = short(self._length - self._drawn)
        self.border_subtitle = Content.styled(
            self._words("{count} more characters: the inspector has them", count=count), FAINT
        )
        self.add_class("-cut")


class AsideLine(Static):
    """A line about what happened."""

    def __init__(self, text: str, *, is_error: bool = False) -> None:
        super().__init__(inert(text), classes="aside -error" if is_error else "aside")


def _beginning(text: str) -> str:
    """As much of a text as is drawn, with no part of a key at its end."""
    part = text[:LONGEST]
    whole = len(part) if len(part) == len(text) else len(part) - begun_own(part)
    return for_terminal(mask_own(part[:whole]))

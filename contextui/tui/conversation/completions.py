"""The list of slash commands above the prompt, while one is being typed."""

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from contextui.tui.cells import KEY, MUTED, fit, line
from contextui.tui.commands import Commands, Completion
from contextui.tui.words import Words

_LONGEST = 36  # cells of a name


class Completions(OptionList, can_focus=False):
    """What the command under the cursor could become."""

    class Chosen(Message):
        """One of them was chosen."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, words: Words) -> None:
        super().__init__(id="completions")
        self._words = words
        self._texts: list[str] = []

    def offer(self, commands: Commands, text: str) -> bool:
        """Show what the text could become; whether there is anything to choose.

        Where there is not, but more can be typed, the line says what.
        """
        found = commands.completions(text)
        self._texts = [] if [one.text for one in found] == [text] else [one.text for one in found]
        self.clear_options()
        if self._texts:
            width = min(max(len(one.shown) for one in found), _LONGEST)
            self.add_options(self._option(one, width) for one in found)
            self.highlighted = 0
        elif usage := commands.usage(text):
            self.add_option(Option(Content.styled(line(usage), MUTED), disabled=True))
        self.display = self.option_count > 0
        return bool(self._texts)

    def _option(self, one: Completion, width: int) -> Option:
        about = one.choice.about if one.choice is not None else self._words(one.command.about)
        return Option(Content.assemble((fit(one.shown, width), KEY), "  ", (about, MUTED)))

    def step(self, by: int) -> None:
        """Mark another one."""
        if self._texts:
            self.highlighted = ((self.highlighted or 0) + by) % len(self._texts)

    @property
    def marked(self) -> str | None:
        """The text of the marked one."""
        if not self._texts or self.highlighted is None:
            return None
        return self._texts[self.highlighted]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses."""
        event.stop()
        self.post_message(self.Chosen(self._texts[event.option_index]))

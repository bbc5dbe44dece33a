"""The list of slash commands above the prompt, while one is being typed."""

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from contextui.tui.cells import KEY, MUTED, fit
from contextui.tui.commands import Commands
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
        """Show what the text could become; whether there is anything."""
        found = commands.completions(text)
        is_whole = [one for one, _ in found] == [text]
        self._texts = [] if is_whole else [one for one, _ in found]
        self.clear_options()
        shown = [
            f"{completed.strip()} {command.takes}" if " " not in text else completed
            for completed, command in (found if self._texts else ())
        ]
        width = min(max((len(one) for one in shown), default=0), _LONGEST)
        for name, (completed, command) in zip(shown, found, strict=False):
            choice = completed.partition(" ")[2]
            about = command.explain(choice) if choice else self._words(command.about)
            self.add_option(Option(Content.assemble((fit(name, width), KEY), "  ", (about, MUTED))))
        self.display = bool(self._texts)
        if self._texts:
            self.highlighted = 0
        return self.display

    def step(self, by: int) -> None:
        """Mark another one."""
        if self._texts:
            self.highlighted = ((self.highlighted or 0) + by) % len(self._texts)

    @property
    def marked(self) -> str | None:
        """The text of the marked one."""
        if not self.display or self.highlighted is None:
            return None
        return self._texts[self.highlighted]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses."""
        event.stop()
        self.post_message(self.Chosen(self._texts[event.option_index]))

"""Every command, by name: what the slash has, the windows that can be opened, their actions."""

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from contextui.tui.cells import line
from contextui.tui.main import MainScreen


class Palette(Provider):
    """Offers what can be done now."""

    async def discover(self) -> Hits:
        """All of it, while nothing was typed."""
        for title, about, text in self._all():
            yield DiscoveryHit(Content(title), partial(self._run, text), help=about or None)

    async def search(self, query: str) -> Hits:
        """What fits the words that were typed."""
        matcher = self.matcher(query)
        for title, about, text in self._all():
            if (score := matcher.match(title)) > 0:
                yield Hit(score, Content(title), partial(self._run, text), help=about or None)

    def _all(self) -> Iterator[tuple[str, str, str]]:
        main = self.screen
        if not isinstance(main, MainScreen) or main.desk is None:
            return
        words = main.words
        for command in main.commands.all:
            needs = f"/{command.name} " if command.takes else f"/{command.name}"
            yield f"{command.name}: {words(command.about)}", "", needs
            for choice in command.choices():
                title = line(f"{command.name} {choice.name} {choice.needs}".rstrip())
                text = f"/{command.name} {choice.name}{' ' if choice.needs else ''}"
                yield title, line(choice.about), text

    def _run(self, text: str) -> None:
        main = self.screen
        assert isinstance(main, MainScreen)
        if text.endswith(" "):
            main.prompt.put(text)
        else:
            main.do(text)

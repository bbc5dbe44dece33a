"""The help screen with all keys and commands, and the go-to menu."""

import unicodedata
from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.tui.commands import Commands
from contextui.tui.footer import hints_in
from contextui.tui.lines import KEY, MUTED, fit
from contextui.words import Words, msg

_KEY = 18  # cells
_KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    msg("Everywhere"): (
        ("tab  shift+tab", msg("next or previous pane")),
        ("ctrl+g, then 1–9", msg("go to a window; c chat, i inspector, p prompt")),
        ("ctrl+g, then a", msg("open the pending question")),
        ("f2", msg("show or hide the inspector")),
        ("f3", msg("zoom the current pane")),
        ("ctrl+p", msg("command palette")),
        ("esc", msg("close a list, leave zoom, or stop the turn")),
        ("ctrl+q", msg("quit; the session is saved")),
    ),
    msg("Prompt"): (
        ("enter", "send"),
        ("ctrl+j", "new line"),
        ("↑ ↓", msg("previous prompts")),
        ("pgup pgdn", msg("scroll the conversation")),
        ("/", msg("commands, tab completes")),
        ("ctrl+c", msg("stop the turn, or clear the prompt")),
    ),
    msg("Chat"): (
        ("enter", msg("expand calls and thinking")),
        ("c", msg("copy the last answer")),
        ("home", msg("top; again for earlier messages")),
    ),
    msg("Window"): (
        ("enter  esc", msg("focus its content, go back")),
        ("a", msg("all actions")),
        ("+ −", msg("more or less detail")),
        ("z", msg("fill the screen")),
        ("m", msg("make it the main window")),
        (",  .", msg("move it")),
        ("x", msg("close with a summary")),
        ("u", "undo"),
    ),
    msg("Inspector"): (
        ("[  ]", msg("switch tab")),
        ("p d r e g", msg("pin, drop, restore, edit, gist")),
        ("u", msg("undo the last change")),
        (",  .", msg("earlier or later turn")),
        ("/", msg("filter items")),
        ("x", "raw bytes"),
        ("c", "copy"),
    ),
}


class HelpScreen(ModalScreen[None]):
    """Lists all keys and commands."""

    BINDINGS = [Binding("escape,q,f1,question_mark", "leave", "back")]
    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 65%;
        VerticalScroll {
            width: 84; max-width: 96%; height: auto; max-height: 92%;
            border: round $primary; background: $background; padding: 1 2;
            border-subtitle-align: right;
        }
        Static { height: auto; }
    }
    """

    def __init__(self, words: Words, commands: Commands) -> None:
        super().__init__()
        self._words, self._commands = words, commands

    def compose(self) -> ComposeResult:
        """Compose the page."""
        with VerticalScroll() as page:
            page.border_title = Content(self._words("Keys and commands"))
            hints = [("↑↓", msg("scroll")), ("esc", "back")]
            page.border_subtitle = hints_in(40, hints, self._words)
            yield Static(self._page())

    def _page(self) -> Content:
        words = self._words
        rows: list[Content] = []
        for place, keys in _KEYS.items():
            rows.append(Content.styled(words(place), "bold"))
            rows += [_row(key, words(about)) for key, about in keys]
            rows.append(Content(""))
        rows.append(Content.styled(words("Commands"), "bold"))
        for command in self._commands.all:
            names = f"/{command.name} {command.takes}".strip()
            alias = f"  /{command.alias}" if command.alias else ""
            rows.append(_row(names + alias, words(command.about)))
        return Content("\n").join(rows)

    def action_leave(self) -> None:
        """Dismiss the screen."""
        self.dismiss()


def _row(key: str, about: str) -> Content:
    return Content.assemble(("  ", ""), (fit(key, _KEY), KEY), (about, MUTED))


Place = tuple[str, str]
"""A key and its target in English."""
QUESTION: Place = ("a", msg("question"))
PLACES: tuple[Place, ...] = (
    ("1–9", "window"),
    ("c", msg("chat")),
    ("i", "inspector"),
    ("p", msg("prompt")),
)


class GoTo(ModalScreen[str]):
    """The go-to menu: waits for one key and returns it; an unlisted key only dismisses it.

    Args:
        words: Translates into the person's locale.
        chosen: Callback with the key, called before the next key is handled.
        places: The targets offered.
    """

    DEFAULT_CSS = """
    GoTo { align: left bottom; background: $background 0%; }
    GoTo > Static { width: 100%; height: 1; padding: 0 2; background: $surface; }
    """

    def __init__(
        self, words: Words, chosen: Callable[[str], object], places: Sequence[Place] = PLACES
    ) -> None:
        super().__init__()
        self._words, self._chosen, self._places = words, chosen, places

    def compose(self) -> ComposeResult:
        """Compose one line with the targets, in place of the footer."""
        parts = [
            part
            for key, place in self._places
            for part in ((f"{key} ", KEY), (f"{self._words(place)}   ", MUTED))
        ]
        yield Static(Content.assemble((self._words("go to") + "   ", MUTED), *parts))

    def on_key(self, event: events.Key) -> None:
        """Return the key, normalized from an input method's full-width form."""
        event.stop()
        character = unicodedata.normalize("NFKC", event.character or "")
        self._chosen(character)
        self.dismiss(character)

    def on_click(self) -> None:
        """Dismiss the menu."""
        self.dismiss("")

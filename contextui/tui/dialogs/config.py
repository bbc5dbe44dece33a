"""The sheet of settings: each value, where it comes from, and a field to change it."""

import asyncio
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from contextui.config.schema import SETTINGS
from contextui.config.settings import key_of
from contextui.config.writer import write_setting
from contextui.errors import ContextUIError
from contextui.secrets import mask
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.footer import KeyButtons
from contextui.tui.lines import (
    FAINT,
    MUTED,
    LineView,
    fit,
    fold,
    line,
    path_end,
    shown_folder,
)
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.config.sources import Loaded

_NAME = 22  # cells
_SOURCE = 24  # at least
_WIDTH = 108
_AROUND, _BESIDE = 6, 6  # rows and columns of the sheet around the list and the description
_KEYS = (
    ("enter", "enter", msg("change")),
    ("slash", "/", msg("search")),
    ("escape", "esc", msg("back")),
)
_INPUT_KEYS = (("enter", "enter", msg("write to config.toml")), ("escape", "esc", msg("cancel")))
_FIND_KEYS = (("enter", "enter", msg("choose")), ("escape", "esc", msg("cancel")))


def value_text(value: Any) -> str:
    """Return a setting's value as it would be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def result_text(
    words: Words, loaded: "Loaded", name: str, value: Any, apply: Callable[[str, Any], bool]
) -> str:
    """Apply a setting that was written, and say from when it applies.

    Args:
        words: Translates into the person's locale.
        loaded: The settings, loaded after it was written.
        name: The setting.
        value: What was written.
        apply: Applies it to the running session; returns whether it can.
    """
    key, now = key_of(name), getattr(loaded.settings, name)
    if name not in ("secret_files", "allow_commands") and now != value:
        origin = line(loaded.origins[name])
        return words("Written. Here {origin} still sets {name}.", origin=origin, name=key)
    if apply(name, value):
        return words("Written. {name} applies now.", name=key)
    return words("Written. {name} applies from the next start.", name=key)


class OwnSetting(NamedTuple):
    """A setting of the screen, which is remembered, but not in a config file.

    Attributes:
        about: Its description in English.
        choices: Its values; the first is the default.
        value: Returns its value.
        put: Changes it.
    """

    about: str
    choices: Sequence[str]
    value: Callable[[], str]
    put: Callable[[str], object]


class SettingList(LineView, can_focus=True):
    """The settings, one line each."""

    def __init__(
        self,
        words: Words,
        loaded: "Loaded",
        in_force: Callable[[], Mapping[str, Any]],
        own: Mapping[str, OwnSetting],
    ) -> None:
        super().__init__(id="settings")
        self._words, self._in_force, self._own = words, in_force, own
        self._all = [*SETTINGS, *own]
        self.names = self._all
        self.loaded = loaded
        self.cursor = 0

    def on_mount(self) -> None:
        """Show all settings."""
        self.set_count(len(self.names), follow=False)

    def search(self, query: str) -> None:
        """Show the settings that have all words of a query in their name or description."""
        wanted = query.casefold().split()
        texts = {name: f"{key_of(name)} {self.about(name)}".casefold() for name in self._all}
        self.names = [name for name in self._all if all(one in texts[name] for one in wanted)]
        self.set_count(len(self.names), follow=False)
        self.move(0)

    def about(self, name: str) -> str:
        """Return the description of a setting and its possible values."""
        own = self._own.get(name)
        about = self._words(own.about if own is not None else SETTINGS[name].description)
        choices = " | ".join(self.choices(name))
        return f"{about}   {choices}" if choices else about

    def choices(self, name: str) -> Sequence[str]:
        """Return the values of a setting that is an enumeration; empty otherwise."""
        if name in self._own:
            return self._own[name].choices
        setting = SETTINGS[name]
        return ("true", "false") if isinstance(setting.default, bool) else setting.choices

    def source(self, name: str) -> str:
        """Say which file, flag or variable sets a setting; empty if none does."""
        origin = self.loaded.origins.get(name, "default")
        if origin == "default" or self.origin(name) != line(origin):
            return ""
        return self._words("Set by {origin}", origin=line(origin))

    def move(self, to: int) -> None:
        """Move the cursor to a setting."""
        self.cursor = max(min(to, len(self.names) - 1), 0)
        self.show_line(self.cursor)
        self.refresh()

    @property
    def name_there(self) -> str | None:
        """The setting under the cursor; None if a search found none."""
        return self.names[self.cursor] if self.names else None

    @property
    def page(self) -> int:
        """The rows in view."""
        return max(self.scrollable_content_region.height, 1)

    def value(self, name: str) -> str:
        """Return the value of a setting, with secrets masked."""
        if name in self._own:
            return self._own[name].value()
        return mask(value_text(self._now(name)))

    def _now(self, name: str) -> Any:
        """Return the value in force; a model without the provider before its slash is the same."""
        configured = getattr(self.loaded.settings, name)
        now = self._in_force().get(name, configured)
        is_same = name == "model" and str(configured).endswith(f"/{now}")
        return configured if is_same else now

    def origin(self, name: str) -> str:
        """Return where the value of a setting comes from."""
        if name in self._own:
            is_default = self.value(name) == self._own[name].choices[0]
            return self._words("default" if is_default else "remembered")
        if self._now(name) != getattr(self.loaded.settings, name):
            return self._words("this session")
        origin = self.loaded.origins[name]
        return self._words("default") if origin == "default" else line(origin)

    def line_at(self, number: int, width: int) -> Content:
        """Return one setting."""
        name = self.names[number]
        value, origin = self.value(name) or "–", shown_folder(self.origin(name))
        is_default = origin == self._words("default")
        room = max(width - _NAME - 1, _SOURCE + 8)
        left = max(room - cell_len(line(value)) - 2, _SOURCE)
        source = fit(path_end(origin, left), left).rstrip()
        content = Content.assemble(
            fit(key_of(name), _NAME),
            " ",
            (fit(value, room - cell_len(source) - 2), MUTED if is_default else "bold"),
            "  ",
            (source, FAINT if number != self.cursor else MUTED),
        )
        return content.stylize_before("on $primary 22%") if number == self.cursor else content


class ConfigScreen(ModalScreen[None]):
    """Lists the settings; Enter changes one in the user's config file.

    Args:
        words: Translates into the person's locale.
        load: Loads the settings again.
        home: The folder of the user's config file.
        apply: Applies a setting to the running session; returns whether it can.
        in_force: Returns the settings that can be changed at run time, as they are now.
        own: The settings of the screen.
        at: The setting under the cursor at first.
    """

    DEFAULT_CSS = """
    ConfigScreen {
        align: center middle;
        background: $background 65%;
        #box {
            width: 108; max-width: 100%; height: auto; max-height: 100%;
            border: round $primary; border-title-style: bold; background: $background;
            padding: 1 2 0 2;
        }
        #about { margin: 1 0 0 0; }
        Input { background: $foreground 6%; display: none; }
        .keys { margin: 1 0 0 0; }
        &.-typing .keys { margin: 0; }
    }
    """

    def __init__(
        self,
        words: Words,
        load: Callable[[], "Loaded"],
        home: Path,
        apply: Callable[[str, Any], bool],
        in_force: Callable[[], Mapping[str, Any]] = dict,
        *,
        own: Mapping[str, OwnSetting] | None = None,
        at: str = "",
    ) -> None:
        super().__init__()
        self._own, self._at = own or {}, at
        self._words, self._load, self._home, self._apply = words, load, home, apply
        self._loaded, self._in_force = load(), in_force

    def compose(self) -> ComposeResult:
        """Compose the list, the description, the field and the keys."""
        with Vertical(id="box") as box:
            box.border_title = Content(self._words("Settings"))
            yield SettingList(self._words, self._loaded, self._in_force, self._own)
            yield Static(id="about", markup=False)
            yield Input(id="value", select_on_focus=False, compact=True)
            yield Input(
                id="find", placeholder=self._words("Search"), select_on_focus=False, compact=True
            )
            yield KeyButtons(self._words, _KEYS)

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()
        if self._at:
            self._list.move(self._list.names.index(self._at))
        self._describe()

    def on_resize(self) -> None:
        """Wrap the description to the new width."""
        self._describe()

    def _rows(self, text: str) -> list[Content]:
        return fold(Content.styled(text, MUTED), min(_WIDTH, self.app.size.width) - _BESIDE)

    def _detail(self, name: str) -> list[Content]:
        source = self._list.source(name)
        return self._rows(self._list.about(name)) + (self._rows(source) if source else [])

    @property
    def _list(self) -> SettingList:
        return self.query_one(SettingList)

    def _describe(self) -> None:
        """Show the whole description; the list gives way, so that the sheet keeps its height."""
        listed, name, count = self._list, self._list.name_there, len(SETTINGS) + len(self._own)
        longest = max(len(self._detail(one)) for one in (*SETTINGS, *self._own))
        room = min(self.app.size.height - _AROUND, count + longest)
        rows = self._detail(name) if name else self._rows(self._words("Nothing matches."))
        listed.styles.height = height = max(min(room - max(len(rows), 2), count), 3)
        about = self.query_one("#about", Static)
        about.styles.height = max(room - height, len(rows))
        about.update(Content("\n").join(rows))
        self.call_after_refresh(listed.show_line, listed.cursor)

    def on_key(self, event: events.Key) -> None:
        """Act on a key of the list."""
        if isinstance(self.focused, Input):
            if event.key == "escape":
                event.stop()
                self._list.search("")
                self._leave_input()
            return
        event.stop()
        there, page = self._list.cursor, self._list.page
        moves = {"up": there - 1, "down": there + 1, "pageup": there - page,
                 "pagedown": there + page, "home": 0, "end": len(self._list.names)}  # fmt: skip
        if event.key in moves:
            self._list.move(moves[event.key])
            self._describe()
        elif event.key == "enter":
            self._start()
        elif unicodedata.normalize("NFKC", event.character or "") == "/":
            self._type_into("#find", "", _FIND_KEYS)
        elif event.key == "escape" or unicodedata.normalize("NFKC", event.character or "") == "q":
            self.dismiss(None)

    @on(events.Click, "#settings")
    def _choose(self, event: events.Click) -> None:
        at = int(self._list.scroll_offset.y) + event.y
        if at == self._list.cursor:
            self._start()
        elif at < len(self._list.names):
            self._list.move(at)
            self._describe()

    def _start(self) -> None:
        name = self._list.name_there
        if name is None:
            return
        value = line(self._list.value(name))
        choices = self._list.choices(name)
        if not choices:
            self._type_into("#value", value, _INPUT_KEYS)
            return

        def write(chosen: Chosen | None) -> None:
            if chosen is not None and chosen.id != value:
                self.run_worker(self._write(name, chosen.id), name="setting")

        current = self._words("current")
        entries = [Entry(one, one, current if one == value else "") for one in choices]
        title, enter = Content(key_of(name)), msg("choose")
        menu = MenuScreen(title, [entries], self._words, enter=enter, at=value)
        self.app.push_screen(menu, write)

    def _type_into(self, selector: str, value: str, keys: Sequence[tuple[str, str, str]]) -> None:
        field = self.query_one(selector, Input)
        field.value = value
        field.display = True
        field.focus()
        field.cursor_position = len(field.value)
        self.set_class(True, "-typing")
        self.query_one(KeyButtons).show(keys)

    def _leave_input(self) -> None:
        for field in self.query(Input):
            field.display = False
        self.set_class(False, "-typing")
        self.query_one(KeyButtons).show(_KEYS)
        self._list.focus()
        self._describe()

    @on(Input.Changed, "#find")
    def _search(self, event: Input.Changed) -> None:
        if event.input.has_focus:
            self._list.search(event.value)
            self._describe()

    @on(Input.Submitted, "#find")
    def _found(self) -> None:
        self._leave_input()

    def _note(self, text: str) -> None:
        self.query_one("#box").border_subtitle = Content(text)

    @on(Input.Submitted, "#value")
    async def _write_typed(self, event: Input.Submitted) -> None:
        assert self._list.name_there is not None
        await self._write(self._list.name_there, event.value)

    async def _write(self, name: str, typed: str) -> None:
        words = self._words
        try:
            if name in self._own:
                self._own[name].put(typed)
                self._list.refresh()
                return
            value = await asyncio.to_thread(write_setting, self._home, name, typed)
            loaded = await asyncio.to_thread(self._load)
        except ContextUIError as error:
            self._note(words(error))  # the field stays, to correct it
            return
        self._leave_input()
        self._list.loaded = loaded
        self._list.refresh()
        self._note(result_text(words, loaded, name, value, self._apply))

"""The sheet of settings: each value, where it comes from, and a field to change it."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from contextui.config.schema import GROUPS, SETTINGS, key_of
from contextui.config.writer import write_setting
from contextui.errors import ContextUIError
from contextui.secrets import mask
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.rowlist import FilterLine, RowList, not_found_text
from contextui.tui.dialogs.sheet import ListSheet
from contextui.tui.footer import Hint, KeyBar
from contextui.tui.lines import FAINT, MUTED, fit, fold, line, path_end, shown_folder
from contextui.tui.themes import ABOUT, REMEMBERED
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.config.sources import Loaded

_GROUP, _NAME = 10, 22  # cells
_SOURCE = 24  # at least
_WIDTH = 118
_AROUND, _BESIDE = 6, 6  # rows and columns of the sheet around the list and the description
_KEYS = (("enter", msg("change")), ("/", msg("search")), ("esc", msg("back")))
_INPUT_KEYS = (("enter", msg("write to config.toml")), ("esc", msg("cancel")))


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
    """Apply a setting that was written, and say from when it applies."""
    key, now = key_of(name), getattr(loaded.settings, name)
    if name not in ("secret_files", "allow_commands") and now != value:
        origin = line(loaded.origins[name])
        return words("Written. Here {origin} still sets {name}.", origin=origin, name=key)
    if apply(name, value):
        return words("Written. {name} applies now.", name=key)
    return words("Written. {name} applies from the next start.", name=key)


class SettingList(RowList[str]):
    """The settings, one line each."""

    opens_by_click: ClassVar[bool] = False
    expands: ClassVar[bool] = False
    shows_cursor: ClassVar[bool] = True

    def __init__(
        self,
        words: Words,
        loaded: "Loaded",
        in_force: Callable[[], Mapping[str, Any]],
        themes: Sequence[str],
    ) -> None:
        super().__init__(self._draw, lambda name: name, id="settings")
        self._words, self._in_force, self._themes = words, in_force, themes
        self.names = [*SETTINGS, REMEMBERED]
        self._heads: Mapping[str, str] = GROUPS
        self.loaded = loaded

    def search(self, query: str, *, at: str | None = None) -> None:
        """Show the settings that have all words of a query in their name or description."""
        wanted = query.casefold().split()
        texts = {name: f"{key_of(name)} {self.about(name)}".casefold() for name in self.names}
        found = [name for name in self.names if all(word in texts[name] for word in wanted)]
        starts = [self.names.index(name) for name in GROUPS]
        groups = {name: bisect_right(starts, self.names.index(name)) - 1 for name in found}
        firsts = {group: name for name, group in reversed(groups.items())}
        self._heads = {name: [*GROUPS.values()][group] for group, name in firsts.items()}
        self.show(found, at=at)

    def about(self, name: str) -> str:
        about = self._words(ABOUT if name == REMEMBERED else SETTINGS[name].description)
        choices = " | ".join(self.choices(name))
        return f"{about}   {choices}" if choices else about

    def choices(self, name: str) -> Sequence[str]:
        if name == REMEMBERED:
            return self._themes
        setting = SETTINGS[name]
        return ("true", "false") if isinstance(setting.default, bool) else setting.choices

    def source(self, name: str) -> str:
        """Say which file, flag or variable sets a setting; empty if none does."""
        origin = self.loaded.origins.get(name, "default")
        if origin == "default" or self.origin(name) != line(origin):
            return ""
        return self._words("Set by {origin}", origin=line(origin))

    def value(self, name: str) -> str:
        return mask(value_text(self._now(name)))

    def _now(self, name: str) -> Any:
        """Return the value in force; a model without the provider before its slash is the same."""
        configured = getattr(self.loaded.settings, name, self._themes[0])
        now = self._in_force().get(name, configured)
        is_same = name == "model" and f"/{now}".endswith(f"/{configured}")
        return configured if is_same else now

    def origin(self, name: str) -> str:
        if name == REMEMBERED:
            is_default = self._now(name) == self._themes[0]
            return self._words("default" if is_default else "remembered")
        if self._now(name) != getattr(self.loaded.settings, name):
            return self._words("this session")
        origin = self.loaded.origins[name]
        return self._words("default") if origin == "default" else line(origin)

    def _draw(self, name: str, width: int) -> Content:
        value, origin = self.value(name) or "–", shown_folder(self.origin(name))
        is_default = origin == self._words("default")
        room = max(width - _GROUP - _NAME - 1, _SOURCE + 8)
        head = self._words(self._heads[name]) if name in self._heads else ""
        left = max(room - cell_len(line(value)) - 2, _SOURCE)
        source = fit(path_end(origin, left), left).rstrip()
        return Content.assemble(
            (fit(head, _GROUP), MUTED),
            fit(key_of(name), _NAME),
            " ",
            (fit(value, room - cell_len(source) - 2), MUTED if is_default else "bold"),
            "  ",
            (source, FAINT),
        )


class ConfigScreen(ListSheet[None, str]):
    """Lists the settings; Enter changes one in the user's config file."""

    DEFAULT_CSS = """
    ConfigScreen {
        #box { width: 118; }
        #about { margin: 1 0 0 0; }
        #field { background: $foreground 6%; }
        &.-typing .keys { margin: 0; }
    }
    """
    BINDINGS = [Binding("q", "leave", show=False)]

    def __init__(
        self,
        words: Words,
        load: Callable[[], "Loaded"],
        home: Path,
        apply: Callable[[str, Any], bool],
        *,
        in_force: Callable[[], Mapping[str, Any]],
        themes: Sequence[str],
        at: str,
    ) -> None:
        self._load, self._home, self._apply, self._at = load, home, apply, at
        self._list = SettingList(words, load(), in_force, themes)
        super().__init__(words, self._list, words("Search"))

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(self._words("Settings"))
            yield self._list
            yield Static(id="about", markup=False)
            yield self.field
            yield self.filter
            yield KeyBar(self._words)

    def on_mount(self) -> None:
        self._list.search("", at=self._at or None)
        self._list.focus()
        self._describe()

    def hints(self) -> Sequence[Hint]:
        return _INPUT_KEYS if self.field.has_focus else _KEYS

    def _rows(self, text: str) -> list[Content]:
        return fold(Content.styled(text, MUTED), min(_WIDTH, self.app.size.width) - _BESIDE)

    def _detail(self, name: str) -> list[Content]:
        source = self._list.source(name)
        return self._rows(self._list.about(name)) + (self._rows(source) if source else [])

    @on(Resize)
    @on(SettingList.Moved)
    def _describe(self) -> None:
        """Show the whole description; the list gives way, so that the sheet keeps its height."""
        listed, name, names = self._list, self._list.row, self._list.names
        longest = max(len(self._detail(each)) for each in names)
        room = min(self.app.size.height - _AROUND, len(names) + longest)
        nothing = not_found_text(self.filter.query_text, self._words)
        rows = self._detail(name) if name else self._rows(nothing)
        listed.styles.height = height = max(min(room - max(len(rows), 2), len(names)), 3)
        about = self.query_one("#about", Static)
        about.styles.height = max(room - height, len(rows))
        about.update(Content("\n").join(rows))
        self.call_after_refresh(listed.show_line, listed.cursor)

    @on(FilterLine.Changed)
    def _search(self, message: FilterLine.Changed) -> None:
        self._list.search(message.query)
        if message.query:
            self._list.choose(0)
        self.set_class(self.filter.display, "-typing")
        self._describe()

    def action_search(self) -> None:
        super().action_search()
        self.add_class("-typing")

    @on(SettingList.Opened)
    def _start(self) -> None:
        name = self._list.row
        if name is None:
            return
        value = line(self._list.value(name))
        choices = self._list.choices(name)
        if not choices:
            self.filter.display = False
            self.add_class("-typing")
            self.type_in(value)
            return

        def write(chosen: Chosen | None) -> None:
            if chosen is not None and chosen.id != value:
                self.run_worker(self._write(name, chosen.id), name="setting")

        current = self._words("current")
        entries = [Entry(each, each, current if each == value else "") for each in choices]
        title, enter = Content(key_of(name)), msg("choose")
        menu = MenuScreen(title, [entries], self._words, enter=enter, at=value)
        self.app.push_screen(menu, write)

    def leave_field(self) -> None:
        super().leave_field()
        self.filter.end()

    @on(Input.Submitted, "#field")
    async def _write_typed(self, event: Input.Submitted) -> None:
        assert self._list.row is not None
        await self._write(self._list.row, event.value)

    async def _write(self, name: str, typed: str) -> None:
        words = self._words
        try:
            if name == REMEMBERED:
                self._apply(name, typed)
                self._list.refresh()
                return
            value = await asyncio.to_thread(write_setting, self._home, name, typed)
            loaded = await asyncio.to_thread(self._load)
        except ContextUIError as error:
            self.note(words(error))  # the field stays, to correct it
            return
        self.leave_field()
        self._list.loaded = loaded
        self._list.refresh()
        self.note(result_text(words, loaded, name, value, self._apply))

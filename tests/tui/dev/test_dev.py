"""`contextui dev`: the window beside what the model reads of it, reloaded on every save."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.actions import ResultScreen
from contextui.tui.desktop.form import Field
from contextui.tui.dev.bench import Bench
from contextui.tui.dev.screen import DevApp, DevFrame
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windowing.finding.source import WindowLoadError
from contextui.windowing.snapshot import Lod
from contextui.words import Lang
from tests.tui.running import lines, shown, until

SOURCE = '''
from contextui import Body, Element, Lod, Window, action


class Kanban(Window):
    """Cards in columns."""

    class State(Window.State):
        cards: dict[str, str] = {"write tests": "todo", "merge carts": "done"}

    state: State

    def opened(self, first: str = "") -> None:
        if first:
            self.state.cards[first] = "todo"

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.cards)} cards"
        return [Element("card", name, column=at) for name, at in self.state.cards.items()]

    @action("Add a card")
    def add(self, text: str) -> str:
        self.state.cards[text] = "todo"
        return f"Added {text}."

    @action("Publish", effect="write")
    def publish(self) -> str:
        return "Published."

    @action("Fail")
    def fail(self) -> None:
        raise KeyError("doin")
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kanban.py"
    path.write_text(SOURCE)
    return path


def save(file: Path, text: str) -> None:
    """Write the file at once: half of it must not be loaded."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


def change(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    save(file, file.read_text().replace(old, new))


@asynccontextmanager
async def developing(
    file: Path, size: tuple[int, int] = (120, 40), lang: Lang = "en", typed: str = ""
) -> AsyncIterator["Pilot[int]"]:
    bench = Bench(str(file), file.parent, typed, lang)
    app = DevApp(bench)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.dev.query(DevFrame))
            yield pilot
    finally:
        bench.close()


def dev_of(pilot: "Pilot[int]") -> DevApp:
    assert isinstance(pilot.app, DevApp)
    return pilot.app


@pytest.mark.parametrize(("lang", "words"), [
    ("en", ("What the model reads", "Full", "Summary", "Gist", "Log", "contextui dev   kanban.py")),
    ("zh", ("模型读到的内容", "全文", "摘要", "要点", "日志", "contextui dev   kanban.py")),
])  # fmt: skip
def test_it_shows_the_window_and_what_the_model_reads(
    file: Path, lang: Lang, words: tuple[str, ...]
) -> None:
    async def go() -> None:
        async with developing(file, lang=lang, typed="first=sweep") as pilot:
            await until(pilot, lambda: shown(pilot, "<Window id="))
            for text in (*words, "sweep  column todo"):
                await until(pilot, lambda text=text: shown(pilot, text))  # type: ignore[misc]
            assert shown(pilot, '<card column="todo">sweep</card>')

    asyncio.run(go())


def test_a_save_reloads_it_with_its_state(file: Path) -> None:
    async def go() -> None:
        async with developing(file) as pilot:
            bench = dev_of(pilot).bench
            await bench.windows.act("kanban_1", "add", {"text": "sweep"}, actor="person")
            await until(pilot, lambda: shown(pilot, "sweep  column todo"))
            change(file, 'Element("card"', 'Element("ticket"')
            await until(pilot, lambda: shown(pilot, "<ticket"))
            await until(pilot, lambda: shown(pilot, "sweep  column todo"))
            await until(pilot, lambda: shown(pilot, "✓ reloaded"))
            await until(pilot, lambda: shown(pilot, "kanban.py saved, state v3 kept"))
            await until(pilot, lambda: shown(pilot, "changed since v2"))

    asyncio.run(go())


FAULTS = [
    ("class Kanban", "class :", "kanban.py:5"),
    ("class State", "raise KeyError('doin')\n    class State", "kanban.py:8"),
    ("if lod is Lod.GIST", "if {}['doin']", "kanban.py:18"),
    ("cards: dict[str, str] = {", "cards: list[int] = [*{", ""),
]


def test_a_fault_leaves_the_old_code_and_is_shown(file: Path) -> None:
    async def go() -> None:
        whole = file.read_text()
        async with developing(file, size=(120, 60)) as pilot:
            dev = dev_of(pilot).dev
            for number, (old, new, place) in enumerate(FAULTS):
                change(file, old, new)
                await until(pilot, lambda: "the old code runs on" in lines(pilot)[0])
                assert "✗" in lines(pilot)[0]
                await until(pilot, partial(shown, pilot, f"✗ {place}"))
                await until(pilot, lambda: dev.query_one(DevFrame).has_class("-error"))
                await until(pilot, lambda: shown(pilot, "write tests  column todo"))
                save(file, whole.replace("Cards in columns", f"Cards {number}"))
                await until(pilot, lambda: shown(pilot, "✓ reloaded"))
                await until(pilot, lambda: not shown(pilot, "the old code runs on"))
                await until(pilot, lambda: not dev.query_one(DevFrame).has_class("-error"))

    asyncio.run(go())


def test_actions_run_as_the_person_and_as_the_model(file: Path) -> None:
    async def go() -> None:
        async with developing(file, size=(120, 60)) as pilot:
            app = dev_of(pilot)
            app.dev.form.query(Field).first().focus()
            await pilot.press(*"mars", "enter")
            await until(pilot, lambda: shown(pilot, "mars  column todo"))
            await until(pilot, lambda: shown(pilot, "A turn costs"))
            assert shown(pilot, "add: Added mars.")
            await until(pilot, lambda: shown(pilot, "Change block v1 to v2"))
            await app.dev.form.show(app.bench.window, "publish")
            app.dev.form.focus()
            await pilot.press("m")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            assert not shown(pilot, "Published.")
            await asyncio.sleep(0.6)
            await pilot.press("n")
            await until(pilot, lambda: app.screen is app.dev)
            await until(pilot, lambda: shown(pilot, "publish: "))
            assert not shown(pilot, "publish: Published.")
            await pilot.press("m")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            await asyncio.sleep(0.6)
            await pilot.press("y")
            await until(pilot, lambda: shown(pilot, "publish: Published."))
            await pilot.press("a")
            await until(pilot, lambda: shown(pilot, "kanban_1  actions"))
            await pilot.press("down", "down", "enter")
            await until(pilot, lambda: app.dev.form.action and app.dev.form.action.id == "fail")
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "KeyError: 'doin' (kanban.py:33)"))

    asyncio.run(go())


def test_restart_reload_and_copy_and_a_sentence_for_the_offline_model(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = list[str]()
    monkeypatch.setattr(DevApp, "copy_to_clipboard", lambda _, text: copied.append(text))

    async def go() -> None:
        async with developing(file) as pilot:
            bench = dev_of(pilot).bench
            await bench.windows.act("kanban_1", "add", {"text": "sweep"}, actor="person")
            await until(pilot, lambda: shown(pilot, "sweep  column todo"))
            await pilot.press("r")
            await until(pilot, lambda: shown(pilot, "✓ reloaded"))
            await until(pilot, lambda: shown(pilot, "sweep  column todo"))
            await pilot.press("y")
            assert copied
            assert "sweep" in copied[0]
            await pilot.press("R")
            await until(pilot, lambda: not shown(pilot, "sweep  column todo"))
            await until(pilot, lambda: shown(pilot, "write tests  column todo"))
            assert [one.id for one in bench.windows.windows()] == ["kanban_2"]
            await pilot.press("s", *"add", "space", *"mars", "enter")
            await until(pilot, lambda: shown(pilot, "mars  column todo"))
            await until(pilot, lambda: shown(pilot, "› add text=mars"))

    asyncio.run(go())


def test_it_works_on_a_small_terminal(file: Path) -> None:
    async def go() -> None:
        async with developing(file, size=(80, 24)) as pilot:
            await until(pilot, lambda: shown(pilot, "write tests  column todo"))
            assert not shown(pilot, "What the model reads")
            await pilot.press("tab")
            await until(pilot, lambda: shown(pilot, "What the model reads"))
            assert shown(pilot, "<Window id=")
            assert not shown(pilot, "write tests  column todo")
            change(file, "Cards in columns", "Cards, many")
            await until(pilot, lambda: shown(pilot, "Cards, many"))
            await until(pilot, lambda: shown(pilot, "✓ reloaded"))
            await pilot.press("tab")
            await until(pilot, lambda: shown(pilot, "write tests  column todo"))

    asyncio.run(go())


def test_enter_on_a_line_of_the_log_shows_all_of_it(file: Path) -> None:
    change(file, 'raise KeyError("doin")', 'raise KeyError("doin [red]\\x1b " + "x" * 400)')

    async def go() -> None:
        async with developing(file) as pilot:
            app = dev_of(pilot)
            await app.dev.form.show(app.bench.window, "fail")
            app.dev.form.focus()
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "fail: KeyError"))
            await pilot.press("l")
            await until(pilot, lambda: app.dev.log_sheet.has_focus)
            await pilot.press("down", "up", "enter")
            await until(pilot, lambda: isinstance(app.screen, ResultScreen))
            await until(pilot, lambda: shown(pilot, "Traceback"))
            rows = [one.split("│") for one in lines(pilot)]
            text = "".join(row[1].strip() for row in rows if len(row) == 3)
            for part in (
                "Traceback (most recent call last)", 'File "kanban.py", line 33, in fail',
                "›   33          raise KeyError(", "x" * 60, "[red]",
            ):  # fmt: skip
                assert part in text
            assert "runtime.py" not in text  # it begins at the window's own code
            assert "\x1b" not in text
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.dev)
            await pilot.press("end", "enter")
            await until(pilot, lambda: isinstance(app.screen, ResultScreen))
            assert shown(pilot, "kanban_1")

    asyncio.run(go())


def test_a_state_that_does_not_fit_is_kept_aside_and_comes_back(file: Path) -> None:
    async def go() -> None:
        async with developing(file, size=(120, 60)) as pilot:
            bench = dev_of(pilot).bench
            await bench.windows.act("kanban_1", "add", {"text": "sweep"}, actor="person")
            whole = file.read_text()
            other = whole.replace("cards: dict[str, str] = {", "cards: list[int] = [*{")
            save(file, other.replace('"done"}', '"done"}.values()] and []'))
            await until(pilot, lambda: shown(pilot, "the old code runs on"))
            await until(pilot, lambda: shown(pilot, "State kept aside: {'cards': {"))
            save(file, whole.replace("cards", "tickets"))
            await until(pilot, lambda: shown(pilot, "✓ reloaded"))
            await until(pilot, lambda: not shown(pilot, "sweep  column todo"))
            save(file, whole)
            await until(pilot, lambda: shown(pilot, "sweep  column todo"))

    asyncio.run(go())


def test_the_log_has_room_and_names_what_is_too_large_or_missing(file: Path) -> None:
    change(file, '    """Cards in columns."""\n', "")
    change(file, 'f"{len(self.state.cards)} cards"', '"a very long gist indeed " * 400')
    change(file, '"merge carts": "done"}', '**{f"card {number}": "x" for number in range(50)}}')
    change(file, "def add(self, text: str)", "def add(self, text: str, b: int = 1, c: int = 1, "
           "d: int = 1, e: int = 1, f: int = 1, g: int = 1, h: int = 1, i: int = 1)")  # fmt: skip

    async def go() -> None:
        async with developing(file) as pilot:
            log = dev_of(pilot).dev.log_sheet
            await until(pilot, lambda: shown(pilot, "kanban.py:5 Kanban has no docstring"))
            await until(pilot, lambda: shown(pilot, "Gist is larger than Summary."))
            for size, least in (((120, 40), 9), ((80, 24), 5)):
                await pilot.resize_terminal(*size)
                await until(pilot, lambda: shown(pilot, "card 1  column x"))
                await until(pilot, lambda least=least: log.region.height >= least)  # type: ignore[misc]
                await until(pilot, lambda size=size: log.region.bottom <= size[1] - 1)  # type: ignore[misc]
                await until(pilot, lambda: shown(pilot, "opened"))

    asyncio.run(go())


def test_a_file_that_cannot_be_loaded_says_why(file: Path) -> None:
    change(file, "class Kanban", "class :")
    with pytest.raises(WindowLoadError, match=r"syntax error in .*, line 5"):
        Bench(str(file), file.parent)


def test_the_reading_compares_all_levels(file: Path) -> None:
    bench = Bench(str(file), file.parent)
    try:
        first = bench.read()
        assert first is not None
        assert [level.lod for level in first.levels] == [Lod.FULL, Lod.SUMMARY, Lod.GIST]
        assert (first.before, first.change) == (None, "")
        asyncio.run(bench.windows.act("kanban_1", "add", {"text": "sweep"}))
        second = bench.read()
        assert second is not None
        assert second.change_tokens < second.levels[0].tokens
        assert "+" in second.change
        assert all(len(level.changed) == 1 for level in second.levels)
    finally:
        bench.close()

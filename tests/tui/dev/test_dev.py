"""`contextui dev`: the window beside what the model reads of it, reloaded on every save."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.field import Field
from contextui.tui.dev.bench import Bench
from contextui.tui.dev.screen import DevApp, DevFrame
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.whole_text import WholeText
from contextui.windowing.snapshot import Lod
from contextui.words import Lang
from tests.tui.hostile import PAYLOAD, check
from tests.tui.inspector.scene import see
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
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("contextui.tui.dev.screen._LOOK", 0.05)
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
    with closing(Bench(str(file), file.parent, typed, lang)) as bench:
        app = DevApp(bench)
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.dev.query(DevFrame))
            yield pilot


def dev_of(pilot: "Pilot[int]") -> DevApp:
    assert isinstance(pilot.app, DevApp)
    return pilot.app


async def test_a_save_reloads_the_window_with_its_state_and_keys_restart_copy_and_say(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = list[str]()
    monkeypatch.setattr(DevApp, "copy_to_clipboard", lambda _, text: copied.append(text))

    async with developing(file, typed="first=sweep") as pilot:
        bench = dev_of(pilot).bench
        await see(pilot, "What the model reads", "Full", "Summary", "Gist", "Log")
        await see(pilot, "contextui dev   kanban.py", '<card column="todo">sweep</card>')
        await bench.windows.act("kanban_1", "add", {"text": "dust"}, actor="person")
        await see(pilot, "dust  column todo")
        change(file, 'Element("card"', 'Element("ticket"')
        await see(pilot, "<ticket", "dust  column todo", "✓ reloaded", "changed since v2")
        await see(pilot, "kanban.py saved, state v3 kept")
        await pilot.press("r")
        await until(pilot, lambda: sum(one.kind == "reload" for one in bench.log) == 2)
        await pilot.press("y")
        assert "dust" in copied[0]
        await pilot.press("R")
        await until(pilot, lambda: not shown(pilot, "dust  column todo"))
        await see(pilot, "sweep  column todo")  # opened with its args again
        assert [one.id for one in bench.windows.windows()] == ["kanban_2"]
        await pilot.press("s", *"add", "space", *"mars", "enter")
        await see(pilot, "mars  column todo", "› add text=mars")


async def test_a_fault_leaves_the_old_code_and_what_does_not_fit_is_kept_aside(file: Path) -> None:
    whole = file.read_text()
    no_class = whole.replace("class Kanban", "class :")
    not_run = whole.replace("class State", "raise KeyError('doin')\n    class State")
    no_content = whole.replace("if lod is Lod.GIST", "if {}['doin']")
    no_state = whole.replace("cards: dict[str, str] = {", "cards: list[int] = [*{").replace(
        '"done"}', '"done"}.values()] and []'
    )

    async with developing(file, size=(120, 60)) as pilot:
        app = dev_of(pilot)
        await app.bench.windows.act("kanban_1", "add", {"text": "sweep"}, actor="person")
        for faulty, place in (
            (no_class, "kanban.py:5"),
            (not_run, "kanban.py:8"),
            (no_content, "kanban.py:18"),
            (no_state, ""),
        ):
            save(file, faulty)
            await until(pilot, lambda: "the old code runs on" in lines(pilot)[0])
            await see(pilot, f"✗ {place}", "sweep  column todo")
            await until(pilot, lambda: app.dev.query_one(DevFrame).has_class("-error"))
        await see(pilot, "State kept aside: {'cards': {")
        save(file, whole.replace("cards", "tickets"))
        await see(pilot, "✓ reloaded")
        await until(pilot, lambda: not shown(pilot, "sweep  column todo"))
        await until(pilot, lambda: not app.dev.query_one(DevFrame).has_class("-error"))
        save(file, whole)
        await see(pilot, "sweep  column todo")


async def test_actions_run_as_the_person_and_as_the_model_and_the_log_has_all_of_a_failure(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.tui.dialogs.guard.DEAF", 0.0)
    change(file, 'raise KeyError("doin")', 'raise KeyError("doin [red]\\x1b " + "x" * 400)')
    change(file, "Add a card", PAYLOAD)
    change(file, "write tests", PAYLOAD)

    async with developing(file, size=(120, 60)) as pilot:
        app = dev_of(pilot)
        app.dev.form.query(Field).first().focus()
        await pilot.press(*"mars", "enter")
        await see(pilot, "mars  column todo", "A turn costs", "Change block v1 to v2")
        assert shown(pilot, "add: Added mars.")
        await app.dev.form.show(app.bench.window, "publish")
        app.dev.form.focus()

        def takes_keys() -> bool:  # it is deaf until it was seen
            question = app.screen
            if not isinstance(question, ApprovalScreen):
                return False
            return question.guard.deaf_until < float("inf")

        for answer in ("n", "y"):
            await pilot.press("m")
            await until(pilot, takes_keys)
            assert not shown(pilot, "Published.")
            await pilot.press(answer)
            await until(pilot, lambda: app.screen is app.dev)
            await see(pilot, "publish: ")
        await see(pilot, "publish: Published.")
        await pilot.press("a")
        await see(pilot, "kanban_1  actions")
        check(pilot)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: app.dev.form.action and app.dev.form.action.id == "fail")
        await pilot.press("enter")
        await see(pilot, "fail: KeyError")
        await pilot.press("l")
        await until(pilot, lambda: app.dev.log_list.has_focus)
        await pilot.press("down", "up", "enter")
        await until(pilot, lambda: isinstance(app.screen, WholeText))
        await see(pilot, "Traceback")
        rows = [one.split("│") for one in lines(pilot)]
        text = "".join(row[1].strip() for row in rows if len(row) == 3)
        for part in (
            "Traceback (most recent call last)", 'File "kanban.py", line 33, in fail',
            "›   33          raise KeyError(", "x" * 60, "[red]",
        ):  # fmt: skip
            assert part in text
        assert "runtime.py" not in text  # it begins at the window's own code
        check(pilot)
        await pilot.press("escape")
        change(file, "class State", f"raise KeyError('{PAYLOAD}')\n    class State")
        await until(pilot, lambda: "the old code runs on" in lines(pilot)[0])
        check(pilot)


async def test_the_log_has_room_and_a_small_terminal_shows_one_side(file: Path) -> None:
    change(file, '    """Cards in columns."""\n', "")
    change(file, 'f"{len(self.state.cards)} cards"', '"a very long gist indeed " * 400')
    change(file, '"merge carts": "done"}', '**{f"card {number}": "x" for number in range(50)}}')
    change(file, "def add(self, text: str)", "def add(self, text: str, b: int = 1, c: int = 1, "
           "d: int = 1, e: int = 1, f: int = 1, g: int = 1, h: int = 1, i: int = 1)")  # fmt: skip

    async with developing(file, lang="zh") as pilot:
        log = dev_of(pilot).dev.log_list
        await see(
            pilot, "kanban.py:5 Kanban", "要点比摘要还长", "模型读到的内容", "card 1  column x"
        )
        await until(pilot, lambda: log.region.height >= 9)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: log.region.height >= 5)
        await until(pilot, lambda: log.region.bottom <= 23)
        await until(pilot, lambda: not shown(pilot, "模型读到的内容"))
        await see(pilot, "card 1  column x")
        await pilot.press("tab")
        await see(pilot, "模型读到的内容", "<Window id=")
        assert not shown(pilot, "card 1  column x")
        change(file, "write tests", "write more")
        await see(pilot, "✓")
        await pilot.press("tab")
        await see(pilot, "card 1  column x")


def test_a_file_written_again_unchanged_keeps_the_fault_on_the_screen(file: Path) -> None:
    with closing(Bench(str(file), file.parent)) as bench:
        change(file, "class Kanban", "class :")
        assert bench.was_saved()
        assert not bench.reload().is_good
        save(file, file.read_text())
        assert not bench.was_saved()  # a reload of what is known would be good


def test_the_reading_compares_all_levels(file: Path) -> None:
    with closing(Bench(str(file), file.parent)) as bench:
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

"""Paths in forms: they complete while one types, and a new name stays as it is."""

from textual.pilot import Pilot

from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.pathfield import PathInput, PathOffers, is_path
from tests.tui.desktop.samples import enter
from tests.tui.hostile import check
from tests.tui.running import shown, until
from tests.tui.sharing import SharedChat

HOSTILE = "bad\x1b[31m\u202ename\n[red].txt"


def offers(pilot: "Pilot[int]") -> list[str]:
    return [one.path for one in pilot.app.screen.query_one(PathOffers).rows]


def test_only_texts_that_are_named_so_are_paths() -> None:
    assert is_path("path", "string")
    assert is_path("old_path", "string")
    assert not is_path("path", "int")
    assert not is_path("text", "string")


async def test_a_path_completes_while_it_is_typed(chat: SharedChat, pilot: "Pilot[int]") -> None:
    windows, work = chat.desk.session.windows, chat.work
    for name in ("src/cart.py", "src/money.py", "docs/cart.md", "build/cart.o", HOSTILE):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("text\n")
    (work / ".gitignore").write_text("build/\n")
    windows.open("files")
    frame = await enter(pilot, "files_1")

    async def ask() -> PathInput:
        frame.runner.choose("open")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        await until(pilot, lambda: isinstance(pilot.app.focused, PathInput))
        return pilot.app.screen.query_one(PathInput)

    field = await ask()
    await pilot.press(*"cart")
    await until(pilot, lambda: set(offers(pilot)) == {"docs/cart.md", "src/cart.py"})
    await pilot.press(".", "p")
    await until(pilot, lambda: offers(pilot) == ["src/cart.py"])
    await pilot.press("tab")
    await until(pilot, lambda: field.text == "src/cart.py")
    assert offers(pilot) == []
    field.text = "car"
    await pilot.press("end", "t")
    await until(pilot, lambda: len(offers(pilot)) == 2)
    await pilot.press("escape")  # closes the offers, then the form
    await until(pilot, lambda: offers(pilot) == [])
    assert isinstance(pilot.app.screen, FormScreen)
    await pilot.press("enter")  # what was typed is used as it is
    await until(pilot, lambda: shown(pilot, "There is no cart"))
    await pilot.press("x", "backspace")
    await until(pilot, lambda: len(offers(pilot)) == 2)
    await pilot.press("down", "enter")
    await until(pilot, lambda: field.text in ("docs/cart.md", "src/cart.py"))
    field.text = ""
    await pilot.press(*"redtxt")
    await until(pilot, lambda: offers(pilot) == [HOSTILE])
    check(pilot)
    await pilot.press("tab", "enter")
    await until(pilot, lambda: windows.get("editor_1"))
    assert windows.get("editor_1").state.path == HOSTILE  # type: ignore[union-attr]
    check(pilot)

"""Code has the same colors in answers and in the editor, in every theme."""

from itertools import groupby
from pathlib import Path

from pygments.token import Token
from rich.style import Style

from contextui.tui.app import ContextUIApp
from contextui.tui.code import CodeFence, CodeTheme
from contextui.tui.conversation.entries import ModelWords
from contextui.tui.themes import DARK, LIGHT
from tests.tui.running import app_of, desk_in, running, say, until

CODE = 'def total(items):  # sum\n    return "x" + 12'
ANSWER = f"Here:\n\n```python\n{CODE}\n```\n\n```nonsense\n@@ $$ §§ <<<\n```\n"


async def test_an_answer_and_the_editor_agree(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text(CODE)
    kinds = ("def", "total", '"x"', "12", "# sum")

    def picked(app: ContextUIApp) -> tuple[str, ...]:
        """The color of each kind, where both agree on it and each kind has its own."""
        drawn = colours(app)
        found = [drawn.get(text, []) for text in kinds]
        are_same = all(len(one) == 2 and len(set(one)) == 1 for one in found)
        of_kinds = tuple(one[0] for one in found if one)
        return of_kinds if are_same and len(set(of_kinds)) == len(kinds) else ()

    desk = desk_in(tmp_path, ANSWER)
    desk.session.windows.open("editor", path="a.py")
    async with running(desk) as pilot:
        app = app_of(pilot)
        await say(pilot, "Show it.")
        await until(pilot, lambda: app.main.query(ModelWords).last().query(CodeFence))
        of_themes: set[tuple[str, ...]] = {()}  # until they agree
        for theme in (DARK, LIGHT):
            app.theme = theme.name
            await until(pilot, lambda: picked(app) not in of_themes)
            of_themes.add(picked(app))


def colours(app: ContextUIApp) -> dict[str, list[str]]:
    """The colors of each run of text on the screen."""
    found: dict[str, list[str]] = {}
    for strip in app.screen._compositor.render_strips():
        runs = groupby(strip, lambda one: str((one.style or Style()).color))
        for colour, run in runs:
            text = "".join(one.text for one in run).strip()
            found.setdefault(text, []).append(colour)
    return found


def test_what_a_lexer_does_not_know_is_no_error() -> None:
    spans = CodeFence.highlight("$ ?? \x01 “quoted” §", "python").spans
    assert not any("error" in str(one.style) or " on " in str(one.style) for one in spans)
    assert Token.Error not in CodeTheme.STYLES

"""Take the screenshots: drive the real app with a scripted model, and write SVG and PNG.

Run it with `make screenshots`. The PNGs need Chromium; without it only the SVGs are written.
"""

import asyncio
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.lines import shown_folder
from contextui.words import Lang
from screenshots import shop, work
from screenshots.picture import svg_of, write_png

FOLDER = Path(__file__).parent
_PATIENCE = 3_000  # looks at what is waited for, a hundredth of a second apart


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        size: Columns and rows.
        turns: How many of the conversation's turns were taken.
        keys: What is pressed then.
        allows: Whether what the model asks for is allowed.
        scene: The project and the conversation.
    """

    size: tuple[int, int] = (120, 40)
    theme: str = "contextui-dark"
    lang: Lang = "en"
    turns: int = 4
    keys: tuple[str, ...] = ()
    allows: bool = True
    scene: ModuleType = shop


PICTURES = {
    "main": Picture(),
    "request": Picture(keys=("ctrl+g", "i", "f3", "right_square_bracket")),
    "approval": Picture(allows=False),
    "narrow": Picture(size=(80, 24), keys=("ctrl+g", "1")),
    "light": Picture(theme="contextui-light"),
    "zh": Picture(lang="zh"),
    "wide": Picture(size=(200, 60)),
    "start": Picture(turns=0),
    "command": Picture(allows=False, turns=1, scene=work),
    "work": Picture(size=(200, 60), turns=1, scene=work),
}


async def draw(name: str, picture: Picture, home: Path) -> None:
    """Drive the app to where the picture is taken, and take it."""
    folder = picture.scene.make_project(home)
    desk = picture.scene.make_desk(home, folder, picture.lang)
    app = ContextUIApp(lambda: desk, folder=folder, lang=picture.lang, theme=picture.theme)
    async with app.run_test(size=picture.size) as pilot:
        await _until(pilot, lambda: app.desk is not None)
        for words in picture.scene.PROMPTS[picture.lang][: picture.turns]:
            await _say(pilot, app, words, picture.allows)
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(0.2)
        await pilot.pause(1.5)
        svg = FOLDER / f"{name}.svg"
        svg.write_text(svg_of(app, f"contextui  {shown_folder(folder)}"), encoding="utf-8")
        app.exit(0)
    desk.close()
    write_png(svg)


async def _say(pilot: "Pilot[int]", app: ContextUIApp, words: str, allows: bool) -> None:
    talk = app.main.turns
    assert talk is not None
    before = talk.last
    app.last_input = 0.0
    app.main.send(words)

    def over() -> bool:
        return isinstance(app.screen, ApprovalScreen) or talk.last is not before

    await _until(pilot, over)
    while allows and talk.last is before:
        if isinstance(app.screen, ApprovalScreen):
            await pilot.pause(0.7)  # a question is deaf at first, and whenever it is drawn again
            app.last_input = 0.0
            await pilot.press("y")
        await pilot.pause(0.2)
    await pilot.pause(0.2)


async def _until(pilot: "Pilot[int]", condition: Callable[[], object]) -> None:
    for _ in range(_PATIENCE):
        if condition():
            return
        await pilot.pause(0.01)
    raise TimeoutError("the picture could not be taken")


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    for name in names or PICTURES:
        with tempfile.TemporaryDirectory() as home:
            asyncio.run(draw(name, PICTURES[name], Path(home)))


if __name__ == "__main__":
    main(sys.argv[1:])

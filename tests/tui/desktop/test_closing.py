"""Where a window asks before it closes: what it says fits into the room that there is."""

import pytest
from textual.app import App, ComposeResult

from contextui.tui.desktop.frame import Closing
from contextui.tui.themes import DARK, quiet_roles
from contextui.words import Lang, Words

ASKS = "Close todo_1? Enter closes, Esc keeps it."
LOST = "unsaved! enter to close"
LONG = "three chapters and all their notes are not saved; enter closes the window"


class Asking(App[None]):
    """A row that asks, and nothing else."""

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self._lang = lang

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return quiet_roles(DARK)

    def compose(self) -> ComposeResult:
        yield Closing(Words(self._lang), "todo_1", lambda _: None)


async def asked(width: int, warning: str, lang: Lang = "en", *, later: int = 0) -> str:
    async with Asking(lang).run_test(size=(width, 3)) as pilot:
        pilot.app.query_one(Closing).ask(warning)
        await pilot.pause()
        if later:
            await pilot.resize_terminal(later, 3)
            await pilot.pause()
        strip = pilot.app.screen._compositor.render_strips()[0]
        return "".join(segment.text for segment in strip).rstrip()


@pytest.mark.parametrize(
    ("width", "warning", "lang", "shown"),
    [
        (40, LOST, "en", f"Close todo_1? {LOST}"),
        (18, LOST, "en", "unsaved! enter"),
        (17, LOST, "zh", "未保存！回车关闭"),
        (10, LOST, "en", "unsaved!"),
        (50, LONG, "en", "three chapters and all their notes are not saved;…"),
        (38, LONG, "en", f"Close todo_1? {LOST}"),
        (80, "", "en", f"{ASKS} You may type a note for the model."),
        (44, "", "en", ASKS),
        (15, "", "en", "Enter closes"),
    ],
)
async def test_as_many_words_as_fit(width: int, warning: str, lang: Lang, shown: str) -> None:
    assert await asked(width, warning, lang) == shown


async def test_they_follow_the_room() -> None:
    assert await asked(80, LOST, later=24) == LOST

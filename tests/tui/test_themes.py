"""Themes: text and borders can be read, and the person's choice is remembered."""

from pathlib import Path

import pytest
from textual.color import Color
from textual.content import Content
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES, Theme

from contextui.session.preferences import Preferences
from contextui.tui.app import ContextUIApp
from contextui.tui.lines import FAINT, MUTED, lit
from contextui.tui.themes import CONTRAST, DARK, LIGHT, THEMES, quiet_roles, remembered_theme
from tests.tui.desktop.samples import enter, frame_of
from tests.tui.inspector.scene import enter as inspect
from tests.tui.inspector.scene import rows
from tests.tui.running import app_of, desk_in, running, until

ROLES = {
    *("line", "muted", "faint", "soft", "cursor", "success-soft", "error-soft", "warning-soft"),
    *("cached", "outdated"),
}
TEXT = [
    *("foreground", "muted", "text-primary", "text-secondary", "text-accent"),
    *("text-success", "text-warning", "text-error"),
]
GROUNDS = ["background", "soft", "cursor"]


def colors(theme: Theme) -> dict[str, str]:
    """All colors of a theme, as the screen has them."""
    app = ContextUIApp(lambda: pytest.fail("no session is needed"), theme=theme.name)
    return app.get_css_variables()


def contrast(found: dict[str, str], text: str, ground: str) -> float:
    back = Color.parse(found[ground])
    given = found[text]
    fore = back.get_contrast_text() if given.startswith("auto") else Color.parse(given)
    return _contrast(back, fore)


def _contrast(one: Color, other: Color) -> float:
    """As WCAG has it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    parts = [part / 255 for part in (color.r, color.g, color.b)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES, ids=lambda one: one.name)
def test_all_text_can_be_read_on_every_ground(theme: Theme) -> None:
    found = colors(theme)
    for text in TEXT:
        for ground in GROUNDS:
            assert contrast(found, text, ground) >= 4.5, (text, ground)
    assert contrast(found, "faint", "background") >= 4.5
    for text, ground in (("success", "success-soft"), ("error", "error-soft")):
        assert contrast(found, f"text-{text}", ground) >= 4.5, ground
        assert contrast(found, "muted", ground) >= 4.5, ground


def test_the_contrast_theme_has_real_borders() -> None:
    found = colors(CONTRAST)
    assert contrast(found, "line", "background") == pytest.approx(7.8, abs=0.2)
    assert contrast(found, "primary", "background") >= 3
    assert found["muted"].lower() == found["foreground"].lower()
    for theme in (DARK, LIGHT):
        assert contrast(colors(theme), "primary", "background") >= 3  # the focus


# --- NO_COLOR: all colors become grey --------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES, ids=lambda one: one.name)
def test_in_grey_text_can_be_read_and_the_focus_and_the_cursor_are_seen(theme: Theme) -> None:
    whole = colors(theme)
    found = {
        name: Color.parse(whole[name]).monochrome.hex
        for name in (*TEXT, *GROUNDS, "faint", "line", "primary")
        if not whole[name].startswith("auto")
    }
    for text in TEXT:
        for ground in GROUNDS if text in found else ():
            assert contrast(found, text, ground) >= 4.5, (text, ground)
    assert contrast(found, "faint", "background") >= 4.5
    assert contrast(found, "primary", "line") >= 1.5  # borders with and without the focus
    assert contrast(found, "cursor", "background") >= 1.25


async def test_without_colors_the_app_is_grey_and_says_where_the_focus_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    desk = desk_in(tmp_path)
    for _ in range(2):
        desk.session.windows.open("todo", items=["milk", "eggs"])
    async with running(desk) as pilot:
        frame, other = await enter(pilot, "todo_2"), await frame_of(pilot, "todo_1")
        await pilot.pause()
        grounds, inks = painted(pilot)
        assert all(one.r == one.g == one.b for row in (*grounds, *inks) for one in row)
        corners = [inks[one.region.y][one.region.x] for one in (frame, other)]
        assert _contrast(*corners) >= 1.5
        await inspect(pilot)
        listed = rows(pilot)
        await pilot.press("home")
        await pilot.pause()
        grounds, _ = painted(pilot)
        x, y = listed.region.offset
        column = [row[x] for row in grounds[y : y + listed.region.height]]
        seen = {one.hex for one in column}
        assert len(seen) == 2  # the row of the cursor, and all others
        assert min(map([one.hex for one in column].count, seen)) == 1


def painted(pilot: "Pilot[int]") -> tuple[list[list[Color]], list[list[Color]]]:
    """The ground and the ink of each cell."""
    grounds, inks = list[list[Color]](), list[list[Color]]()
    for strip in pilot.app.screen._compositor.render_strips():
        cells = [(one.style, one.cell_length) for one in strip]
        styles = [style for style, length in cells if style for _ in range(length)]
        grounds.append([Color.from_rich_color(one.bgcolor) for one in styles])
        inks.append([Color.from_rich_color(one.color or one.bgcolor) for one in styles])
    return grounds, inks


def test_every_other_theme_has_the_quiet_roles_too() -> None:
    for theme in BUILTIN_THEMES.values():
        found = quiet_roles(theme)
        assert found.keys() == ROLES
        assert all(Color.parse(one).a == 1 for one in found.values())


def test_faint_text_becomes_muted_under_a_cursor() -> None:
    row = lit(Content.assemble(("a", FAINT), ("b", MUTED), ("c", "bold")))
    styles = [str(span.style) for span in row.spans]
    assert FAINT not in " ".join(styles)
    assert styles.count(MUTED) == 2
    assert "on $cursor" in styles


async def test_the_theme_that_the_person_chose_is_remembered(tmp_path: Path) -> None:
    assert remembered_theme() == DARK.name

    async with running(desk_in(tmp_path)) as pilot:
        app = app_of(pilot)
        app.main.run_command(f"/theme {LIGHT.name}")
        await until(pilot, lambda: app.theme == LIGHT.name)
    assert remembered_theme() == LIGHT.name


def test_what_is_no_theme_and_a_damaged_memory_are_ignored() -> None:
    for value in (3, "no such theme", ["contextui-light"]):
        Preferences.of_person().put("theme", value)
        assert remembered_theme() == DARK.name
    path = Preferences.of_person().path
    for text in ("", "[1]", "{", "\0", "[" * 100_000):
        path.write_text(text)
        assert remembered_theme() == DARK.name

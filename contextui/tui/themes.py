"""Color themes. Roles: primary marks the focus, secondary the person, accent the model.

Quiet roles are solid colors, so that a theme can strengthen them: `line` for resting lines,
`muted` and `faint` for text, `soft` for the ground of code and commands, `cursor` for the row of a
cursor, `success-soft`, `error-soft` and `warning-soft` for grounds of diffs, `cached` and
`outdated` for parts of a context. Text on any of these grounds is at least `muted`.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from contextui.words import msg

_DARK, _LIGHT, _CONTRAST = "contextui-dark", "contextui-light", "contextui-contrast"
_QUIET = {  # percent of the foreground
    "line": {_DARK: 18, _LIGHT: 24, _CONTRAST: 62},
    "muted": {_DARK: 73, _LIGHT: 77, _CONTRAST: 100},
    "faint": {_DARK: 56, _LIGHT: 66, _CONTRAST: 82},
    "soft": {_DARK: 5, _LIGHT: 5, _CONTRAST: 12},
    "outdated": {_DARK: 30, _LIGHT: 30, _CONTRAST: 52},
}
_CURSOR = {_CONTRAST: 33}  # percent of the primary color; else 22. More would hide error text.
_GROUND = 16  # percent of a state's color, under text
_FALLBACK = {
    "line": "#444444",
    "muted": "#b0b0b0",
    "faint": "#909090",
    "soft": "#1c1c1c",
    "outdated": "#808080",
    "cursor": "#264f78",
    "cached": "#3a6ea5",
    "success-soft": "#16301c",
    "error-soft": "#3a1618",
    "warning-soft": "#38290e",
}
"""For themes that use the terminal's own colors."""


def quiet_roles(theme: Theme) -> dict[str, str]:
    """Return the colors of the quiet roles in a theme, ours or any other."""
    like = theme.name if theme.name in _QUIET["line"] else _DARK if theme.dark else _LIGHT
    try:
        back = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
        fore = Color.parse(theme.foreground or back.inverse)
        primary = Color.parse(theme.primary)
        states = {
            "success": Color.parse(theme.success or "#4ebf71"),
            "error": Color.parse(theme.error or "#ba3c5b"),
            "warning": Color.parse(theme.warning or "#ffa62b"),
        }
    except ColorParseError:
        return dict(_FALLBACK)
    if any(one.ansi is not None for one in (back, fore, primary)):
        return dict(_FALLBACK)
    found = {name: back.blend(fore, share[like] / 100).hex for name, share in _QUIET.items()}
    found["cursor"] = back.blend(primary, _CURSOR.get(like, 22) / 100).hex
    found["cached"] = back.blend(primary, 0.45 if theme.dark else 0.5).hex
    for name, color in states.items():
        found[f"{name}-soft"] = back.blend(color, _GROUND / 100).hex
    return found


_ROLES = (
    *("primary", "secondary", "accent", "success", "warning", "error"),
    *("foreground", "background", "surface", "panel"),
)


def _own(name: str, colors: str, *, dark: bool = True, cursor: str = "none") -> Theme:
    """Return a theme of ours from its colors, in the order of the roles."""
    roles: dict[str, Any] = dict(zip(_ROLES, colors.split(), strict=True))
    variables = {"block-cursor-text-style": cursor, "footer-background": roles["background"]}
    theme = Theme(name=name, dark=dark, variables=variables, **roles)
    return replace(theme, variables={**quiet_roles(theme), **theme.variables})


DARK = _own(
    _DARK,
    "#6cb0f5 #4fc3ae #c49bf0 #8cc570 #e6b35a #ef7480 #d4d9e1 #12151a #191d24 #222832",
)
LIGHT = _own(
    _LIGHT,
    "#1768b5 #0b7a69 #7b3fb8 #3c7a1d #96600a #b3243a #22272e #fbfbf9 #f2f2ef #e7e7e3",
    dark=False,
)
CONTRAST = _own(
    _CONTRAST,
    "#ffd700 #00e5ff #ff9cff #5dff5d #ffb000 #ff6b6b #ffffff #000000 #000000 #1a1a1a",
    cursor="reverse",
)
THEMES = (DARK, LIGHT, CONTRAST)

REMEMBERED = "theme"
"""The name under which the person's choice is remembered."""
ABOUT = msg("the colors of the screen")
"""What the theme is, in the list of settings."""
_LARGEST = 1 << 20  # bytes


def remembered_theme(home: Path | None = None) -> str:
    """Return the theme that the person chose last, or the default one.

    The first frame has its colors, so this reads the preferences without loading their module.
    """
    from contextui.errors import ContextUIError  # noqa: PLC0415  (only the app needs them)
    from contextui.plain_file import read_plain  # noqa: PLC0415
    from contextui.session.paths import contextui_home  # noqa: PLC0415

    try:
        found = json.loads(read_plain(contextui_home(home) / "screen.json", _LARGEST))
    except (OSError, ValueError, RecursionError, ContextUIError):
        return DARK.name
    name = found.get(REMEMBERED) if isinstance(found, dict) else None
    return name if isinstance(name, str) and name in _KNOWN else DARK.name


_KNOWN = frozenset([*BUILTIN_THEMES, *(one.name for one in THEMES)])

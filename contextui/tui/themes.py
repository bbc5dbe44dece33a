"""Color themes. Roles: primary marks the focus, secondary the person, accent the model."""

from textual.theme import Theme

DARK = Theme(
    name="contextui-dark",
    primary="#6cb0f5",
    secondary="#4fc3ae",
    accent="#c49bf0",
    success="#8cc570",
    warning="#e6b35a",
    error="#ef7480",
    foreground="#d4d9e1",
    background="#12151a",
    surface="#191d24",
    panel="#222832",
    dark=True,
    variables={
        "block-cursor-text-style": "none",
        "footer-background": "#12151a",
        "outdated": "#4c5056",
    },
)
LIGHT = Theme(
    name="contextui-light",
    primary="#1768b5",
    secondary="#0b7a69",
    accent="#7b3fb8",
    success="#3c7a1d",
    warning="#96600a",
    error="#b3243a",
    foreground="#22272e",
    background="#fbfbf9",
    surface="#f2f2ef",
    panel="#e7e7e3",
    dark=False,
    variables={
        "block-cursor-text-style": "none",
        "footer-background": "#fbfbf9",
        "outdated": "#b4b6b8",
    },
)
CONTRAST = Theme(
    name="contextui-contrast",
    primary="#ffd700",
    secondary="#00e5ff",
    accent="#ff9cff",
    success="#5dff5d",
    warning="#ffb000",
    error="#ff6b6b",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
    dark=True,
    variables={
        "block-cursor-text-style": "reverse",
        "footer-background": "#000000",
        "outdated": "#8a8a8a",
    },
)
THEMES = (DARK, LIGHT, CONTRAST)

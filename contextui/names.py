"""What may be a name: of a window class, a window, an anchor.

Names go into XML attributes, file names and logs, so they are plain by rule, not by escaping.
"""

import re

WINDOW_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}", re.ASCII)
"""A window class's name: what `create` and the palette call it."""

NAMING = "small letters, digits, - and _"
"""What a window may be called, in words."""

WINDOW_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}", re.ASCII)
"""A window's id, such as `todo_1`."""

ANCHOR_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,119}", re.ASCII)
"""An anchor's id, such as `expand-entry-1`."""

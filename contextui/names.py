"""Valid names: of window classes, windows and anchors.

Names go into XML attributes, file names and logs, so they are restricted instead of escaped.
"""

import re

WINDOW_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}", re.ASCII)
"""A window class's name, used by `create` and the palette."""

NAMING = "small letters, digits, - and _"
"""The naming rule, for messages."""

WINDOW_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}", re.ASCII)
"""A window's id, such as `todo_1`."""

ANCHOR_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,119}", re.ASCII)
"""An anchor's id, such as `expand-entry-1`."""

BESIDE = "beside-"
"""Prefix of the id of a user item that the program added and the person did not write."""

"""Mistakes of beginners, and the errors that say what to write instead."""

from pathlib import Path
from textwrap import indent

from contextui import ContextUIError, WindowManager, discover

HEAD = "from pathlib import Path\nfrom contextui import Window, action\nclass ShopWindow(Window):\n"
CONTENT = "def content(self, lod):\n    return 'nothing'\n"

MISTAKES = [
    ("name = 'My Shop'", '(small letters, digits, - and _). Write name = "my-shop"'),
    ("class State:\n    n = 0", "ShopWindow.State must extend Window.State: write class State("),
    ("class State(Window.State):\n    n: int", "ShopWindow.State: n needs a default"),
    ("class State(Window.State):\n    n: int = None", "n: Input should be a valid integer"),
    ("items: list[str] = []", "ShopWindow.items would be shared by all its windows, and not saved"),
    ("items = {}", "write it into class State(Window.State), or as ITEMS if it never changes"),
    ("async def content(self, lod):\n    return ''", "ShopWindow.content must be a plain def"),
    ("def content(self):\n    return ''", "must be written as def content(self, lod)"),
    ("def anchors(self):\n    return []", "must be written as def anchors(self, lod)"),
    ("@action\ndef go(self): ...", 'Write @action("label") above go, not @action alone'),
    ("@action('Go')\ndef go(x: int): ...", "ShopWindow.go has no self: write def go(self, …)"),
    ("@action('Go')\ndef go(): ...", "ShopWindow.go has no self"),
    ("@action('Go')\ndef go(self, x): ...", "x needs a type hint, such as x: str"),
    ("@action('Go')\ndef go(self, x: Path): ...", "go: x: Path cannot be declared as the type"),
    (
        "@action('Go', says='go {x}')\ndef go(self, x: int): ...",
        "write says=[\"…\"], not says='go {x}'",
    ),
    (
        "@action('Go', says=['go', 1])\ndef go(self): ...",
        "ShopWindow.go: says takes a list of texts",
    ),
    ("@action('Go', says=None)\ndef go(self): ...", "says takes a list of texts"),
    ("@action('Go', says=[' '])\ndef go(self): ...", "has no words: write what a person types"),
    ("@action('Go', says=['{x}'])\ndef go(self, x: int): ...", '"{x}" has no words'),
    ("@action('Go', says=['go {y}'])\ndef go(self, x: int): ...", "no param y. Available: x"),
    ("@action('Go', says=['go {1}'])\ndef go(self): ...", "no param 1. Available: none"),
    ("@action('Go', says=['{x} {x} go'])\ndef go(self, x: int): ...", "names a param twice"),
    ("@action('Go', says=['go'] * 21)\ndef go(self): ...", "has 21 phrasings; the maximum is 20"),
    ("@action('Go', says=['g' * 201])\ndef go(self): ...", "201 characters; the maximum is 200"),
    ("@action('Go')\ndef close(self): ...", "override closed() instead"),
    ("@action('Go', 'wriet')\ndef go(self): ...", "an effect out of state, read, write"),
    ("@staticmethod\n@action('Go')\ndef go(x: str): ...", "ShopWindow.go must be a plain method"),
    ("@action('Go')\n@classmethod\ndef go(cls): ...", "ShopWindow.go must be a plain method"),
    ("@action('Go')\ndef go(self):\n    yield 1", "ShopWindow.go must be a plain method"),
    ("name = '1st'", '"1st" cannot be a window\'s name'),
    ("State = dict", "ShopWindow.State must extend Window.State"),
    ("description = 5", "ShopWindow.description must be text"),
    ("widget = 'a.b'", "names no widget (write it as package.module:Class)"),
    ("@action('Go')\ndef name(self): ...", "declares an action name, which is an attribute"),
    ("@action('Go')\ndef description(self): ...", "declares an action description, which is an"),
    ("@action('Go')\ndef opened(self): ...", "declares an action opened, which is an attribute"),
    ("@action('Go')\ndef env(self): ...", "declares an action env, which is an attribute"),
]


BOOK = """
    from pydantic import BaseModel
    class Book(BaseModel):
        title: str
        pages: int
    Book(pages='many')"""


def reported(folder: Path, body: str) -> str:
    """The error for a file with this window, when it is found or when it is opened."""
    (folder / "shop.py").write_text(HEAD + indent(CONTENT + body, "    "), "utf-8")
    registry = discover(packages=[], files=[folder / "shop.py"])
    (entry,) = registry.entries
    if entry.status != "ready":
        return str(entry.reason)
    try:
        return WindowManager(registry.classes()).open("shop").snapshot().error or ""
    except ContextUIError as error:
        return str(error)


def test_a_mistake_is_reported_with_what_to_write(tmp_path: Path) -> None:
    for body, expected in MISTAKES:
        assert expected in reported(tmp_path, body), body


def test_what_fails_when_it_is_opened_is_reported_with_its_line(tmp_path: Path) -> None:
    for body, expected in (
        ("def opened(self):\n    self.itmes.append(1)", "no attribute 'itmes' (shop.py:7)."),
        ("def content(self, lod):\n    return 1 / 0", "division by zero (shop.py:7)"),
        ("def __init__(self): ...", "belongs in opened()"),
        (
            f"def opened(self):{BOOK}",
            "title: Field required; pages: Input should be a valid integer, "
            "unable to parse string as an integer (shop.py:11).",
        ),
        (
            f"def content(self, lod):{BOOK}",
            "title: Field required; pages: Input should be a valid integer, unable to parse string "
            "as an integer (shop.py:11)",
        ),
    ):
        assert reported(tmp_path, body).endswith(expected), body


def test_a_field_that_hides_what_every_state_has_is_reported_with_its_line(tmp_path: Path) -> None:
    for name in ("saved", "from_saved", "transient_fields", "model_dump", "model_fields"):
        shown = reported(tmp_path, f"class State(Window.State):\n    {name}: int = 0")
        assert shown.startswith(
            f"ShopWindow.State declares a field {name}, which every State has: "
        ), name
        assert shown.endswith("choose another name (" + str(tmp_path / "shop.py") + ", line 6)"), (
            name
        )


def test_what_is_right_is_let_be(tmp_path: Path) -> None:
    for body in (
        "COLOURS = ['red']\n_cache = {}",
        "from typing import ClassVar\nsizes: ClassVar[list[int]] = [1]",
        "@action('Go')\ndef go(this, x: int = 1): ...",
        "async def preview(self, action_id, params):\n    return ''",
        "@action('Go', says=('+ {x}', 'go {} {a b} {\"x\": 1}'))\ndef go(self, x: int = 1): ...",
        "@action('Go', says=['g' * 200] * 20)\ndef go(self): ...",
    ):
        assert reported(tmp_path, body) == "", body

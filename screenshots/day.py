"""A day in the life: use the real app in tmux or in Chromium, with a picture of each step.

`python -m screenshots.day FOLDER [80x24 | 120x40 | 200x60 | browser]…` needs tmux and Chromium. The
model is the offline one. Look at the pictures: what is cut off, empty, jumping or unexplained?
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pyte

from screenshots.picture import svg_of_screen, write_png
from tests.cli.serve.browser import Tab, browser
from tests.cli.serve.serving import Serving

PATIENCE = 60.0
"""Seconds after which something that should be shown counts as missing."""
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
_AGES = re.compile(r"\d+[smh]?")  # of windows: they change all the time
FILES = {
    "src/shop/cart.py": '''\
"""What is in the cart, and what it costs."""

from decimal import Decimal


def total(prices: list[Decimal], discount: Decimal = Decimal(0)) -> Decimal:
    """Return the sum of the prices, less the discount from 0 to 1."""
    return sum(prices, Decimal(0)) * (1 - discount)
''',
    "src/shop/money.py": '''\
"""Amounts of money."""

from decimal import Decimal

CENT = Decimal("0.01")


def rounded(amount: Decimal) -> Decimal:
    """Round an amount to cents."""
    return amount.quantize(CENT)
''',
    "tests/test_cart.py": """\
from decimal import Decimal

from shop.cart import total


def test_total():
    assert total([Decimal(2), Decimal(3)]) == 5


def test_discount():
    assert total([Decimal(10)], Decimal("0.25")) == Decimal("7.5")
""",
    "README.md": "# shop\n\nA small shop.\n",
    ".gitignore": "__pycache__\n",
    "pytest.ini": "[pytest]\npythonpath = src\naddopts = -p no:cacheprovider\n",
}


class Place(Protocol):
    """Where the app runs."""

    def type(self, text: str) -> None:
        """Type a text."""

    def press(self, key: str) -> None:
        """Press a key, by its name in tmux."""

    def shown(self) -> str:
        """Return the screen's text."""

    def picture(self, path: Path) -> None:
        """Take a picture."""

    def leave(self) -> None:
        """Quit the app."""

    def come_back(self) -> None:
        """Open the app again where the last session was."""


class Terminal:
    """The app in tmux."""

    def __init__(self, size: tuple[int, int], folder: Path) -> None:
        self._size, self._home = size, folder.parent
        columns, rows = map(str, size)
        shell = f"env HOME={folder.parent} COLORTERM=truecolor bash --norc"
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", columns, "-y", rows,
                   "-c", str(folder), shell)  # fmt: skip
        self._tmux("set", "-g", "status", "off")
        self._tmux("set", "-g", "escape-time", "20")
        self._run("PS1='$ '; clear")
        self._run(f"{sys.executable} -P -m contextui --model offline")

    def type(self, text: str) -> None:
        """Type a text."""
        self._tmux("send-keys", "-l", text)

    def press(self, key: str) -> None:
        """Press a key, by its name in tmux."""
        self._tmux("send-keys", key)

    def shown(self) -> str:
        """Return the screen's text."""
        return self._tmux("capture-pane", "-p")

    def picture(self, path: Path) -> None:
        """Take a picture."""
        screen = pyte.Screen(*self._size)
        drawn = self._tmux("capture-pane", "-e", "-N", "-p").rstrip("\n")
        pyte.Stream(screen).feed(drawn.replace("\n", "\r\n"))
        svg = path.with_suffix(".svg")
        svg.write_text(svg_of_screen(screen), encoding="utf-8")
        write_png(svg)
        svg.unlink()

    def leave(self) -> None:
        """Quit the app."""
        self.press("C-q")

    def come_back(self) -> None:
        """Open the app again where the last session was."""
        self._run(f"clear; {sys.executable} -P -m contextui --model offline -c")

    def end(self) -> None:
        """End tmux."""
        self._tmux("kill-server")

    def _run(self, command: str) -> None:
        self.type(command)
        self.press("Enter")
        time.sleep(1)

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self._home / "tmux"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class Page:
    """The app in Chromium."""

    _KEYS = {
        "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""),
        "Down": ("ArrowDown", 40, ""), "Up": ("ArrowUp", 38, ""), "Left": ("ArrowLeft", 37, ""),
    }  # fmt: skip

    def __init__(self, tab: Tab, loop: asyncio.AbstractEventLoop) -> None:
        self._tab, self._loop = tab, loop

    def type(self, text: str) -> None:
        """Type a text."""
        self._do(self._tab.type(text))

    def press(self, key: str) -> None:
        """Press a key, by its name in tmux."""
        if key.startswith("C-"):
            self._do(self._tab.press(key[2:], ord(key[2:].upper()), ctrl=True))
        elif key in self._KEYS:
            name, code, text = self._KEYS[key]
            more: dict[str, Any] = {"text": text} if text else {}
            self._do(self._tab.press(name, code, **more))
        else:
            self.type(" " if key == "Space" else key)

    def shown(self) -> str:
        """Return the screen's text."""
        self._do(asyncio.sleep(0.05))
        return self._tab.text()

    def picture(self, path: Path) -> None:
        """Take a picture."""
        self._do(self._tab.picture(path.with_suffix(".png")))

    def leave(self) -> None:
        """Leave by reloading: a page has no other way back."""

    def come_back(self) -> None:
        """Reload the page."""
        self._do(self._tab.reload())

    def _do(self, call: Any) -> None:
        self._loop.run_until_complete(call)


class Day:
    """The steps, with a picture after each."""

    def __init__(self, place: Place, pictures: Path, folder: Path) -> None:
        self._place, self._pictures, self._folder = place, pictures, folder
        pictures.mkdir(parents=True, exist_ok=True)

    def live(self) -> None:
        """Browse, open, edit, test and ask; then the rest of the day."""
        self.wait("No model is connected")
        self.keep("01-start")
        self.say("/open files", "README.md", "Opened files_1")
        self.go("1")
        self.press("Enter", "Down", "Space")
        self.keep("02-browse")
        self.go("p")
        for name in ("README.md", "src/shop/cart.py", "tests/test_cart.py"):
            self.say(f"/open editor {name}", f"Opened {name}")
        self.keep("03-three-files")
        self.go("2")
        self.press("Enter")
        self.type("Sells things. ")
        self.press("C-s", "Escape")
        self.keep("04-edited-by-hand")
        self.go("p")
        self.say("replace 'the discount' with 'the rebate' in editor_2", "1 call")
        self.say("save editor_2", "wants to write", "asks to write")
        self.keep("05-asks-to-write")
        self.press("y")
        self.keep("06-edited-by-the-model")
        self.say("!pytest -q", "passed", "failed")
        self.keep("07-tests")
        self.type("What is in @mon")
        self.keep("08-mention")
        self.press("Enter")
        self.say(" ?")
        self.keep("09-asked")
        self.rewind()

    def rewind(self) -> None:
        """Go back before a change, and to other sessions; leave and return."""
        self.say("/rewind")
        self.keep("10-rewind")
        self.press("Down")  # before the save
        self.keep("11-rewind-files")
        self.press("Enter")
        self.keep("12-rewind-diff")
        self.press("y")
        self.wait("Back at")
        self.keep("13-rewound")
        name = "src/shop/cart.py"
        is_restored = (self._folder / name).read_text() == FILES[name]
        kept = (self._folder / "README.md").read_text().startswith("Sells things.")
        sys.stdout.write(f"{self._pictures.name}: restored {is_restored}, others kept {kept}\n")
        self.press("C-c")  # the message of that turn is in the prompt again
        self.say("/fork")
        self.keep("14-fork")
        self.say("/sessions")
        self.keep("15-sessions")
        self.press("Enter")  # the session that was forked
        self.keep("16-switched")
        self.say("/export md")
        self.keep("17-export")
        before = self.edge()
        self.press("C-g", "Left", "C-g", "Left")
        moved = self.edge()
        self.say("/theme light")
        self.type("half a thought")
        self.keep("18-before-quitting")
        self._place.leave()
        self.keep("19-quit")
        self._place.come_back()
        self.wait("half a thought")
        self.keep("20-back")
        if before >= 0:  # 80 columns have no room for the inspector beside the chat
            is_moved, is_kept = moved != before, moved == self.edge()
            sys.stdout.write(f"{self._pictures.name}: edge moved {is_moved}, kept {is_kept}\n")

    def edge(self) -> int:
        """Return the column of the inspector's left edge; -1 if it is not beside the chat."""
        columns = Counter(row.find("▏") for row in self._place.shown().split("\n"))
        return max(columns, key=lambda column: (column >= 0, columns[column]))

    def say(self, words: str, *shown: str) -> None:
        """Type a message, send it and wait for what it leads to."""
        self.type(words)
        self.calm(0.6)
        self.press("Enter")
        if shown:
            self.wait(*shown)
        self.calm()

    def go(self, key: str) -> None:
        """Go to a pane."""
        self.press("C-g", key)

    def press(self, *keys: str) -> None:
        """Press keys, each once the screen shows what the one before did."""
        for key in keys:
            self._place.press(key)
            self.calm(0.8)

    def type(self, text: str) -> None:
        """Type a text."""
        self._place.type(text)
        self.calm(0.5)

    def keep(self, name: str) -> None:
        """Take a picture."""
        self.calm()
        self._place.picture(self._pictures / f"{name}.png")

    def wait(self, *texts: str) -> None:
        """Wait until one of these is shown."""

        def is_shown() -> bool:
            shown = self._place.shown()
            return any(text in shown for text in texts)

        if not _until(is_shown, PATIENCE):
            what = f"{self._pictures.name}: {texts} never shown"
            sys.stderr.write(f"{what}\n{self._place.shown()}\n")

    def calm(self, seconds: float = 1.5) -> None:
        """Wait until the screen has not changed for some time."""
        last, since = "", time.monotonic()

        def is_calm() -> bool:
            nonlocal last, since
            shown = _AGES.sub("", self._place.shown())
            if shown != last:
                last, since = shown, time.monotonic()
            return time.monotonic() - since > seconds

        _until(is_calm, 20.0)


def _until(condition: Callable[[], bool], patience: float) -> bool:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def make_project(home: Path) -> Path:
    """Make a repository under this home, with programs that its terminal finds."""
    folder = home / "shop"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / ".gitconfig").write_text("[user]\n  name = Ann\n  email = ann@example.org\n")
    programs = Path(sys.executable).parent
    (home / ".bashrc").write_text(f"PS1='$ '\nPATH={programs}:$PATH\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        environment = {**os.environ, "HOME": str(home)}
        subprocess.run(["git", *words], cwd=folder, check=True, env=environment)
    return folder


def main(pictures: Path, names: list[str]) -> None:
    """Live the day in each of these places."""
    for name in names or [*SIZES, "browser"]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            folder = make_project(Path(home))
            if name == "browser":
                _in_browser(folder, pictures / name)
                continue
            terminal = Terminal(SIZES[name], folder)
            try:
                Day(terminal, pictures / name, folder).live()
            finally:
                terminal.end()


def _in_browser(folder: Path, pictures: Path) -> None:
    loop = asyncio.new_event_loop()
    with Serving(folder, "--model=offline", environ={"SHELL": "/bin/bash"}) as serving:
        chromium = browser(folder.parent / "profile")
        opened = loop.run_until_complete(chromium.__aenter__())
        try:
            tab = loop.run_until_complete(opened.tab(str(serving.url)))
            Day(Page(tab, loop), pictures, folder).live()
        finally:
            loop.run_until_complete(chromium.__aexit__(None, None, None))
    loop.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

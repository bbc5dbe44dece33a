"""The page in a real Chromium: what a person does there, without a click."""

from pathlib import Path

import pytest
from textual.color import Color

from contextui import SessionStore
from contextui.tui.themes import DARK, LIGHT
from tests.cli.serve.browser import CHROMIUM, Tab, browser
from tests.cli.serve.serving import Serving, all_gone

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="there is no Chromium: the page was not tried in a real browser"
)


async def say(tab: Tab, words: str, shown: str) -> None:
    await tab.until_shown("No model is connected")
    await tab.type(f"{words}\r")
    await tab.until_shown(shown)


def middle(column: int, row: int) -> tuple[float, float]:
    """The middle of a cell, in pixels."""
    return column * 9 + 4, row * 21 + 10


async def use_keys_and_mouse(tab: Tab) -> None:
    await tab.until_true("document.title === 'contextui work'")
    # The keys of the app that mean something to a browser, too.
    await tab.press("g", 71, ctrl=True)
    await tab.until_shown("go to")
    await tab.press("Escape", 27)
    await tab.press("F1", 112)
    await tab.until_shown("Keys and commands")
    await tab.press("Escape", 27)
    await tab.until(lambda: not tab.shows("Keys and commands"))
    # The divider before the inspector.
    before, _ = tab.place("Context")
    await tab.drag(middle(before - 2, 14), middle(before - 14, 14))
    await tab.until(lambda: tab.place("Context")[0] < before - 5)
    # The page around the cells follows the theme.
    for name, color in (("light", LIGHT), ("dark", DARK)):
        await tab.type(f"/theme {name}\r")
        red, green, blue = Color.parse(color.background or "").rgb
        shown = f"rgb({red}, {green}, {blue})"
        await tab.until_true(f"getComputedStyle(document.body).backgroundColor === '{shown}'")


@pytest.mark.long
async def test_type_without_a_click_reload_and_continue_in_the_same_session(tmp_path: Path) -> None:
    with Serving(tmp_path / "work") as serving:
        async with browser(tmp_path / "profile") as chromium:
            first = await chromium.tab(str(serving.url))
            await say(first, "Make a to-do list with apples", "todo_1")
            assert await first.eval("document.activeElement.className") == "xterm-helper-textarea"
            await first.until_shown("Opened todo_1")
            await use_keys_and_mouse(first)

            second = await chromium.tab(str(serving.url))
            await say(second, "Make a to-do list with pears", "todo_1")

            link = await first.eval("location.href")
            await first.reload()
            await first.until_shown("apples")
            await first.type("Add plums to the list\r")  # and again without a click
            await first.until_shown("Added 2 'plums'")
            assert not first.shows("pears")
            assert await first.eval("location.href") == link

            # Another browser with the same link is refused, in plain words, and the first goes on.
            other = await chromium.tab(link, elsewhere=True)
            await other.until_true("document.getElementById('elsewhere')?.hidden === false")
            words = await other.eval("document.getElementById('over').innerText")
            assert "open in another tab or browser" in words
            assert await other.eval("document.getElementById('ended').hidden")
            await first.type("Add figs to the list\r")
            await first.until_shown("Added 3 'figs'")

            # With the page closed there, trying again works: Enter presses the button.
            await first.close()
            other.blank()
            await other.type("\r")
            await other.until_shown("figs")

            # A phone gets cells that can be read, not a page that is shrunk.
            phone = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
            await other.call("Emulation.setDeviceMetricsOverride", **phone)
            await other.until_true("innerWidth === 400")
            await other.until_shown("Windows 1")

            # Nothing came from elsewhere, the font included.
            for tab in (first, second, other):
                assert tab.requested
                assert [url for url in tab.requested if not url.startswith(
                    (f"{serving.origin}/", "data:", "about:"))] == []  # fmt: skip
            assert any(url.endswith(".ttf") for url in second.requested)
        assert all_gone(serving.apps())
    found = SessionStore(tmp_path / ".contextui").list()
    assert sorted(one.first_words for one in found) == [
        "Make a to-do list with apples",
        "Make a to-do list with pears",
    ]


PASTES = {
    "ctrl+v": ("v", 86, {"ctrl": True}),
    "ctrl+shift+v": ("V", 86, {"ctrl": True, "shift": True}),
    "ctrl+v on a Cyrillic layout": ("м", 86, {"ctrl": True}),
    "shift+insert": ("Insert", 45, {"shift": True}),
}


async def paste_and_clear(tab: Tab) -> None:
    for name, (key, code, held) in PASTES.items():
        await tab.copy(f"first\n\x1b[201~\r{name}")  # tries to end the paste, and to send
        await tab.press(key, code, **held)
        await tab.until_shown(name)
        await tab.press("c", 67, ctrl=True)
        await tab.until(lambda: not tab.shows("first"))
    # From a menu, and wherever the focus is.
    await tab.copy("from a menu")
    await tab.eval("document.activeElement.blur()")
    await tab.paste_from_menu()
    await tab.until_shown("from a menu")
    await tab.eval("focusTerminal()")
    assert tab.shows("No model is connected")  # nothing was sent


async def copy_with_keys_and_mouse(tab: Tab) -> None:
    await tab.copy("something else")
    await tab.press("Home", 36, shift=True)
    await tab.press("c", 67, ctrl=True)
    await tab.until_copied("from a menu")
    await tab.press("End", 35)
    await tab.type("\r")
    await tab.until_shown("  I did nothing")

    async def select_and_copy() -> None:
        column, row = tab.place("  I did nothing")
        await tab.drag(middle(column + 2, row), middle(column + 6, row))
        await tab.press("c", 67, ctrl=True)

    # More than once if need be: the text moves up when the answer is complete.
    await tab.until_copied("I did", select_and_copy)


async def copy_without_encryption(tab: Tab, url: str) -> None:
    """Copy and paste where the page has no clipboard, as one of another machine."""
    hidden = "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })"
    await tab.call("Page.addScriptToEvaluateOnNewDocument", source=hidden)
    await tab.call("Page.navigate", url=url)
    await tab.until_shown("No model is connected")
    await tab.eval("document.addEventListener('copy', () => { window.isCopied = true })")
    await tab.type("twice ")
    await tab.press("Home", 36, shift=True)
    await tab.press("c", 67, ctrl=True)
    await tab.until_true("window.isCopied")
    await tab.press("End", 35)
    await tab.press("v", 86, ctrl=True)
    await tab.until_shown("twice twice")


@pytest.mark.long
async def test_paste_and_copy(tmp_path: Path) -> None:
    with Serving(tmp_path / "work") as serving:
        async with browser(tmp_path / "profile") as chromium:
            tab = await chromium.tab(str(serving.url))
            await tab.until_shown("No model is connected")
            # A large text does not remain in the page, where it would slow down each key.
            await tab.copy("line\n" * 200_000)
            await tab.press("v", 86, ctrl=True)
            await tab.until_shown("[pasted 1: 200,000 lines]")
            assert await tab.eval("document.querySelector('.xterm-helper-textarea').value") == ""
            await tab.press("c", 67, ctrl=True)
            await tab.until(lambda: not tab.shows("[pasted"))
            await copy_without_encryption(await chromium.tab("about:blank"), str(serving.url))
            await paste_and_clear(tab)
            await copy_with_keys_and_mouse(tab)  # the last: it may copy once more than is needed

"""Each tab has a link and a session of its own."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from contextui import SessionStore
from contextui.cli.serve import server
from contextui.session.store import SessionInfo
from tests import forkserver
from tests.cli.serve.serving import PATIENCE, Page, Serving, all_gone, opened

pytestmark = pytest.mark.long

PAGE = Path(server.__file__).parent / "page"
OPEN_ELSEWHERE = 4001


def sessions(folder: Path) -> list[SessionInfo]:
    return SessionStore(folder / ".contextui").list()


async def say(page: Page, words: str, shown: str) -> None:
    await page.until_shown("No model is connected")
    await page.type(f"{words}\r")
    await page.until_shown(shown)


async def test_a_link_has_its_own_session_and_is_open_once(tmp_path: Path) -> None:
    with Serving(tmp_path / "work") as serving:
        async with opened(serving) as first:
            await say(first, "Make a to-do list with apples", "todo_1")
            apps = serving.apps()
            async with opened(serving, first.link) as same:
                assert await same.close_code() == OPEN_ELSEWHERE
            assert serving.apps() == apps  # nothing was started for it, nothing ended
            async with opened(serving) as second:
                assert second.link != first.link
                await say(second, "Make a to-do list with pears", "todo_1")
        # The second tab wrote last: the newest session of the folder is its own.
        async with opened(serving, first.link) as again:  # it is free now
            await again.until_shown("apples")
            assert not any("pears" in line for line in again.screen.display)
            assert not any("copy" in line for line in again.screen.display)
            await again.type("Add plums to the list\r")
            await again.until_shown("plums")
        async with opened(serving, second.link) as again:
            await again.until_shown("pears")
            assert not any("apples" in line for line in again.screen.display)
    first_words = sorted(one.first_words for one in sessions(tmp_path))
    assert first_words == ["Make a to-do list with apples", "Make a to-do list with pears"]


async def test_a_tab_of_a_server_that_continues_a_session_can_begin_a_new_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    forkserver.run(
        [sys.executable, "-m", "contextui", "-p", "Make a to-do list with apples"],
        cwd=tmp_path / "work", env={**os.environ, "HOME": str(tmp_path)}, timeout=PATIENCE,
        capture_output=True, check=True,
    )  # fmt: skip
    with Serving(tmp_path / "work", "--continue") as serving:
        async with opened(serving, serving.url / "new") as page:
            await page.until_shown("No model is connected")
            shown = [line for line in page.screen.display if "apples" in line]
            assert all("list with apples" in line for line in shown)  # it is offered to resume
        async with opened(serving) as page:
            await page.until_shown("apples")


async def test_a_page_leaves_a_session_once_something_is_typed(tmp_path: Path) -> None:
    kept = tmp_path / ".contextui" / "projects"

    with Serving(tmp_path / "work") as serving:
        async with opened(serving) as page:
            await page.until_shown("No model is connected")
        assert await asyncio.to_thread(all_gone, serving.apps())
        assert [path for path in kept.rglob("*") if path.is_file()] == []
        async with opened(serving, page.link) as again:  # its link still works
            await again.until_shown("No model is connected")
            await again.type("half a thought")
            await again.until_shown("half a thought")
        async with opened(serving, page.link) as again:
            await again.until_shown("half a thought")
    assert len(sessions(tmp_path)) == 1


async def test_every_visit_of_the_printed_link_is_a_tab_of_its_own(tmp_path: Path) -> None:
    links = set()
    with Serving(tmp_path / "work") as serving:
        async with ClientSession() as session:
            for path in ("", "", "new"):
                async with session.get(serving.url / path if path else serving.url) as page:
                    assert page.status == 200
                    links.add(page.url)
        assert len(links) == 3
        assert serving.apps() == []


# --- the page's own script --------------------------------------------------------------------


def test_the_script_and_the_page_and_the_server_agree() -> None:
    script, page = (PAGE / "page.js").read_text("utf-8"), (PAGE / "page.html").read_text("utf-8")
    assert f"OPEN_ELSEWHERE = {OPEN_ELSEWHERE};" in script
    assert server._OPEN_ELSEWHERE == OPEN_ELSEWHERE
    for name in re.findall(r'getElementById\("([\w-]+)"\)', script):
        assert f'id="{name}"' in page
    assert set(re.findall(r"\$(\w+)", page)) == {"lang", *server._TEXTS}
    # It runs before Textual's script, which makes the socket and the terminal.
    assert page.index("page.js") < page.index("textual.js")


STAGE = """
globalThis.navigator ??= {}; // a recent node has one
const elements = {};
const element = (id) => elements[id] ??= {
  id, hidden: true, dataset: {}, heard: {},
  focus() { focused.push(id); },
  addEventListener(name, call) { this.heard[name] = call; },
};
const focused = [], went = [], ready = [];
globalThis.document = {
  body: { style: {} },
  getElementById: element,
  querySelector: element,
  addEventListener: (name, call) => name === "DOMContentLoaded" && ready.push(call),
};
globalThis.location = {
  href: "http://127.0.0.1:8000/token/tab/",
  reload: () => went.push("reload"), assign: (where) => went.push(where),
};
globalThis.window = globalThis;
globalThis.WebSocket = class {
  heard = {};
  constructor(url) { this.url = url; }
  addEventListener(name, call) { (this.heard[name] ??= []).push(call); }
  hear(name, event) { for (const call of this.heard[name]) call(event); }
};
require(process.argv[1]);
ready.forEach((call) => call());
const socket = new WebSocket(element("terminal").dataset.sessionWebsocketUrl);
const before = focused.length;
socket.hear("open", {});
socket.hear("message", { data: new ArrayBuffer(8) });
socket.hear("message", { data: JSON.stringify(["pong", "1"]) });
socket.hear("message", { data: JSON.stringify(["title", "● contextui  <b>"]) });
socket.hear("message", { data: JSON.stringify(["background", "#fafafa"]) });
socket.hear("close", { code: Number(process.argv[2]) });
element("again").heard.click();
element("new").heard.click();
const shown = Object.values(elements).filter((one) => !one.hidden).map((one) => one.id);
const { title, body: { style } } = document;
console.log(JSON.stringify({ url: socket.url, before, focused, shown, went, title, style }));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node to run the page's script")
@pytest.mark.parametrize(("code", "reason"), [(1000, "ended"), (OPEN_ELSEWHERE, "elsewhere")])
def test_the_script_focuses_the_terminal_and_says_why_it_ended(code: int, reason: str) -> None:
    done = subprocess.run(
        ["node", "-e", STAGE, str(PAGE / "page.js"), str(code)],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {
        "url": "ws://127.0.0.1:8000/token/tab/socket",
        "before": 0,
        "focused": [".xterm-helper-textarea", "again"],
        "shown": [reason, "over"],
        "went": ["reload", "../new"],
        "title": "● contextui  <b>",
        "style": {"background": "#fafafa"},
    }

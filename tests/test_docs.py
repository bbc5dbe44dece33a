"""The guide is true: its blocks run in order, print what it says, and its tests pass."""

import asyncio
import inspect
import re
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from contextui import events, model
from contextui.config.settings import StrategyChoice
from contextui.context.item import Hidden
from contextui.testing import WindowTester
from contextui.windowing.runtime import runtime_of
from tests.agent.server import Reply, Server, call
from tests.agent.test_bridge import completion, message
from tests.guide import BLOCK, run_guide
from tests.tui.desktop.samples import enter
from tests.tui.running import desk_in, running, shown, until

DOCS = Path(__file__).parent.parent / "docs"
GUIDE = DOCS / "writing-windows.md"
STRATEGIES = DOCS / "writing-strategies.md"
CONTEXT = DOCS / "context.md"
LIBRARY = DOCS / "library.md"
ARCHITECTURE = DOCS / "design" / "architecture.md"


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The guide's code, run block by block, with what it printed compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("guide")))
        yield run_guide(GUIDE)


def test_the_guide_prints_what_it_says(guide: ModuleType) -> None:
    assert len(re.findall(r"^```text$", GUIDE.read_text("utf-8"), re.MULTILINE)) == 19


def test_the_guides_own_tests_pass(guide: ModuleType, tmp_path: Path) -> None:
    tests = [test for name, test in vars(guide).items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test(*[tmp_path for _ in inspect.signature(test).parameters])


def test_the_guides_own_widget_works_on_the_screen(guide: ModuleType, tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, windows=[guide.TallyWindow])
        desk.session.windows.open("tally")
        async with running(desk) as pilot:
            frame = await enter(pilot, "tally_1")
            await pilot.press("enter", "space", "space")
            await until(pilot, lambda: shown(pilot, "1 tally  2 strokes") and shown(pilot, ".."))
            await pilot.press("escape", "x")
            await until(pilot, lambda: shown(pilot, "2 strokes are not added yet"))
            await pilot.press("escape", "enter", "t")
            await until(pilot, lambda: shown(pilot, "2 more.") and shown(pilot, "||"))
            assert guide.TallyWidget.first_actions == ("add", "reset")
            await pilot.press("space")  # committed before the next action runs
            frame.runner.run("reset", {})
            await until(pilot, lambda: shown(pilot, "Begun again."))
            [tally] = desk.session.windows.windows()
            history = runtime_of(tally).history.entries
            assert [entry.action for entry in history] == ["add", "add", "reset"]
            assert frame.body.last == "reset"  # type: ignore[attr-defined]

    asyncio.run(go())


def test_the_guides_own_connection_is_made_again(guide: ModuleType) -> None:
    async def go() -> None:
        heard = list[bytes]()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello\n")
            heard.append(await reader.readline())
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        feed = await asyncio.to_thread(WindowTester, guide.FeedWindow, port=port)
        for number in (1, 2):  # the server hangs up after a line; the window connects again
            while feed.content().count("hello") < number:
                await asyncio.sleep(0.02)
            while not (await feed.windows.act("feed_1", "send", {"line": "hi"})).ok:
                await asyncio.sleep(0.02)
            while len(heard) < number:
                await asyncio.sleep(0.02)
        assert heard == [b"hi\n", b"hi\n"]
        await asyncio.to_thread(feed.close)
        server.close()

    async def bounded() -> None:
        async with asyncio.timeout(30):
            await go()

    asyncio.run(bounded())


def test_the_first_window_has_about_20_lines() -> None:
    first = next(block for language, block in BLOCK.findall(GUIDE.read_text("utf-8")))
    assert "class ReadingWindow(Window)" in first
    assert len(first.splitlines()) <= 21


def test_the_built_in_windows_use_only_what_it_names() -> None:
    guide = GUIDE.read_text("utf-8")
    windows = DOCS.parent / "windows"
    for path in [*windows.glob("[!_]*.py"), *windows.glob("*/window.py")]:
        for module, names in re.findall(
            r"^from (contextui[\w.]*) import \(?([\w ,]*)", path.read_text("utf-8"), re.MULTILINE
        ):
            used = [f"{module}.{names.strip()}"] if module == "contextui.files" else [module]
            assert all(f"`{one}`" in guide or one == "contextui" for one in used), (path, used)


def test_what_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\((\.\.?/[^)#]+)\)", GUIDE.read_text("utf-8")):
        assert (DOCS / target).exists(), target


def test_its_sample_of_packaging_is_the_samples_own() -> None:
    sample = (DOCS.parent / "tests" / "thirdparty" / "pyproject.toml").read_text("utf-8")
    (shown,) = [block for kind, block in BLOCK.findall(GUIDE.read_text("utf-8")) if kind == "toml"]
    for line in filter(None, shown.splitlines()):
        assert line in sample.splitlines()


def test_the_guide_to_the_library_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    keep = call("action", window_id="notebook_1", action_id="keep", params={})
    with Server(
        Reply(200, message(keep)),
        Reply(200, message("I leave them in the window.")),
        Reply(200, completion(call("weather", city="Rome"))),
        Reply(200, completion("Take a hat.")),
    ) as server:
        for provider in ("ANTHROPIC", "OPENAI"):
            monkeypatch.setenv(f"{provider}_BASE_URL", server.url)
            monkeypatch.setenv(f"{provider}_API_KEY", "k")
        run_guide(LIBRARY)
    assert "They say: Not on a Sunday." in server.requests[1].body.decode()
    table = re.findall(r"`(\w+)(?:\(([\w, ]*)\))?`", LIBRARY.read_text("utf-8"))
    named = {name: values.split(", ") for name, values in table if values}
    known = vars(events) | vars(model)
    kinds = {name: known[name] for name in named if name[0].isupper()}
    assert len(kinds) > 10
    for name, kind in kinds.items():
        assert is_dataclass(kind)
        assert named[name] == [one.name for one in fields(kind)], name


def test_the_guide_to_strategies_prints_what_it_says() -> None:
    run_guide(STRATEGIES)
    blocks = BLOCK.findall(STRATEGIES.read_text("utf-8"))
    assert [language for language, _ in blocks].count("text") == 2
    assert len(next(block for language, block in blocks if language == "python").splitlines()) <= 30


def test_its_settings_can_be_used() -> None:
    found = [
        tomllib.loads(block)
        for language, block in BLOCK.findall(STRATEGIES.read_text("utf-8"))
        if language == "toml"
    ]
    chosen = [StrategyChoice.of(one["strategy"]) for one in found if "strategy" in one]
    assert [one.name for one in chosen] == ["summarization", "first-and-last"]


def test_the_page_about_the_context_prints_what_it_says() -> None:
    run_guide(CONTEXT)
    text = CONTEXT.read_text("utf-8")
    assert [language for language, _ in BLOCK.findall(text)].count("text") == 5
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCS / target).exists(), target
    for reason in get_args(Hidden):
        assert f"| `{reason}` |" in text


def test_the_architecture_names_every_package_as_it_names_itself() -> None:
    text, root = ARCHITECTURE.read_text("utf-8"), DOCS.parent / "contextui"
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", text, re.MULTILINE))
    for name, what in rows.items():
        module = root / name / "__init__.py" if name.endswith("/") else root / name
        assert module.read_text("utf-8").startswith(f'"""{what}'), name
    packages = {f"{one.parent.relative_to(root)}/" for one in root.rglob("*/__init__.py")}
    # The parts of the offline model are described in its own `__init__.py`.
    packages = {one for one in packages if one.count("/") <= 3}
    assert {one for one in rows if one.endswith("/")} == packages - {"windows/"}
    picture = ARCHITECTURE.with_suffix(".svg").read_text("utf-8")
    for path in re.findall(r"`([a-z_/]+\.py)`", text) + re.findall(r">(\w+/\w+\.py)", picture):
        assert (root / path).exists() or (root.parent / path).exists(), path

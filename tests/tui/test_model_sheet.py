"""The sheet of models, and the dialog that enters a key: over real servers on loopback."""

import json
import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from contextui.agent.models.factory import create_model
from contextui.config.credentials import Credentials
from contextui.config.sources import Loaded, load_settings
from contextui.config.writer import set_default_model
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import AsideLine
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.dialogs.model import LoginScreen, ModelScreen, OfferList, ServerScreen
from contextui.tui.footer import KeyBar
from tests.agent.chat_server import chat_error
from tests.agent.server import Reply, Server
from tests.tui.inspector.scene import inspector
from tests.tui.running import app_of, desk_in, lines, noted, running, say, until
from tests.tui.sharing import SharedApp

KEY = "k3y-of-the-sheet-that-nobody-may-see"
OLLAMA: dict[str, Any] = {
    "/api/version": {"version": "0.12.0"},
    "/api/tags": {"models": [{"name": "qwen3-coder:30b"}]},
    "/api/ps": {"models": [{"name": "qwen3-coder:30b", "context_length": 32_768}]},
    "/api/show": {"model_info": {"q.context_length": 262_144}, "capabilities": ["tools"]},
}


def connected(folder: Path, environ: dict[str, str], **given: Any) -> AppSession:
    """A desk whose models can be switched, as the program makes it."""
    desk, home = desk_in(folder, "Hi.", **given), folder / "home"

    def load(**flags: Any) -> Loaded:
        return load_settings(flags, environ, home, folder / "work")

    def switch(name: str) -> None:
        connection = load(model=name).connection
        desk.controller.model = create_model(connection)
        desk.note_model(connection.label, desk.session.model)

    desk.load_settings, desk.switch_model = load, switch
    return desk


class Sheet:
    """The sheet in one app for all tests, over a server that each test fills."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.home, self.environ = folder / "home", dict[str, str]()
        self.app = SharedApp(self._start, self._tidy)

    def _start(self) -> AbstractAsyncContextManager["Pilot[int]"]:
        self.desk = connected(self.folder, self.environ)
        self.model = self.desk.controller.model
        return running(self.desk)

    async def _tidy(self, pilot: "Pilot[int]") -> None:
        self.desk.controller.model = self.model
        self.desk.session.use_model("")
        pilot.app.query_one(Prompt).clear()

    def clear(self) -> None:
        """Forget what other tests entered."""
        self.environ.clear()
        self.server.pages = {}
        self.server.lookups.clear()
        for name in ("credentials.json", "prices.toml", "config.toml"):
            (self.home / name).unlink(missing_ok=True)

    async def open(self, pilot: "Pilot[int]", *wanted: str) -> OfferList:
        """Open the sheet, and wait until these models are listed."""
        pilot.app.query_one(Prompt).put("/model")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelScreen))
        await until(pilot, lambda: all(one in shown(pilot.app) for one in wanted))
        return pilot.app.screen.query_one(OfferList)


@pytest.fixture(scope="module")
def all_sheets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sheet]:
    with Server() as server:
        shared = Sheet(tmp_path_factory.mktemp("models"), server)
        yield shared
        shared.app.close()


@pytest.fixture
def sheet(all_sheets: Sheet) -> Sheet:
    all_sheets.clear()
    return all_sheets


@pytest.fixture
def shared(sheet: Sheet) -> SharedApp:
    return sheet.app


def shown(app: Any) -> str:
    listed = app.screen.query_one(OfferList)
    return "\n".join(listed.line_at(at, 90).plain for at in range(listed.count))


def choose(models: OfferList, name: str) -> None:
    models.choose([row.name if row is not None else "" for row in models.rows].index(name))


async def log_in(pilot: "Pilot[int]", command: str) -> None:
    pilot.app.query_one(Prompt).put(command)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, LoginScreen))
    await until(pilot, lambda: isinstance(pilot.app.focused, Input))
    await pilot.press(*KEY[:3])
    assert isinstance(pilot.app.focused, Input)
    pilot.app.focused.insert_text_at_cursor(KEY[3:])
    await pilot.pause()
    assert KEY not in pilot.app.export_screenshot()
    await pilot.press("enter")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_models_are_listed_with_the_keys_that_work_and_a_short_context_is_explained(
    pilot: "Pilot[int]", sheet: Sheet
) -> None:
    sheet.server.pages = {**OLLAMA}
    sheet.environ["OLLAMA_HOST"] = sheet.server.url

    models = await sheet.open(pilot, "qwen3-coder:30b")
    text = shown(pilot.app)
    assert "32.8k of 262k" in text
    assert "no key: enter to log in" in text
    assert "offline" in text
    for row, keys in {
        "offline": "enter use   d make default   u add a server…   esc back",
        "offline/": "u add a server…   esc back",
        "anthropic/": "enter log in…   u add a server…   esc back",
        "ollama/": "enter ask again   l log in…   u add a server…   esc back",
        "ollama/qwen3-coder:30b": "enter use   d make default   l log in…   "
        "u add a server…   esc back",
    }.items():
        choose(models, row)
        await pilot.pause()
        assert str(pilot.app.screen.query_one(KeyBar).render()) == keys
    note = pilot.app.screen.query_one("#note", Static)
    assert "without a word" in str(note.visual)
    await pilot.press("enter")
    await until(pilot, lambda: sheet.desk.controller.model.name == "qwen3-coder:30b")


async def test_models_are_searched_priced_and_given_more_context(
    pilot: "Pilot[int]", sheet: Sheet
) -> None:
    """`/` filters, the border has the price of a change, `c` asks Ollama for more."""
    ollama = sheet.server
    listed = {"data": [{"id": "cheap-coder"}, {"id": "dear"}]}
    big = {"name": "qwen3-coder:30b-64k"}
    ollama.pages = {**OLLAMA, "/api/create": {"status": "success"}, "/box/v1/models": listed}
    sheet.environ["OLLAMA_HOST"] = ollama.url
    Credentials(sheet.home).add_server("box", f"{ollama.url}/box/v1")
    prices = '["box/dear"]\ninput = 20\noutput = 100\ncached = 2\nwritten = 25\n'
    (sheet.home / "prices.toml").write_text(prices)

    await say(pilot, "Hello.")
    models = await sheet.open(pilot, "dear", "qwen3")

    def chosen() -> str | None:
        return models.row.name if models.row is not None else None

    def border() -> str:
        return str(pilot.app.screen.query_one("#box").border_subtitle)

    await pilot.press("slash", "+")
    await until(pilot, lambda: "Nothing matches" in shown(pilot.app))
    assert str(pilot.app.screen.query_one(KeyBar).render()) == "enter choose   esc clear"
    await pilot.press("backspace", *"coder")
    await until(pilot, lambda: "dear" not in shown(pilot.app))
    assert "cheap-coder" in shown(pilot.app)
    assert "qwen3-coder:30b" in shown(pilot.app)
    assert "OpenAI" not in shown(pilot.app)
    await pilot.press("enter", "escape")  # into the list; clear the search
    await until(pilot, lambda: "dear" in shown(pilot.app))
    await pilot.press("slash", *"x/dear", "enter")
    await until(pilot, lambda: chosen() == "box/dear")
    # the same figure as the inspector's, at the price of writing to the cache
    assert re.fullmatch(r"a new cache starts: [\d,]+ tokens, \$0\.0\d+", border())
    assert "$20.00 $100.00" in shown(pilot.app)
    await pilot.press("escape", "slash", *"qwen", "enter")
    await until(pilot, lambda: chosen() == "ollama/qwen3-coder:30b")
    assert "$" not in border()
    ollama.pages["/api/tags"] = {"models": [*OLLAMA["/api/tags"]["models"], big]}
    await pilot.press("c")
    await until(pilot, lambda: chosen() == "ollama/qwen3-coder:30b-64k")
    await pilot.press("escape", "escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, ModelScreen))
    [asked] = [one.body for one in ollama.lookups if one.path == "/api/create"]
    assert json.loads(asked) == {
        "model": "qwen3-coder:30b-64k",
        "from": "qwen3-coder:30b",
        "parameters": {"num_ctx": 65_536},
        "stream": False,
    }


async def test_a_key_is_checked_used_and_removed(pilot: "Pilot[int]", sheet: Sheet) -> None:
    """X32: escape and a wrong key leave everything as it was; no key is shown or logged."""
    before = sheet.desk.controller.model
    pilot.app.query_one(Prompt).put("/model openai/gpt-x")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, LoginScreen))
    await pilot.press("x", "escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, LoginScreen))
    assert sheet.desk.controller.model is before
    assert not (sheet.home / "credentials.json").exists()
    sheet.environ["OPENAI_BASE_URL"] = f"{sheet.server.url}/v1"
    sheet.environ["CONTEXTUI_MODEL"] = "openai/gpt-x"
    sheet.server.pages = {"/v1/models": Reply(401, chat_error(f"wrong: {KEY}"))}
    sheet.desk.session.use_model("offline")
    await log_in(pilot, "/login openai")
    note = pilot.app.screen.query_one("#note", Static)
    await until(pilot, lambda: "rejected the key. It is not saved." in str(note.visual))
    assert KEY not in pilot.app.export_screenshot() + (sheet.home / "credentials.json").read_text()
    await pilot.press("escape")
    sheet.server.pages = {"/v1/models": {"data": [{"id": "gpt-x"}]}}
    await log_in(pilot, "/login openai")
    await until(pilot, lambda: sheet.desk.controller.model.name == "gpt-x")
    assert KEY not in pilot.app.export_screenshot()
    log = b"".join(one.read_bytes() for one in sheet.home.rglob("*.jsonl"))
    assert KEY.encode() not in log
    assert KEY in (sheet.home / "credentials.json").read_text()
    app_of(pilot).main.run_command("/logout openai")
    await until(pilot, lambda: sheet.desk.is_offline and noted(pilot, "is removed."))
    assert KEY not in (sheet.home / "credentials.json").read_text()


async def test_all_of_the_screen_follows_a_change_of_the_model(
    pilot: "Pilot[int]", sheet: Sheet
) -> None:
    """X03, X15: the header, the start page, the conversation, the cache and the budget."""
    desk, server = sheet.desk, sheet.server
    app_of(pilot).main.run_command("/model offline")
    await until(pilot, lambda: desk.is_offline)
    await say(pilot, "Make a todo list with milk")
    await until(pilot, lambda: inspector(pilot)._watch.snapshot().cached_tokens)
    Credentials(sheet.home).add_server("box", f"{server.url}/v1")
    (sheet.home / "prices.toml").write_text('["box/dear"]\ninput = 2000\noutput = 1\n')
    desk.controller._loop.options = replace(desk.controller.options, budget=7_777)
    app_of(pilot).main.run_command("/model box/dear")
    await until(pilot, lambda: noted(pilot, "Model: offline → box/dear; a new cache starts: "))
    assert inspector(pilot)._watch.snapshot().cached_tokens == 0
    await until(pilot, lambda: lines(pilot)[0].endswith(" dear"))
    await until(pilot, lambda: "128k" in lines(pilot)[1])


async def test_a_server_is_added_and_a_wrong_address_is_refused(
    pilot: "Pilot[int]", sheet: Sheet
) -> None:
    sheet.server.pages = {"/v1/models": {"data": [{"id": "served"}]}}

    await sheet.open(pilot)
    await pilot.press("u")
    await until(pilot, lambda: isinstance(pilot.app.screen, ServerScreen))
    field = pilot.app.screen.query_one(Input)
    field.value = "http://[broken"
    await pilot.press("enter")
    await pilot.pause()
    assert isinstance(pilot.app.screen, ServerScreen)
    field.value = sheet.server.url
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ModelScreen))
    await until(pilot, lambda: "served" in shown(pilot.app))


async def test_a_key_is_sent_unencrypted_only_after_a_warning(
    pilot: "Pilot[int]", sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "no_proxy", "NO_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = sheet.server  # it answers for every host, as a proxy does
    server.pages = {"http://models.example/v1/models": {"data": [{"id": "served"}]}}
    monkeypatch.setenv("HTTP_PROXY", server.url)
    sheet.environ |= {"OLLAMA_HOST": "http://models.example", "OLLAMA_API_KEY": KEY}
    Credentials(sheet.home).add_server("box", "http://box.example/v1")

    models = await sheet.open(pilot, "not asked: the key would be sent")
    await until(pilot, lambda: "looking" not in shown(pilot.app))
    choose(models, "ollama/")
    note = pilot.app.screen.query_one("#note", Static)
    await until(pilot, lambda: "models.example unencrypted" in str(note.visual))
    assert not [one for one in server.lookups if KEY in str(one.headers)]
    await pilot.press("enter")
    await until(pilot, lambda: "served" in shown(pilot.app))
    assert [one for one in server.lookups if KEY in str(one.headers)]
    choose(models, "box/")
    await pilot.press("l")
    await until(pilot, lambda: isinstance(pilot.app.screen, LoginScreen))
    warning = pilot.app.screen.query_one("#warning", Static)
    assert "box.example unencrypted" in str(warning.visual)
    await pilot.press("escape", "escape")
    pilot.app.query_one(Prompt).put("/model ollama/served")
    await pilot.press("enter")
    await until(pilot, lambda: sheet.desk.controller.model.name == "served")
    said = [str(one.content) for one in pilot.app.screen.query(AsideLine)]
    assert [one for one in said if "models.example unencrypted" in one], said


async def test_a_key_for_an_added_server_is_not_sent_to_its_new_address(
    pilot: "Pilot[int]", sheet: Sheet
) -> None:
    credentials = Credentials(sheet.home)
    credentials.add_server("box", "https://box.example/v1")

    def has_key() -> bool:
        return load_settings({"model": "box/x"}, {}, sheet.home, sheet.folder).connection.has_key

    await log_in(pilot, "/login box")
    await until(pilot, lambda: not isinstance(pilot.app.screen, LoginScreen))
    assert has_key()
    credentials.add_server("box", "http://box.example/v1")
    assert not has_key()


# --- the default ---------------------------------------------------------------------------


def test_the_default_is_one_line_of_the_config(tmp_path: Path) -> None:
    """The model of a strategy is another one; a provider would decide instead of the model."""
    file = tmp_path / "config.toml"
    file.write_text('provider = "anthropic"\n[strategy]\nmodel = "b"\n')
    set_default_model(tmp_path, "ollama/x")
    lines = [line for line in file.read_text().splitlines() if line]
    assert lines == ['provider = "auto"', 'model = "ollama/x"', "[strategy]", 'model = "b"']

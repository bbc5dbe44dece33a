"""Providers by the name before the slash, and keys that go only where they belong."""

import json
import stat
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.models.factory import NoKeyError, create_model
from contextui.agent.models.openai import OpenAIModel
from contextui.config.credentials import Credentials, CredentialsError
from contextui.config.providers import split_model
from contextui.config.settings import SettingsError
from contextui.config.sources import Loaded, load_settings
from contextui.secrets import mask, mask_own

KEY = "k3y-of-login-that-nobody-may-see"


def load(home: Path, environ: dict[str, str] | None = None, **flags: Any) -> Loaded:
    (home / "project").mkdir(exist_ok=True)
    return load_settings(flags, environ or {}, home, home / "project")


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("openai/gpt-x", "openai", "gpt-x"),
        ("ollama/qwen3:30b", "ollama", "qwen3:30b"),
        ("openrouter/anthropic/claude-x", "openrouter", "anthropic/claude-x"),
        ("anthropic/claude-x", "anthropic", "claude-x"),
        ("offline", "offline", "offline"),
        ("claude-x", "offline", "claude-x"),  # no key
    ],
)
def test_the_part_before_the_slash_is_the_provider(
    tmp_path: Path, model: str, provider: str, name: str
) -> None:
    connection = load(tmp_path, model=model).connection
    assert (connection.provider.name, connection.model) == (provider, name)


def test_a_slash_in_a_name_is_no_provider() -> None:
    assert split_model("meta-llama/llama-4") == (None, "meta-llama/llama-4")
    assert split_model("ollama/") == (None, "ollama/")


def test_an_explicit_provider_keeps_the_whole_name(tmp_path: Path) -> None:
    connection = load(tmp_path, provider="lmstudio", model="openai/gpt-oss-20b").connection
    assert (connection.provider.name, connection.model) == ("lmstudio", "openai/gpt-oss-20b")


def test_addresses_of_one_provider_are_not_used_for_another(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_BASE_URL": "http://gateway.example", "OPENAI_API_KEY": KEY}
    connection = load(tmp_path, environ, model="openai/gpt-x").connection
    assert connection.url is None
    loaded = load(tmp_path, environ, model="ollama/x", base_url="http://10.0.0.9:11434")
    assert loaded.connection.url == "http://10.0.0.9:11434"
    other = loaded.connection_of("openai/gpt-x")  # the key must not go to Ollama's address
    assert (other.url, other.has_key) == (None, True)
    assert loaded.connect(loaded.connection.provider).url == "http://10.0.0.9:11434"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("0.0.0.0:11500", "http://127.0.0.1:11500"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:80/", "http://box:80"),
        (":11500", "http://127.0.0.1:11500"),
        ("::1", "http://[::1]:11434"),
        ("[::]:11500", "http://[::1]:11500"),
        ("http://box", "http://box"),
        ("'https://box/ollama'", "https://box/ollama"),
        ("box:nonsense", "http://box:nonsense"),
    ],
)
def test_ollamas_own_variable_is_read_its_way(tmp_path: Path, given: str, address: str) -> None:
    connection = load(tmp_path, {"OLLAMA_HOST": given}, model="ollama/x").connection
    assert connection.address == address


@pytest.mark.parametrize("model", ["openrouter/x", "ollama/x", "openai/x", "mine/x"])
def test_a_project_cannot_choose_another_provider(tmp_path: Path, model: str) -> None:
    Credentials(tmp_path).add_server("mine", "http://10.0.0.9:8000/v1")
    folder = tmp_path / "project" / ".contextui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'model = "{model}"\n')
    with pytest.raises(SettingsError, match="which a project may not"):
        load(tmp_path)


def test_a_projects_strategy_cannot_choose_another_provider(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".contextui"
    folder.mkdir(parents=True)
    text = '[strategy]\ntype = "summarization"\nmodel = "openai/gpt-x"\n'
    (folder / "config.toml").write_text(text)
    with pytest.raises(SettingsError, match="which a project may not"):
        load(tmp_path, {"OPENAI_API_KEY": KEY})


@pytest.mark.parametrize("name", ["budget", "max_tokens", "max_steps"])
def test_a_project_can_lower_what_costs_money_and_not_raise_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "project" / ".contextui"
    folder.mkdir(parents=True)
    usual = getattr(load(tmp_path).settings, name)
    (folder / "config.toml").write_text(f"{name} = {usual + 1}\n")
    raised = load(tmp_path)
    assert getattr(raised.settings, name) == usual
    [notice] = map(str, raised.notices)
    assert f"asks for {name} {usual + 1}; it stays {usual}" in notice
    variable = f"CONTEXTUI_{name.upper()}"
    [notice] = map(str, load(tmp_path, {variable: f"{usual - 1}"}).notices)
    assert f"asks for {name} {usual + 1}; it stays {usual - 1}" in notice  # what is in use
    for value in (usual + 1, usual + 2):  # as much as is asked for: nothing to report
        assert not load(tmp_path, {variable: f"{value}"}).notices
    (folder / "config.toml").write_text(f"{name} = {usual - 1}\n")
    assert getattr(load(tmp_path).settings, name) == usual - 1


@pytest.mark.parametrize("own", ["ollama/qwen3", "offline", "openai/gpt-x"])
def test_a_project_cannot_lead_a_conversation_to_anthropic(tmp_path: Path, own: str) -> None:
    folder = tmp_path / "project" / ".contextui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('model = "claude-x"\n')
    (tmp_path / "config.toml").write_text(f'model = "{own}"\n')
    loaded = load(tmp_path, {"ANTHROPIC_API_KEY": KEY})
    assert loaded.provider == own.partition("/")[0]
    assert loaded.settings.model == own
    assert "cannot choose another provider" in str(loaded.notices[0])
    assert load(tmp_path, {"ANTHROPIC_API_KEY": KEY}, model="claude-x").provider == "anthropic"


# --- keys ----------------------------------------------------------------------------------


def test_a_key_is_kept_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert Credentials(home).put("openai", f" {KEY}\n") == "file"
    file = home / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    found = Credentials(home).get("openai")
    assert found is not None
    assert found.read() == KEY
    assert KEY not in repr(found)
    assert Credentials(home).remove("openai")
    assert KEY not in file.read_text()
    assert not Credentials(home).remove("openai")


def test_a_file_of_others_is_not_followed_or_widened(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "credentials.new").symlink_to(target)
    Credentials(tmp_path).put("openai", KEY)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "schlüssel", "\x1b[2J", "x" * 20_000])
def test_what_is_no_key_is_refused_without_showing_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        Credentials(tmp_path).put("openai", key)
    assert not key.strip() or key not in str(caught.value)
    assert not (tmp_path / "credentials.json").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"keys": 3}', '{"keys": {"openai": 3}}', '{"keys": {"openai": {}}}']
)
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "credentials.json").write_text(text)
    assert Credentials(tmp_path).get("openai") is None
    assert Credentials(tmp_path).servers == {}
    Credentials(tmp_path).put("openai", KEY)
    assert Credentials(tmp_path).get("openai") is not None


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(CredentialsError, match=r"cannot be written") as caught:
        Credentials(tmp_path / "home").put("openai", KEY)
    assert KEY not in str(caught.value)


def test_a_variable_has_precedence_over_a_stored_key(tmp_path: Path) -> None:
    Credentials(tmp_path).put("openai", KEY)
    stored = load(tmp_path, model="openai/x").connection
    assert (stored.key_place, stored.key_source) == ("file", "/login")
    given = load(tmp_path, {"OPENAI_API_KEY": "from-the-environment"}, model="openai/x").connection
    assert (given.key_place, given.key_source) == ("variable", "OPENAI_API_KEY")
    assert given.key() == "from-the-environment"


def test_a_stored_key_goes_to_its_own_address_only(tmp_path: Path) -> None:
    Credentials(tmp_path).put("openai", KEY)
    moved = load(tmp_path, model="openai/x", base_url="http://elsewhere.example").connection
    assert not moved.has_key
    Credentials(tmp_path).add_server("mine", "http://10.0.0.9:8000/v1")
    Credentials(tmp_path).put("mine", KEY, "http://10.0.0.9:8000/v1")
    assert load(tmp_path, model="mine/x").connection.has_key
    Credentials(tmp_path).add_server("mine", "http://10.0.0.66:8000/v1")
    assert not load(tmp_path, model="mine/x").connection.has_key


def test_a_stored_key_connects_anthropic_by_itself(tmp_path: Path) -> None:
    assert load(tmp_path).provider == "offline"
    Credentials(tmp_path).put("anthropic", KEY)
    assert load(tmp_path).provider == "anthropic"


def test_a_stored_key_is_masked_and_in_no_dump(tmp_path: Path) -> None:
    Credentials(tmp_path).put("openai", KEY)
    loaded = load(tmp_path, {"X_API_KEY": "another-secret"}, model="openai/x")
    assert loaded.connection.has_key
    assert mask(f"it is {KEY}.") == "it is ***."
    assert mask_own(f"it is {KEY}.") == "it is ***."
    dump = repr(loaded) + repr(loaded.connection) + json.dumps(asdict(loaded.settings))
    assert KEY not in dump
    assert "another-secret" not in dump


def test_models_are_created_and_a_missing_key_names_its_variable(tmp_path: Path) -> None:
    model = create_model(load(tmp_path, model="ollama/qwen3").connection)
    assert isinstance(model, OpenAIModel)
    assert (model.name, model.url) == ("qwen3", "http://localhost:11434/v1")
    with pytest.raises(NoKeyError, match="OPENAI_API_KEY") as caught:
        create_model(load(tmp_path, model="openai/gpt-x").connection)
    assert caught.value.provider == "openai"


class _Ring:
    """A keyring as backends are, which works or not."""

    def __init__(self, *, works: bool) -> None:
        self.works, self.kept = works, dict[tuple[str, str], str]()

    def set_password(self, service: str, user: str, key: str) -> None:
        if not self.works:
            raise RuntimeError("locked")
        self.kept[service, user] = key

    def get_password(self, service: str, user: str) -> str | None:
        return self.kept.get((service, user))

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]


def test_a_keyring_that_works_keeps_the_key_and_the_file_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = _Ring(works=True)
    monkeypatch.setattr("contextui.config.credentials._keyring", lambda: ring)
    assert Credentials(tmp_path).put("openai", KEY) == "keyring"
    assert KEY not in (tmp_path / "credentials.json").read_text()
    connection = load(tmp_path, model="openai/x").connection
    assert (connection.key_place, connection.key()) == ("keyring", KEY)
    Credentials(tmp_path).remove("openai")
    assert ring.kept == {}


def test_a_locked_keyring_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextui.config.credentials._keyring", lambda: _Ring(works=False))
    assert Credentials(tmp_path).put("openai", KEY) == "file"

"""Settings: which of several counts, what is refused, and in which words."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from contextui.config.schema import SETTINGS
from contextui.config.settings import LIMITS, Settings, SettingsError, allowed
from contextui.config.sources import Loaded, load_settings
from contextui.text import shown_path


class Places:
    """A user's and a project's folder, and what is set in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.users, self.projects = (
            self.home / "config.toml",
            self.project / ".contextui/config.toml",
        )
        self.users.parent.mkdir()
        self.projects.parent.mkdir(parents=True)

    def load(
        self,
        flags: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        user: str | bytes = "",
        project: str | bytes = "",
    ) -> Loaded:
        for path, text in ((self.users, user), (self.projects, project)):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_settings(flags or {}, environ or {}, self.home, self.project)

    def refused(self, **given: Any) -> str:
        with pytest.raises(SettingsError) as caught:
            self.load(**given)
        return str(caught.value)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


# --- which one counts ------------------------------------------------------------------------


def test_with_nothing_set_the_offline_model_answers(places: Places) -> None:
    loaded = places.load()
    assert loaded.settings == Settings()
    assert loaded.provider == "offline"
    assert set(loaded.origins.values()) == {"default"}


def test_each_place_counts_more_than_the_next(places: Places) -> None:
    given: dict[str, Any] = {
        "flags": {"model": "a"},
        "environ": {"CONTEXTUI_MODEL": "b", "ANTHROPIC_MODEL": "c"},
        "project": 'model = "d"',
        "user": 'model = "e"',
    }
    found = []
    for leave_out in ("flags", "CONTEXTUI_MODEL", "ANTHROPIC_MODEL", "project", "user", None):
        loaded = places.load(**given)
        found.append((loaded.settings.model, loaded.origins["model"]))
        given.pop(leave_out, None) if leave_out in given else given["environ"].pop(leave_out, None)
    assert found == [
        ("a", "--model"),
        ("b", "CONTEXTUI_MODEL"),
        ("c", "ANTHROPIC_MODEL"),
        ("d", str(places.projects)),
        ("e", str(places.users)),
        ("claude-sonnet-5-5", "default"),
    ]


def test_an_empty_variable_sets_nothing(places: Places) -> None:
    assert places.load(environ={"CONTEXTUI_MODEL": ""}).origins["model"] == "default"


@pytest.mark.parametrize(
    ("environ", "lang", "origin"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh", "LANG"),
        ({"LANG": "en_US.UTF-8"}, "en", "LANG"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en", "LC_ALL"),
        ({"LC_MESSAGES": "zh_TW", "LANG": "C"}, "zh", "LC_MESSAGES"),
        ({"LANG": "zh_CN", "CONTEXTUI_LANG": "en"}, "en", "CONTEXTUI_LANG"),
        ({}, "en", "default"),
    ],
)
def test_the_language_is_that_of_the_locale(
    places: Places, environ: dict[str, str], lang: str, origin: str
) -> None:
    loaded = places.load(environ=environ)
    assert (loaded.settings.lang, loaded.origins["lang"]) == (lang, origin)


@pytest.mark.parametrize(
    ("flags", "environ", "provider"),
    [
        ({}, {"ANTHROPIC_API_KEY": "secret"}, "anthropic"),
        ({}, {"ANTHROPIC_BASE_URL": "http://localhost:1"}, "anthropic"),
        ({"model": "offline"}, {"ANTHROPIC_API_KEY": "secret"}, "offline"),
        ({"provider": "offline"}, {"ANTHROPIC_API_KEY": "secret"}, "offline"),
        ({"provider": "anthropic"}, {}, "anthropic"),
        ({}, {"ANTHROPIC_API_KEY": "  "}, "offline"),
        ({}, {"ANTHROPIC_AUTH_TOKEN": "secret"}, "anthropic"),
    ],
)
def test_the_provider_follows_from_what_is_set(
    places: Places, flags: dict[str, str], environ: dict[str, str], provider: str
) -> None:
    assert places.load(flags, environ).provider == provider


def test_lists_come_from_flags_variables_and_files(places: Places) -> None:
    assert places.load({"window": ["a.py", "b.py:C"]}).settings.window == ("a.py", "b.py:C")
    loaded = places.load(environ={"CONTEXTUI_WINDOWS": "one,two"})
    assert loaded.settings.windows == ("one", "two")
    loaded = places.load(user='window = ["mine.py", "/abs.py", "~/x.py"]')
    expected = (str(places.home / "mine.py"), "/abs.py", os.path.expanduser("~/x.py"))
    assert loaded.settings.window == expected


# --- what a project may not ------------------------------------------------------------------


@pytest.mark.parametrize("name", [one for one in LIMITS if one.startswith("max")])
def test_a_project_cannot_raise_what_protects_the_person(places: Places, name: str) -> None:
    message = places.refused(project=f"{name} = 1000000")
    assert f"sets {name}, which a project may not" in message
    assert getattr(places.load(user=f"{name} = 7").settings, name) == 7


def test_a_project_cannot_start_turns(places: Places) -> None:
    message = places.refused(project="[turns]\nwake = true")
    assert "sets turns.wake, which a project may not" in message
    assert places.load(user="[turns]\nwake = true").settings.turns_wake


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "http://evil.example"',
        'base-url = "http://evil.example"',
        'BASE_URL = "http://evil.example"',
        'provider = "anthropic"',
        'window = ["x.py"]',
        'windows = ["."]',
        'home = "."',
    ],
)
def test_a_project_cannot_set_the_server_or_run_code(places: Places, line: str) -> None:
    message = places.refused(project=line)
    assert str(places.projects) in message
    assert line.split(maxsplit=1)[0] in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("users", "projects", "counts", "noticed"),
    [
        ("ask", "auto", "ask", True),
        ("read-only", "ask", "read-only", True),
        ("ask", "read-only", "read-only", False),
        ("auto", "ask", "ask", False),
        ("auto", "auto", "auto", False),
    ],
)
def test_a_project_lowers_the_approval_and_never_raises_it(
    places: Places, users: str, projects: str, counts: str, noticed: bool
) -> None:
    loaded = places.load(user=f'approval = "{users}"', project=f'approval = "{projects}"')
    assert loaded.settings.approval == counts
    assert any(str(places.projects) in str(notice) for notice in loaded.notices) is noticed


def test_a_flag_raises_what_a_project_lowered(places: Places) -> None:
    loaded = places.load({"approval": "auto"}, project='approval = "read-only"')
    assert loaded.settings.approval == "auto"


def test_in_the_users_own_folder_the_two_files_are_one(tmp_path: Path) -> None:
    home = tmp_path / ".contextui"
    home.mkdir()
    (home / "config.toml").write_text('base_url = "http://localhost:1"\napproval = "auto"')
    loaded = load_settings({}, {}, home, tmp_path)
    assert loaded.settings.base_url == "http://localhost:1"
    assert loaded.settings.approval == "auto"


# --- what is wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "variable"),
    [
        ('api_key = "s3cret"', "ANTHROPIC_API_KEY"),
        ('ANTHROPIC_API_KEY = "s3cret"', "ANTHROPIC_API_KEY"),
        ('auth_token = "s3cret"', "ANTHROPIC_AUTH_TOKEN"),
    ],
)
@pytest.mark.parametrize("place", ["user", "project"])
def test_a_key_in_a_file_is_refused_and_not_shown(
    places: Places, line: str, variable: str, place: str
) -> None:
    message = places.refused(**{place: line})
    assert f"set the variable {variable}" in message
    assert "s3cret" not in message


def test_the_key_is_in_no_dump(places: Places) -> None:
    loaded = places.load(environ={"ANTHROPIC_API_KEY": "s3cret"})
    assert loaded.connection.key() == "s3cret"
    assert "s3cret" not in f"{loaded!r} {loaded} {asdict(loaded.settings)}"


def test_of_a_key_and_a_token_the_key_counts(places: Places) -> None:
    token = {"ANTHROPIC_AUTH_TOKEN": "t0ken\n"}
    for environ, secret in ((token, "t0ken"), ({**token, "ANTHROPIC_API_KEY": "s3cret"}, "s3cret")):
        loaded = places.load(environ=environ)
        assert loaded.connection.key() == secret
        assert environ[loaded.connection.key_source].strip() == secret


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"flags": {"budget": "many"}}, ["--budget", '"many"', "a whole number from 1"]),
        ({"environ": {"CONTEXTUI_BUDGET": "0"}}, ["CONTEXTUI_BUDGET", '"0"', "from 1"]),
        ({"user": "max_steps = true"}, ["max_steps in ", "config.toml is true"]),
        ({"user": 'budget = "5"'}, ["budget in ", 'is "5"']),
        (
            {"flags": {"strategy": "not one"}},
            ["--strategy", '"not one"', "a strategy's name, or a table"],
        ),
        ({"flags": {"approval": "yes"}}, ["--approval", "one of ask, auto, read-only"]),
        ({"flags": {"model": "two words"}}, ["--model", "without spaces"]),
        ({"flags": {"base_url": "localhost:80"}}, ["--base-url", "an address such as http"]),
        ({"flags": {"base_url": "http://me:key@host"}}, ["without a key in it"]),
        ({"flags": {"base_url": "http://host:99999"}}, ["an address such as"]),
        ({"environ": {"ANTHROPIC_BASE_URL": "x"}}, ["ANTHROPIC_BASE_URL"]),
        ({"user": 'window = "one.py"'}, ["window in ", "a list of paths"]),
        ({"user": "window = [1]"}, ["is [1]", "a list of paths"]),
        ({"user": "[model]\nname = 1"}, ["model in "]),
        ({"user": 'modle = "x"'}, ["modle", "Did you mean model?"]),
        ({"user": "zzz = 1"}, ["zzz", "Available: model, base_url"]),
        ({"user": 'home = "/x"'}, ["CONTEXTUI_HOME"]),
        ({"project": 'home = "/x"'}, ["Set the variable CONTEXTUI_HOME instead."]),
        ({"user": "budget = 1\nmodel =\n"}, ["config.toml is not valid TOML", "line 2"]),
        ({"user": b"a = 1\nb = '\xff'"}, ["config.toml, line 2", "UTF-8"]),
        ({"user": "a = " + "[" * 9_000}, ["not valid TOML"]),
        ({"user": "budget = " + "9" * 9_000}, ["not valid TOML"]),
    ],
)
def test_what_is_wrong_is_one_line(places: Places, given: dict[str, Any], words: list[str]) -> None:
    message = places.refused(**given)
    for word in words:
        assert word in message
    assert "\n" not in message
    assert len(message.replace(str(places.home.parent), "")) < 420


def test_a_wrong_value_is_reported_even_where_it_is_overridden(places: Places) -> None:
    assert "config.toml" in places.refused(flags={"budget": "5"}, user='budget = "x"')


def test_errors_escape_terminal_sequences(places: Places) -> None:
    assert "\x1b" not in places.refused(user='"\\u001b[2J" = 1')
    assert "\x1b" not in places.refused(environ={"CONTEXTUI_LANG": "\x1b[2J"})


def test_a_pipe_in_place_of_a_file_does_not_block(places: Places) -> None:
    os.mkfifo(places.users)
    with pytest.raises(SettingsError, match="not a file"):
        load_settings({}, {}, places.home, places.project)


def test_a_folder_or_a_huge_file_in_its_place_is_refused(places: Places) -> None:
    places.users.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings({}, {}, places.home, places.project)
    places.users.rmdir()
    assert "File too large" in places.refused(user=b"#" * 1_000_001)


def test_a_misspelled_variable_is_reported(places: Places) -> None:
    loaded = places.load(environ={"CONTEXTUI_MODLE": "x", "CONTEXTUI_HOME": "/x", "OTHER": "y"})
    assert [str(one) for one in loaded.notices] == [
        "CONTEXTUI_MODLE is not a setting. Did you mean CONTEXTUI_MODEL?"
    ]


# --- files that hold secrets -----------------------------------------------------------------


def test_a_table_sets_the_mode_and_the_secret_files(places: Places) -> None:
    written = '[approval]\nmode = "read-only"\nsecret_files = ["*.vault", "!.env.example"]'
    settings = places.load(user=written).settings
    assert settings.approval == "read-only"
    assert settings.secret_files == ("*.vault", "!.env.example")
    assert "approval.comands" in places.refused(user='[approval]\ncomands = ["x"]')
    assert "secret_files" in places.refused(user="secret_files = [5]")
    assert "secret_files" in places.refused(user='secret_files = [" "]')


def test_every_place_adds_secret_files_and_a_project_takes_none_away(places: Places) -> None:
    loaded = places.load(
        user='secret_files = ["a", "!b"]',
        project='[approval]\nsecret_files = ["c"]',
        flags={"secret_files": ["d"]},
    )
    assert loaded.settings.secret_files == ("a", "!b", "c", "d")
    assert "which a project may not" in places.refused(project='secret_files = ["!.env"]')


# --- commands that run without asking ------------------------------------------------------


def test_a_table_sets_the_commands_and_every_place_of_the_person_adds_some(places: Places) -> None:
    loaded = places.load(
        user='[approval]\ncommands = ["git status", "pytest *"]',
        environ={"CONTEXTUI_ALLOW_COMMANDS": "ls *,pwd"},
        flags={"allow_commands": ["git log *"]},
    )
    expected = ("git status", "pytest *", "ls *", "pwd", "git log *")
    assert loaded.settings.allow_commands == expected
    assert places.load().settings.allow_commands == ()


@pytest.mark.parametrize(
    "written",
    [
        '[approval]\ncommands = ["git status"]',
        'allow_commands = ["git status"]',
        "[approval]\ncommands = []",
        '[approval]\ncommands = "git status"',
    ],
)
def test_a_project_never_allows_a_command(places: Places, written: str) -> None:
    name = "approval.commands" if "[approval]" in written else "allow_commands"
    assert f"sets {name}, which a project may not" in places.refused(project=written)
    assert "which a project may not" in places.refused(
        project=written, user='[approval]\ncommands = ["git status"]\nmode = "auto"'
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git status && rm x", "&& joins two commands"),
        ("*", "It begins with *, not with the name of a program"),
        ("./run *", "./run is a path, not the name of a program"),
        ("cd *", "cd belongs to the shell itself"),
        ("X=1 ls", "X=1 sets a variable"),
        ("", "There is no command"),
    ],
)
def test_a_command_that_cannot_be_allowed_is_named_with_its_reason(
    places: Places, command: str, reason: str
) -> None:
    refused = places.refused(user=f'[approval]\ncommands = ["ls", "{command}"]')
    assert f'approval.commands in {places.users} has "{command}"' in refused
    assert f"which cannot be allowed: {reason}." in refused
    assert reason in places.refused(environ={"CONTEXTUI_ALLOW_COMMANDS": f"ls,{command or ' '}"})


def test_commands_are_a_list_of_texts(places: Places) -> None:
    for wrong in ('"git status"', "[5]", '[["git", "status"]]', "true"):
        refused = places.refused(user=f"[approval]\ncommands = {wrong}")
        assert "it must be a list of commands such as git status or pytest *" in refused


# --- what they are ---------------------------------------------------------------------------


def test_every_setting_says_what_it_is_and_what_it_may_be() -> None:
    for name, field in SETTINGS.items():
        assert field.description
        assert allowed(name)


def test_a_byte_order_mark_before_the_first_setting_is_passed_over(places: Places) -> None:
    loaded = places.load(user=b"\xef\xbb\xbfbudget = 9000\n")
    assert loaded.settings.budget == 9000


def test_tables_hold_the_settings_of_windows_and_of_compaction(places: Places) -> None:
    written = (
        '[windows]\nlod = "summary"\nfolders = ["more"]\n'
        "[compaction]\nauto = false\nthreshold = 0.5\n"
    )
    loaded = places.load(user=written, project='[windows]\nlod = "gist"\n[compaction]\n')
    settings = loaded.settings
    assert (settings.windows_lod, settings.windows) == ("gist", (str(places.home / "more"),))
    assert (settings.compaction_auto, settings.compaction_threshold) == (False, 0.5)
    assert loaded.origins["windows_lod"] == str(places.projects)
    assert loaded.origins["compaction_auto"] == str(places.users)
    flags = {"windows_lod": "full", "compaction_auto": "true"}
    environ = {"CONTEXTUI_COMPACTION_THRESHOLD": "1", "CONTEXTUI_COMPACTION_AUTO": "false"}
    settings = places.load(flags, environ, user=written).settings
    assert (settings.windows_lod, settings.compaction_auto) == ("full", True)
    assert settings.compaction_threshold == 1


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('[windows]\nlod = "huge"', ("windows.lod in ", '"huge"', "one of full, summary, gist")),
        ("[compaction]\nauto = 1", ("compaction.auto in ", "true or false")),
        ("[compaction]\nthreshold = 7", ("compaction.threshold in ", "from 0.1 to 1")),
        ("[compaction]\nat = 7", ("compaction.at", "not a setting", "auto, threshold")),
        ("compaction = 7", ("compaction", "not a setting")),
    ],
)
def test_a_wrong_table_is_refused(places: Places, written: str, words: tuple[str, ...]) -> None:
    refused = places.refused(user=written)
    assert all(word in refused for word in words), refused


def test_a_projects_table_names_no_folders(places: Places) -> None:
    assert "which a project may not" in places.refused(project='[windows]\nfolders = ["w"]')


@pytest.mark.parametrize("given", ["", " "])
def test_an_empty_path_is_refused(places: Places, given: str) -> None:
    assert "--windows" in places.refused(flags={"windows": [given]})
    assert "none of them empty" in places.refused(flags={"window": ["a.py", given]})
    assert "windows in " in places.refused(user=f'windows = ["{given}"]')


@pytest.mark.parametrize(
    ("written", "name", "config"),
    [
        ('strategy = "summarization"', "summarization", {}),
        ('[strategy]\ntype = "plugin"\nplugin = "mine"\nconfig = { a = 1 }', "mine", {"a": 1}),
        ('[strategy]\ntype = "entities"\n[strategy.config.schema]\ncity = "string"',
         "entities", {"schema": {"city": "string"}}),
    ],
)  # fmt: skip
def test_a_strategy_is_a_name_or_a_table(
    places: Places, written: str, name: str, config: dict[str, object]
) -> None:
    chosen = places.load(user=written).settings.strategy
    assert (chosen.name, chosen.config) == (name, config)


@pytest.mark.parametrize(
    "written", ['strategy = "mine"', '[strategy]\ntype = "plugin"\nplugin = "x"']
)
def test_a_project_cannot_choose_a_third_party_strategy(places: Places, written: str) -> None:
    with pytest.raises(SettingsError, match="which a project may not"):
        places.load(project=written)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            'plugin = "x"',
            "strategy.type in {} is not set: it must be a strategy's name, or plugin.",
        ),
        (
            'type = "sliding"\nplugin = "x"',
            'strategy.type in {} is "sliding": it must be plugin, or strategy.plugin left out.',
        ),
        (
            'type = "plugin"',
            "strategy.plugin in {} is not set: it must be the name of a strategy from an "
            "installed package.",
        ),
        (
            "treshold = 1",
            "{} sets strategy.treshold, which is not a setting. "
            "Available: type, plugin, model, config.",
        ),
        (
            'type = "sliding"\nmodel = 3',
            "strategy.model in {} is 3: it must be a model's name, without spaces.",
        ),
        ('type = "sliding"\nconfig = "x"', 'strategy.config in {} is "x": it must be a table.'),
    ],
)
def test_of_a_wrong_table_the_key_is_named(places: Places, table: str, expected: str) -> None:
    message = places.refused(user=f"[strategy]\n{table}")
    assert message == expected.format(shown_path(places.users))


def test_a_strategy_that_is_neither_is_refused(places: Places) -> None:
    assert "a strategy's name, or a table" in places.refused(user="strategy = 7")

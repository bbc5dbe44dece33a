"""Windows of MCP servers: found in the user's file, and in a project's once it is trusted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.prompt import project_block, system_prompt
from contextui.config.servers import PROJECT_SERVERS
from contextui.windowing.finding.registry import Registry, discover
from contextui.windowing.finding.servers import find_servers
from contextui.windowing.finding.trust import TrustStore


@pytest.fixture
def home(there: Path) -> Path:
    folder = there / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(there: Path) -> Path:
    folder = there / "project"
    folder.mkdir()
    return folder


def configure(project: Path, **servers: Any) -> None:
    text = json.dumps({"mcpServers": servers})
    (project / PROJECT_SERVERS).write_text(text, "utf-8")


def names(registry: Registry) -> set[str]:
    return {one.name for one in registry.entries if one.usable}


def trust(home: Path, project: Path) -> None:
    review = find_servers(home, project).review
    assert review is not None
    TrustStore(home).trust_file(review)


def test_the_users_servers_are_windows_at_once(home: Path) -> None:
    (home / "config.toml").write_text('[mcp.servers.Clock]\ncommand = "uvx"\n', "utf-8")
    registry = discover(home=home)
    [cls] = [one for one in registry.classes() if one.name == "clock"]
    assert cls.description == "MCP server, uvx"
    assert "clock" in names(registry)


def test_a_projects_servers_are_windows_only_while_exactly_these_bytes_are_trusted(
    home: Path, project: Path
) -> None:
    configure(project, clock={"command": "uvx"})
    registry = discover(home=home, project=project)
    assert "clock" not in names(registry)
    assert ".mcp.json is not trusted (new)" in str(registry.untrusted_servers)

    trust(home, project)
    assert "clock" in names(discover(home=home, project=project))

    configure(project, clock={"command": "rm"})
    registry = discover(home=home, project=project)
    assert "clock" not in names(registry)
    assert "is not trusted (changed)" in str(registry.untrusted_servers)

    configure(project, clock={"command": "uvx"})
    TrustStore(home).revoke(project / PROJECT_SERVERS)
    assert "clock" not in names(discover(home=home, project=project))


def test_what_was_shown_is_trusted_not_what_came_after(home: Path, project: Path) -> None:
    configure(project, clock={"command": "uvx"})
    review = find_servers(home, project).review
    configure(project, clock={"command": "rm"})
    assert review is not None
    TrustStore(home).trust_file(review)
    assert "clock" not in names(discover(home=home, project=project))


def test_another_projects_trust_does_not_count(home: Path, project: Path, there: Path) -> None:
    configure(project, clock={"command": "uvx"})
    trust(home, project)
    other = there / "other"
    other.mkdir()
    configure(other, clock={"command": "uvx"})
    assert "clock" not in names(discover(home=home, project=other))


def test_a_project_cannot_replace_a_users_server_or_a_window(home: Path, project: Path) -> None:
    (home / "config.toml").write_text('[mcp.servers.clock]\ncommand = "mine"\n', "utf-8")
    configure(project, clock={"command": "theirs"}, git={"command": "g"}, todo={"command": "t"})
    trust(home, project)
    registry = discover(home=home, project=project)
    by_name = {one.name: one for one in registry.classes()}
    assert by_name["clock"].description == "MCP server, mine"
    assert by_name["git-mcp"].description == "MCP server, g"
    assert by_name["git"].__module__ == "contextui.windows.git.window"
    assert "todo-mcp" in by_name
    assert not [one for one in registry.entries if not one.usable]


def test_a_broken_server_is_one_line_and_the_rest_works(home: Path, project: Path) -> None:
    configure(project, bad={"url": "nowhere"}, clock={"command": "uvx"})
    trust(home, project)
    registry = discover(home=home, project=project)
    assert {"clock", "todo"} <= names(registry)
    [entry] = [one for one in registry.entries if not one.usable]
    assert 'The url of the server "bad" is not an address' in str(entry.reason)


def test_an_unchanged_server_keeps_its_class_when_windows_are_loaded_again(home: Path) -> None:
    (home / "config.toml").write_text('[mcp.servers.clock]\ncommand = "uvx"\n', "utf-8")
    before = discover(home=home)
    after = before.again(fresh=True)

    def of(registry: Registry) -> object:
        return next(one.cls for one in registry.entries if one.name == "clock")

    assert of(before) is of(after) is not None
    (home / "config.toml").write_text('[mcp.servers.clock]\ncommand = "other"\n', "utf-8")
    assert of(before.again()) is not of(before)


def test_nothing_of_a_server_stands_in_the_system_prompt(home: Path, project: Path) -> None:
    configure(project, evil={"command": "ignore-all-instructions"})
    trust(home, project)
    classes = discover(home=home, project=project).classes()
    assert "ignore-all-instructions" not in system_prompt(classes)
    assert "ignore-all-instructions" in project_block(classes)


def test_loading_windows_imports_no_library_of_theirs(home: Path) -> None:
    (home / "config.toml").write_text('[mcp.servers.clock]\ncommand = "uvx"\n', "utf-8")
    code = f"""
import sys
from pathlib import Path
from contextui.windows.monitor.window import MonitorWindow
from contextui import discover
assert MonitorWindow.actions and "psutil" not in sys.modules
assert "clock" in [one.name for one in discover(home=Path({str(home)!r})).classes()]
assert not {{one.partition(".")[0] for one in sys.modules}} & {{"mcp", "mcp_types"}}
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

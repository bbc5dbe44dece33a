"""Which files ask each time: what can run, is hidden or leads out; and which hold secrets."""

import os
from pathlib import Path

import pytest

from contextui.files.errors import SecretFileError
from contextui.files.protection import SecretFiles
from contextui.files.workspace import Workspace

SECRET = [
    ".env", ".env.local", ".envrc", ".ENV", "prod.env", "a/b/.env", "server.pem", "Server.PEM",
    "tls.key", "id_rsa", "keys/id_ed25519", ".netrc", ".pgpass", ".npmrc", ".pypirc",
    ".git/config", ".GIT/Config", "sub/.git/config", ".git-credentials", ".aws/credentials",
    "home/.aws/credentials", ".ssh/known_hosts", "a.p12", "a.pfx", "a.jks", "a.keystore",
    "credentials.json", "credentials-prod.json", "secrets.yaml", "secrets.toml", ".htpasswd",
    "kubeconfig", ".kube/config", "terraform.tfstate",
]  # fmt: skip
PLAIN = ["a.py", "environment.md", "README.md", "config", "keyboard.py", "id_rsa.pub", "src/env.py"]


def test_names_that_hold_secrets() -> None:
    for path in SECRET:
        assert SecretFiles().has(path), path


def test_names_that_hold_none() -> None:
    for path in PLAIN:
        assert not SecretFiles().has(path), path


def test_patterns_add_and_except() -> None:
    files = SecretFiles(["*.vault", "conf/private/*", "/top", "!.env.example"])
    assert files.has("a.vault")
    assert files.has("x/conf/private/b")
    assert files.has("conf/private/b/c")
    assert not files.has("private/b")
    assert not files.has("secrets.d/readme")
    assert files.has("top")
    assert files.has("x/top")
    assert not files.has(".env.example")
    assert files.has(".env")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("a\n")
    (tmp_path / "plain.txt").write_text("plain\n")
    (tmp_path / "empty").touch()
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / ".git/config").write_text("[core]\n")
    (tmp_path / ".contextui/windows").mkdir(parents=True)
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "tool").write_text("binary\n")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / ".plain").symlink_to("plain.txt")
    (tmp_path / "hooks").symlink_to(".git/hooks")
    (tmp_path / "config").symlink_to(".git/config")
    (tmp_path / "outside").symlink_to("/etc")
    (tmp_path / "soon").symlink_to(".git/new")
    (tmp_path / "later").symlink_to(".git/new/deep")
    (tmp_path / "src/later").symlink_to("../.git/new/deep")
    (tmp_path / "one").write_text("linked\n")
    os.link(tmp_path / "one", tmp_path / "two")
    return tmp_path


def test_what_asks_every_time(folder: Path) -> None:
    for path in (
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        "git~1/config",
        ".contextui/x",
        ".contextui/windows/evil.py",
        ".bashrc",
        "src/.hidden/a",
        "src/../.git/config",
        "script",
        "tool",
        "hooks/pre-commit",
        "config",
        "outside/passwd",
        "../other",
        "/etc/passwd",
        "~/.bashrc",
        "one",
        "two",
        "a\0b",
        "./.env",
        ".plain",
        "soon",
        "soon/a",
        "soon/a/b",
        "later",
        "later/a",
        "later/a/b",
        "src/later",
        "src/later/a",
    ):
        with Workspace(folder) as workspace:
            assert workspace.asks_every_time(path), path


def test_what_may_be_granted(folder: Path) -> None:
    for path in (
        "plain.txt",
        "empty",
        "src/a.py",
        "new/folder/a.py",
        "src/new/a.py",
        "src/../empty",
    ):
        with Workspace(folder) as workspace:
            assert not workspace.asks_every_time(path, "text\n"), path
            assert workspace.asks_every_time(path, "#!/bin/sh\n"), path
            assert workspace.asks_every_time(path, "--- a\n+++ b\n@@ -0,0 +1 @@\n+#!/bin/sh\n"), (
                path
            )


def test_a_file_that_anyone_can_execute_asks_every_time(folder: Path) -> None:
    for mode in (0o700, 0o610, 0o601):
        (folder / "plain.txt").chmod(mode)
        with Workspace(folder) as workspace:
            assert workspace.asks_every_time("plain.txt"), mode
            (folder / "plain.txt").chmod(0o666)
            assert not workspace.asks_every_time("plain.txt"), mode


def test_paths_are_resolved_as_far_as_there_is_anything(folder: Path) -> None:
    with Workspace(folder) as workspace:
        assert workspace.resolved("src/../plain.txt") == "plain.txt"
        assert workspace.resolved("hooks/pre-commit") == ".git/hooks/pre-commit"
        assert workspace.resolved("soon/a") == ".git/new/a"
        assert workspace.resolved(".") == "."
        assert workspace.resolved("new/folder/a.py") == "new/folder/a.py"
        assert workspace.resolved(str(folder / "plain.txt")) == "plain.txt"


def test_a_guarded_workspace_reads_no_secrets_by_any_name(folder: Path) -> None:
    (folder / ".env").write_text("KEY=1\n")
    (folder / "link").symlink_to(".env")
    (folder / ".env.txt").symlink_to("plain.txt")
    with Workspace(folder) as workspace:
        view = workspace.for_model()
        for path in (".env", "link", ".env.txt", "src/../.env", ".git/config", "config"):
            for read in (view.read_bytes, view.open_text, view.read_page):
                with pytest.raises(SecretFileError):
                    read(path)
        assert view.read_bytes("plain.txt") == b"plain\n"
        assert workspace.for_model({".env"}).read_bytes("link") == b"KEY=1\n"
        assert workspace.read_bytes(".env") == b"KEY=1\n"
        assert workspace.is_secret("link")
        assert not workspace.is_secret("plain.txt")
        view.close()  # which is not its own
        assert workspace.read_bytes("plain.txt") == b"plain\n"

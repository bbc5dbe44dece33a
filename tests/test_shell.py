"""Simple commands and patterns: every way around a pattern, and what real shells read."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest

from contextui.shell import LONGEST, NotSimpleError, Pattern, locate, split, suggest, words_of
from tests.thorough import times

PATTERNS = [
    Pattern(one) for one in ("git status", "git log *", "pytest *", "ls tests/*", "cat * x")
]

SLIPS = [
    # operators
    "git status; rm -rf x", "git status ;rm -rf x", "git status;", "git status && x",
    "git status || x", "git status | sh", "git status |& sh", "git status & x", "git status &",
    "git log\nrm -rf x", "git log\rrm", "git log\r\nrm", "\ngit status", "git status\n",
    "git status > f", "git log >f", "git log >> f", "git log 2>f", "git log &> f", "git log >| f",
    "git log < f", "git log <<E\nrm\nE", "git log <<< x", "git log <(rm x)", "git log >(sh)",
    "git log 2>&1",
    # expansion
    "git log $(rm x)", "git log `rm x`", 'git log "$(rm x)"', 'git log "`rm x`"', "git log $HOME",
    "git log ${x}", "git$IFS-status", "git log${IFS}x", "git log $'\\x3b'", 'git log $"x"',
    "git log $((1))", "git log $[1]", "git log *", "git log ?", "git log [a]", "pytest tests/*.py",
    "git log ~", "git log ~root", "git log HEAD~1", "git log {a,b}", "git log {1..3}", "git log }",
    "git log !!", "!!", "!git", "git log !$", 'git log "!!"', "^log^status", "git log ^x",
    "git log @(a)", "git log +(a)", "git log =ls", "git log %self", "%1", "git log (rm x)",
    "(git status)", "{ git status; }", "git log #", "git status # x", "#git status",
    # the shell itself
    "if git status", "while git log x", "! git status", "time git status", "coproc git log",
    "function git { x; }", "git() { x; }", "alias git=rm", "alias pytest", "eval git log",
    "exec git log", "source x", ". x", "command git status", "builtin git log", "trap x 0",
    "export PATH=x", "set -k", "shopt -s x", "cd x", "noglob git log", "- git log", "not git log",
    "test -v x", "printf -v PATH x",
    # other programs in front
    "GIT_PAGER=x git status", "X=1 git log", "X+=1 git log", "env X=1 git status",
    "env git status", "sudo git status", "xargs git log", "nohup git log", "sh -c 'git log'",
    "bash -c 'git status'", "python -c x", "nice pytest x", "busybox git status",
    # other words
    "git  -c core.pager=x status", "git -c core.pager=x log", "git --exec-path=x status",
    "git -C / status", "git --git-dir=x log", "git status -s", "git status --", "git status -- x",
    "git -- status", "git -- log", "git statusx", "gitstatus", "git", "git lo g",
    "git log'x'", "git 'log x'", "git 'log'x", "'git log' x", "'git' status", '"git" status',
    "g'i't status", "ls -la", "ls tests", "ls tests/../../etc", "ls tests/x y", "ls -rtests/x",
    "cat -x x", "cat x", "cat a b x", "cat ../../secret/.. y",
    # other programs that look alike
    "ｇit status", "gіt status", "git\u200b status", "git status\u200b", "\u200bgit status",
    "git\u00a0status", "git\u2003log", "git\u3000log x", "git log \u202ex", "git log \u2066x",
    "git log '\u202ex'", "git\tstatus", "git log\tx", "git log\x0bx", "git\x0cstatus",
    "git log \x1b[A", "git log \x00", "git log '\x00'", "git log \x7f", "git log \x03",
    "git log '\x1b[201~x'", "git log \ufeffx", "git log \u00adx", "git log \u3164",
    "git log e\u0301",
    "git log אב", "git log \ud800", "git log ；", "git log ＆＆ x", "git log ＄x", "GIT status",
    "Git log", "git Log", "./git status", "/tmp/git status", "bin/git log", "../git status",
    # quotes
    "git log 'x", 'git log "x', "git log 'x''", 'git log "x"y"', "git log 'x'; rm '",
    "git log ''''", "git log 'a''b'", 'git log "a""b"', "git log \\", "git log x\\", "\\git status",
    "git log \\; rm", "git log \\\nrm", "git log 'a\\'", "git log 'a\\' ; rm '", 'git log "\\""',
    "git log '\n'", 'git log "\n"', "git log '\r'", "git log '\t'",
    # sizes
    "", " ", "git log " + "x" * LONGEST, "git log " + "x " * LONGEST, "git status" + " " * LONGEST,
]  # fmt: skip

FINE = {
    "git status": ("git", "status"),
    "  git   status  ": ("git", "status"),
    "git log": ("git", "log"),
    "git log -p --since=2.weeks -- 'my file.txt'": (
        "git", "log", "-p", "--since=2.weeks", "--", "my file.txt",
    ),
    "git log --format='%h %s; $x `y` * !'": ("git", "log", "--format=%h %s; $x `y` * !"),
    "pytest": ("pytest",),
    'pytest -q tests/test_cart.py -k "discount and not slow" --maxfail=3': (
        "pytest", "-q", "tests/test_cart.py", "-k", "discount and not slow", "--maxfail=3",
    ),
    "pytest a::b[1]".replace("[1]", "::c"): ("pytest", "a::b::c"),
    "pytest 测试/购物车.py -k '折扣，不慢'": ("pytest", "测试/购物车.py", "-k", "折扣，不慢"),
    "pytest \"it's\" '\"' ''": ("pytest", "it's", '"', ""),
    "ls tests/a.py": ("ls", "tests/a.py"),
    "cat notes x": ("cat", "notes", "x"),
}  # fmt: skip


def allowed(command: str) -> bool:
    """Whether a pattern lets a command pass."""
    argv = split(command)
    return any(pattern.matches(argv) for pattern in PATTERNS)


def test_nothing_slips_through_a_pattern() -> None:
    for command in SLIPS:
        assert not allowed(command), command


def test_a_simple_command_is_its_words() -> None:
    for command, argv in FINE.items():
        assert split(command) == argv, command
        assert allowed(command), command
        assert Pattern(command).matches(argv), command  # a simple command is the pattern of itself


def test_the_reason_is_named() -> None:
    for command, reason in (
        ("a && b", "&& joins two commands"),
        ("a; b", "; joins two commands"),
        ("a\nb", "The line break joins two commands"),
        ("a > b", "> redirects input or output"),
        ("a &> b", "&> redirects input or output"),
        ("a <(b)", "<( has a special meaning in a shell"),
        ("a $(b)", "$( has a special meaning in a shell"),
        ("a 'b", "A quote is not closed"),
        ("X=1 a", "X=1 sets a variable"),
        ("cd a", "cd belongs to the shell itself"),
        ("a\u200b", "⟨U+200B⟩ is invisible or ambiguous"),
        ("", "There is no command"),
    ):
        with pytest.raises(NotSimpleError) as caught:
            words_of(command)
        assert caught.value.text("en") == reason, command
        assert caught.value.text("zh") != reason, command


# --- real shells -----------------------------------------------------------------------

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile"],
    "bash -i": ["bash", "--norc", "--noprofile", "-i"],
    "bash -O extglob": ["bash", "--norc", "-O", "extglob", "-O", "globstar", "-O", "nullglob"],
    "dash": ["dash"],
    "zsh": ["zsh", "-f"],
    "zsh -i": ["zsh", "-f", "-i"],
    "zsh -o extendedglob": ["zsh", "-f", "-o", "extendedglob", "-o", "rcquotes", "-o", "globdots"],
    "fish": ["fish", "--no-config"],
}
NASTY = (
    " '\"-abc./:,+@%=_~*?[]{}()<>|&;#!$`\\^\t\n\r0129"
    "é测，；\u00a0\u200b\u202eｇ\u0301א\u3164\x1b\x7f"
)


def read_by(shell: Sequence[str], commands: Sequence[str], folder: Path) -> list[list[str]]:
    """Return the words that a program is run with, for each line of a script."""
    program, out = folder / "bin" / "prog", folder / "out"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        '#!/bin/sh\nexec >> "$OUT"\nprintf "%s\\0" "$#"\nfor one; do printf "%s\\0" "$one"; done\n'
    )
    program.chmod(0o700)
    out.write_bytes(b"")
    script = folder / "script"
    script.write_text("".join(f"{one}\n" for one in commands))
    place = {"PATH": str(program.parent), "OUT": str(out), "HOME": str(folder), "TERM": "dumb"}
    path = shutil.which(shell[0])
    assert path is not None
    with script.open() as given:
        options = [path, *shell[1:]]
        subprocess.run(
            options, stdin=given, env={**place, "LC_ALL": "C.UTF-8"}, cwd=folder,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
    parts = out.read_bytes().decode().split("\0")[:-1]
    found: list[list[str]] = []
    while parts:
        count = int(parts[0])
        found.append(parts[1 : count + 1])
        parts = parts[count + 1 :]
    return found


WORDS = (
    "'a b'", '"a b"', "a=b", "--x=y", "-", "--", "HEAD", "a'b'c", "''", '"\'"', "a@b", "a:b",
    "%a", "1", "-1", "=a", "a,b", "'*'", "'$a'", '"*"', "'!a'", "测试", "'；'", "'~'", "'{a,b}'",
)  # fmt: skip


@cache
def simple_commands(count: int) -> dict[str, list[str]]:
    """Random commands that count as simple, and their words."""
    dice, made = Random(1), {f"prog {one}": split(f"prog {one}") for one in FINE}
    while len(made) < count:
        words = [
            dice.choice(WORDS)
            if dice.random() < 0.7
            else "".join(dice.choices(NASTY, k=dice.randrange(1, 13)))
            for _ in range(dice.randrange(6))
        ]
        command = " ".join(["prog", *words])
        if split(command) is not None:
            made[command] = split(command)
    return {command: list(words[1:]) for command, words in made.items() if words is not None}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_reads_the_same_words(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell.split(maxsplit=1)[0]) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "a").write_text("")
    (tmp_path / "b.py").write_text("")
    commands = simple_commands(times(100, 10_000))
    found = read_by(SHELLS[shell], list(commands), tmp_path)
    for (command, ours), theirs in zip(commands.items(), found, strict=False):
        assert ours == theirs, command
    assert len(found) == len(commands)


# --- patterns --------------------------------------------------------------------------


def test_what_is_no_pattern_is_refused() -> None:
    for text in (
        "*",
        "* status",
        "g* status",
        "git* x",
        "./x *",
        "/usr/bin/git *",
        "git status && x",
        "git $x",
        "X=1 git",
        "cd *",
        "eval *",
        "git 'x",
        "",
        " ",
        "git status\n",
        "git ?",
        "'git' status",
        "git st\u200b",
        "~/x *",
        "git {a,b}",
    ):
        with pytest.raises(NotSimpleError):
            Pattern(text)


def test_a_star_is_as_wide_as_it_looks() -> None:
    for pattern, command, fits in (
        ("git status", "git status", True),
        ("git status", "git status -s", False),
        ("git status *", "git status", True),
        ("git status *", "git status -s x", True),
        ("git status *", "git statu", False),
        ("git status *", "git -c x status", False),
        ("git * x", "git y x", True),
        ("git * x", "git -c x", False),
        ("git * x", "git x", False),
        ("git * x", "git a b x", False),
        ("ls *.py", "ls a.py", True),
        ("ls *.py", "ls -a.py", False),
        ("ls *.py", "ls 'a b.py'", True),
        ("ls *.py", "ls a.py b.py", False),
        ("ls src/*", "ls src/../../x", False),
        ("ls ../*", "ls ../x", True),
        ("ls -*", "ls -la", True),
        ("ls a*b*c", "ls a--b--c", True),
        ("ls a*b*c", "ls acb", False),
        ("ls a.c", "ls abc", False),
        ("ls '*'", "ls x", False),
        ("ls '*'", "ls '*'", True),
        ("git log --format='%h *'", "git log '--format=%h *'", True),
        ("git log --format='%h *'", "git log '--format=%h x'", False),
    ):
        assert Pattern(pattern).matches(split(command)) is fits, pattern


def test_nothing_matches_a_command_that_is_not_simple() -> None:
    assert not Pattern("git *").matches(None)
    assert not Pattern("git *").matches(())


# --- where programs are ----------------------------------------------------------------


def program(folder: Path, name: str = "git") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder


def test_a_program_of_the_project_is_not_found(tmp_path: Path) -> None:
    work, usual = tmp_path / "work", program(tmp_path / "usr")
    ours = program(work / ".venv/bin")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "git").symlink_to(ours / "git")
    into = tmp_path / "into"
    into.symlink_to(ours)
    assert locate("git", str(usual), work) == (usual / "git").resolve()
    for first in (str(ours), str(linked), str(into)):
        assert locate("git", f"{first}:{usual}", work) is None, first
        assert locate("git", f"{usual}:{first}", work) == (usual / "git").resolve()
    assert locate("missing", str(usual), work) is None
    assert locate("git", "", work) is None


def test_a_relative_entry_of_the_search_path_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = program(tmp_path / "usr")
    program(tmp_path / "here/bin")
    program(tmp_path / "here")
    (tmp_path / "here/empty").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for entry in ("bin", ".", "", "empty", "missing"):
        assert locate("git", os.pathsep.join([entry, str(usual)]), tmp_path / "work") is None


# --- suggestions -----------------------------------------------------------------------


def test_a_suggestion_keeps_its_word() -> None:
    for command, pattern in (
        ("pytest -q tests", "pytest *"),
        ("git log -p", "git log *"),
        ("git status", "git status *"),
        ("npm run test -- x", "npm run test *"),
        ("cargo test", "cargo test *"),
        ("docker ps -a", "docker ps *"),
        ("ls -la", "ls *"),
        ("find . -name x", "find *"),
        ("python -m pytest -q", "python -m pytest *"),
    ):
        argv = split(command)
        assert argv is not None, command
        found = suggest(argv)
        assert found.pattern.text == pattern, command
        assert found.pattern.matches(argv), command
        assert found.also, command
        assert len(found.asks) == 3, command
        for one in found.also:
            assert found.pattern.matches(split(one)), one
        for one in found.asks:
            assert not found.pattern.matches(split(one)), one


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "env git log", "sudo ls", "bash x.sh", "sh -c ls", "python -c x", "python x.py",
        "python3.12 x", "node x", "curl x", "xargs ls", "make test", "git -c a=b log", "git",
        "git config x", "npm", "npm exec x", "npm run", "docker run x", "cargo run", "./x", "a/b",
        "git -C x log", "find", "kill 1",
    ],
)  # fmt: skip
def test_a_pattern_that_allows_anything_is_not_suggested(command: str) -> None:
    argv = split(command)
    assert argv is not None
    if command == "find":
        assert any("-delete" in one for one in suggest(argv).also)
        return
    with pytest.raises(NotSimpleError):
        suggest(argv)

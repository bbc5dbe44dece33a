"""Shell commands: which are simple, and the patterns that allow some of them.

A command is simple if every shell reads it as the same words and runs one program with them: no
operators, no expansion, no assignment, nothing that changes the shell. Only a simple command can
match a pattern. In doubt a command is not simple, and the person is asked.

Example:
    >>> split("git log --oneline 'my file.txt'")
    ('git', 'log', '--oneline', 'my file.txt')
    >>> split("git status; rm -rf x") is None
    True
    >>> Pattern("pytest *").matches(("pytest", "-q", "tests"))
    True
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from contextui.errors import ContextUIError
from contextui.text import code_point, is_unseen

LONGEST = 4_000
"""Maximum characters of a simple command: a terminal cuts longer lines of input."""

_STAR = "\0"  # an unquoted * of a pattern; no command or pattern contains this character
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%=")
_NOT_FIRST = "%="  # fish expands %self, zsh expands =program
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_PATH = re.compile(r"(?:\.{1,2})?/?[A-Za-z0-9_][A-Za-z0-9_.+/-]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_JOINING = re.compile(r"&&|\|\||;;|\|&|[;&|]")
_DIRECTING = re.compile(r"&?>>?|<<?<?")

# Reserved words and builtins of bash, dash, zsh and fish that are not programs: they change the
# shell, run or evaluate other text, or are part of its language. `test` and `printf` belong to
# them because their option -v evaluates subscripts.
_OF_SHELL = frozenset(
    re.findall(
        r"\S+",
        """
    if then elif else fi for foreach while until do done case esac in select function functions
    time coproc repeat end begin switch and or not nocorrect noglob
    eval exec source alias unalias trap command builtin export readonly set unset setopt unsetopt
    shopt cd chdir pushd popd dirs declare typeset local let read mapfile readarray getopts
    enable disable bind bindkey complete compgen compopt hash rehash umask ulimit limit unlimit
    wait jobs fg bg disown suspend exit logout return break continue shift history fc caller times
    type test printf print zmodload autoload emulate sched vared zle zstyle zparseopts zformat
    zcompile float integer abbr block commandline emit funced funcsave set_color psub argparse
    string math status whence where unfunction getln pushln
    """,
    )
)


class NotSimpleError(ContextUIError):
    """A text is not a simple command, or not a pattern; the message is a part of a sentence."""


def split(command: str) -> tuple[str, ...] | None:
    """Return the words of a simple command; None if it needs a shell, or might."""
    try:
        return words_of(command)
    except NotSimpleError:
        return None


def words_of(text: str, *, with_stars: bool = False) -> tuple[str, ...]:
    """Return the words of a simple command, or of a pattern."""
    if len(text) > LONGEST:
        raise NotSimpleError("It is longer than {most} characters", most=LONGEST)
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(text):
        char = text[at]
        if char == " ":
            if word is not None:
                words.append(word)
            word = None
            at += 1
            continue
        begins, word = word is None, word or ""
        if char in "'\"":
            if not words:
                raise NotSimpleError("The program's name is quoted")
            inner, at = _quoted(text, at)
            word += inner
            continue
        if char == "*" and with_stars:
            char = _STAR
        elif char not in _BARE or (begins and char in _NOT_FIRST):
            _check_bare(text, at)
        word += char
        at += 1
    if word is not None:
        words.append(word)
    if not words:
        raise NotSimpleError("There is no command")
    _check_program(words[0])
    return tuple(words)


def _quoted(text: str, start: int) -> tuple[str, int]:
    quote = text[start]
    end = text.find(quote, start + 1)
    if end < 0:
        raise NotSimpleError("A quote is not closed")
    inner = text[start + 1 : end]
    for at, char in enumerate(inner, start + 1):
        # A backslash escapes in the single quotes of fish; bash expands ! in double quotes.
        if char == "\\" or (quote == '"' and char in "$`!"):
            raise _special(char)
        if not char.isascii() or char < " " or char == "\x7f":
            _check_seen(text, at)
    if text[end + 1 : end + 2] == quote:  # zsh can read two quotes as one within the text
        raise _special(quote * 2)
    return inner, end + 1


def _check_bare(text: str, at: int) -> None:
    """Raise unless a character outside of quotes is a letter or digit of another script."""
    char = text[at]
    if char in "\r\n":
        raise NotSimpleError("The line break joins two commands")
    if joining := _JOINING.match(text, at):
        if text.startswith("&>", at):
            raise NotSimpleError("{sign} redirects input or output", sign="&>")
        raise NotSimpleError("{sign} joins two commands", sign=joining[0])
    if directing := _DIRECTING.match(text, at):
        if text[at + 1 : at + 2] == "(":
            raise _special(text[at : at + 2])
        raise NotSimpleError("{sign} redirects input or output", sign=directing[0])
    if char == "$" and text[at + 1 : at + 2] in ("(", "{", "'", '"'):
        raise _special(text[at : at + 2])
    if char.isascii() and char.isprintable():
        raise _special(char)
    _check_seen(text, at)
    if unicodedata.category(char)[0] not in "LN" or unicodedata.normalize("NFKC", char) != char:
        raise _special(char)


def _check_seen(text: str, at: int) -> None:
    """Raise if a character is invisible, changes others, or changes the order of the text."""
    char = text[at]
    if (
        is_unseen(char)
        or unicodedata.category(char)[0] == "M"
        or unicodedata.bidirectional(char) in ("R", "AL", "AN")
    ):
        raise NotSimpleError("{sign} is invisible or ambiguous", sign=code_point(char))


def _special(sign: str) -> NotSimpleError:
    return NotSimpleError("{sign} has a special meaning in a shell", sign=sign)


def _check_program(name: str) -> None:
    if _ASSIGNMENT.match(name):
        raise NotSimpleError("{word} sets a variable", word=name)
    if name.casefold() in _OF_SHELL or name == ".":  # a disk may ignore case, and so may a person
        raise NotSimpleError("{word} belongs to the shell itself", word=name)
    if not _PATH.fullmatch(name):
        raise NotSimpleError("{word} is not the name of a program", word=name.replace(_STAR, "*"))


# --- patterns --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of simple commands, such as ``pytest *``.

    All words are literal except for `*`. As the last word it matches any number of further words,
    options included: this is as wide as it looks. As another word it matches one word, and inside
    a word it matches within that word; neither then matches an option or a way up (``..``) that
    the pattern does not spell out.
    """

    text: str

    def __post_init__(self) -> None:
        if self.text.lstrip(" ").startswith("*"):
            raise NotSimpleError("It begins with *, not with the name of a program")
        program = self.words[0]
        if not _PROGRAM.fullmatch(program):
            raise NotSimpleError("{word} is a path, not the name of a program", word=program)

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in which a NUL is an unquoted `*`."""
        return words_of(self.text, with_stars=True)

    @property
    def program(self) -> str:
        """The program's name."""
        return self.words[0]

    def matches(self, argv: Sequence[str] | None) -> bool:
        """Whether a command of these words is allowed; None, a command that is not simple, never.

        The caller must check where the program comes from, see `locate`.
        """
        if not argv:
            return False
        words = self.words
        if words[-1] == _STAR:
            words = words[:-1]
            argv = argv[: len(words)]
        return len(words) == len(argv) and all(map(_fits, words, argv))


def _fits(wanted: str, word: str) -> bool:
    if _STAR not in wanted:
        return wanted == word
    if word.startswith("-") and not wanted.startswith("-"):
        return False
    if ".." in PurePosixPath(word).parts and ".." not in PurePosixPath(wanted).parts:
        return False
    parts = map(re.escape, wanted.split(_STAR))
    return re.fullmatch(".*".join(parts), word, re.DOTALL) is not None


def locate(program: str, search: str, workspace: Path) -> Path | None:
    """Return the file that a shell would run for a program's name.

    None if there is none, or if it is found in the workspace or behind a relative entry of the
    search path: a project must not choose which program a pattern runs.
    """
    inside = workspace.resolve()
    for entry in search.split(os.pathsep):
        folder = Path(entry)
        if not folder.is_absolute():  # what it holds depends on where the shell is
            return None
        try:
            if not (found := folder / program).is_file() or not os.access(found, os.X_OK):
                continue
            real = found.resolve()
        except OSError:
            return None
        is_ours = inside in (*real.parents, *folder.resolve().parents, folder.resolve())
        return None if is_ours else real
    return None


# --- suggestions -----------------------------------------------------------------------

# Programs that run whatever they are given, or destroy or send whatever they are given.
_TOO_WIDE = frozenset(
    re.findall(
        r"\S+",
        """
    env sudo doas su xargs nohup nice ionice timeout stdbuf setsid script watch parallel entr
    strace ltrace gdb unshare chroot nsenter bwrap flock busybox exec ssh scp sftp rsync nc ncat
    netcat socat telnet curl wget sh bash dash zsh ksh fish csh tcsh pwsh python python2 python3
    pypy pypy3 ipython perl ruby node nodejs deno bun php lua luajit tclsh awk gawk mawk nawk
    osascript ed ex vi vim nvim emacs sqlite3 psql mysql npx bunx uvx pipx tox nox make gmake just
    rm rmdir dd shred truncate mkfs chmod chown chgrp kill killall pkill mv cp ln install tee
    crontab at systemctl launchctl mount umount shutdown reboot
    """,
    )
)
# Programs of which a subcommand says what they do, and subcommands that run anything.
_SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": frozenset({"config", "bisect", "submodule", "filter-branch", "difftool", "mergetool"}),
    "npm": frozenset({"exec", "x", "config", "explore"}),
    "yarn": frozenset({"dlx", "exec", "node"}),
    "pnpm": frozenset({"dlx", "exec"}),
    "cargo": frozenset({"run"}),
    "go": frozenset({"run", "generate"}),
    "docker": frozenset({"run", "exec", "compose"}),
    "podman": frozenset({"run", "exec"}),
    "kubectl": frozenset({"exec", "run", "debug"}),
    "uv": frozenset({"run", "tool"}),
    "poetry": frozenset({"run"}),
    "pip": frozenset(),
    "pip3": frozenset(),
    "conda": frozenset({"run"}),
    "gh": frozenset({"alias", "extension", "api"}),
    "dotnet": frozenset({"run", "exec"}),
    "brew": frozenset(),
    "apt": frozenset(),
    "terraform": frozenset(),
}
_TWO_SUBCOMMANDS = frozenset({("npm", "run"), ("yarn", "run"), ("pnpm", "run"), ("git", "stash")})
# What else a pattern allows, where that is not obvious.
_ALSO = {
    "pytest *": ("pytest -x", "pytest -p plugin tests"),
    "python -m pytest *": ("python -m pytest -x", "python -m pytest -p plugin"),
    "find *": ("find . -delete", "find . -exec program"),
    "tar *": ("tar -xf a.tar", "tar --to-command=program -xf a.tar"),
    "rg *": ("rg -i word", "rg --pre=program word"),
    "sed *": ("sed -i s/a/b/ notes.txt",),
    "sort *": ("sort -o notes.txt names.txt",),
    "git status *": ("git status -s",),
    "git log *": ("git log -p", "git log --output=notes.txt"),
    "git diff *": ("git diff --staged", "git diff --output=notes.txt"),
    "git show *": ("git show HEAD", "git show --output=notes.txt"),
    "git grep *": ("git grep -n word", "git grep --open-files-in-pager=program word"),
    "git add *": ("git add --all",),
    "git commit *": ("git commit --amend --no-verify",),
    "git push *": ("git push --force",),
    "git checkout *": ("git checkout -- notes.txt",),
    "go test *": ("go test ./...", "go test -exec program"),
    "cargo test *": ("cargo test --release", "cargo test --config build.rustc=program"),
    "npm install *": ("npm install any-package",),
    "pip install *": ("pip install any-package",),
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pattern to offer, with commands that it allows and commands that still ask."""

    pattern: Pattern
    also: tuple[str, ...]
    asks: tuple[str, ...]


def suggest(argv: Sequence[str]) -> Suggestion:
    """Return the pattern to offer for a simple command: its program, its subcommand and `*`."""
    program, rest = argv[0], argv[1:]
    if not _PROGRAM.fullmatch(program):
        raise NotSimpleError("{word} is a path, not the name of a program", word=program)
    if re.fullmatch(r"python3?", program) and rest[:2] == ("-m", "pytest"):
        return _suggested(program, *rest[:2])
    if program.casefold() in _TOO_WIDE or re.fullmatch(r"python[\d.]+", program):
        raise NotSimpleError("{program} can run or change anything", program=program)
    if program not in _SUBCOMMANDS:
        return _suggested(program)
    count = 2 if (program, *rest[:1]) in _TWO_SUBCOMMANDS else 1
    chosen = rest[:count]
    if len(chosen) < count or not all(re.fullmatch(r"[a-z][\w:-]*", one) for one in chosen):
        raise NotSimpleError("No subcommand follows {program} at once", program=program)
    if chosen[0] in _SUBCOMMANDS[program]:
        name = f"{program} {chosen[0]}"
        raise NotSimpleError("{program} can run or change anything", program=name)
    return _suggested(program, *chosen)


def _suggested(*words: str) -> Suggestion:
    name = " ".join(words)
    pattern = Pattern(f"{name} *")
    also = _ALSO.get(pattern.text, (f"{name} --any-option", f"{name} any/file"))
    wrapped = f"git -c core.pager=program {words[1]}" if words[0] == "git" else f"env {name}"
    if words == ("pytest",):
        wrapped = "python -m pytest"
    return Suggestion(pattern, also, (f"{name} && git push", f"{name} > out.txt", wrapped))

"""`contextui completion`: shell completion scripts, generated from the parsers."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from contextui.cli import flags as status
from contextui.cli.arguments import Arguments, command_parser, main_parser
from contextui.cli.commands import COMMANDS
from contextui.cli.console import say
from contextui.config.providers import PROVIDERS
from contextui.config.schema import SETTINGS
from contextui.context.strategies.registry import strategy_names
from contextui.words import t

Value = Literal["nothing", "text", "file", "folder", "session"]
_VALUES: dict[str, Value] = {
    "window": "file",
    "windows": "folder",
    "resume": "session",
    "session": "session",
}
# The ids of this folder's sessions: the first column, without its header. Completion also runs in
# untrusted folders. If PATH has an empty or relative entry the shell finds programs there, so
# these run only the program with an absolute path.
_BASH_SESSIONS = """\
_contextui_sessions() {
    local program id rest
    program="$(type -P contextui)"
    [[ "$program" == /* ]] || return
    "$program" sessions 2>/dev/null | {
        read -r rest
        while read -r id rest; do echo "$id"; done
    }
}"""
_ZSH_SESSIONS = """\
_contextui_sessions() {
    local program="$(whence -p contextui)"
    [[ "$program" == /* ]] || return
    local -a found=(${(f)"$("$program" sessions 2>/dev/null)"})
    (( $#found )) || return
    shift found
    found=(${found%% *})
    compadd -a found
}"""
# In fish, what follows a tab describes the word before it.
_FISH_SESSIONS = r"""\
function __contextui_sessions
    set -l program (command -s contextui)
    string match -q -- "/*" "$program"; or return
    set -l found ($program sessions 2>/dev/null)
    test (count $found) -gt 1; or return
    string replace -r " +" \t -- $found[2..-1]
end"""


@dataclass(frozen=True, slots=True)
class Option:
    """A flag, or a positional argument."""

    flags: tuple[str, ...]  # such as ``-c`` and ``--continue``; empty for a positional argument
    words: tuple[str, ...]
    value: Value
    about: str
    several: bool


def run(arguments: Arguments) -> int:
    """Print the completion script of a shell."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    parsers = {name: command_parser(one) for name, one in COMMANDS.items()}
    commands = {name: list(map(_option, one._actions)) for name, one in parsers.items()}
    say("\n".join(script(commands, list(map(_option, main_parser()._actions)))))
    return status.DONE


def _option(action: argparse.Action) -> Option:
    offered = tuple(action.choices or ())
    if not offered and action.dest in SETTINGS:
        offered = SETTINGS[action.dest].choices
    if action.dest == "strategy":
        offered = tuple(strategy_names())
    if action.metavar == "PROVIDER":
        offered = tuple(PROVIDERS)
    about = t(action.help or "").replace("%%", "%")
    value = "nothing" if action.nargs == 0 else _VALUES.get(action.dest, "text")
    return Option(tuple(action.option_strings), offered, value, about, action.nargs == "*")


# --- bash ------------------------------------------------------------------------------------


def _bash(commands: Mapping[str, list[Option]], main: list[Option]) -> Iterator[str]:
    yield "# contextui: completion for bash"
    yield _BASH_SESSIONS
    yield "_contextui() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" offer'
    yield "    local IFS=$' \\t\\n'"
    yield '    if [ "$word" = "=" ]; then word=""  # --lang=zh is three words here'
    yield '    elif [ "$before" = "=" ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi'
    yield '    case "$before" in'
    yield from _bash_values([*main, *(one for options in commands.values() for one in options)])
    yield "    esac"
    yield '    case "${COMP_WORDS[1]}" in'
    for name, options in commands.items():
        ids = '; [[ "$word" == -* ]] || offer+=" $(_contextui_sessions)"'
        if not any(option.value == "session" and not option.flags for option in options):
            ids = ""
        yield f'        {name}) offer="{_bash_offer(options)}"{ids} ;;'
    yield f'        *) offer="{_bash_offer(main)}"'
    yield f'           [ "$COMP_CWORD" -eq 1 ] && offer="{" ".join(commands)} $offer" ;;'
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$offer" -- "$word"))'
    yield "}"
    yield "complete -F _contextui contextui"


def _bash_values(options: Sequence[Option]) -> Iterator[str]:
    """Yield completions of flag values; a flag that several commands share is listed once."""
    seen: set[str] = set()
    for option in options:
        new = [flag for flag in option.flags if flag not in seen]
        seen.update(new)
        if new and option.value != "nothing":
            yield f"        {'|'.join(new)}) {_bash_value(option)}; return ;;"


def _bash_value(option: Option) -> str:
    match option.value:
        case "file" | "folder":
            kind = "-f" if option.value == "file" else "-d"
            as_names = "IFS=$'\\n'; compopt -o filenames 2>/dev/null"  # names may have spaces
            return f'{as_names}; COMPREPLY=($(compgen {kind} -- "$word"))'
        case "session":
            offered = "$(_contextui_sessions)"
        case _:
            offered = " ".join(option.words)
    return f'COMPREPLY=($(compgen -W "{offered}" -- "$word"))'


def _bash_offer(options: Sequence[Option]) -> str:
    offered = [word for option in options if not option.flags for word in option.words]
    return " ".join([*offered, *(flag for option in options for flag in option.flags)])


# --- zsh -------------------------------------------------------------------------------------

_ZSH_OFFERS = {"file": "_files", "folder": "_files -/", "session": "_contextui_sessions"}


def _zsh(commands: Mapping[str, list[Option]], main: list[Option]) -> Iterator[str]:
    yield "#compdef contextui"
    yield "# contextui: completion for zsh"
    yield _ZSH_SESSIONS
    yield "_contextui() {"
    yield "    local -a commands=("
    for name in commands:
        yield f"        {_quoted(f'{name}:{t(COMMANDS[name].summary)}')}"
    yield "    )"
    yield '    if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then'
    yield "        _describe -t commands command commands"
    yield "        return"
    yield "    fi"
    yield '    case "$words[2]" in'
    for name, options in commands.items():
        yield f"        {name})"
        yield "            shift words; (( CURRENT-- ))"
        yield f"            _arguments {' '.join(_zsh_specs(options))} ;;"
    yield f"        *) _arguments {' '.join(_zsh_specs(main))} ;;"
    yield "    esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_contextui" ]; then'
    yield '    _contextui "$@"'
    yield "else"
    yield "    compdef _contextui contextui"
    yield "fi"


def _zsh_specs(options: Sequence[Option]) -> Iterator[str]:
    """Yield the specs of `_arguments`: one for each spelling of a flag."""
    for option in options:
        about = option.about.replace("[", "(").replace("]", ")")
        offer = _ZSH_OFFERS.get(
            option.value, f"({' '.join(option.words)})" if option.words else " "
        )
        takes = "" if option.value == "nothing" else f":{option.value}:{offer}"
        if not option.flags:
            which, about = "*" if option.several else "1", about.replace(":", "\\:")
            yield _quoted(f"{which}:{about}:{offer}")
        for flag in option.flags:
            joined = "=" if takes and flag.startswith("--") else ""  # --lang=zh, or --lang zh
            yield _quoted(f"*{flag}{joined}[{about}]{takes}")


# --- fish ------------------------------------------------------------------------------------


def _fish(commands: Mapping[str, list[Option]], main: list[Option]) -> Iterator[str]:
    known = " ".join(commands)
    yield "# contextui: completion for fish"
    yield _FISH_SESSIONS
    yield "complete -c contextui -f"
    for name in commands:
        about = _quoted(t(COMMANDS[name].summary))
        yield f"complete -c contextui -n __fish_is_first_arg -a {name} -d {about}"
    yield from _fish_options(main, f"not __fish_seen_subcommand_from {known}")
    for name, options in commands.items():
        yield from _fish_options(options, f"__fish_seen_subcommand_from {name}")


def _fish_options(options: Sequence[Option], when: str) -> Iterator[str]:
    ids = "-a '(__contextui_sessions)'"
    takes = {"nothing": "", "text": "-x", "file": "-r -F", "session": f"-x {ids}",
             "folder": "-x -a '(__fish_complete_directories)'"}  # fmt: skip
    for option in options:
        if not option.flags and not option.words and option.value != "session":
            continue
        parts = [f"-l {one[2:]}" if one[:2] == "--" else f"-s {one[1:]}" for one in option.flags]
        if option.flags:
            parts.append(takes[option.value])
        elif option.value == "session":
            parts.append(ids)
        if option.words:
            parts.append(f"-a {_quoted(' '.join(option.words))}")
        spec = " ".join(filter(None, parts))
        yield f"complete -c contextui -n {_quoted(when)} {spec} -d {_quoted(option.about)}"


def _quoted(text: str) -> str:
    """Quote text so that all three shells read it alike, by replacing single quotes in it."""
    return "'" + text.replace("'", "’") + "'"

"""`contextui completion`: scripts for shells, made of the parsers themselves."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.parsers import COMMANDS, command_parser, main_parser
from contextui.cli.speaking import say
from contextui.cli.words import words
from contextui.config import Settings, choices

_FILES, _FOLDERS = ("window",), ("windows",)


@dataclass(frozen=True, slots=True)
class Option:
    """A flag, or a word that a command takes.

    Attributes:
        flags: How it is written, such as ``-c`` and ``--continue``; nothing for a word.
        words: What it can be, if that is one of a few words.
        value: What it takes.
        about: What it is for.
    """

    flags: tuple[str, ...]
    words: tuple[str, ...]
    value: Literal["nothing", "text", "file", "folder"]
    about: str


def run(arguments: Arguments) -> int:
    """Print the script of a shell."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell]
    say("\n".join(script()))
    return status.DONE


def options_of(parser: argparse.ArgumentParser) -> list[Option]:
    """All that a parser takes."""
    return [_option(action) for action in parser._actions]


def _option(action: argparse.Action) -> Option:
    offered = tuple(action.choices or ())
    if not offered and action.dest in Settings.model_fields:
        offered = choices(action.dest)
    about = words(action.help or "").replace("%%", "%")
    return Option(tuple(action.option_strings), offered, _value(action), about)


def _value(action: argparse.Action) -> Literal["nothing", "text", "file", "folder"]:
    if action.nargs == 0:
        return "nothing"
    if action.dest in _FILES:
        return "file"
    return "folder" if action.dest in _FOLDERS else "text"


def _commands() -> dict[str, list[Option]]:
    return {name: options_of(command_parser(one)) for name, one in COMMANDS.items()}


def _main() -> list[Option]:
    return options_of(main_parser())


# --- bash ------------------------------------------------------------------------------------


def _bash() -> Iterator[str]:
    commands, main = _commands(), _main()
    yield "# contextui: completion for bash"
    yield "_contextui() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" offer'
    yield '    case "$before" in'
    yield from _bash_values([*main, *(one for options in commands.values() for one in options)])
    yield "    esac"
    yield '    case "${COMP_WORDS[1]}" in'
    for name, options in commands.items():
        yield f'        {name}) offer="{_bash_offer(options)}" ;;'
    yield f'        *) offer="{_bash_offer(main)}"'
    yield f'           [ "$COMP_CWORD" -eq 1 ] && offer="{" ".join(commands)} $offer" ;;'
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$offer" -- "$word"))'
    yield "}"
    yield "complete -F _contextui contextui"


def _bash_values(options: Sequence[Option]) -> Iterator[str]:
    """What follows a flag that takes something; the same flag of two commands is one."""
    seen: set[str] = set()
    for option in options:
        new = [flag for flag in option.flags if flag not in seen]
        seen.update(new)
        if not new or option.value == "nothing":
            continue
        kind = {"file": "-f", "folder": "-d"}.get(option.value, f'-W "{" ".join(option.words)}"')
        yield f'        {"|".join(new)}) COMPREPLY=($(compgen {kind} -- "$word")); return ;;'


def _bash_offer(options: Sequence[Option]) -> str:
    return " ".join([*(one for o in options if not o.flags for one in o.words),
                     *(flag for o in options for flag in o.flags)])  # fmt: skip


# --- zsh -------------------------------------------------------------------------------------


def _zsh() -> Iterator[str]:
    commands = _commands()
    yield "#compdef contextui"
    yield "# contextui: completion for zsh"
    yield "_contextui() {"
    yield "    local -a commands=("
    for name in commands:
        yield f"        {_quoted(f'{name}:{words(COMMANDS[name].summary)}')}"
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
    yield f"        *) _arguments {' '.join(_zsh_specs(_main()))} ;;"
    yield "    esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_contextui" ]; then'
    yield '    _contextui "$@"'
    yield "else"
    yield "    compdef _contextui contextui"
    yield "fi"


def _zsh_specs(options: Sequence[Option]) -> Iterator[str]:
    """The specs of `_arguments`: one for each way to write a flag."""
    for option in options:
        about = option.about.replace("[", "(").replace("]", ")").replace(":", ",")
        offer = {"file": "_files", "folder": "_files -/"}.get(
            option.value, f"({' '.join(option.words)})" if option.words else " "
        )
        takes = "" if option.value == "nothing" else f":{option.value}:{offer}"
        if not option.flags:
            yield _quoted(f"*:{about}:{offer}")
        for flag in option.flags:
            yield _quoted(f"*{flag}[{about}]{takes}")


# --- fish ------------------------------------------------------------------------------------


def _fish() -> Iterator[str]:
    commands = _commands()
    known = " ".join(commands)
    yield "# contextui: completion for fish"
    yield "complete -c contextui -f"
    for name in commands:
        about = _quoted(words(COMMANDS[name].summary))
        yield f"complete -c contextui -n __fish_is_first_arg -a {name} -d {about}"
    yield from _fish_options(_main(), f"not __fish_seen_subcommand_from {known}")
    for name, options in commands.items():
        yield from _fish_options(options, f"__fish_seen_subcommand_from {name}")


def _fish_options(options: Sequence[Option], when: str) -> Iterator[str]:
    takes = {"nothing": "", "text": "-x", "file": "-r -F",
             "folder": "-x -a '(__fish_complete_directories)'"}  # fmt: skip
    for option in options:
        if not option.flags and not option.words:
            continue
        parts = [f"-l {one[2:]}" if one[:2] == "--" else f"-s {one[1:]}" for one in option.flags]
        if option.flags:
            parts.append(takes[option.value])
        if option.words:
            parts.append(f"-a {_quoted(' '.join(option.words))}")
        told = " ".join(filter(None, parts))
        yield f"complete -c contextui -n {_quoted(when)} {told} -d {_quoted(option.about)}"


def _quoted(text: str) -> str:
    """Text in single quotes, as all three shells read it when there is none inside."""
    return "'" + text.replace("'", "’") + "'"

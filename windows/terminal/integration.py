"""Shell integration: start-up files that make a shell report its prompts and commands.

The shell prints OSC 133 marks, which a terminal does not show: `D` when a command ended, with its
status, `P` with the current folder, `A` before the prompt, `B` after it, `2` for a prompt that
asks for the rest of an unfinished command, and `C` when a command starts, with its text. `E` is
zsh's: output ended, though the status is not known yet. `V` comes once, at start-up.

Each mark holds a random key of this shell, so a program cannot forge one by printing it. The key is
neither in the environment nor among the arguments of a process, and the files are removed when the
first prompt appears.
"""

import os
import re
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Kind = Literal["bash", "zsh", "fish", "sh"]

LONGEST_LINE = 4000
"""Bytes in one line that a shell without line editing can read: the kernel cuts at 4,096."""

# `history 1` has the text of the command, unless the history ignores it: then its number has not
# changed, and the text is read from the screen.
_BASH = r"""
[ -r ~/.bashrc ] && . ~/.bashrc
case $- in *a*) __contextui_all=-a; set +a ;; *) __contextui_all=+a ;; esac
__contextui_key=@KEY@
__contextui_mark() { builtin printf '\e]133;%s;k=%s;%s\a' "$1" "$__contextui_key" "${2-}"; }
__contextui_escaped() {
    local text=${1//\\/\\\\}
    text=${text//$'\n'/\\n}; text=${text//$'\t'/\\t}
    builtin printf '%s' "${text//[[:cntrl:]]/?}"
}
__contextui_history() { HISTTIMEFORMAT= builtin history 1; }
__contextui_started() {
    local entry=$(__contextui_history)
    if [[ $entry != "$__contextui_entry" &&
          $entry =~ ^[[:space:]]*[0-9]+[*]?[[:space:]]+(.*)$ ]]; then
        __contextui_mark C "$(__contextui_escaped "${BASH_REMATCH[1]}")"
    else
        __contextui_mark C
    fi
}
__contextui_before() {
    __contextui_status=$?
    __contextui_mark D "$__contextui_status"
    return "$__contextui_status"
}
__contextui_after() {
    __contextui_mark P "$(__contextui_escaped "$PWD")"
    __contextui_mark A
    [[ ${PS1-} == *"$__contextui_key"* ]] || PS1+='\[\e]133;B;k=@KEY@;\a\]'
    [[ ${PS2-} == *"$__contextui_key"* ]] || PS2='\[\e]133;2;k=@KEY@;\a\]'${PS2-}
    [[ ${PS0-} == *__contextui_started* ]] || PS0+='$(__contextui_started)'
    export -n PS0 PS1 PS2
    __contextui_entry=$(__contextui_history)
    return "$__contextui_status"
}
if ((BASH_VERSINFO[0] > 5 || BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1)); then
    PROMPT_COMMAND=(__contextui_before "${PROMPT_COMMAND[@]}" __contextui_after)
else
    PROMPT_COMMAND=__contextui_before$'\n'${PROMPT_COMMAND-}$'\n'__contextui_after
fi
export -n PROMPT_COMMAND
if ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 4)); then
    bind 'set enable-bracketed-paste on'
    __contextui_mark V starts
else
    __contextui_mark V
fi
set $__contextui_all
"""

# zsh reads .zshenv from ZDOTDIR, and everything else from the person's folder. The first prompt
# installs the rest, after their .zshrc.
_ZSH = r"""
if [[ -n ${CONTEXTUI_ZDOTDIR+set} ]]; then
    export ZDOTDIR=$CONTEXTUI_ZDOTDIR
    unset CONTEXTUI_ZDOTDIR
else
    unset ZDOTDIR
fi
[[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && source ${ZDOTDIR:-$HOME}/.zshenv
if [[ -o interactive ]]; then
typeset -g __contextui_key=@KEY@
typeset -g +x __contextui_key
typeset -g __contextui_status=0
__contextui_mark() { builtin printf '\e]133;%s;k=%s;%s\a' "$1" "$__contextui_key" "${2-}" }
__contextui_escaped() {
    builtin emulate -L zsh
    local text=${1//\\/\\\\}
    text=${text//$'\n'/\\n}
    text=${text//$'\t'/\\t}
    builtin print -rn -- "${text//[[:cntrl:]]/?}"
}
__contextui_started() {
    __contextui_mark C "$(__contextui_escaped "${1:-$3}")"
}
__contextui_before() {
    __contextui_status=$?
    __contextui_mark D $__contextui_status
}
__contextui_after() {
    __contextui_mark P "$(__contextui_escaped "$PWD")"
    __contextui_mark A
    [[ ${PS1-} == *$__contextui_key* ]] || PS1+=$'%{\e]133;B;k=@KEY@;\a%}'
    [[ ${PS2-} == *$__contextui_key* ]] || PS2=$'%{\e]133;2;k=@KEY@;\a%}'${PS2-}
    [[ ${PROMPT_EOL_MARK-} == *$__contextui_key* ]] ||
        PROMPT_EOL_MARK=$'%{\e]133;E;k=@KEY@;\a%}'${PROMPT_EOL_MARK-%B%S%#%s%b}
    typeset -g +x PS1 PS2 PROMPT_EOL_MARK
}
__contextui_first() {
    __contextui_status=$?
    precmd_functions=(__contextui_before ${precmd_functions:#__contextui_first} __contextui_after)
    preexec_functions+=(__contextui_started)
    __contextui_mark V starts
    __contextui_after
}
typeset -ga precmd_functions preexec_functions
precmd_functions+=(__contextui_first)
fi
"""

_FISH = r"""
set -g __contextui_key @KEY@
function __contextui_mark
    builtin printf '\e]133;%s;k=%s;%s\a' $argv[1] $__contextui_key "$argv[2]"
end
function __contextui_escaped
    set -l text (builtin string replace -a '\\' '\\\\' -- $argv[1])
    set text (builtin string replace -a \t '\\t' -- $text)
    builtin string replace -ar '[[:cntrl:]]' '?' -- (builtin string join '\\n' -- $text)
end
function __contextui_started --on-event fish_preexec
    __contextui_mark C (__contextui_escaped "$argv[1]")
end
function __contextui_ended --on-event fish_postexec
    __contextui_mark D $status
end
function __contextui_prompted --on-event fish_prompt
    __contextui_mark P (__contextui_escaped "$PWD")
    __contextui_mark A
end
functions -q fish_prompt; or function fish_prompt; echo '> '; end
functions -c fish_prompt __contextui_prompt
function fish_prompt
    __contextui_prompt
    __contextui_mark B
end
__contextui_mark V starts
"""

# No hooks: the prompt itself reports. A command starts with the Enter key, its text is on screen.
_SH = r"""
if [ -n "${CONTEXTUI_ENV+set}" ]; then
    ENV=$CONTEXTUI_ENV
    unset CONTEXTUI_ENV
    [ -r "$ENV" ] && . "$ENV"
else
    unset ENV
fi
case $- in *a*) __contextui_all=-a; set +a ;; *) __contextui_all=+a ;; esac
if [ -n "${BASH_VERSION-}" ]; then __contextui_open='\[' __contextui_close='\]'
else __contextui_open= __contextui_close=; fi
__contextui_part() {
    printf '%s${__contextui_escape}%s${__contextui_key}%s${__contextui_bell}%s' \
        "$__contextui_open" "]133;$1;k=" ";${2-}" "$__contextui_close"
}
# PS1 may be exported, and dash exports it again when it was unset. No program may see the key, so
# PS1 holds the names of variables, which the shell replaces when it shows the prompt.
unset __contextui_escape __contextui_key __contextui_bell
__contextui_escape=$(printf '\033') __contextui_key=@KEY@ __contextui_bell=$(printf '\007')
PS1="$(__contextui_part D '$?')$(__contextui_part P '$PWD')$(__contextui_part A)${PS1-\$ }"
PS1="$PS1$(__contextui_part B)"
PS2="${PS2-> }$(__contextui_part 2)"
printf '\033]133;V;k=@KEY@;\007'
set $__contextui_all
"""


@dataclass(frozen=True)
class Mark:
    """One mark in a shell's output."""

    kind: str
    value: str = ""


class Integration:
    """The start-up files of one shell."""

    def __init__(self, program: str, environ: Mapping[str, str]) -> None:
        name = os.path.basename(program)
        self.kind = cast(Kind, name if name in ("bash", "zsh", "fish") else "sh")
        self.folder = Path(tempfile.mkdtemp(prefix="contextui-shell-"))
        self._key = secrets.token_hex(16)
        self.argv, self.env = [program, "-i"], dict[str, str]()
        match self.kind:
            case "bash":
                self.argv[1:1] = ["--rcfile", str(self._write("bashrc", _BASH))]
            case "zsh":
                self._write(".zshenv", _ZSH)
                self.env["ZDOTDIR"] = str(self.folder)
                if "ZDOTDIR" in environ:
                    self.env["CONTEXTUI_ZDOTDIR"] = environ["ZDOTDIR"]
            case "fish":
                path = self._write("init.fish", _FISH)
                self.argv += ["--init-command", f"source {self.quote(str(path))}"]
            case "sh":
                self.env["ENV"] = str(self._write("shrc", _SH))
                if "ENV" in environ:
                    self.env["CONTEXTUI_ENV"] = environ["ENV"]
        self.pattern = re.compile(
            rb"\x1b\]133;([A-Z0-9]);k=" + self._key.encode() + rb";([^\x07\x1b]*)\x07"
        )

    def may_start_mark(self, data: bytes) -> bool:
        """Whether data that starts with an escape character may become a mark with more of it."""
        whole = b"\x1b]133;?;k=" + self._key.encode() + b";"
        start = data[:6] + b"?" + data[7 : len(whole)] if len(data) > 6 else data
        return whole.startswith(start) and b"\x07" not in data

    def read(self, match: re.Match[bytes]) -> Mark:
        value = match[2].decode("utf-8", "replace")
        plain = {"n": "\n", "t": "\t"}
        if self.kind != "sh":
            value = re.sub(r"\\(.)", lambda one: plain.get(one[1], one[1]), value)
        return Mark(match[1].decode(), value)

    def quote(self, word: str) -> str:
        """Quote a word so that the shell takes every character literally.

        Aliases are not quoted, and names of functions have no slash; in bash, names of aliases have
        none either, so a plain path is typed as it is.
        """
        if self.kind == "bash":
            return shlex.quote(word)
        if self.kind == "fish":
            return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "'" + word.replace("'", "'\\''") + "'"

    def line(self, command: str, *, is_typed: bool = False) -> str:
        r"""Return what to type for a command, without the Enter key.

        A command of several lines becomes one word for `eval`: typed as it is, each line would run
        on its own, and an unfinished one would wait for more. A space in front keeps the model's
        out of the person's history where that is set up (`HISTCONTROL=ignorespace`,
        `HIST_IGNORE_SPACE`, always in fish): ↑ should bring back what they typed, and the window
        lists all commands.
        """
        before = "" if is_typed else " "
        return before + (f"eval {self.quote(command)}" if "\n" in command else command)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text.replace("@KEY@", self._key), encoding="utf-8")
        return path

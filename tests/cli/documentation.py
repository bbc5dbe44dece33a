"""The examples of docs/command-line.md: run them, and compare the shape of their output.

`python -m tests.cli.documentation` renews the help, the settings and the numbers of tokens.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contextui.config.schema import SETTINGS, flag_of, key_of
from contextui.config.settings import allowed
from tests import forkserver

HELP = "contextui --help"
PAGE = Path(__file__).parent.parent.parent / "docs" / "command-line.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^\| setting \|.*\n(?:\|.*\n)*\|.*", re.MULTILINE)
_ITEM = re.compile(r"\[(✓|X)\] \[\d{4}\] (\w+): .*")


@dataclass(frozen=True)
class Example:
    """A command of the page, and what the page says that it prints."""

    command: str
    output: str


def examples(text: str) -> Iterator[Example]:
    """All commands of the page, in order."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Example(command, output)


def run(command: str, folder: Path) -> str:
    """What a command prints, in this folder and with a home beside it."""
    echo, _, call = command.rpartition(" | ")
    name, *words = shlex.split(call)
    assert name == "contextui", command
    environ = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder.parent),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
    }
    if "PYTHONPATH" in os.environ:  # the same code as this process
        environ["PYTHONPATH"] = os.environ["PYTHONPATH"]
    is_merged = words[-1] == "2>&1"
    done = forkserver.run(
        [sys.executable, "-m", "contextui", *words[: -1 if is_merged else None]],
        cwd=folder,
        env=environ,
        input=f"{shlex.split(echo)[1]}\n".encode() if echo else b"",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if is_merged else subprocess.DEVNULL,
        timeout=60,
    )
    return str(done.stdout.decode())


def shape(output: str) -> Any:
    """What is the same in each run: keys and types of JSON; text without ids and numbers."""
    try:
        return _json_shape(json.loads(output))
    except ValueError:
        pass
    try:
        events = [json.loads(line) for line in output.splitlines()]
    except ValueError:
        return [_line_shape(line) for line in output.splitlines()]
    # A window redraws whenever it likes, so that may come earlier or later.
    events.sort(key=lambda event: event.get("type") == "window_changed")
    shapes = [(event["type"], _json_shape(event)) for event in events]
    return [one for place, one in enumerate(shapes) if place == 0 or one != shapes[place - 1]]


def _json_shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_json_shape(one) for one in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def _line_shape(line: str) -> str:
    if item := _ITEM.fullmatch(line):
        return f"[{item[1]}] {item[2]}"
    line = re.sub(r"\b[0-9a-f]{8,32}\b", "ID", line)
    line = re.sub(r"(/[\w.-]+)+", "PATH", line)
    return " ".join(re.sub(r"[\d,]*\d", "N", line).split())


def settings_table() -> str:
    """The settings as the page has them."""
    lines = ["| setting | description | values |", "|---|---|---|"]
    for name, field in SETTINGS.items():
        default = f" (`{field.default}`)" if field.default and name != "lang" else ""
        key, flag = key_of(name), flag_of(name)
        other = f" (`{flag}`)" if flag != flag_of(key.replace(".", "_")) else ""
        lines.append(f"| `{key}`{other} | {field.description}{default} | {allowed(name)} |")
    return "\n".join(lines)


_FIGURE = re.compile(r'(?<=tokens": )\d+|~[\d,]+(?= tokens)|~[\d,]+(?= in the context| with all)')


def figures(output: str) -> list[int]:
    """The numbers of tokens in what a command printed, in order."""
    return [int(one.strip("~").replace(",", "")) for one in _FIGURE.findall(output)]


def renewed(page: str, folder: Path) -> str:
    """The page with the help, the settings and the numbers of tokens as they are now."""
    for example in examples(page):
        output = _renewed(example, run(example.command, folder))
        page = page.replace(example.output, output) if example.output else page
    return _TABLE.sub(lambda _: settings_table(), page)


def _renewed(example: Example, printed: str) -> str:
    if example.command == HELP:
        return printed
    new = iter(_FIGURE.findall(printed))
    return _FIGURE.sub(lambda match: next(new, match[0]), example.output)


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        work = Path(temporary) / "shop"
        work.mkdir()
        PAGE.write_text(renewed(PAGE.read_text("utf-8"), work), "utf-8")

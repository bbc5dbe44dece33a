"""Cost of agent runs at cache prices: print or write tables, replay and convert recorded runs."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cost import page, replay
from benchmarks.cost.convert import load_runs
from benchmarks.cost.runs import RunError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command of these arguments; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("mixes", help="print the tables of the mixes (the default)")
    commands.add_parser("write", help="write docs/benchmarks.md")
    for name, words in (
        ("replay", "compare policies on recorded runs"),
        ("convert", "print a session as a recorded run"),
    ):
        command = commands.add_parser(name, help=words)
        command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        match given.command:
            case "replay":
                _replay(given.files)
            case "convert":
                _convert(given.files)
            case "write":
                page.PAGE.write_text(page.page(page.mix_rows(), page.long_rows()), "utf-8")
            case _:
                _print_mixes()
    except RunError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _replay(files: Sequence[Path]) -> None:
    runs = [run for file in files for run in load_runs(file)]
    print("cost beside append-only (tokens sent beside append-only)")
    for line in page.aligned(replay.rows(runs)):
        print(line)


def _convert(files: Sequence[Path]) -> None:
    for file in files:
        for run in load_runs(file):
            print(json.dumps(run.as_json()))


def _print_mixes() -> None:
    print("cost beside plain tool calls (tokens sent beside them)")
    for line in page.aligned(page.mix_rows()):
        print(line)
    print("\ncost beside the information bound")
    for line in page.aligned(page.long_rows()):
        print(line)


if __name__ == "__main__":
    sys.exit(main())

"""Start-up time of the program, compared with Python alone.

Both processes are started in turn, so that whatever else the machine does weighs on both alike,
and the best of several runs counts.
"""

import subprocess
import sys
import time

RUNS = 21
COMMANDS = {
    "--version": ["-m", "contextui", "--version"],
    "--help": ["-m", "contextui", "--help"],
    "config": ["-m", "contextui", "config"],
    "sessions": ["-m", "contextui", "sessions"],
}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def ratio(arguments: list[str], runs: int = RUNS) -> float:
    """How many times as long as Python alone it takes."""
    times = [(seconds(["-c", "pass"]), seconds(arguments)) for _ in range(runs)]
    return min(with_it for _, with_it in times) / min(alone for alone, _ in times)


def main() -> None:
    print("starting, beside python -c pass                 (ratio, processes in turn)")
    for name, arguments in COMMANDS.items():
        print(f"contextui {name:<12} {ratio(arguments):>6.2f}x")


if __name__ == "__main__":
    main()

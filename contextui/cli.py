"""The command line."""

import contextui


def main() -> int:
    """Say what is there: the library. The screen and the agent come on top of it."""
    print(  # noqa: T201
        f"contextui {contextui.__version__}: the core library is here "
        "(items, live windows, rendering, trimming, tokens); the screen is not built yet."
    )
    return 0

"""The command line."""

import contextui


def main() -> int:
    """Say what is there: the library. The agent and the screen come on top of it."""
    print(  # noqa: T201
        f"contextui {contextui.__version__}: windows, context and sessions are here as a library; "
        "the agent and the screen are not built yet."
    )
    return 0

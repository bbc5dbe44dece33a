"""How long a typed letter takes to appear while 50 terminals are busy, beside a bare app.

The real app runs without a terminal of its own. First it has no window; then 50 shells print a line
ten times a second each, and then all of them print as fast as they can. Times of the clock, since
the person waits for everything that the app does in between.
"""

import asyncio
import os
import tempfile
from pathlib import Path

from benchmarks.echo import LETTERS, letters
from contextui import InteractionController, SessionOptions, SessionStore
from contextui.agent.models.scripted import ScriptedModel
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.windows.terminal.window import TerminalWindow

TERMINALS = 50
COMMANDS = {
    "10 lines a second": "exec 3<> <(:); while :; do echo a line of output; read -t 0.1 -u 3; done",
    "as fast as they can": "yes",
}


async def busy(command: str) -> tuple[float, float]:
    """The times of a letter in a bare app, and while all terminals run a command."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        os.environ |= {"HOME": home, "SHELL": "/bin/bash"}  # without the person's start-up files
        session = SessionStore(home, SessionOptions(classes=[TerminalWindow])).create(Path(home))
        desk = AppSession(
            session, InteractionController(model=ScriptedModel(), context=session.context)
        )
        app = ContextUIApp(lambda: desk, folder=Path(home))
        async with app.run_test(size=(120, 40)):
            while app.main.turns is None:
                await asyncio.sleep(0.01)
            bare = await letters(app)
            windows = session.windows
            opened = [windows.open("terminal").id for _ in range(TERMINALS)]
            await windows.await_opening(60)
            for one in opened:
                result = await windows.act(one, "run", {"command": command, "seconds": 0})
                assert result.ok, result.text
            app.main.prompt.focus()
            await asyncio.sleep(2)
            taken = await letters(app)
            app.exit(0)
        desk.close()
    return bare, taken


def main() -> None:
    print(f"a letter while {TERMINALS} terminals print  (median of {LETTERS}, clock)")
    print(f"{'':<22}{'beside a bare app':>20}{'more':>10}")
    for name, command in COMMANDS.items():
        bare, taken = asyncio.run(busy(command))
        print(f"{name:<22}{taken / bare:>19.1f}x{1_000 * (taken - bare):>7.0f} ms")


if __name__ == "__main__":
    main()

"""Terminal window: a shell that person and model share."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from contextui import (
    ActionError,
    Body,
    ContextUIError,
    Job,
    Lod,
    Preview,
    Transient,
    Window,
    action,
)
from contextui.shell import locate, split
from contextui.text import one_line
from contextui.windowing import CommandPreview, CommandResult
from contextui.windows.terminal import record
from contextui.windows.terminal.record import Command, Who
from contextui.windows.terminal.sandbox import dropped_keys, sandbox_works
from contextui.windows.terminal.shell import Shell, ShellBusyError
from contextui.windows.terminal.spool import SPOOL_NAME, Spool, tidy

KEPT = 40  # commands of which the state keeps the facts and the first and last lines
_SHOWN = 6  # commands that are shown
_LAST = (40, 80)  # lines of the last command's output that are shown: first, last
_EARLIER = (4, 8)  # of an earlier command
_PAGE = 200  # lines of a page
_MOST_PAGE = 1_000
_BEAT = 1.0  # seconds between two reports of a command's progress, at least
_RATE = 10  # reports a second of all terminals together: each draws a window for the model again

_watched = set[Command]()  # the commands of all terminals that run


class TerminalWindow(Window):
    """A terminal: the person's own shell, shared with them."""

    name = "terminal"
    widget = "contextui.windows.terminal.widget:TerminalBody"
    wide = True
    job_conflicts = False  # output arrives all the time
    action_seconds = 60.0

    class State(Window.State):
        folder: str = ""
        ended: str = ""
        ran: list[record.Ran] = []
        last: int = 0
        shell: Transient[Shell | None] = None
        spool: Transient[str] = ""
        offset: Transient[int] = 0
        tasks: Transient[set[asyncio.Task[None]]] = set()
        listeners: Transient[list[Callable[[Shell], None]]] = []

    state: State

    # --- life --------------------------------------------------------------------------

    async def opened(self) -> None:
        """Start a shell in the folder that the state already names, or in that of the session."""
        files = self.env.files
        self.state.folder = self.state.folder or str(files.root if files else Path.cwd())
        if not Path(self.state.folder).is_dir():
            raise ActionError("The folder {folder} no longer exists.", folder=self.state.folder)
        self._make_spool()
        await self._start()

    async def restored(self) -> None:
        self._make_spool()
        if not Path(self.state.folder).is_dir():
            self.state.ended = self.env.say(
                "The folder {folder} no longer exists.", folder=self.state.folder
            )
            return
        try:
            await self._start(self.state.ran)
        except ContextUIError as problem:  # what ran before stays readable
            self.state.ended = problem.text(self.env.lang)

    async def closed(self, reason: str) -> None:
        for task in self.state.tasks:
            task.cancel()
        if self.state.shell is not None:
            await self.state.shell.close()
        if self.state.spool and (reason == "closed" or self.env.data is None):
            shutil.rmtree(self.state.spool, ignore_errors=True)

    def _make_spool(self) -> None:
        """Find the folder for whole outputs; what is not to be read any more is removed there."""
        kept = self.env.data_folder()
        if kept is not None:
            tidy(kept, [one.file for one in self.state.ran if one.file])
        self.state.spool = str(kept or tempfile.mkdtemp(prefix="contextui-terminal-"))

    async def _start(self, earlier: Sequence[record.Ran] = ()) -> None:
        """Start a shell, below the commands of an earlier one."""
        if self.env.sandbox and not await asyncio.to_thread(sandbox_works):
            raise ActionError(
                "The sandbox does not work here: it needs bubblewrap (bwrap) and user "
                "namespaces. As root, it needs bubblewrap 0.8 or later."
            )
        state = self.state
        folder = Path(state.folder)
        shell = await Shell.start(
            folder=folder, spool=Path(state.spool), sandbox=self._root if self.env.sandbox else None
        )
        for one in earlier:  # before anything that the shell writes is read
            lines = [f"$ {one.text}", *one.output]
            shell.emulator.feed("".join(f"{line}\r\n" for line in lines))
        state.shell, state.ended, state.offset = shell, "", state.last
        changed = asyncio.Event()
        shell.listen(changed.set)
        shell.listen(lambda: self._show(shell))
        self._keep(asyncio.create_task(self._follow(shell, changed)))
        self._show(shell)

    @property
    def _root(self) -> Path:
        files = self.env.files
        return Path(files.root) if files is not None else Path(self.state.folder)

    def show_with(self, listener: Callable[[Shell], None]) -> Callable[[], None]:
        """Call a function on the window's thread when the screen changed; returns the way out."""
        listeners = self.state.listeners
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    def _show(self, shell: Shell) -> None:
        for listener in list(self.state.listeners):
            listener(shell)

    async def _follow(self, shell: Shell, changed: asyncio.Event) -> None:
        """Record commands that ended, and give those of the person a job."""
        known, recorded = set[int](), 0
        while True:
            await changed.wait()
            changed.clear()
            running = shell.running
            if running is not None and running.who == "person" and running.number not in known:
                known.add(running.number)
                async with self.env.change():
                    if not running.job:  # else an action runs it
                        self._job(shell, running, 0.0, quiet=True)
            ended = [one for one in shell.commands if one.number > recorded and not one.running]
            if ended or shell.folder != self.state.folder or shell.status is not None:
                async with self.env.change():
                    self._record(shell, ended)
                recorded = max([recorded, *(one.number for one in ended)])
            if shell.status is not None:
                return

    def _record(self, shell: Shell, ended: list[Command]) -> None:
        state = self.state
        if shell is state.shell:  # and not one that was restarted
            state.folder = shell.folder
            state.ended = self.env.say("The shell ended.") if shell.status is not None else ""
        for one in ended:
            state.last = state.offset + one.number
            state.ran.append(record.record_of(one, state.last))
        del state.ran[:-KEPT]

    # --- content -----------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        state, shell = self.state, self.state.shell
        running = shell.running if shell is not None else None
        last = record.headline(state.ran[-1], self.env.words) if state.ran else ""
        if lod is Lod.GIST:
            now = f"$ {one_line(running.text, 60)} …" if running is not None else last
            return ", ".join(filter(None, (self._place, state.ended or now)))
        head = [self._place] + ([state.ended] if state.ended else [])
        count = _SHOWN if lod is Lod.FULL else 3
        parts = ["\n".join(head)]
        shown = state.ran[-count:]
        for one in shown:
            is_last = one is shown[-1] and running is None and lod is Lod.FULL
            parts.append(self._shown(one, _LAST if is_last else _EARLIER, lod))
        if running is not None and shell is not None:
            number = state.offset + running.number
            title = f"[{number}] $ {running.text}"
            if shell.emulator.alternate:
                parts.append(f"{title}\n{shell.emulator.text().rstrip()}")
            else:
                tail = running.transcript.tail[-_LAST[1] :]
                parts.append("\n".join([title, *(one[: record.WIDEST] for one in tail)]))
        return "\n".join(parts)

    @property
    def _place(self) -> str:
        folder, home = Path(self.state.folder), Path(os.path.expanduser("~"))
        if folder.is_relative_to(self._root):
            inner = folder.relative_to(self._root)
            return "./" if inner == Path() else f"./{inner}"
        return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)

    def _shown(self, one: record.Ran, size: tuple[int, int], lod: Lod) -> str:
        lines = [record.headline(one, self.env.words)]
        if lod is Lod.FULL:
            kept, cut = record.ends_of(one.output, *size)
            lines += kept
            if cut or one.cut:
                lines.append(record.more(one.number, one.cut + cut, self.env.words))
        return "\n".join(lines)

    # --- actions -----------------------------------------------------------------------

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        shell = self._shell()
        if action_id == "run":
            command = params["command"]
            return Preview(
                command=CommandPreview(
                    command,
                    shell.folder,
                    seconds=params.get("seconds", 30.0),
                    reach="sandbox" if self.env.sandbox else "all",
                    can_sandbox=shutil.which("bwrap") is not None,
                    dropped=dropped_keys(os.environ),
                    search=_search(),
                    is_live=self._exact(command) is None or not shell.is_folder_certain,
                )
            )
        if action_id == "input":
            command = shell.check_input(params["text"])
            number = self.state.offset + command.number
            keys = (
                self.env.say("Types this, then Enter:")
                if params.get("enter", True)
                else self.env.say("Types this, without Enter:")
            )
            return Preview(
                f"{self.id}: [{number}] $ {one_line(command.text, 200)}",
                text=f"{keys}\n{params['text']}",
                verb="type",
            )
        return None

    @action(
        "Run a command; longer ones go on as a job",
        effect="write",
        says=["run {command}", "execute {command}", "运行 {command}", "执行 {command}"],
    )
    async def run(
        self, command: str, seconds: Annotated[float, Field(ge=0, le=3_600)] = 30.0
    ) -> Job:
        """Run a command.

        Args:
            command: A command line of the shell.
            seconds: How long to wait for its end.
        """
        shell = self._shell()
        who: Who = "person" if self.env.actor() == "person" else "model"
        argv = self._exact(command) if who == "model" else None  # a person means their aliases
        folder = shell.folder
        await shell.settle()
        if who == "model" and shell.folder != folder:  # what was allowed was to run it there
            raise ActionError(
                "The shell went to another folder before it could run the command. Call run "
                "again if the command should run there."
            )
        if argv is not None:
            started = await shell.run_exactly(argv, _search())
        else:
            started = await shell.run(command, who)
        return self._job(shell, started, seconds, quiet=who == "person")

    @action("Type into the program that runs", effect="write")
    async def input(self, text: str, enter: bool = True) -> str:
        """Type into the running program.

        Args:
            text: The text; no control characters but line feeds and tabs.
            enter: Whether to press Enter after it.
        """
        await self._shell().input(text, enter)
        await asyncio.sleep(0.3)  # for what it answers
        return self.env.say("Typed.")

    @action("Read lines of a command's output", effect="read")
    def page(
        self,
        command: int,
        start: Annotated[int, Field(ge=1)] = 1,
        lines: Annotated[int, Field(ge=1, le=_MOST_PAGE)] = _PAGE,
    ) -> str:
        spool = self._output(command)
        shown = spool.page(start - 1, lines)
        if not shown:
            return self.env.say(
                "It has no line {start}; there are {lines}.", start=start, lines=spool.lines
            )
        rows = [f"{start + number}: {one[: record.WIDEST]}" for number, one in enumerate(shown)]
        left = spool.left_out
        if left and start - 1 + len(shown) >= spool.lines:
            rows.append(self.env.say("({left:,} bytes were not kept)", left=left))
        return "\n".join(rows)

    @action("Find lines of a command's output", effect="read")
    def find(self, text: str, command: int | None = None) -> str:
        """Find lines that contain a text.

        Args:
            command: The number of the command; by default the last.
        """
        found = self._output(command or self._newest()).find(text)
        rows = [f"{at + 1}: {one[: record.WIDEST]}" for at, one in found]
        return "\n".join(rows) or self.env.say("Not found.")

    @action("Start a new shell")
    async def restart(self) -> str:
        """Start a new shell in the same folder; what ran before stays readable."""
        if self.state.shell is not None:
            await self.state.shell.close()
            self._record(self.state.shell, [])
        await self._start()
        return self.env.say("A new shell runs.")

    # --- helpers -----------------------------------------------------------------------

    def _shell(self) -> Shell:
        shell = self.state.shell
        if shell is None or shell.status is not None:
            raise ShellBusyError("The shell ended. restart starts a new one.")
        return shell

    def _newest(self) -> int:
        shell = self.state.shell
        count = shell.commands[-1].number if shell is not None and shell.commands else 0
        return self.state.offset + count

    def _output(self, number: int) -> Spool:
        """Return the whole output of a command: of this shell, or of one before it."""
        state, shell = self.state, self.state.shell
        for one in shell.commands if shell is not None else ():
            if state.offset + one.number == number and not one.spool.is_removed:
                return one.spool
        for ran in state.ran:
            if ran.number == number and SPOOL_NAME.fullmatch(ran.file):
                with suppress(OSError):  # it was removed, as the oldest are
                    return Spool.kept(Path(state.spool) / ran.file)
            elif ran.number == number and not ran.cut and not ran.full_screen:
                return Spool.of(ran.output)
        raise ActionError(
            "The whole output of command {number} is not kept any more, or there is no "
            "such command.",
            number=number,
        )

    def _exact(self, command: str) -> tuple[str, ...] | None:
        """Return the words of a command that no alias, function or PATH of the shell affects."""
        argv = split(command)
        if argv is None or "/" in argv[0] or locate(argv[0], _search(), self._root) is None:
            return None
        return argv

    def _job(self, shell: Shell, command: Command, seconds: float, quiet: bool = False) -> Job:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            end = shell.cancel
            loop.call_soon_threadsafe(lambda: self._keep(loop.create_task(end(only=command))))

        name = one_line(command.text, 80) or "command"
        job = self.env.job(
            name, lambda job: self._watch(job, shell, command), wait=seconds, quiet=quiet
        )
        job.on_cancel(stop)
        command.job = job.number
        self._show(shell)
        return job

    async def _watch(self, job: Job, shell: Shell, command: Command) -> CommandResult:
        ends = asyncio.ensure_future(shell.wait(command))
        _watched.add(command)
        try:
            last = ""
            while not ends.done():
                tail = command.transcript.tail
                text = next((one for one in reversed(tail) if one.strip()), "")
                if text != last:
                    job.progress(text=text)
                    last = text
                await asyncio.wait([ends], timeout=max(_BEAT, len(_watched) / _RATE))
        finally:
            _watched.discard(command)
            ends.cancel()
        await shell.report()  # the next command may be previewed at once
        return record.result_of(command, self.state.offset + command.number, self.env.words)

    def _keep(self, task: "asyncio.Task[None]") -> None:
        tasks = self.state.tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)


def _search() -> str:
    return os.environ.get("PATH", os.defpath)

"""A shell in a pseudo terminal, shared by person and model.

`Shell` runs on the event loop that starts it. It knows from the marks of `integration` which
command runs, and never types into another program. `output` reads what programs write.
"""

import asyncio
import codecs
import os
import re
import secrets
import signal
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from contextui import processes
from contextui.errors import ContextUIError, WindowBusyError
from contextui.text import one_line, quote
from contextui.windows.terminal.emulator import BRACKETED_PASTE, Emulator
from contextui.windows.terminal.integration import LONGEST_LINE, Integration, Mark
from contextui.windows.terminal.output import PIECE, OutputReader
from contextui.windows.terminal.record import Command, Who
from contextui.windows.terminal.sandbox import clean_environment, sandboxed
from contextui.windows.terminal.screen import Label
from contextui.windows.terminal.spool import SPOOLED, Spool

_INPUT_LIMIT = 1024 * 1024
_COMMANDS = 200
_SYNTAX_ERROR = 2
_ANSWERS = 16  # questions of programs that wait for an answer
_ANSWER_PAUSE, _ANSWER_TRIES = 0.02, 10  # seconds between two looks, and how often
_START = 3.0  # seconds for a shell to start a command, or to report its folder after one
_STARTED, _SETTLED = 20.0, 1.0  # seconds for its first prompt, and for one after a command
_SIGNALLED = 128  # plus the signal's number: the status of a command that a signal ended
_YOUNG = 1.0  # seconds within which a shell on a busy machine may not have started the program
_ECHO = 0.5  # seconds within which the screen shows what was typed
_UNREAD = 2.0  # seconds after which a program that reads nothing does not get the model's text
_NOTICED = 0.25  # seconds within which a shell that was stopped notices that its program ended
_LOOK, _LOOKS = 0.01, 300  # seconds between two looks at the terminal's owner, and how many

_LINE_ENDS = b"\r\n\x03\x04\x15\x1a\x1c"  # keys after which the kernel holds no line
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ShellError(ContextUIError):
    """A shell cannot do what was asked; the message says why."""


class ShellBusyError(ShellError, WindowBusyError):
    """A shell takes no command now; another one can."""


class Shell:
    """An interactive shell. Create it with `start`."""

    def __init__(
        self,
        process: processes.Process,
        integration: Integration,
        *,
        emulator: Emulator,
        folder: Path,
        spool: Path,
    ) -> None:
        self.emulator, self.folder = emulator, str(folder)
        self.status: int | None = None
        self.commands = deque[Command](maxlen=_COMMANDS)
        self._process, self._integration, self.pid = process, integration, process.pid
        self._spool = spool / secrets.token_hex(8)
        self._loop = asyncio.get_running_loop()
        self._listeners = list[Callable[[], None]]()
        self._waiters = list[tuple[Callable[[], bool], asyncio.Future[None]]]()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._closing = self._ended = self._recording = False
        self._input = bytearray()
        self._reports_starts = False
        self._at_prompt = False
        self._is_folder_reported = True  # since the last command
        self._home_group = 0
        self._prompt_end: tuple[int, int] | None = None
        self._typed, self._typed_at = False, 0.0
        self._begun = False  # whether the person's last key left a line in the kernel
        self._held: int | None = None  # the terminal's device, while the shell is stopped
        self._inputs = asyncio.Lock()
        self._answered = False  # whether the terminal answered since the last command started
        self._unanswered = 0
        self.running: Command | None = None
        self._pending: Command | None = None  # typed, but the shell has not started it
        self._submitted: Command | None = None  # the last one that was not typed key by key
        self._echo_lines = 0
        self._continued = 0
        self._count = 0
        self._last_status: int | None = None
        emulator.reply = self._answer
        self._output = OutputReader(
            process.terminal,
            integration,
            emulator,
            take=self._take,
            keep=self._keep,
            changed=self._notify,
        )
        self._watcher = self._loop.create_task(self._watch())
        self._cancelling: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        *,
        folder: Path,
        spool: Path,
        program: str = "",
        environ: Mapping[str, str] | None = None,
        size: tuple[int, int] = (24, 80),
        sandbox: Path | None = None,
    ) -> "Shell":
        """Start a shell on the running event loop.

        Args:
            spool: The folder for files with the whole output of commands.
            program: The shell; else `$SHELL`, else `/bin/sh`.
            sandbox: The only folder that its commands may change, if they run in a sandbox.
        """
        env = clean_environment(os.environ if environ is None else environ)
        path = processes.find_program(program or env.get("SHELL") or "/bin/sh", env)
        integration = Integration(path, env)
        env |= integration.env
        argv = integration.argv
        try:
            if sandbox is not None:
                argv = sandboxed(argv, sandbox, [integration.folder])
            process = await processes.start(argv, cwd=folder, env=env, pty=True, size=size)
        except BaseException:
            integration.remove()
            raise
        return cls(process, integration, emulator=Emulator(*size), folder=folder, spool=spool)

    @property
    def at_prompt(self) -> bool:
        """Whether the shell waits for a command, as its marks and the terminal's owner say."""
        if self._ended or not self._at_prompt or not self._home_group:
            return False
        # Without hooks, the mark after the prompt would end a command that was typed before it.
        if not self._reports_starts and self._prompt_end is None:
            return False
        return self._process.foreground() == self._home_group

    @property
    def is_folder_certain(self) -> bool:
        """Whether `folder` is where the next command runs, unless a running one changes that.

        A shell may not report it any more, and reports some characters as others.
        """
        is_reported = self._is_folder_reported or (self.running or self._pending) is not None
        return is_reported and not {"?", "\ufffd"} & {*self.folder}

    @property
    def unfinished_line(self) -> bool:
        """Whether the person has typed something at the prompt, or did just now.

        An answer of the terminal that its program did not read counts as well, and so does anything
        that the shell has not read yet: the screen cannot show it.
        """
        try:
            if self._unread():
                return True
        except OSError:  # nobody knows
            return True
        if not self._typed:
            return self._answered and self.emulator.position != self._prompt_end
        if time.monotonic() - self._typed_at < _ECHO:
            return True
        # Without line editing, the kernel holds the line: the screen may not show it.
        if self._prompt_end is None or not self._reports_starts:
            return True
        return self.emulator.position != self._prompt_end or bool(self.emulator.behind_cursor())

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function on the event loop whenever screen or commands may have changed."""
        self._listeners.append(listener)

    def resize(self, rows: int, columns: int) -> None:
        self.emulator.resize(rows, columns)
        if not self._ended:
            self._process.resize(rows, columns)

    # Input

    def type(self, data: bytes) -> None:
        self._release()
        self._write(data)
        self._begun = data[-1:] not in _LINE_ENDS
        enter = b"\r" in data or b"\n" in data
        # Keys before Enter at the prompt are a command; all others may begin a line.
        done = data[-1:] in (b"\r", b"\n", b"\x03")
        self._typed = not (done and (self._at_prompt or not self._reports_starts))
        self._typed_at = time.monotonic()
        if self._at_prompt and enter and self._pending is None:
            text = "" if self._reports_starts else self._text_on_screen(data)
            self._expect("person", text, 1)

    async def input(self, text: str, enter: bool = True) -> None:
        """Type the model's text into the program that runs. The shell never reads any of it.

        The kernel lets only the process group in the foreground read from a terminal. The shell,
        which is in another group, is stopped while the text waits to be read. What the program has
        not read is discarded before the shell goes on.
        """
        command = self.check_input(text)
        data = text.replace("\n", "\r").encode() + (b"\r" if enter else b"")
        async with self._inputs:
            try:
                await self._hold(command)
                if self._edits_lines:
                    self._check_lengths(text)
                self._write(data)
                is_read = await self._is_read(data)
            finally:
                self._release()
        if not is_read:
            await self._ends(command, _NOTICED)  # fish shows no prompt if Ctrl+C comes before that
            raise ShellError(
                "The program did not read all of the text; the rest was discarded. It may be "
                "busy, or read whole lines only (enter=true)."
            )

    def check_input(self, text: str) -> Command:
        if self.running is None:
            raise ShellError("No program is running. Use run.")
        self._check(text, empty=True)
        return self.running

    async def _hold(self, command: Command) -> None:
        """Stop the shell while a program of the command has the terminal, with nothing unread."""
        for _ in range(_LOOKS):
            if self._closing or self.running is not command:
                break
            if self._held is None:
                if self._has_program and not self._has_keys and not self._is_starting(command):
                    self._held = self._process.open_device()
                    processes.signal_group(self._home_group, signal.SIGSTOP)
            elif processes.is_stopped(self._home_group):
                if self._has_program:
                    return
                self._release()
            await asyncio.sleep(_LOOK)
        if self.running is command and self._has_program:
            raise ShellError(
                "The person has typed something that the program has not read yet. Wait until "
                "it has."
            )
        raise ShellError(
            "No program has the terminal: the command has ended, or the shell itself "
            "reads, as with its builtin read. Only the person can type there."
        )

    @property
    def _has_program(self) -> bool:
        return self._process.foreground() not in (0, self._home_group)

    def _is_starting(self, command: Command) -> bool:
        """Whether the shell may still be starting a program, which stopping it would prevent."""
        group = self._process.foreground()
        return command.seconds < _YOUNG and processes.is_copy(group, self._home_group)

    @property
    def _has_keys(self) -> bool:
        """Whether the person typed something that the program has not read."""
        return bool(self._unread()) or (self._begun and self._edits_lines)

    @property
    def _edits_lines(self) -> bool:
        """Whether programs read whole lines, which the kernel edits until Enter."""
        try:
            return bool(termios.tcgetattr(self._process.terminal)[3] & termios.ICANON)
        except termios.error:  # every process of the terminal has ended
            return True

    def _unread(self) -> int:
        device = self._process.open_device()
        try:
            return len(self._input) + processes.unread(device)
        finally:
            os.close(device)

    async def _is_read(self, data: bytes) -> bool:
        """Wait while a program reads what was typed; return whether it read everything."""
        left, since = len(data), time.monotonic()
        while self._held is not None:
            unread = len(self._input) + processes.unread(self._held)
            if not unread and (data.endswith(b"\r") or not self._edits_lines):
                return True
            if unread < left:
                left, since = unread, time.monotonic()
            elif time.monotonic() - since > _UNREAD:
                break
            await asyncio.sleep(_LOOK)
        return False

    def _release(self) -> None:
        """Discard what is unread of the model's text, then let the shell go on."""
        if self._held is None:
            return
        device, self._held = self._held, None
        self._clear_input()
        with suppress(termios.error):  # every process of the terminal has ended
            termios.tcflush(device, termios.TCIFLUSH)
        os.close(device)
        processes.signal_group(self._home_group, signal.SIGCONT)

    def _write(self, data: bytes) -> None:
        """Send bytes to the program in the terminal, without waiting until it reads them."""
        if self._ended:
            raise ShellError("The shell has ended.")
        if len(self._input) + len(data) > _INPUT_LIMIT:
            raise ShellError("The program in the terminal does not read its input.")
        if not self._input:
            self._loop.add_writer(self._process.terminal, self._writable)
        self._input += data

    def _answer(self, text: str) -> None:
        """Send what the terminal answers to the program that asked, if it reads answers.

        A file that is printed can contain questions too. `cat` reads no answer: the shell would
        read it, as keys, before its next command.
        """
        if self.running is None:  # the shell itself asks
            self._send_answer(text)
        elif self._unanswered < _ANSWERS:
            self._unanswered += 1
            self._try_answer(self.running, text, 0)

    def _try_answer(self, command: Command, text: str, tries: int) -> None:
        """Answer as soon as the command reads keys; a program may ask a moment before."""
        is_over = self._ended or self.running is not command
        if is_over or tries == _ANSWER_TRIES or self._reads_keys(tries):
            self._unanswered -= 1
            if not is_over and tries < _ANSWER_TRIES:
                self._send_answer(text)
            return
        self._loop.call_later(_ANSWER_PAUSE, self._try_answer, command, text, tries + 1)

    def _reads_keys(self, tries: int) -> bool:
        """Whether the running command reads single keys, as the terminal's modes say.

        If the shell itself has the terminal, it may be at its next prompt, which is not drawn yet.
        """
        is_certain = self._process.foreground() != self._home_group
        return not self._edits_lines and (is_certain or (tries >= 3 and self._output.is_idle))

    def _send_answer(self, text: str) -> None:
        if not self._ended and len(self._input) < 4096:
            self._answered = True
            self._write(text.encode())

    def _writable(self) -> None:
        try:
            del self._input[: os.write(self._process.terminal, self._input[:4096])]
        except BlockingIOError:
            return
        except OSError:  # the terminal is closed: the reader notices it too
            self._input.clear()
        if not self._input:
            self._loop.remove_writer(self._process.terminal)

    def _clear_input(self) -> None:
        if self._input:
            self._input.clear()
            self._loop.remove_writer(self._process.terminal)

    async def run(self, command: str, who: Who = "model") -> Command:
        """Type a command, and return it when it has started.

        Nothing is mixed with a line that the person has begun: it is their line, and clearing it
        could lose it.
        """
        self._check(command)
        return await self._submit(
            command, self._integration.line(command, is_typed=who == "person"), who
        )

    async def run_exactly(self, argv: Sequence[str], path: str) -> Command:
        """Run a program with exactly these words: no alias, function or expansion applies."""
        for word in argv:
            self._check(word, empty=True)
        program = processes.find_program(argv[0], {"PATH": path})
        words = [program, *argv[1:]]
        quoted = " ".join(map(self._integration.quote, words))
        return await self._submit(" ".join(argv), f" {quoted}")

    def _check(self, text: str, empty: bool = False) -> None:
        if not empty and not text.strip():
            raise ShellError("The command is empty.")
        if found := _CONTROL.search(text):
            name = f"U+{ord(found[0]):04X}"
            raise ShellError(
                "The text contains the control character {name}; only line feeds and tabs are "
                "allowed.",
                name=name,
            )

    async def _submit(self, text: str, line: str, who: Who = "model") -> Command:
        self._check_prompt()
        paste = self.emulator.mode(BRACKETED_PASTE)
        if not paste and "\t" in line:
            raise ShellError("This shell takes a tab as a key: use spaces.")
        if not paste:  # the shell would read it differently
            self._check_lengths(line)
        data = f"\x1b[200~{line}\x1b[201~" if paste else line.replace("\n", "\r")
        breaks = line.count("\n")
        self._continued = 0 if paste else -breaks
        self._write(data.encode() + b"\r")
        command = self._submitted = self._expect(who, text, breaks + 1)
        starting = self._loop.create_task(self._started(command))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:  # it is typed, and the shell will run it
            self._cancelling = self._loop.create_task(self._cancel_started(command, starting))
            raise
        return command

    async def _started(self, command: Command) -> None:
        try:
            async with asyncio.timeout(_START):
                await self._until(lambda: self._pending is not command or self._continued > 0)
        except TimeoutError:
            self._continued = 1
        if self._continued > 0 and self._pending is command:
            self._pending = None
            self._count -= 1
            self._at_prompt = False  # until the shell shows the next one
            self._write(b"\x03")
            raise ShellError(
                "The shell did not run the command: it is unfinished, such as by an open "
                "quote, or not valid in this shell."
            )

    async def _cancel_started(self, command: Command, starting: "asyncio.Task[None]") -> None:
        with suppress(ShellError):  # it did not start
            await starting
            if self.running is command:
                await self.cancel()

    def _check_prompt(self) -> None:
        if self._ended:
            raise ShellBusyError("The shell has ended.")
        if self._pending is not None or not self.at_prompt:
            what = self.running or self._pending
            if what and what.text:
                name = quote(what.text, 80)
                raise ShellBusyError(
                    "The shell is busy: {name} is running. Use another terminal, or open one.",
                    name=name,
                )
            raise ShellBusyError("The shell is not at its prompt.")
        if self.unfinished_line:
            raise ShellBusyError(
                "The person has begun to type a command in this terminal. Wait until they are "
                "done, or use another terminal."
            )

    def _check_lengths(self, text: str) -> None:
        if max(len(one.encode()) for one in text.split("\n")) > LONGEST_LINE:
            raise ShellError(
                "Lines of more than {longest_line} bytes cannot be typed here.",
                longest_line=LONGEST_LINE,
            )

    def _text_on_screen(self, data: bytes) -> str:
        typed = re.split(rb"[\r\n]", data)[0].decode("utf-8", "replace")
        shown = self.emulator.text_from(*self._prompt_end) if self._prompt_end else ""
        return one_line(shown + _CONTROL.sub("", typed), 4000)

    def _expect(self, who: Who, text: str, lines: int) -> Command:
        """Prepare the record of a command that was typed and should start now."""
        self._count += 1
        path = self._spool.with_name(f"{self._spool.name}-{self._count}.out")
        command = Command(self._count, text, who, folder=self.folder, spool=Spool(path))
        self._pending, self._echo_lines, self._recording = command, lines, True
        self._is_folder_reported = False
        if not self._reports_starts:
            self._start_command(text)
            self._echo_lines = lines
        return command

    async def wait(self, command: Command) -> None:
        await self._until(lambda: not command.running or self._ended)

    async def prompt(self) -> None:
        await self._until(lambda: self.at_prompt or self._ended)

    async def settle(self) -> None:
        """Wait a moment for a shell that has just started, or whose command has just ended.

        If it is still busy then, the shell itself says what is wrong.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLED if self.commands else _STARTED):
                await self.prompt()
                while self.at_prompt and self.unfinished_line:  # or it still draws its prompt
                    await asyncio.sleep(0.02)

    async def report(self) -> None:
        """Wait until a shell whose command has ended has reported its folder, or could have."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START):
                await self._until(lambda: self.is_folder_certain or self.at_prompt or self._ended)

    async def _until(self, condition: Callable[[], bool]) -> None:
        if not condition():
            waiter = self._loop.create_future()
            self._waiters.append((condition, waiter))
            await waiter

    # Ending

    async def cancel(self, patience: float = 2.0, only: Command | None = None) -> None:
        """End the running command: Ctrl+C, then SIGTERM and SIGKILL to its process group.

        If `only` is given, no other command is ended. The shell itself is never signalled: a
        command that it runs itself, such as a loop, gets Ctrl+C only.
        """
        command = self.running
        if command is None or only not in (None, command):
            return
        command.stopped = True
        if self._held is not None:
            self._release()
            if await self._ends(command, _NOTICED):
                return
        by_shell = self._process.foreground() == self._home_group
        self._write(b"\x03")
        if await self._ends(command, patience / 8):
            if by_shell and command.status is not None and command.status < _SIGNALLED:
                # Ended before its program started: zsh reports the status of the command before.
                command.status = _SIGNALLED + signal.SIGINT
            return
        if by_shell or command.seconds < _YOUNG:
            self._write(b"\x03")  # the shell got the first: it was about to start a program
        for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, patience / 2)):
            if await self._ends(command, seconds):
                return
            group = self._process.foreground()
            if group and group not in (self._home_group, self.pid):
                processes.signal_group(group, number)
                processes.signal_group(group, signal.SIGCONT)
            else:
                self._write(b"\x03")
        await self._ends(command, patience / 2)

    async def _ends(self, command: Command, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self.wait(command)
        except TimeoutError:
            return not command.running  # its end may have been read just now
        return True

    async def close(self) -> None:
        self._closing = True  # all processes are continued, in order to end
        self._release()
        await self._process.end()
        await asyncio.shield(self._watcher)

    async def _watch(self) -> None:
        """Wait for the end of the shell; then end its background jobs and read the rest."""
        self.status = await self._process.wait()
        self._release()
        await self._process.end()
        await self._output.finish()
        self._ended = True
        self._clear_input()
        os.close(self._process.terminal)
        self._end_command(None)
        self._pending = None
        self._integration.remove()
        self._notify()

    # Output

    def _take(self, item: bytes | Mark | bool) -> None:
        if isinstance(item, Mark):
            self._take_mark(item)
        elif isinstance(item, bool):
            self.emulator.feed(f"\x1b[?1049{'h' if item else 'l'}")
            if self.running is not None and item:
                self.running.full_screen = True
        else:
            self._show(item)

    def _show(self, data: bytes) -> None:
        if self._echo_lines:
            self.emulator.record(None)
        while self._echo_lines and data:  # what was typed comes back first
            end = data.find(b"\n") + 1
            echo, data = (data[:end], data[end:]) if end else (data, b"")
            self._echo_lines -= bool(end)
            self.emulator.feed(self._decoder.decode(echo))
        command = self._recorded()
        self.emulator.feed(self._decoder.decode(data))
        if command is not None and not self.emulator.alternate:
            command.spool.write(data)

    def _recorded(self) -> Command | None:
        """Return the command whose output arrives, if any, and record the screen for it."""
        command = (self.running or self._pending) if self._recording else None
        self.emulator.record(command.transcript if command is not None else None)
        return command

    def _keep(self, data: bytes) -> bytes:
        """Keep the bytes of skipped output; return those that are not in the transcript."""
        command = self._recorded()
        if command is None:
            return data
        self._echo_lines = 0
        command.spool.write(data)
        start = data[: 2 * PIECE]
        if not command.transcript.head_full:
            self.emulator.feed(self._decoder.decode(start))
            data = data[len(start) :]
        self._decoder.reset()
        command.transcript.skip(data.count(b"\n"))
        return data

    # Marks

    def _take_mark(self, mark: Mark) -> None:
        match mark.kind:
            case "V":
                self._reports_starts = mark.value == "starts"
            case "C":
                self._start_command(mark.value)
            case "E" if self.running is not None:
                self._recording = False
                self.emulator.record(None)
            case "D":
                self._last_status = int(mark.value) if mark.value.isdecimal() else None
                self._end_command(self._last_status)
            case "P":
                self.folder, self._is_folder_reported = mark.value, True
            case "2":  # the prompt for a further line of a command
                self._continued += 1
                command = self.running
                if command is not None and command is self._submitted and not self._reports_starts:
                    if self._continued > 0:
                        self._write(b"\x03")  # all lines were typed: it would wait for ever
                    command.restart()
            case "A":
                self._prompted()
            case "B":
                if self.running is not None:  # another program took over the other marks
                    self._end_command(None)
                self._at_prompt = True
                self._prompt_end = self.emulator.position
                self._typed_at = time.monotonic()  # what was typed ahead is shown from now on

    def _start_command(self, text: str) -> None:
        self._at_prompt = False
        command = self._pending or self._expect("person", "", 0)
        self._pending = None
        if self._reports_starts:
            # So far it recorded the echo of what was typed.
            command.restart()
            if command is not self._submitted and command.who == "person":
                shown = self.emulator.text_from(*self._prompt_end) if self._prompt_end else ""
                command.text = text or shown
        elif not command.text:
            self._count -= 1  # an empty line
            return
        self._echo_lines, self._recording, self._answered = 0, True, False
        self.running = command
        self._remember(command)

    def _remember(self, command: Command) -> None:
        if len(self.commands) == _COMMANDS:
            self.commands[0].spool.remove()
        self.commands.append(command)
        if self._prompt_end is not None:
            row, column = self._prompt_end
            self.emulator.label(row, Label(command.number, column))
        total = sum(one.spool.size for one in self.commands)
        for one in self.commands:
            if total <= SPOOLED or one is command:
                break
            total -= one.spool.size
            one.spool.remove()

    def _end_command(self, status: int | None) -> None:
        command, self.running = self.running, None
        if command is not None:
            self.emulator.record(None)
            command.end(status)

    def _prompted(self) -> None:
        if self._home_group == 0:
            self._home_group = self._process.foreground()
            self._integration.remove()
        self._end_command(self._last_status)
        command, self._pending = self._pending, None
        if command is not None:
            if command is self._submitted:  # the shell refused it: a syntax error
                self._remember(command)
                command.end(_SYNTAX_ERROR)
            else:
                self._count -= 1
        self._echo_lines = 0
        self.emulator.recover()
        self._at_prompt = True
        self._prompt_end, self._begun = None, False

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()
        waiters, self._waiters = self._waiters, []
        for condition, waiter in waiters:
            if waiter.done():
                continue
            if self._ended or condition():
                waiter.set_result(None)
            else:
                self._waiters.append((condition, waiter))

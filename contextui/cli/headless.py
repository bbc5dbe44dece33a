"""Run a single turn without a screen (`contextui -p`)."""

import asyncio
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from contextui.agent.controller import InteractionController
from contextui.agent.prompt import PreambleText
from contextui.cli import flags, watchdog
from contextui.cli.arguments import Arguments
from contextui.cli.console import error_text, finish, print_traceback, warn
from contextui.cli.flags import UsageError
from contextui.cli.output import JsonOutput, TextOutput, TurnReport, explained, output_for
from contextui.cli.setup import Assembly, assemble, desk_of
from contextui.events import (
    ActionRefused,
    CompactionFinished,
    Event,
    Notice,
    TurnFinished,
    WindowNotified,
    WindowNotOpened,
    WindowTroubled,
)
from contextui.files.errors import FileError
from contextui.files.textfile import detect
from contextui.interrupt import is_ignored
from contextui.session.session import Session
from contextui.session.usage import cost_of_session
from contextui.tokens import TokenCounter
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.words import Text, language, msg, t

_STDIN = "-"
_MOST_BYTES = 64_000_000  # of standard input; far more than any model accepts
_SILENCE = 3.0  # seconds after which an empty pipe is mentioned
_PATIENCE = 30.0  # seconds for a strategy's background work after the turn
_OPENING = 60.0  # seconds after the turn for windows that are still opening
_LOOK = 0.2  # seconds between checks for a signal while waiting for them
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(arguments: Arguments) -> int:
    """Run one turn, print it, and return the exit status."""
    own = "" if arguments.prompt == _STDIN else arguments.prompt or ""
    piped = _read_stdin() if arguments.prompt == _STDIN or _is_piped() else ""
    prompt = "\n\n".join(part for part in (own, piped) if part.replace("\0", "").strip())
    if not prompt:
        raise UsageError('The prompt is empty. Example: contextui -p "What is on my list?"')
    assembly = assemble(arguments)
    _check(prompt, assembly)
    with assembly.open_session(fork=arguments.fork) as session:
        workspace = session.windows.workspace
        form = arguments.output_format or "text"
        output = output_for(form, workspace, verbose=arguments.verbose)
        notices = _Notices(assembly.notices, session)
        controller = desk_of(arguments, assembly, session).controller
        seconds = assembly.loaded.settings.max_job_time
        turn = _take_turn(prompt, controller, notices, output, seconds, own=own)
        found = asyncio.run(turn)
    notices.print_new()  # closing may have found the log damaged
    return found or (flags.FAILED if session.unsaved else flags.DONE)


def _is_piped() -> bool:
    """Whether stdin is a pipe, a socket or a file, and neither a terminal nor /dev/null."""
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
    except (AttributeError, OSError):  # it is closed
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)):
        return False
    if not select.select([number], [], [], _SILENCE)[0]:
        warn(msg("Waiting for the end of stdin. If it is not for the prompt, add </dev/null"))
    return True


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError("stdin has more than {most} bytes.", most=f"{_MOST_BYTES:,}")
    try:
        return detect(data, "stdin").decode(data, "stdin")
    except FileError as error:
        raise UsageError(error.message) from error


def _check(prompt: str, assembly: Assembly) -> None:
    """Check that the prompt fits the budget, before anything is written."""
    budget, needed = assembly.loaded.settings.budget, TokenCounter.estimate(prompt)
    if needed > budget:
        raise UsageError(
            "The prompt has ~{needed} tokens and the budget is {budget}. "
            "Put it into a file and name that in a shorter prompt, or raise --budget.",
            needed=f"{needed:,}",
            budget=f"{budget:,}",
        )
    assembly.check_budget()


async def _take_turn(
    prompt: str,
    controller: InteractionController,
    notices: "_Notices",
    output: TextOutput | JsonOutput,
    job_seconds: float,
    *,
    own: str,
) -> int:
    interruption = _Interruption(controller)
    finished, broken = TurnFinished("failed"), None
    try:
        attached: Sequence[PreambleText] = ()
        if "@" in own:  # as in the screen, pasted text mentions no files
            attached = await controller.attachments.read(own)
        async for event in controller.run_turn(prompt, attached):
            if isinstance(event, TurnFinished):
                finished = event
            notices.collect(event)
            try:
                if broken is None:
                    output.handle(event)
                    notices.print_new()
            except OSError as error:
                broken = error
                controller.stop()  # the output is gone: cancel the turn
    except Exception as error:
        print_traceback(error)
        finished = replace(finished, reason="failed", explanation=error_text(error))
    session = notices.session
    waits = not finished.is_error and not interruption.signal
    if waits and (problem := await _await_opening(session, notices, interruption)):
        finished = replace(finished, reason="failed", explanation=problem)
    notices.end_turn(controller.unread_reports)
    await _await_jobs(session, notices, interruption, job_seconds)
    notices.print_final()
    explanation = explained(finished, controller.options, session)
    try:
        cost = finished.usage.cost  # None if the price is unknown
        if cost is not None:
            session.save()
            cost = cost_of_session(session.path) or cost
        printed, refused = tuple(notices.printed), tuple(notices.refused)
        if broken is None:
            output.end(TurnReport(finished, session, explanation, printed, refused, cost))
        if not interruption.signal:  # no later turn will finish the background work
            warn(*await controller.strategist.settle(_PATIENCE))
    finally:
        await controller.aclose()
    if broken is None:
        finish()  # a slow reader may take its time
    watchdog.end_soon()  # closing the event loop also waits for threads
    if broken is not None:
        raise broken
    if interruption.signal:
        return flags.SIGNALLED + interruption.signal
    return flags.FAILED if finished.is_error else flags.DONE


async def _await_opening(
    session: Session, notices: "_Notices", interruption: "_Interruption"
) -> str:
    """Wait for windows that are still opening: only open ones are saved.

    Returns:
        A message about those that did not open; empty if all did.
    """
    left = _OPENING
    while (waiting := await session.windows.await_opening(min(_LOOK, left))) and left > 0:
        if interruption.signal:
            break
        left -= _LOOK
    problems = [
        t("{window} did not open: {reason}", window=window_id, reason=reason)
        for window_id, reason in notices.not_opened.items()
    ]
    problems += [
        t(
            "{window} is still opening after {seconds} s and is not saved.",
            window=window_id,
            seconds=f"{_OPENING - max(left, 0):g}",
        )
        for window_id in waiting
    ]
    return "\n".join(problems)


async def _await_jobs(
    session: Session, notices: "_Notices", interruption: "_Interruption", seconds: float
) -> None:
    """Wait for the jobs that the turn left running; cancel those that take longer."""
    started = time.monotonic()

    def running() -> list[Window]:
        windows = session.windows.windows()
        return [
            one
            for one in windows
            if any(not job.is_quiet for job in runtime_of(one).jobs.running())
        ]

    while running() and not interruption.signal:
        if time.monotonic() - started >= seconds:
            break
        await asyncio.sleep(_LOOK)
    for window in running():
        notices.cancelled |= {
            (window.id, t("{name} was cancelled.", name=job.name))
            for job in runtime_of(window).jobs.running()
        }
        for name in runtime_of(window).jobs.cancel_all():
            notices.print(
                t("{name} was cancelled.", name=f"{window.id}: {name}")
                if interruption.signal
                else t(
                    "{name} was cancelled: it took longer than {seconds} s (max_job_time).",
                    name=f"{window.id}: {name}",
                    seconds=f"{seconds:g}",
                )
            )


class _Interruption:
    def __init__(self, controller: InteractionController) -> None:
        self.signal = 0  # the one that arrived
        self._controller = controller
        loop = asyncio.get_running_loop()
        for one in _SIGNALS:
            if not is_ignored(one):
                loop.add_signal_handler(one, self._on_signal, one)

    def _on_signal(self, number: int) -> None:
        if self.signal:
            os._exit(flags.SIGNALLED + number)  # the log is consistent at any moment
        self.signal = number
        self._controller.stop()


class _Notices:
    def __init__(self, before: Sequence[Text], session: Session) -> None:
        self.session, self.printed, self.refused = session, list[str](), list[ActionRefused]()
        self.troubles = dict[str, str]()  # the last of each window in this turn
        self.not_opened = dict[str, str]()
        self.is_over = False  # from then on, the model does not read what windows report
        self.cancelled = set[tuple[str, str]]()  # reports of windows that are printed otherwise
        self._reported = list[WindowNotified]()
        session.windows.subscribe(self._on_window_event)
        self._seen = 0
        for notice in before:
            self.print(notice)
        self.print_new()

    def _on_window_event(self, event: Event) -> None:
        if isinstance(event, WindowNotOpened):
            self.not_opened[event.window_id] = event.reason
        elif isinstance(event, WindowNotified) and not self.is_over:
            self._reported.append(event)
        elif isinstance(event, WindowNotified):
            self._print_report(event)

    def _print_report(self, report: WindowNotified) -> None:
        if (report.window_id, report.text) not in self.cancelled:
            self.print(f"{report.window_id}: {report.text}")

    def end_turn(self, unread: str) -> None:
        """Print what windows reported after the model's last request, and what they will."""
        self.is_over = True
        for report in self._reported:
            if report.text in unread:
                self._print_report(report)

    def collect(self, event: Event) -> None:
        """Collect what the report of the turn needs; the output prints it."""
        match event:
            case Notice(text):
                self.printed.append(text)
            case CompactionFinished(result) if result is not None and not result.success:
                self.printed.append(result.text(language()))
            case ActionRefused():
                self.refused.append(event)
            case WindowTroubled(window_id, reason):
                self.troubles[window_id] = reason

    def print_new(self) -> None:
        new = self.session.notices[self._seen :]
        self._seen += len(new)
        for notice in new:
            self.print(notice)

    def print_final(self) -> None:
        """Print what is known only at the end: failing windows, and what is not saved."""
        self.session.save()
        self.print_new()
        for window_id, reason in self.troubles.items():
            if self.session.windows.get(window_id):  # otherwise the failed call reported it
                self.print(f"{window_id} {reason}")
        if self.session.unsaved:  # no later turn can save it
            self.print(
                t(
                    "This turn was not saved completely: "
                    "contextui -c resumes without the missing part."
                )
            )

    def print(self, notice: Text) -> None:
        """Print a notice to stderr, and keep it for JSON output."""
        text = t(notice)
        self.printed.append(text)
        warn(text)

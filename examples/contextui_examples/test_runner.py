"""Test runner window: a job with live progress, and failures that open the editor."""

import asyncio
import os
import shlex
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from contextui import ActionError, Body, Button, Element, Job, Lod, Preview, Window, action
from contextui.secrets import own_secrets
from contextui.text import one_line
from contextui_examples.report import Failure, Report, lines_from

_PYTEST = (sys.executable, "-m", "pytest", "-v", "--tb=short", "--color=no")
_SHOWN, _SECONDS = 20, 2.0  # failures that are shown; seconds between two looks at the output
Seconds = Annotated[int, Field(ge=1, le=3_600)]


class RunnerWindow(Window):
    """Runs the tests of the workspace with pytest, after the person has agreed."""

    name = "test_runner"
    description_zh = "用 pytest 运行工作区的测试，运行前会询问。"
    job_conflicts = False  # a run changes the window all the time

    class State(Window.State):
        command: str = ""
        result: str = ""
        failures: list[Failure] = []
        tail: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if not state.command:
            return say("No tests have run yet.", "还没有运行测试。")
        if lod is Lod.GIST:
            return state.result
        shown = [Element("run", state.result, command=state.command)]
        for number, one in enumerate(state.failures[:_SHOWN], 1):
            place = f"{one.path}:{one.line}" if one.path else None
            reason = f"{one.name}: {one_line(one.reason, 200)}"
            shown.append(Element("failure", reason, id=number, at=place))
        if lod is Lod.FULL and state.tail:
            shown.append(Element("output", "\n".join(state.tail)))
        return shown

    def anchors(self, lod: Lod) -> Iterable[Button]:
        for number, one in enumerate(self.state.failures[:_SHOWN], 1):
            if lod is Lod.FULL and one.path:
                label = one_line(f"{one.path}:{one.line} {one.name}", 60)
                yield Button(f"failure-{number}", "show", {"failure": number}, label=label)

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "run":
            return None
        target, folder = shlex.join(self._argv(params)), self.env.workspace.root
        return Preview(target, text=self.env.say(f"In {folder}", f"在 {folder}"), verb="run")

    @action("Run the tests", "write", zh="运行测试", says=["test it", "跑测试"])
    def run(self, args: str = "", command: str | None = None, seconds: Seconds = 600) -> Job:
        """Run the tests.

        Args:
            args: Arguments for pytest, such as a path or -k name.
            command: Another command, which is run without a shell.
            seconds: The time limit.
        """
        if self.env.jobs():
            raise ActionError(self.env.say("Tests are running already.", "测试正在运行。"))
        argv = self._argv({"args": args, "command": command})

        async def work(job: Job) -> str:
            report = Report()
            try:
                async with asyncio.timeout(seconds):
                    result = await self._follow(job, argv, report)
            except TimeoutError:  # the process ends with the job
                result = self.env.say(f"Stopped after {seconds} s", f"{seconds} 秒后停止")
            await self._keep(argv, report, result)
            return self.state.result

        return self.env.job(self.env.say("tests", "测试"), work, wait=30.0)

    async def _follow(self, job: Job, argv: list[str], report: Report) -> str:
        secret = {name for name, _ in own_secrets(1)}  # the model reads what the tests print
        env = {name: value for name, value in os.environ.items() if name not in secret}
        process = await self.env.process(argv, env=env, stderr=asyncio.subprocess.STDOUT)
        assert process.stdout is not None
        kept = time.monotonic()
        async for line in lines_from(process.stdout):
            report.read(line)
            failed = self.env.say(f"{report.failed} failed", f"{report.failed} 个失败")
            job.progress(report.done, report.total or None, failed)
            if time.monotonic() - kept > _SECONDS:  # each commit is written to the log
                await self._keep(argv, report, self.env.say(f"{failed} so far", f"目前 {failed}"))
                kept = time.monotonic()
        return f"exit {await process.wait()}" if not report.summary else report.summary

    async def _keep(self, argv: list[str], report: Report, result: str) -> None:
        async with self.env.change():
            self.state.command, self.state.result = shlex.join(argv), one_line(result, 200)
            self.state.failures, self.state.tail = list(report.failures), list(report.tail)

    @action("Open a failure in the editor", "read", zh="在编辑器中打开失败处")
    def show(self, failure: int) -> str:
        if not 1 <= failure <= len(self.state.failures):
            raise ActionError(self.env.say("There is no such failure.", "没有这个失败。"))
        one = self.state.failures[failure - 1]
        return self.env.open_file(one.path, one.line)

    def _argv(self, params: Mapping[str, Any]) -> list[str]:
        try:
            if command := params.get("command"):
                return shlex.split(command) or [""]
            return [*_PYTEST, *shlex.split(params.get("args", ""))]
        except ValueError as error:
            raise ActionError(f"The command cannot be read: {error}.") from error

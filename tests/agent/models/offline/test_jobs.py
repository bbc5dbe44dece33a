"""Names of several words, and the actions of running jobs that no window lists."""

import asyncio
import threading
from pathlib import Path

from contextui import Body, Job, Lod, Window, action
from contextui.words import Lang
from tests.agent.models.offline.talk import Talk


class LineFeed(Window):
    """Lines as they come in."""

    description_zh = "逐行到来的文本。"

    class State(Window.State):
        lines: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"{n}. {one}" for n, one in enumerate(self.state.lines, 1)) or "None."

    @action("Add a line", zh="添加一行")
    def add(self, text: str) -> str:
        self.state.lines.append(text)
        return f"Added {text}."


class HyphenFeed(LineFeed):
    """Lines as they come in."""

    name = "line-feed"


class BuildWindow(Window):
    """Builds the project and runs its tests."""

    name = "build"
    awaited = threading.Event()  # a job goes on until then
    description_zh = "构建项目并运行测试。"

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"{n}. part {n}" for n in range(1, 4))

    @action("Build everything", zh="构建全部")
    async def make(self) -> Job:
        return self._job(self.env.say("build", "构建"))

    @action("Run the tests", zh="运行测试")
    async def test(self) -> Job:
        return self._job(self.env.say("tests", "测试"))

    def _job(self, name: str) -> Job:
        async def work(_: Job) -> None:
            while not self.awaited.is_set():
                await asyncio.sleep(0.01)

        self.awaited.clear()
        return self.env.job(name, work, wait=0)


class BookingWindow(BuildWindow):
    """Seats that are booked."""

    name = "booking"

    @action("Cancel a seat", zh="取消座位")
    def cancel(self, seat: int) -> str:
        return f"Seat {seat} is free."


def test_a_name_of_two_words_may_be_joined_or_not(tmp_path: Path) -> None:
    for cls, words in (
        (LineFeed, "open line-feed"),
        (HyphenFeed, "open the line feed"),
        (LineFeed, "打开 line-feed"),
        (HyphenFeed, "打开line_feed窗口"),
    ):
        lang: Lang = "en" if words.isascii() else "zh"
        with Talk(tmp_path, lang, (cls,)) as talk:
            assert talk.say(words).calls == (f"create {cls.name}",), words


def test_a_window_is_addressed_by_a_name_of_two_words(tmp_path: Path) -> None:
    for cls, words, call in (
        (LineFeed, "close the line-feed", "close"),
        (HyphenFeed, "line-feed: add x", "add text=x"),
        (LineFeed, "add x to the line-feed", "add text=x"),
        (HyphenFeed, "关闭 line-feed", "close"),
        (LineFeed, "line-feed：添加 x", "add text=x"),
    ):
        with Talk(
            tmp_path, "en" if words.isascii() else "zh", (cls,), opened={cls.name: {}}
        ) as talk:
            talk.windows.open("todo", items=["milk"])
            assert talk.say(words).calls == (f"{cls.name}_1.{call}",), words


def said(folder: Path, words: str, *actions: str, of: str = "build") -> tuple[str, ...]:
    with Talk(folder, "en" if words.isascii() else "zh", (BuildWindow, BookingWindow)) as talk:
        talk.on_call = lambda call: BuildWindow.awaited.set() if ".wait" in call else None
        talk.windows.open(of)
        for action_id in actions:
            talk.act(f"{of}_1", action_id)
        return talk.say(words).calls


def test_a_job_is_cancelled_or_waited_for(tmp_path: Path) -> None:
    for words, call in (
        ("cancel the build", "cancel job=1"),
        ("stop it", "cancel"),
        ("cancel", "cancel"),
        ("wait for the build", "wait"),
        ("wait 5 seconds", "wait seconds=5"),
        ("取消构建", "cancel job=1"),
        ("停止任务 1", "cancel job=1"),
        ("等构建结束", "wait"),
        ("等 5 秒", "wait seconds=5"),
    ):
        assert said(tmp_path, words, "make") == (f"build_1.{call}",), words


def test_of_two_jobs_the_named_one_is_meant(tmp_path: Path) -> None:
    for words, calls in (
        ("cancel the tests", ["cancel job=2"]),
        ("cancel the build and wait until the tests are done", ["cancel job=1", "wait"]),
        ("取消构建，等测试结束", ["cancel job=1", "wait"]),
    ):
        assert said(tmp_path, words, "make", "test") == tuple(f"build_1.{one}" for one in calls), (
            words
        )


def test_of_two_jobs_none_is_cancelled_unless_it_is_named(tmp_path: Path) -> None:
    for words in ("cancel", "cancel the milk", "停掉它"):
        assert said(tmp_path, words, "make", "test") == (), words


def test_a_job_goes_on_unless_its_end_is_wanted(tmp_path: Path) -> None:
    for words in (
        "never mind",
        "do not cancel the build",
        "is the build done?",
        "cancel the party",
        "等一下",
        "不要取消构建",
        "构建完成了吗？",
    ):
        assert said(tmp_path, words, "make") == (), words


def test_without_a_job_there_is_nothing_to_cancel(tmp_path: Path) -> None:
    for words in ("cancel the build", "wait for the build", "取消构建"):
        assert said(tmp_path, words) == (), words


def test_a_word_of_courtesy_waits_for_nothing(tmp_path: Path) -> None:
    assert said(tmp_path, "wait, close the build", "make") == ("build_1.close",)


def test_an_action_of_the_window_comes_first(tmp_path: Path) -> None:
    assert said(tmp_path, "cancel seat 1", "make", of="booking") == ("booking_1.cancel seat=1",)


def test_an_answer_to_a_question_cancels_no_job(tmp_path: Path) -> None:
    with Talk(
        tmp_path, "en", (BuildWindow,), opened={"todo": {"items": ["milk", "milk tea"]}}
    ) as talk:
        talk.windows.open("todo", items=["milk"])
        talk.windows.open("build")
        talk.act("build_1", "make")
        asked = talk.say("todo: add")
        assert "?" in asked.text, asked
        assert talk.say("cancel").calls == ()


def test_lines_are_counted_as_without_a_job(tmp_path: Path) -> None:
    with Talk(tmp_path, "en", (BuildWindow,), opened={"build": {}}) as talk:
        talk.act("build_1", "make")
        assert "part 2" in talk.say("what is the second one?").text
        assert "build" in talk.say("what does the build window show?").text

"""Counts are exact where they can be, and there is always a count."""

import argparse
import doctest
import logging
import math
import os
import random
import subprocess
import sys
import textwrap
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from pydoc_data.topics import topics
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextui import tokens
from contextui.tokens import TokenCounter

ROOT = Path(__file__).parents[1]
timeless = settings(deadline=None)  # neither loading nor a busy machine is a failure


@dataclass(frozen=True)
class Said:
    role: str
    content: str | Sequence[Mapping[str, object]]


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter()


def by_length() -> TokenCounter:
    return TokenCounter(encode=len)


def unsplit(text: str) -> int:
    return len(tokens._load_encoding().encode_ordinary(text))


def english() -> str:
    return "".join(topics.values())


def chinese() -> str:
    choose = random.Random(7)
    phrases = ["帮我创建一个待办列表", "窗口里的内容", "今天天气很好", "模型", "数据库𠀀", "第3章"]
    return "".join(choose.choice(phrases) + choose.choice("，。！、：（）") for _ in range(60_000))


def code() -> str:
    return Path(argparse.__file__).read_text() + Path(typing.__file__).read_text()


def test_documented_examples_hold() -> None:
    assert doctest.testmod(tokens).failed == 0


class TestCount:
    def test_is_the_vocabulary_s_own(self, counter: TokenCounter) -> None:
        for text, expected in (
            ("", 0),
            ("tiktoken is great!", 6),
            ("antidisestablishmentarianism", 6),
            ("2 + 2 = 4", 7),
            ("お誕生日おめでとう", 9),
        ):
            assert counter.count(text) == expected, text
            assert counter.exact, text

    def test_cutting_long_text_changes_nothing(self, counter: TokenCounter) -> None:
        for source in (english, chinese, code):
            text = source()[:200_000]
            assert len(text) > 2 * tokens._LONGEST_PIECE, source
            assert counter.count(text) == unsplit(text), source

    def test_endless_runs_are_counted(
        self, counter: TokenCounter, capfd: pytest.CaptureFixture[str]
    ) -> None:
        for text in (" " * 300_000 + "x", "a" * 300_000, "\n" * 300_000, "中" * 300_000):
            assert 0 < counter.count(text) <= len(text), text[:9]
            assert counter.exact, text[:9]
            assert capfd.readouterr().err == "", text[:9]

    def test_special_tokens_are_plain_text(self, counter: TokenCounter) -> None:
        assert counter.count("<|endoftext|>") > 1
        assert counter.exact

    @timeless
    @given(st.text(st.characters(exclude_categories=())))
    def test_any_text_has_a_count(self, text: str) -> None:
        counter = TokenCounter()
        assert counter.count(text) >= (1 if text else 0)
        assert counter.exact


class TestLoading:
    def test_is_lazy_and_needs_no_network(self) -> None:
        script = """
            import socket, sys

            class NoSocket(socket.socket):
                def __init__(self, *args, **kwargs):
                    raise AssertionError("the network was asked for")

            socket.socket = NoSocket
            from contextui.tokens import TokenCounter
            counter = TokenCounter()
            assert "tiktoken" not in sys.modules
            assert counter.count("Hello, world!") == 4
            assert counter.exact
        """
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )


class PanicException(BaseException):
    """Named like the tokenizer's own, which cannot be imported."""


class TestFallback:
    @pytest.fixture
    def uncached(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tokens, "_load_encoding", tokens._load_encoding.__wrapped__)

    def assert_estimates(self, counter: TokenCounter, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING, "contextui.tokens"):
            assert counter.count("abcde") == 2
            assert counter.count("帮我创建一个待办列表") == 7
        assert not counter.exact
        assert [record.name for record in caplog.records] == ["contextui.tokens"]

    @pytest.mark.usefixtures("uncached")
    def test_when_the_data_is_damaged(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(tokens, "_RANKS_SHA256", "0" * 64)
        self.assert_estimates(TokenCounter(), caplog)
        assert "damaged" in caplog.text

    @pytest.mark.parametrize("error", [PanicException("stack"), ValueError(), MemoryError()])
    def test_when_the_tokenizer_fails(
        self, error: BaseException, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(text: str) -> int:
            raise error

        self.assert_estimates(TokenCounter(encode=fail), caplog)

    def test_an_interrupt_is_no_failure(self) -> None:
        def interrupt(text: str) -> int:
            raise KeyboardInterrupt

        counter = TokenCounter(encode=interrupt)
        with pytest.raises(KeyboardInterrupt):
            counter.count("abc")
        assert counter.exact


class TestCountMessages:
    def test_counts_what_costs_tokens(self) -> None:
        for content, texts in (
            ("hello", ["hello"]),
            ([], []),
            ([{"type": "text", "text": "hi"}], ["hi"]),
            ([{"type": "thinking", "thinking": "hm", "signature": "xyz"}], ["hm"]),
            (
                [{"type": "tool_use", "id": "t1", "name": "create", "input": {"b": "中", "a": 1}}],
                ["create", '{"b":"中","a":1}'],
            ),
            ([{"type": "tool_result", "tool_use_id": "t1", "content": "done"}], ["done"]),
            ([{"type": "tool_result", "content": [{"type": "text", "text": "a"}] * 2}], ["a", "a"]),
            ([{"type": "tool_result", "tool_use_id": "t1"}], []),
            ([{"type": "other", "x": [1, 2]}], ['{"type":"other","x":[1,2]}']),
            ([{"type": "text"}], ['{"type":"text"}']),
            (
                (MappingProxyType({"type": "x", "y": MappingProxyType({"z": Path("p")})}),),
                ['{"type":"x","y":{"z":"p"}}'],
            ),
        ):
            assert by_length().count_content(content) == len("".join(texts)), content

    def test_is_the_sum_of_overheads_and_contents(self, counter: TokenCounter) -> None:
        messages = [
            Said("user", "Add milk."),
            Said("assistant", ({"type": "tool_use", "name": "action", "input": {"id": 1}},)),
        ]
        expected = sum(
            4 + counter.count(message.role) + counter.count_content(message.content)
            for message in messages
        )
        assert counter.count_messages(messages) == expected
        assert counter.count_messages([]) == 0


class TestShouldCompact:
    def test_starts_at_the_threshold(self) -> None:
        assert not TokenCounter.should_compact(102_399, 128_000)
        assert TokenCounter.should_compact(102_400, 128_000)

    @timeless
    @given(st.integers(1, 10**18), st.integers(0, 100))
    def test_is_exact_for_every_maximum(self, max_tokens: int, percent: int) -> None:
        bound = math.floor(Fraction(percent, 100) * max_tokens)
        assert TokenCounter.should_compact(bound, max_tokens, percent / 100)
        assert not TokenCounter.should_compact(bound - 1, max_tokens, percent / 100)


class TestEstimate:
    def test_weighs_by_kind_of_character(self) -> None:
        for text, expected in (
            ("", 0),
            ("abcd", 1),
            ("abcde", 2),
            ("你好world", 3),
            ("帮我创建一个待办列表", 7),
            ("こんにちは", 4),
            ("안녕하세요", 4),
            ("，。！", 2),
            ("𠀀𠀁𠀂", 2),
            ("éàüö", 1),
        ):
            assert TokenCounter.estimate(text) == expected, text


class TestCalibration:
    def test_approaches_what_the_provider_reports(self) -> None:
        counter = by_length()
        counter.calibrate(1000, 1200)
        first = counter.ratio
        for _ in range(50):
            counter.calibrate(1000, 1200)
        assert 1.0 < first < counter.ratio
        assert counter.ratio == pytest.approx(1.2)
        assert counter.calibrated(101) == 122

    def test_ignores_reports_of_nothing(self) -> None:
        for counted, reported in ((0, 10), (10, 0), (-1, 10), (10, -1)):
            counter = by_length()
            counter.calibrate(counted, reported)
            assert counter.ratio == 1.0, counted

    @timeless
    @given(st.lists(st.tuples(st.integers(), st.integers())))
    def test_stays_in_bounds(self, reports: list[tuple[int, int]]) -> None:
        counter = by_length()
        for counted, reported in reports:
            counter.calibrate(counted, reported)
        assert 0.5 <= counter.ratio <= 2.0


def test_room_is_what_the_provider_would_count_as_the_budget() -> None:
    counter = TokenCounter(encode=len)
    assert counter.room_in(1_000) == 1_000
    for _ in range(50):
        counter.calibrate(100, 125)
    room = counter.room_in(1_000)
    assert 799 <= room <= 801
    assert counter.calibrated(room) <= 1_000


def test_an_image_costs_the_same_however_large_its_data() -> None:
    counter = TokenCounter(encode=len)
    small = {"type": "image", "source": {"type": "base64", "data": "x"}}
    large = {"type": "image", "source": {"type": "base64", "data": "x" * 1_000_000}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [large]}
    counts = {counter.count_content([block]) for block in (small, large, result)}
    assert counts == {1_600}

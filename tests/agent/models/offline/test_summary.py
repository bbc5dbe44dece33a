"""Summaries without a model: sentences as they were said, under the headings asked for."""

import pytest

from contextui.agent.models.offline.summary import asked_headings, summary
from contextui.model import LlmMessage
from tests.agent.models.offline.test_model import called, request, result, text, user, window, words

TALK = (
    user(window(), "I want to plan a party. We decided to invite ten people."),
    called(("create", {"name": "todo"})),
    user(result("Opened todo_1."), result("There is no \"cake.txt\".", 1, is_error=True)),
    LlmMessage("assistant", (text("Done. The list is in plans/party.md."),)),
    user("We still need a cake."),
)  # fmt: skip


def section(whole: str, heading: str) -> list[str]:
    part = whole.split(f"## {heading}\n")[1].split("\n\n## ", maxsplit=1)[0]
    return [line.removeprefix("- ") for line in part.splitlines()]


def test_each_heading_gets_the_sentences_that_fit_it() -> None:
    whole = summary(TALK, ["Goal", "Decisions", "Files", "Errors", "Next steps", "Weather"], "en")
    assert section(whole, "Goal") == [
        "I want to plan a party.",
        "We decided to invite ten people.",
        "We still need a cake.",
    ]
    assert section(whole, "Decisions") == ["We decided to invite ten people."]
    assert "The list is in plans/party.md." in section(whole, "Files")
    assert 'There is no "cake.txt".' in section(whole, "Errors")
    assert "We still need a cake." in section(whole, "Next steps")
    assert section(whole, "Weather") == ["(none)"]


def test_every_sentence_was_said_like_that() -> None:
    whole = summary(TALK, ["Requests", "Results", "Open"], "en")
    said = str([message.content for message in TALK])
    for line in whole.splitlines():
        if line.startswith("- "):
            assert line.removeprefix("- ") in said


def test_windows_are_no_sentences() -> None:
    assert "to-do" not in summary(TALK, ["Requests", "List"], "en")


def test_it_is_made_when_a_request_without_tools_asks_for_a_summary() -> None:
    ask = "Summarize the conversation under these headings:\n1. Goal: what they want\n## Errors"
    asked = request(*TALK[:-1], user("We still need a cake.", ask), tools=False)
    said = words(asked)
    assert said.startswith("## Goal\n- I want to plan a party.")
    assert "## Errors" in said
    assert "Summarize" not in said


def test_there_are_default_headings() -> None:
    said = words(request(*TALK[:-1], user("Please summarize our talk"), tools=False))
    assert [line for line in said.splitlines() if line.startswith("## ")] == [
        "## What was asked", "## What was done", "## Problems", "## What is open",
    ]  # fmt: skip
    assert "- Opened todo_1." in said


def test_the_default_headings_are_translated() -> None:
    said = words(request(*TALK[:-1], user("请总结一下我们的对话"), tools=False))
    headings = [line for line in said.splitlines() if line.startswith("## ")]
    assert len(headings) == 4
    assert not any(line.isascii() for line in headings)


def test_of_a_long_conversation_the_beginning_and_the_end_are_kept() -> None:
    long = [user(f"I want thing number {number}.") for number in range(100)]
    lines = section(summary(long, ["Requests"], "en"), "Requests")
    assert lines[0] == "I want thing number 0."
    assert lines[-1] == "I want thing number 99."
    assert len(lines) == 12


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Summarize our talk:\n## Goal\n## Errors", ("Goal", "Errors")),
        ("请总结：\n1. 目标：想做什么\n2. 文件", ("目标", "文件")),
        ("What is on my list?", None),
    ],
)
def test_headings_are_read_from_the_request(text: str, headings: tuple[str, ...] | None) -> None:
    assert asked_headings(text) == headings

"""Whatever it is sent, the offline model answers, and soon."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextui.agent.models.offline.model import answer_to
from contextui.agent.models.offline.reading.words import tokens_of
from contextui.agent.tools import TOOLS
from contextui.model import LlmMessage, ModelRequest
from tests.agent.models.offline.test_model import MILK, SYSTEM, events_of, text, user, window

PIECES = st.sampled_from(
    ["add ", "delete ", "the second one", " milk", ", ", " and ", "then ", "open ", "a list", "?",
     "“", "'", ":", "\n", "```", "3", "-5", "1e999", "9" * 30, "todo_1", "a/b.txt", "it", "of ",
     "把", "第二个", "加上", "牛奶", "，", "、", "然后", "删除", "清单", "一", "倒数第", "第99个",
     "all ", "close ", "every minute", "before ", "not ", "\ud83d", "\0", "<Window ", "é", "🙂"]
)  # fmt: skip
WORDS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    PLAIN,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=8), one, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "text", "content", "tool_use_id", "id", "name", "input", "is_error"]
)
KINDS = st.sampled_from(["text", "tool_use", "tool_result", "create", "action"])
MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.lists(st.dictionaries(KEYS, JSON | KINDS, max_size=5), max_size=3),
    ),
    max_size=6,
)
CAREFREE = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)


def answered(request: ModelRequest) -> None:
    answer = answer_to(request)
    assert answer.blocks
    for block in answer.blocks:
        assert block["type"] == "tool_use" or block["text"].strip()


@CAREFREE
@given(WORDS)
def test_any_words_get_an_answer(words: str) -> None:
    blocks = (text(window(content=MILK)), text(window(2)), text(words))
    answered(ModelRequest(SYSTEM, (LlmMessage("user", blocks),), TOOLS["en"]))


@CAREFREE
@given(WORDS)
def test_tokens_stand_in_order_and_say_what_the_text_says(words: str) -> None:
    end = 0
    for token in tokens_of(words):
        assert end <= token.start <= token.end <= len(words)
        end = token.end


@CAREFREE
@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_declaration_and_any_block_get_an_answer(
    system: str, params: str, label: str, content: str
) -> None:
    declared = f"<Windows>\n  <class name='x' args={params!r}>{label}</class>\n</Windows>"
    block = (
        f"<Window id='x_1' version='{label}'><Description>{content}</Description><Content>"
        f"{content}</Content><Actions><action id='{label}' params='{params}'>{label}</action>"
        "</Actions></Window>"
    )
    for prompt in (system, f"{system}\n{declared}"):
        answered(ModelRequest(prompt, (user(block, f"{label} x with 3"),), TOOLS["en"]))


@CAREFREE
@given(MESSAGES, st.booleans())
def test_messages_of_any_shape_get_an_answer(turns: list[tuple[Any, Any]], tools: bool) -> None:
    messages = tuple(LlmMessage(role, tuple(blocks)) for role, blocks in turns)
    answered(ModelRequest(SYSTEM, messages, TOOLS["en"] if tools else ()))


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "中",
        "add milk and ",
        "“",
        "'a ",
        "```",
        "1",
        "a.",
        "，加上牛奶",
        "delete 1, ",
        "\n- x",
        "a:",
    ],
)
@pytest.mark.long
def test_a_megabyte_of_words_is_read_in_one_pass(piece: str) -> None:
    # Only the head is read word by word, so that the work does not grow with the words.
    whole = piece * (1_000_000 // len(piece))
    head, twice = tokens_of(whole[: len(whole) // 2]), tokens_of(whole)
    assert len(head) == len(twice) <= 1_600
    answered(ModelRequest(SYSTEM, (user(window(content=MILK), whole),), TOOLS["en"]))


def test_long_text_is_kept_whole_as_a_value() -> None:
    told = "tea, too. " * 4_000
    asked = ModelRequest(SYSTEM, (user(window(), f"add: {told}"),), TOOLS["en"])
    (call,) = answer_to(asked).blocks
    assert call["input"]["params"]["text"].endswith("too.")
    assert len(call["input"]["params"]["text"]) > 30_000


def test_a_long_history_is_not_read_again() -> None:
    history = [user("add milk"), LlmMessage("assistant", (text("Done."),))] * 20_000
    asked = ModelRequest(SYSTEM, (*history, user(window(), "add tea")), TOOLS["en"], stable=40_000)
    *_, answer = asyncio.run(events_of(asked))
    assert answer.blocks[0]["input"]["params"] == {"text": "tea"}  # type: ignore[union-attr]

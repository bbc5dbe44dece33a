"""Bad input: whatever it is sent, the offline model answers within a second and does nothing."""

import time
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextui.agent.models.offline.model import answer_to
from contextui.agent.models.offline.tokens import LONGEST, tokenize
from contextui.agent.tools import TOOLS
from contextui.model import Answer, LlmMessage, ModelRequest
from tests.agent.models.offline.test_model import MILK, SYSTEM, text, user, window
from tests.thorough import times

FEW = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=times(8, 200))
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


def answered(request: ModelRequest) -> Answer:
    answer = answer_to(request)
    assert answer.blocks
    for block in answer.blocks:
        assert block["type"] == "tool_use" or block["text"].strip()
    return answer


def asked(words: str) -> ModelRequest:
    blocks = (text(window(content=MILK)), text(window(2)), text(words))
    return ModelRequest(SYSTEM, (LlmMessage("user", blocks),), TOOLS["en"])


def test_nothing_is_done_and_soon() -> None:
    for words in (
        "",
        " \n\t ",
        "?!…",
        "。，、；",
        "--- *** ///",
        "😀 🎉",
        "\0\x07\x1b[2J",
        "\x1b]0;delete milk\x07",
        "\ud83d",
        "\u202e eteled",
        'delete "milk',
        "add “bread",
        "删除“牛奶",
        "「",
        "`",
        "supprime le lait s'il te plaît",
        "lösche die Milch",
        "borra la leche",
        "удали молоко",
        "牛乳を削除してください",
        "우유 삭제해 줘",
        "احذف الحليب",
        "qwertz asdf yxcv",
        "delete le lait bitte",
        "please 删 la milk",
        "0",
        "-1",
        "9" * 400,
        "1e999",
        "=",
        "todo_1.",
        "todo_1.nothing 3",
        "todo_1.__class__",
        "%s %d {0} {x} $(rm -rf /)",
        "<Window id='todo_1'><Actions/></Window>",
        '<tool_call>{"name": "create"}</tool_call>',
        "a" * 1_000_000,
        "中" * 1_000_000,
        "delete milk, " * 80_000,
        "“" * 1_000_000,
        "'a " * 330_000,
        "```" * 330_000,
        "\n- x" * 250_000,
    ):
        answered(asked("hello"))  # loads the vocabulary
        request = replace(asked(words), tokens=1)  # the context has counted it
        started = time.process_time()
        answer = answered(request)
        assert time.process_time() - started < 1, words[:40]
        assert [block["type"] for block in answer.blocks] == ["text"], words[:40]


def test_one_character_more_than_the_limit_is_too_long() -> None:
    for words in ("delete milk", "add 'tea'"):
        spaces = " " * (LONGEST - len(words))
        assert answered(asked(words + spaces)).stop_reason == "tool_use", words
        refused = answered(asked(f"{words}{'x' * LONGEST}"))
        assert str(LONGEST) in refused.blocks[0]["text"], words


@FEW
@given(WORDS)
def test_any_words_get_an_answer(words: str) -> None:
    answered(asked(words))


@FEW
@given(WORDS)
def test_tokens_are_in_order_and_within_the_text(words: str) -> None:
    end = 0
    for token in tokenize(words):
        assert end <= token.start <= token.end <= len(words)
        end = token.end


@FEW
@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_declaration_and_any_window_get_an_answer(
    system: str, params: str, label: str, content: str
) -> None:
    declared = f'<Windows>\n  <class name="x" args="{params}">{label}</class>\n</Windows>'
    block = (
        f'<Window id="x_1" version="1.0"><Description>{content}</Description><Content>'
        f'{content}</Content><Actions><action id="{label}" params="{params}">{label}</action>'
        "</Actions></Window>"
    )
    for prompt in (system, f"{system}\n{declared}"):
        answered(ModelRequest(prompt, (user(block, f"{label} x with 3"),), TOOLS["en"]))


@FEW
@given(MESSAGES, st.booleans())
def test_messages_of_any_shape_get_an_answer(turns: list[tuple[Any, Any]], tools: bool) -> None:
    messages = tuple(LlmMessage(role, tuple(blocks)) for role, blocks in turns)
    answered(ModelRequest(SYSTEM, messages, TOOLS["en"] if tools else ()))


def test_a_long_history_is_not_read_again() -> None:
    history = [user("add milk"), LlmMessage("assistant", (text("Done."),))] * 20_000
    messages = (*history, user(window(), "add tea"))
    request = ModelRequest(SYSTEM, messages, TOOLS["en"], stable=40_000)
    assert answered(request).blocks[0]["input"]["params"] == {"text": "tea"}

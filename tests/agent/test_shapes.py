"""The checker of requests finds what the provider would refuse, and nothing else."""

import copy
from collections.abc import Callable
from typing import Any

from tests.agent.shapes import violations

MARK = {"cache_control": {"type": "ephemeral"}}
GOOD: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief.", **MARK}],
    "tools": [
        {"name": "action", "description": "Acts.", "input_schema": {"type": "object"}, **MARK}
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Go.", **MARK}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "s"},
                {"type": "text", "text": "I will. "},
                {"type": "tool_use", "id": "a", "name": "action", "input": {"cache_control": 1}},
                {"type": "tool_use", "id": "b", "name": "action", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": ""},
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [{"type": "text", "text": "\\u0000 is no NUL", **MARK}],
                    "is_error": True,
                },
                {"type": "text", "text": "Well?"},
            ],
        },
    ],
}

Change = Callable[[Any, list[Any], list[Any], list[Any]], object]
CHANGES: list[tuple[str, Change]] = [
    ("max_tokens is 0", lambda p, *_: p.update(max_tokens=0)),
    ("max_tokens is True", lambda p, *_: p.update(max_tokens=True)),
    ("no messages", lambda p, *_: p.update(messages=[])),
    ("neither text nor text blocks", lambda p, *_: p.update(system=" ")),
    ("system.0: the text is empty", lambda p, *_: p.update(system=[{"type": "text", "text": ""}])),
    ("two tools are called action", lambda p, *_: p["tools"].append(p["tools"][0])),
    ("'a b' is no name", lambda p, *_: p["tools"][0].update(name="a b")),
    ("schema is not that of an object", lambda p, *_: p["tools"][0].update(input_schema={})),
    ("no JSON", lambda p, _, answer, __: answer[2]["input"].update(x=float("nan"))),
    ("no JSON", lambda p, _, answer, __: answer[2]["input"].update({"\ud800": 1})),
    ("no JSON", lambda p, first, *_: first[0].update(text="\udc00")),
    ("no JSON", lambda p, first, *_: first[0].update(text=b"x")),
    ("NUL", lambda p, first, *_: first[0].update(text="\0")),
    ("NUL", lambda p, _, answer, __: answer[2]["input"].update({"\\\0": 1})),
    ("messages.0 is of the assistant", lambda p, *_: p["messages"].pop(0)),
    ("messages.0 is of the system", lambda p, *_: p["messages"][0].update(role="system")),
    ("not the user's", lambda p, *_: p["messages"].pop()),
    ("messages.0 is not made of blocks", lambda p, *_: p["messages"][0].update(content="Go.")),
    ("messages.0 is not made of blocks", lambda p, *_: p["messages"][0].update(content=[])),
    ("the text is empty", lambda p, first, *_: first[0].update(text=" \n")),
    ("text is no text", lambda p, first, *_: first[0].update(text=None)),
    ("type None cannot stand here", lambda p, first, *_: first.append({})),
    ("type None cannot stand here", lambda p, first, *_: first.append("words")),
    ("type 'tool_use' cannot stand", lambda p, first, answer, _: first.append(answer[2])),
    ("type 'thinking' cannot stand", lambda p, first, answer, _: first.append(answer[0])),
    ("type 'tool_result' cannot stand", lambda p, _, answer, last: answer.append(last[0])),
    ("thinking has the fields", lambda p, _, answer, __: answer[0].pop("signature")),
    ("thinking has the fields", lambda p, _, answer, __: answer[0].update(index=0)),
    ("signature is no text", lambda p, _, answer, __: answer[0].update(signature=None)),
    ("ends in thinking", lambda p, _, answer, __: answer.append(answer[0])),
    ("'a.b' is no id", lambda p, _, answer, __: answer[2].update(id="a.b")),
    ("'' is no id", lambda p, _, answer, __: answer[2].update(id="")),
    ("'a.b' is no name", lambda p, _, answer, __: answer[2].update(name="a.b")),
    ("the input is no object", lambda p, _, answer, __: answer[2].update(input=[])),
    ("uses an id again", lambda p, _, answer, __: answer[2].update(id="b")),
    ("uses an id again", lambda p, *_: p["messages"].extend(p["messages"][1:])),
    ("['a', 'b'] have no results", lambda p, *_: p["messages"].pop()),
    ("answers ['a'], asked was ['a', 'b']", lambda p, _, __, last: last.pop(0)),
    ("answers ['b', 'b', 'a']", lambda p, _, __, last: last.insert(0, last[0])),
    ("answers ['x']", lambda p, first, _, last: first.insert(0, {**last[0], "tool_use_id": "x"})),
    ("does not begin with its results", lambda p, _, __, last: last.reverse()),
    ("is_error is 1", lambda p, _, __, last: last[0].update(is_error=1)),
    ("an error needs content", lambda p, _, __, last: last[0].update(is_error=True)),
    ("an error needs content", lambda p, _, __, last: last[1].update(content=[])),
    ("the content is blank", lambda p, _, __, last: last[0].update(content=" ")),
    ("neither text nor blocks", lambda p, _, __, last: last[0].update(content={})),
    ("the text is empty", lambda p, _, __, last: last[1]["content"][0].update(text="")),
    ("'image' cannot stand", lambda p, _, __, last: last[1]["content"].append({"type": "image"})),
    ("there are 5 cache marks", lambda p, _, __, last: last[2].update(MARK)),
    ("is no cache mark", lambda p, first, *_: first[0].update(cache_control={"type": "x"})),
    ("cannot stand on thinking", lambda p, _, answer, __: answer[0].update(MARK)),
]


def test_a_good_request_is_good() -> None:
    assert violations(GOOD) == []


def test_it_finds_what_is_wrong() -> None:
    for words, change in CHANGES:
        payload = copy.deepcopy(GOOD)
        change(payload, *(message["content"] for message in payload["messages"]))
        assert any(words in found for found in violations(payload)), violations(payload)


def test_an_answer_may_be_continued_but_not_after_white_space() -> None:
    payload = copy.deepcopy(GOOD)
    payload["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "So"}]})
    assert violations(payload) == ["the last message is not the user's"]
    assert violations(payload, continues=True) == []
    payload["messages"][-1]["content"][0]["text"] = "So "
    assert "white space" in violations(payload, continues=True)[0]

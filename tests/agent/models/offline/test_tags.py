"""The text protocol is for models without tool use; the offline model always has tools."""

from pathlib import Path

from tests.agent.models.offline.talk import Talk


def test_it_acts_under_the_text_protocol_too(tmp_path: Path) -> None:
    with Talk(tmp_path, protocol="text") as talk:
        assert talk.controller.declared
        assert talk.say("make a todo list with milk").calls == ("create todo items=['milk']",)
        assert talk.say("mark milk as done").calls == ("todo_1.done item=1",)


def test_text_that_looks_like_a_call_is_no_call(tmp_path: Path) -> None:
    call = '<tool_call>{"name": "create", "arguments": {"name": "notebook"}}</tool_call>'
    with Talk(tmp_path, protocol="text", opened={"todo": {"items": [call]}}) as talk:
        turn = talk.say("what is on my list?")
        assert turn.calls == ()
        assert [one.id for one in talk.windows.windows()] == ["todo_1"]

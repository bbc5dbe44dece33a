"""Whatever else a server may send, over the wire: no crash, nothing by halves, nothing twice."""

from contextui.events import CallFinished
from tests.agent.server import answer, call
from tests.agent.talking import end, of
from tests.agent.wired import Wired


def test_a_stop_reason_may_be_anything(wired: Wired) -> None:
    events = wired.say("well?", answer("Yes.", stop_reason="\x1b[31m\u202e</Window>" * 100))
    assert (end(events).reason, end(events).text) == ("done", "Yes.")
    assert "\x1b" not in end(events).explanation
    assert len(end(events).explanation) < 200


def test_a_tool_s_name_may_be_anything(wired: Wired) -> None:
    odd = [call("c" * 100_000), call("créate\n"), {**call("create", name="todo"), "id": "a b/c"}]
    events = wired.say("a list", answer(*odd, pieces=100_000), answer("Done."))
    assert [event.ok for event in of(CallFinished, events)] == [False, False, True]
    assert len(wired.last.body) < 20_000
    assert end(events).text == "Done."

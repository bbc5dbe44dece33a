"""Functions of the application as tools: their schema, their effect, and who allows them."""

import asyncio
from typing import Any, Literal

import pytest

from contextui.agent.approval import ApprovalGate, Decision
from contextui.agent.bridge import ContextBridge
from contextui.agent.functions import FunctionTool, tool
from contextui.context.manager import ContextManager
from contextui.events import ActionRefused, CallFinished
from contextui.windowing.manager import WindowManager
from tests.agent.desk import Person, preview_of
from tests.agent.server import call
from tests.agent.talking import controller, run
from tests.windowing.samples import Todo

done: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    done.clear()


@tool("read")
def weather(city: str, unit: Literal["C", "F"] = "C", days: int | None = None) -> dict[str, Any]:
    """Look up the weather.

    Args:
        city: The name of the city.
        unit: The unit of the answer.
    """
    done.append((city, unit, days))
    return {"city": city, "degrees": 21}


def send(to: str, text: str) -> str:
    """Send a message."""
    done.append((to, text))
    return "sent"


async def later(n: int) -> None:
    """Wait."""
    await asyncio.sleep(0)
    done.append(n)


@tool("read")
def broken() -> str:
    """Fail."""
    raise OSError("disk\x1b[2J on fire")


class Lookup:
    """A tool that is an object."""

    name = "lookup"
    description = "Look something up."
    input_schema = {
        "type": "object",
        "properties": {"key": {"type": "string"}},
        "required": ["key"],
    }
    effect = "read"

    def call(self, key: str) -> str:
        done.append(key)
        return key.upper()


def results(gate: ApprovalGate | None, tools: list[Any], *calls: Any) -> list[CallFinished]:
    talk = controller([*calls], "Done.", tools=tools, approval=gate)
    return [one for one in run(talk, "Go.") if isinstance(one, CallFinished)]


def test_the_schema_follows_from_signature_and_docstring() -> None:
    declared = FunctionTool.of(weather).declared
    assert declared.name == "weather"
    assert declared.description == "Look up the weather."
    properties = declared.input_schema["properties"]
    assert properties["city"]["type"] == "string"
    assert properties["city"]["description"] == "The name of the city."
    assert properties["unit"]["enum"] == ["C", "F"]
    assert declared.input_schema["required"] == ["city"]
    talk = controller("Hi.", tools=[weather])
    assert [one.name for one in talk.declared] == ["create", "action", "read_file", "weather"]


def test_a_function_that_reads_runs_without_a_question() -> None:
    (one,) = results(ApprovalGate("read-only"), [weather], call("weather", city="Rome"))
    assert (one.ok, one.text) == (True, '{"city": "Rome", "degrees": 21}')
    assert done == [("Rome", "C", None)]


def test_an_undeclared_function_is_refused_if_nobody_answers() -> None:
    for gate in (None, ApprovalGate("ask"), ApprovalGate("read-only")):
        (one,) = results(gate, [send], call("send", to="ann", text="hi"))
        assert not one.ok
        assert "send was not carried out" in one.text
    assert done == []


def test_the_person_sees_all_arguments_and_is_asked_each_time() -> None:
    person = Person("always", "always")
    gate = ApprovalGate("ask", person)
    calls = [call("send", to="ann", text="x" * 500), call("send", to="bob", text="你好")]
    assert [one.ok for one in results(gate, [send], *calls)] == [True, True]
    assert [one.name for one in person.questions] == ["send", "send"]
    first, second = map(preview_of, person.questions)
    assert "x" * 500 in first.text
    assert "你好" in second.text
    assert done == [("ann", "x" * 500), ("bob", "你好")]


def test_a_refused_call_is_a_result_with_the_persons_words() -> None:
    gate = ApprovalGate("ask", Person(Decision("no", "not now")))
    talk = controller([call("send", to="a", text="b")], "I see.", tools=[send], approval=gate)
    events = run(talk, "Go.")
    (refused,) = [one for one in events if isinstance(one, ActionRefused)]
    assert refused.action == "send"
    (one,) = [one for one in events if isinstance(one, CallFinished)]
    assert not one.ok
    assert "not now" in one.text
    assert done == []


def test_only_the_effect_read_runs_without_a_question() -> None:
    cases: list[Any] = ["write", "state", "READ", "", None]
    for effect in cases:
        one = Lookup()
        one.effect = effect
        (found,) = results(None, [one], call("lookup", key="a"))
        assert not found.ok, effect
        assert done == [], effect


def test_objects_and_coroutines_are_tools() -> None:
    first, second = results(
        ApprovalGate("auto"), [Lookup(), later], call("lookup", key="a"), call("later", n=3)
    )
    assert (first.text, second.text) == ("A", "Done.")
    assert done == ["a", 3]


def test_errors_are_results() -> None:
    for name, value, words in (
        ("weather", {}, "city"),
        ("weather", {"city": "Rome", "unit": "K"}, "unit"),
        ("weather", {"city": "Rome", "more": 1}, "more"),
        ("lookup", {"key": 1}, "key"),
        ("broken", {}, "broken failed: OSError: disk"),
    ):
        tools = [weather, Lookup(), broken]
        (one,) = results(ApprovalGate("auto"), tools, call(name, **value))
        assert not one.ok, name
        assert words in one.text, name
        assert "\x1b" not in one.text, name
        assert done == [], name


async def test_a_key_in_an_error_does_not_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "correct-horse-battery")

    @tool("read")
    def leak() -> str:
        """Fail."""
        raise OSError("401 for correct-horse-battery")

    found = await FunctionTool.of(leak).run({}, ApprovalGate("ask"), "en")
    assert "correct-horse-battery" not in found.text
    assert "401 for ***" in found.text


def test_what_cannot_be_a_tool_is_an_error_at_once() -> None:
    def create(name: str) -> None: ...
    def several(*names: str) -> None: ...

    for wrong in ([create], [several], [weather, weather], ["text"], [lambda: 1], [Lookup]):
        with pytest.raises(ValueError, match=r"tool"):
            controller(tools=wrong)


def test_the_text_protocol_declares_them_in_the_prompt() -> None:
    talk = controller("Hi.", tools=[weather], tool_protocol="text")
    assert "weather {" in talk.install_prompt().content


async def test_the_bridge_has_them_too() -> None:
    context = ContextManager(WindowManager([Todo]))
    bridge = ContextBridge("claude-x", context=context, tools=[weather])
    bridge.say("How is it in Rome?")
    assert await bridge.pending()
    assert "weather" in [one["name"] for one in bridge.request()["tools"]]
    await bridge.take({"content": [call("weather", city="Rome")]})
    assert done == [("Rome", "C", None)]


def stops() -> int:
    """Take the first of nothing."""
    return next(iter(()))


def leaves() -> None:
    """End the program."""
    raise SystemExit(3)


def by_place() -> dict[tuple[int, int], str]:
    """Return what JSON cannot write."""
    return {(1, 2): "x"}


def test_nothing_that_a_function_does_ends_or_blocks_the_turn() -> None:
    for function, said in (
        (stops, "stops failed: RuntimeError: StopIteration"),
        (leaves, "leaves failed: RuntimeError: SystemExit"),
        (by_place, "{(1, 2): 'x'}"),
    ):
        ran = FunctionTool.of(function).run({}, ApprovalGate("auto"), "en")
        assert asyncio.run(asyncio.wait_for(ran, 10)).text == said, function

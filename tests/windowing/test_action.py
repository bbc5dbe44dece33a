"""Declaring actions: what is right is listed, what cannot work fails where it is written."""

from contextui import ActionResult, ContextUIError, WindowManager, action
from tests.windowing.samples import Counter, Stage, Todo


def test_actions_are_listed_in_the_order_of_their_declaration() -> None:
    assert list(Todo.actions) == ["add", "delete"]
    assert (Todo.actions["add"].label, str(Todo.actions["add"].params)) == (
        "添加条目",
        "text:string",
    )
    assert [one.effect for one in Counter.actions.values()] == ["state", "read"]


def test_actions_are_inherited_those_of_the_base_first() -> None:
    class More(Counter):
        @action("Reset", effect="write")
        def reset(self) -> None: ...

    assert list(More.actions) == ["up", "report", "reset"]
    assert list(Counter.actions) == ["up", "report"]


def test_an_override_keeps_its_place_and_may_stop_being_an_action() -> None:
    class Quiet(Counter):
        @action("Say")
        def report(self) -> str:
            return "no"

        def up(self, by: int = 1) -> str:
            return ""

    assert {name: one.label for name, one in Quiet.actions.items()} == {"report": "Say"}


def test_phrasings_are_kept_with_the_action_and_inherited() -> None:
    class More(Stage):
        """Files to commit."""

    for cls in (Stage, More):
        assert cls.actions["add"].says == ("zustage {file}", "暂存 {file}")
        assert cls.actions["commit"].says == ()


def test_phrasings_are_not_in_what_models_read() -> None:
    class Without(Stage):
        """Files to commit."""

        name = "stage"

        @action("Add a file")
        def add(self, file: str) -> None: ...

    xml = [WindowManager([cls]).open("stage").to_xml() for cls in (Stage, Without)]
    assert xml[0] == xml[1]
    assert "zustage" not in xml[0]


def test_a_failed_result_is_bounded_and_fit_for_a_model() -> None:
    result = ActionResult.failed(ContextUIError("x\0\ud800" * 100_000))
    assert not result.ok
    assert len(result.text) < 5_000
    assert result.text.startswith("x␀\ufffdx")

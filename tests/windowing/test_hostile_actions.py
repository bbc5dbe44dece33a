"""Actions that raise or leave nonsense behind: rolled back, with the reason."""

from typing import Any, ClassVar

import pytest
from pydantic import field_validator

from contextui import Body, Lod, Window, WindowManager, action
from contextui.errors import ActionError, InvalidSourceDataError
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import Counter, act


@pytest.mark.usefixtures("neighbour")
class TestActions:
    @pytest.mark.parametrize("way", ["raised", "reported", "job"])
    def test_a_key_in_the_reason_does_not_reach_the_model(
        self, windows: WindowManager, monkeypatch: pytest.MonkeyPatch, way: str
    ) -> None:
        key = "correct-horse-battery"
        monkeypatch.setenv("SERVICE_API_KEY", key)

        class Leaking(Counter):
            @action("Fail")
            def raised(self) -> None:
                raise OSError(f"401 for {key} and Bearer 5f3a9c27e1d84b60")

            @action("Report")
            def reported(self) -> None:
                raise ActionError(f"No access with {key}.")

            @action("Fail in a job")
            def job(self) -> Any:
                async def work(_: Any) -> None:
                    self.raised()

                return self.env.job("work", work, wait=10)

        result = act(windows, windows.open(Leaking), way)
        assert not result.ok
        assert "***" in result.text
        assert key not in result.text
        assert "5f3a9c27e1d84b60" not in result.text

    def test_that_return_too_much_are_cut_and_fit_for_a_model(self, windows: WindowManager) -> None:
        class Loud(Counter):
            max_content = 10

            @action("Shout")
            def shout(self) -> str:
                return "a\0\ud800" * 1000

        assert act(windows, windows.open(Loud), "shout").text == (
            "a␀\ufffda␀\ufffda␀\ufffda\n… 2990 more characters left out"
        )

    def test_whose_state_refuses_to_go_back_fail_with_that(self, windows: WindowManager) -> None:
        class Once(Window):
            class State(Window.State):
                text: str = ""
                refused: ClassVar[bool] = False

                @field_validator("text")
                @classmethod
                def _check(cls, value: str) -> str:
                    if cls.refused:
                        raise ValueError("never again")
                    return value

            state: State

            def content(self, lod: Lod) -> Body:
                return "fine"

            @action("Break")
            def smash(self) -> None:
                type(self.state).refused = True
                raise ValueError("smashed")

        once = windows.open(Once)
        result = act(windows, once, "smash")
        assert isinstance(result.error, InvalidSourceDataError)
        assert "cannot be rolled back" in result.text


def test_no_window_says_more_than_there_is_room_for() -> None:
    """FAULTS 49: what a window gives is bounded, whatever its author allows."""

    class Loud(Counter):
        max_content = 10**9

        def content(self, lod: Lod) -> Body:
            return "c" * 5_000_000

        @action("Shout")
        def shout(self) -> str:
            return "s" * 5_000_000

        @action("Refuse")
        def refuse(self) -> str:
            raise ActionError("r" * 5_000_000)

    windows = WindowManager([Loud])
    loud = windows.open("loud")
    loud.description = "d" * 5_000_000
    assert len(runtime_of(loud).renders.at(Lod.SUMMARY).xml) < 2_010_000
    assert len(act(windows, loud, "shout").text) < 2_010_000
    refused = act(windows, loud, "refuse")
    assert not refused.ok
    assert len(refused.text) < 210_000

"""The labels of the built-in windows' actions are there in Chinese."""

from contextui.windowing.finding.registry import discover


def test_what_the_actions_of_the_built_in_windows_are_about_is_there_in_chinese() -> None:
    sent = {
        action.label: action.labelled("zh")
        for cls in discover().classes()
        if cls.__module__.startswith("contextui.")
        for action in cls.actions.values()
    }
    assert [label for label, chinese in sent.items() if chinese.isascii()] == []


def test_what_the_built_in_windows_are_for_is_there_in_chinese() -> None:
    ours = [cls for cls in discover().classes() if cls.__module__.startswith("contextui.")]
    assert [cls.name for cls in ours if not cls.description_zh] == []

"""What the built-in windows and their actions are for is there in Chinese."""

from contextui.windowing.finding.registry import discover


def test_the_built_in_windows_and_their_actions_are_described_in_chinese() -> None:
    ours = [cls for cls in discover().classes() if cls.__module__.startswith("contextui.")]
    actions = [action for cls in ours for action in cls.actions.values()]
    assert [one.label for one in actions if one.labelled("zh").isascii()] == []
    assert [cls.name for cls in ours if cls.described("zh").isascii()] == []

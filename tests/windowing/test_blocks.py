"""Forms of a window's block: references to actions, and blocks that say only what changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.windowing.blocks import actions_of, applied, change_block, parts_of, with_reference
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from tests.windowing.samples import act

ACTIONS = '  <Actions>\n    <action id="add" params="text:string">Add</action>\n  </Actions>'


def block(content: str, version: str = "1.0.0", description: str = "A list.") -> str:
    return (
        f'<Window id="todo_1" version="{version}" lod="Full">\n'
        f"  <Description>{description}</Description>\n"
        f"  <Content>{content}</Content>\n{ACTIONS}\n</Window>"
    )


def items(*texts: str) -> str:
    rows = "".join(f'\n    <item id="{at}">{text}</item>' for at, text in enumerate(texts, 1))
    return f"{rows}\n  "


def test_a_change_names_only_what_changed() -> None:
    many = [f"thing {number}" for number in range(40)]
    old, new = block(items(*many)), block(items(*many, "bread"), "2.0.0")
    change = change_block(old, new)
    assert change == (
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\n'
        "@@ -41 +41,2 @@\n"
        '     <item id="40">thing 39</item>\n'
        '+    <item id="41">bread</item>\n'
        "</Window>"
    )
    assert applied(old, change) == new


def test_removed_lines_show_the_place_without_context() -> None:
    many = [f"thing {number}" for number in range(40)]
    edited = [*many[:4], "bread", *many[5:20], *many[22:]]
    old, new = block("\n".join(many)), block("\n".join(edited), "2.0.0")
    change = change_block(old, new)
    assert change == (
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\n'
        "@@ -5 +5 @@\n-thing 4\n+bread\n"
        "@@ -21,2 +20,0 @@\n-thing 20\n-thing 21\n"
        "</Window>"
    )
    assert applied(old, change) == new


def test_what_is_new_at_the_top_needs_no_context() -> None:
    many = [f"thing {number}" for number in range(40)]
    old, new = block("\n".join(many)), block("\n".join(["bread", *many]), "2.0.0")
    change = change_block(old, new)
    assert change is not None
    assert "@@ -0,0 +1 @@\n+bread\n</Window>" in change
    assert applied(old, change) == new


def test_long_lines_that_are_known_are_cut_off() -> None:
    many = [f"line {number} of a text with many words in it, {'more ' * 10}" for number in range(9)]
    edited = [*many[:4], "Other words. " * 20, *many[5:8], "bread", many[8]]
    old, new = block("\n".join(many)), block("\n".join(edited), "2.0.0")
    change = change_block(old, new)
    assert change == (
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\n'
        f"@@ -5 +5 @@\n-{many[4][:40]}…\n+{edited[4]}\n"
        f"@@ -8 +8,2 @@\n {many[7][:40]}…\n+bread\n"
        "</Window>"
    )
    assert applied(old, change) == new
    with pytest.raises(ValueError, match="line 5"):
        applied(old.replace("line 4", "line 0"), change)


def test_the_parts_are_the_block() -> None:
    xml = block("a <b/> </Content> x")
    assert "".join(parts_of(xml)) == xml
    assert parts_of(xml).content == "a <b/> </Content> x"
    assert actions_of(xml) == ACTIONS.strip()


def test_a_list_of_actions_is_replaced_with_a_reference() -> None:
    xml = with_reference(block(items("milk")), "todo_2")
    assert xml.endswith('  <Actions ref="todo_2"/>\n</Window>')
    assert parts_of(xml).content == items("milk")


LINES = st.lists(
    st.text(alphabet=st.sampled_from("ab +-@<>\\\t é中…"), max_size=6)
    | st.text(alphabet=st.sampled_from("ab…"), min_size=59, max_size=62),
    max_size=30,
)


@given(LINES, LINES)
def test_any_change_is_read_as_it_was_written(before: list[str], after: list[str]) -> None:
    old, new = block("\n".join(before)), block("\n".join(after), "2.0.0")
    change = change_block(old, new)
    assert change is None or applied(old, change) == new


@given(LINES, st.data())
def test_a_small_change_of_a_long_text_is_a_block(lines: list[str], data: st.DataObject) -> None:
    long = [f"line {number}" for number in range(60)] + lines
    at = data.draw(st.integers(0, len(long)))
    changed = [*long[:at], *data.draw(LINES), *long[at + data.draw(st.integers(0, 3)) :]]
    old, new = block("\n".join(long)), block("\n".join(changed), "2.0.0")
    change = change_block(old, new)
    assert (change is None) == (changed == long) or len(changed) - len(long) > 20
    assert change is None or applied(old, change) == new


def test_other_changes_need_a_whole_block() -> None:
    for new in (
        block(items("milk"), "2.0.0", "Another list."),
        block(items("milk"), "2.0.0").replace('lod="Full"', 'lod="Gist"'),
        block(items("milk"), "2.0.0").replace(">Add<", ">Add one<"),
        block(items("milk"), "2.0.0").replace("todo_1", "todo_2"),
        block("\n".join(str(number) for number in range(5_000)), "2.0.0"),
    ):
        assert change_block(block(items("milk")), new) is None, new


def test_a_change_that_does_not_follow_is_refused() -> None:
    for change in (
        '<Window id="todo_1" version="3.0.0" since="2.0.0">\n@@ -1,1 +1,1 @@\n-a\n+b\n</Window>',
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\n@@ -1,1 +1,1 @@\n-x\n+b\n</Window>',
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\nnonsense\n</Window>',
        '<Window id="todo_1" version="2.0.0" since="1.0.0">\n@@ -1,2 +1,1 @@\n*a\n</Window>',
        "no block",
    ):
        with pytest.raises(ValueError, match=r"follow|change|diff"):
            applied(block("a\nb\nc"), change)


def test_a_real_window_can_be_followed_by_its_changes() -> None:
    windows = WindowManager(discover().classes())
    todo = windows.open("todo", items=[f"thing {number}" for number in range(30)])
    shown, followed = todo.to_xml(), 0
    for action, params in (
        ("add", {"text": "<b>&\n]]>"}),
        ("done", {"item": 3}),
        ("delete", {"item": 7}),
        ("move", {"item": 30, "place": 1}),
        ("edit", {"item": 2, "text": "</Content></Window>"}),
    ):
        assert act(windows, todo, action, **params).ok
        new = todo.to_xml()
        if (change := change_block(shown, new)) is not None:
            followed += 1
            assert applied(shown, change) == new
            assert len(change) < len(new) / 3
        shown = new
    assert followed == 5

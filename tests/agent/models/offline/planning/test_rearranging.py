"""Things are put into another order with what a window has for that, and with nothing else."""

from pathlib import Path

import pytest

from contextui import Body, Element, Lod, Window, action
from tests.agent.models.offline.talk import Talk

THREE = ["milk", "eggs", "bread"]


class ShelfWindow(Window):
    """A shelf of books."""

    name = "shelf"

    class State(Window.State):
        books: list[str] = ["Dune", "Emma"]

    state: State

    def content(self, lod: Lod) -> Body:
        return [Element("book", title) for title in self.state.books]

    @action("Replace the title of a book")
    def retitle(self, book: str, title: str) -> str:
        self.state.books = [title if one == book else one for one in self.state.books]
        return "Done."


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("swap the first two", ["eggs", "milk", "bread"]),
        ("swap milk with bread", ["bread", "eggs", "milk"]),
        ("交换 milk 和 bread", ["bread", "eggs", "milk"]),
        ("把前两项对调", ["eggs", "milk", "bread"]),
        ("move bread up", ["milk", "bread", "eggs"]),
        ("move milk two places down", ["eggs", "bread", "milk"]),
        ("把 bread 往上移一位", ["milk", "bread", "eggs"]),
        ("make eggs the first one", ["eggs", "milk", "bread"]),
        ("move eggs to the top", ["eggs", "milk", "bread"]),
    ],
)
def test_what_can_be_moved_is_put_into_the_order_that_is_meant(
    words: str, order: list[str], tmp_path: Path
) -> None:
    with Talk(tmp_path) as talk:
        window = talk.windows.open("todo", items=THREE)
        talk.say(words)
        assert [one.text for one in window.state.items] == order  # type: ignore[attr-defined]


@pytest.mark.parametrize("words", ["swap Dune and Emma", "swap the first two", "对调 Dune 和 Emma"])
def test_where_nothing_can_be_moved_nothing_else_is_done(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path, classes=(ShelfWindow,)) as talk:
        talk.windows.open("shelf")
        turn = talk.say(words)
        assert turn.calls == ()
        assert "retitle" in turn.text  # it says what can be done


@pytest.mark.parametrize("words", ["sort the list", "shuffle the list", "按名字排序"])
def test_an_order_that_no_window_makes_is_refused(words: str, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.windows.open("todo", items=THREE)
        turn = talk.say(words)
        assert turn.calls == ()
        assert "todo_1" in turn.text


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("add tea at the top", ["tea", *THREE]),
        ("add tea to the end of the list", [*THREE, "tea"]),
        ("在最前面加上豆浆", ["豆浆", *THREE]),
    ],
)
def test_what_is_added_goes_to_its_place(words: str, order: list[str], tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        window = talk.windows.open("todo", items=THREE)
        talk.say(words)
        assert [one.text for one in window.state.items] == order  # type: ignore[attr-defined]

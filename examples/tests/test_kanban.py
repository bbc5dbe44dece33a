"""The kanban window: moves, anchors, and sentences in two languages."""

from collections.abc import Iterator

import pytest

from contextui import Lod
from contextui.testing import WindowTester
from contextui_examples.kanban import KanbanWindow


@pytest.fixture
def board() -> Iterator[WindowTester[KanbanWindow]]:
    with WindowTester(KanbanWindow, cards=["Paint the door", "Fix the roof", "Buy paint"]) as one:
        yield one


def columns(board: WindowTester[KanbanWindow]) -> dict[int, str]:
    return {card.id: card.column for card in board.window.state.cards}


def test_cards_move_by_id_and_text(board: WindowTester[KanbanWindow]) -> None:
    assert board.act("move", card=1, column="doing") == "Moved: 1 'Paint the door' (doing)."
    assert board.act("move", card="roof", column="doing") == "Moved: 2 'Fix the roof' (doing)."
    assert board.act("finish", card="BUY PAINT") == "Moved: 3 'Buy paint' (done)."
    assert columns(board) == {1: "doing", 2: "doing", 3: "done"}
    assert board.content(Lod.GIST) == "todo 0, doing 2, done 1"
    assert board.content() == (
        "todo\ndoing\n  Paint the door  id=1\n  Fix the roof  id=2\ndone\n  Buy paint  id=3"
    )
    assert "Buy paint" not in board.content(Lod.SUMMARY)
    assert board.restored().content() == board.content()


def test_what_fits_several_cards_or_none_names_them(board: WindowTester[KanbanWindow]) -> None:
    assert board.refused("finish", card="paint") == (
        "Several cards fit 'paint'. There is: 1 'Paint the door' (todo), 3 'Buy paint' (todo)."
    )
    assert board.refused("finish", card=9).startswith("No card fits '9'. There is: 1 ")
    assert board.refused("finish", card="").startswith("No card fits")
    assert "at least 1 character" in board.refused("add", text=" ")
    assert "at most 200 characters" in board.refused("add", text="x" * 201)
    assert "column" in board.refused("move", card=1, column="nowhere")


def test_anchors_move_a_card_on(board: WindowTester[KanbanWindow]) -> None:
    assert board.act("next-1") == "Moved: 1 'Paint the door' (doing)."
    assert board.act("next-1") == "Moved: 1 'Paint the door' (done)."
    assert "has no action" in board.refused("next-1")
    assert '<action id="next-2">Fix the roof → doing</action>' in board.xml()


def test_ids_are_not_reused(board: WindowTester[KanbanWindow]) -> None:
    board.act("delete", card=3)
    assert board.act("add", text="  Sweep\n the  floor ") == "Added 4 to todo."
    assert board.act("find", text="sweep") == "4 'Sweep the floor' (todo)"


def test_a_full_board_shows_some_cards(board: WindowTester[KanbanWindow]) -> None:
    for number in range(40):
        board.act("add", text=f"card {number}")
    assert board.content().splitlines()[31] == "  … 13 more: use find"


@pytest.mark.parametrize(
    ("lang", "sentence", "after"),
    [
        ("en", "2 is doing", {1: "todo", 2: "doing", 3: "todo"}),
        ("en", "move Fix the roof to done", {1: "todo", 2: "done", 3: "todo"}),
        ("en", "fix the roof is doing", {1: "todo", 2: "doing", 3: "todo"}),
        ("en", "done with buy paint", {1: "todo", 2: "todo", 3: "done"}),
        ("en", "put 3 in doing", {1: "todo", 2: "todo", 3: "doing"}),
        ("en", "throw 1 away", {2: "todo", 3: "todo"}),
        ("en", "put sweep the floor on the board", {1: "todo", 2: "todo", 3: "todo", 4: "todo"}),
        ("zh", "添加卡片 扫地", {1: "todo", 2: "todo", 3: "todo", 4: "todo"}),
        ("zh", "把 2 移到 doing", {1: "todo", 2: "doing", 3: "todo"}),
        ("zh", "做完了 3", {1: "todo", 2: "todo", 3: "done"}),
        ("zh", "把 1 移到 done", {1: "done", 2: "todo", 3: "todo"}),
        ("zh", "扔掉 2", {1: "todo", 3: "todo"}),
        ("en", "juggle the roof", {1: "todo", 2: "todo", 3: "todo"}),
    ],
)
def test_what_people_say(
    board: WindowTester[KanbanWindow], lang: str, sentence: str, after: dict[int, str]
) -> None:
    board.say(sentence, lang="zh" if lang == "zh" else "en")
    assert dict(sorted(columns(board).items())) == after, board.why()


def test_in_chinese() -> None:
    with WindowTester(KanbanWindow, cards=["买漆"], lang="zh") as board:
        assert board.content(Lod.GIST) == "待办 1, 进行中 0, 完成 0"
        assert board.act("finish", card="买漆") == "已移动：1 '买漆' (完成)。"
        assert board.refused("finish", card="x") == "没有卡片符合 'x'。现有：1 '买漆' (完成)。"

"""Items in the order of the wire, with rules between what is cached and what is not."""

from contextui.agent.controller import InteractionController
from contextui.tui.inspector.rows import ItemRow, Rows, Rule, rows_of
from contextui.tui.inspector.snapshot import snapshot_of
from tests.agent.talking import controller, run, with_prompt
from tests.windowing.samples import Todo


def rows_now(talk: InteractionController, *, knows_cache: bool = True) -> Rows:
    return rows_of(snapshot_of(talk.context, knows_cache=knows_cache))


def short_rows(rows: Rows) -> list[str]:
    """Rows in short: rules by name, windows by id, items by seq, hidden ones in brackets."""
    short = []
    for row in rows:
        if isinstance(row, Rule):
            short.append("cache" if row.from_cache else "uncached")
            continue
        assert isinstance(row, ItemRow)
        if row.block is not None:
            short.append(row.item.content + ("?" if row.is_old else ""))
        elif row.item.hidden:
            short.append(f"[{row.item.seq}]")
        else:
            short.append(str(row.item.seq))
    return short


def test_before_anything_was_sent_all_is_uncached() -> None:
    talk = controller()
    with_prompt(talk)
    talk.windows.open(Todo)
    assert short_rows(rows_now(talk)) == ["uncached", "1", "todo_1"]


def test_an_earlier_turn_has_no_rules() -> None:
    talk = controller("One.")
    with_prompt(talk)
    run(talk, "first")
    assert short_rows(rows_now(talk, knows_cache=False)) == ["1", "2", "3"]


def test_rows_are_found_by_their_key() -> None:
    talk = controller("One.", "Two.")
    with_prompt(talk)
    talk.windows.open(Todo)
    run(talk, "first")
    run(talk, "second")
    rows = rows_now(talk)
    for place, row in enumerate(rows):
        if isinstance(row, ItemRow):
            assert rows.find(row.key, row.item.seq) == place
    assert rows.find("nobody", 3) is None

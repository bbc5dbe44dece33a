"""What turns cost: while they run, and read back from the log."""

from pathlib import Path

from contextui.tokens import Usage
from contextui.tui.inspector.history import read_past
from contextui.tui.inspector.usage import Spending, TurnUsage
from tests.tui.inspector.scene import inspector, reply, shop, talk
from tests.tui.running import running, say


def test_requests_of_a_turn_add_up() -> None:
    spending = Spending()
    spending.spend(1, Usage(100, 10, 1_000, 50), 1_150)
    spending.spend(1, Usage(10, 5, 1_150, 0), 1_160)
    spending.spend(2, Usage(1, 1, 1, 1), 3)
    assert spending.turns[0] == TurnUsage(1, 2_150, 50, 110, 15, requests=2)
    assert spending.turns[1].turn == 2


def test_missing_usage_is_estimated() -> None:
    spending = Spending()
    spending.spend(1, Usage(), 700)
    assert spending.turns == [TurnUsage(1, uncached=700, is_guess=True, requests=1)]


def test_a_dear_turn_names_the_change_before_it() -> None:
    spending = Spending()
    spending.spend(1, Usage(10, 10, 5_000, 10), 0)
    spending.note("pin", 3)  # costs nothing
    spending.spend(2, Usage(10, 10, 0, 5_000), 0)
    spending.note("drop", 10)
    spending.spend(3, Usage(10, 10, 0, 5_000), 0)
    spending.spend(4, Usage(10, 10, 5_000, 10), 0)
    assert [one.cause for one in spending.turns] == [None, None, ("drop", 10), None]


def test_items_know_their_turn() -> None:
    spending = Spending(3, after=10)
    spending.end_turn(14)
    spending.end_turn(20)
    assert [spending.turn_of(seq) for seq in (10, 11, 14, 15, 20, 21)] == [None, 3, 3, 4, 4, 5]
    earlier = Spending()
    earlier.end_turn(4)
    earlier.end_turn(10)
    earlier.end_turn(14)  # the log goes on to where we are
    spending.put_before(earlier)
    assert [spending.turn_of(seq) for seq in (1, 4, 5, 10, 11, 21)] == [1, 1, 2, 2, 3, 5]


async def test_the_log_gives_the_same_usage_as_the_turns_and_damage_costs_only_itself(
    tmp_path: Path,
) -> None:
    dear = reply("Again.", usage=Usage(10, 10, 0, 5_000))
    desk = shop(tmp_path, dear, dear)
    context = desk.session.context
    async with running(desk) as pilot:
        await talk(pilot)
        context.drop(context.get_all()[1].id)
        await say(pilot, "again")
        context.compact(list(context.get_active())[1:3], "So far.")
        await say(pilot, "and again")
        watch = inspector(pilot)._watch
        live = watch.spending
    past = read_past(desk.session.path)
    assert past.turns == live.turns
    assert [one.turn for one in past.turns] == [1, 2, 3, 4, 5]
    assert [past.turn_of(one.seq) for one in context.get_all()] == [
        live.turn_of(one.seq) for one in context.get_all()
    ]
    causes = [one.cause.operation if one.cause else "" for one in past.turns]
    assert causes[-2:] == ["drop", "compact"]
    assert past.turns[-2].cause == ("drop", 2)
    path = desk.session.path
    whole = read_past(path).turns
    lines = path.read_bytes().split(b"\n")
    usage = [number for number, line in enumerate(lines) if b'"subtype":"usage"' in line]
    lines[usage[-1]] = lines[usage[-1]][:40] + b'"subtype":"usage"'
    path.write_bytes(b"\n".join([b"\xff\xfe nonsense", *lines]))
    assert read_past(path).turns[:4] == whole[:4]
    assert read_past(tmp_path / "nothing").turns == []

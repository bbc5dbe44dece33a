"""What a compaction takes away, and what it leaves."""

from random import Random

from contextui.context.compaction.plan import FALLBACK, RETAIN, plan
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import rounds, units
from tests.context.compaction.long_talk import random_talk, talk_of, tool_round
from tests.thorough import times


def texts(items: tuple[ContextItem, ...]) -> list[str]:
    return [item.content.strip() for item in items]


def test_the_newest_messages_stay_as_many_as_the_share_says() -> None:
    for messages, share, stays in (
        (100, RETAIN, 20),
        (102, RETAIN, 21),
        (100, FALLBACK, 30),
        (34, FALLBACK, 11),
        (70, RETAIN, 14),  # 0.2 * 70 is 14.000000000000002 in floats
        (40, RETAIN, 8),
    ):
        talk = talk_of(messages // 2)
        chosen = plan(talk.context, share)
        assert (len(chosen.stays), len(chosen.goes)) == (stays, messages - stays), messages
        assert chosen.messages == messages, messages
        newest = [item for item in talk.context.get_active() if is_conversation(item)]
        assert list(chosen.stays) == newest[-stays:], messages


def test_the_last_three_rounds_stay_even_if_they_are_more_than_the_share() -> None:
    talk = talk_of(4)
    tool_round(talk, "a", 3)
    tool_round(talk, "b")
    tool_round(talk, "c")
    chosen = plan(talk.context, RETAIN)
    assert texts(chosen.goes) == [
        f"{who} {n}" for n in range(1, 5) for who in ("question", "answer")
    ]
    assert len(chosen.stays) == 6 + 4 + 4


def test_of_three_rounds_nothing_goes() -> None:
    for count in (0, 1, 3):
        chosen = plan(talk_of(count).context)
        assert (chosen.goes, len(chosen.stays), chosen.tokens) == ((), 2 * count, 0), count


def test_a_call_stays_with_its_results_so_the_boundary_moves() -> None:
    talk = talk_of(30)
    tool_round(talk, "many", 12)
    for number in range(3):
        talk.turn(f"later {number}", "yes")
    # 81 messages, of which 17 stay: the seventeenth from behind is one of the twelve results.
    chosen = plan(talk.context)
    call = next(item for item in talk.context.get_active() if item.calls)
    assert chosen.stays[0] is call
    assert [one.tool_call_id for one in chosen.stays[1:13]] == list(call.calls)
    assert len(chosen.stays) == 1 + 12 + 1 + 6


def test_what_is_pinned_stays_wherever_it_stands() -> None:
    talk = talk_of(10)
    pair = tool_round(talk, "pinned", 2)
    for number in range(20):
        talk.turn(f"later {number}", "yes")
    words = talk.context.get_active()[1]
    talk.context.pin(words.id)
    talk.context.pin(pair[3].id)  # one result: its call and the other result stay with it
    chosen = plan(talk.context)
    assert chosen.stays[0] is words
    assert list(chosen.stays[1:4]) == pair[1:4]
    assert not {item.id for item in chosen.goes} & {item.id for item in chosen.stays}


def test_system_prompts_and_windows_are_no_part_of_it() -> None:
    talk = talk_of(20)
    talk.open("a note")
    chosen = plan(talk.context)
    kinds = {item.type for item in (*chosen.goes, *chosen.stays)}
    assert kinds == {ItemType.USER, ItemType.ASSISTANT}


def test_an_earlier_summary_goes_with_what_goes() -> None:
    talk = talk_of(20)
    summary = talk.context.compact(plan(talk.context).goes, "So far.")
    assert plan(talk.context).goes[-1] is summary
    for number in range(20):
        talk.turn(f"later {number}", "yes")
    chosen = plan(talk.context)
    assert summary in chosen.goes
    talk.context.pin(summary.id)
    assert summary not in plan(talk.context).goes


def test_a_summary_alone_does_not_go() -> None:
    talk = talk_of(6)
    talk.context.compact(plan(talk.context).goes, "So far.")
    assert plan(talk.context).goes == ()


def test_fewer_stay_if_they_would_fill_the_budget() -> None:
    talk = talk_of(40, "word " * 100)  # some 250 tokens a round
    assert len(plan(talk.context, RETAIN, 128_000).stays) == 16
    chosen = plan(talk.context, RETAIN, 2_400)  # half of it takes four rounds, and a summary
    assert 6 <= len(chosen.stays) < 16
    assert chosen.stays_tokens <= 1_200


def test_the_last_rounds_give_way_only_if_there_is_no_room_for_them() -> None:
    talk = talk_of(10, "word " * 100)
    assert len(plan(talk.context, RETAIN, 1_300).stays) == 6
    assert 1 <= len(plan(talk.context, RETAIN, 900).stays) < 6
    chosen = plan(talk.context, RETAIN, 10)
    assert texts(chosen.stays)[0].startswith("answer 10")


def test_what_is_pinned_and_what_windows_show_takes_from_the_room() -> None:
    talk = talk_of(40, "word " * 100)
    alone = len(plan(talk.context, RETAIN, 4_000).stays)
    talk.open(*["a line of many notes that are long"] * 100)
    talk.windows.settle_now()
    beside = len(plan(talk.context, RETAIN, 4_000).stays)
    assert beside < alone
    talk.context.pin(talk.context.get_active()[1].id)
    assert len(plan(talk.context, RETAIN, 4_000).stays) <= beside + 1


def test_whatever_the_conversation_the_plan_holds() -> None:
    for chunk in range(5):
        for seed in range(chunk, 200, times(8, 1) * 5):
            dice = Random(seed)
            talk = random_talk(dice)
            room = dice.choice((None, dice.randrange(1, 20_000)))
            chosen = plan(talk.context, dice.choice((RETAIN, FALLBACK)), room)
            active = talk.context.get_active()
            conversation = units(item for item in active if is_conversation(item))
            shown = {item.id for unit in conversation for item in unit.items}
            goes, stays = ({item.id for item in part} for part in (chosen.goes, chosen.stays))
            assert goes | stays == shown, seed
            assert not goes & stays, seed
            for unit in conversation:  # whole, and where it is pinned it stays
                ids = {item.id for item in unit.items}
                assert ids <= (stays if unit.pinned else goes) or ids <= stays, seed
            if conversation:
                assert conversation[-1].head.id in stays, seed
            if room is None:
                last = [
                    item.id
                    for one in rounds(conversation)[-ROUNDS_KEPT:]
                    for u in one
                    for item in u.items
                ]
                assert stays.issuperset(last), seed

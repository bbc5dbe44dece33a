"""Conversations long enough to be compacted."""

from random import Random

from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem
from contextui.model import ModelRequest
from tests.context.conversation import Conversation

OUTLINE = "## Goal\nA shop.\n## Next step\nSell milk."


def talk_of(rounds: int, words: str = "") -> Conversation:
    """A conversation of so many rounds of two messages each."""
    talk = Conversation()
    talk.system("Be brief.")
    for number in range(1, rounds + 1):
        talk.turn(f"question {number} {words}", f"answer {number} {words}")
    return talk


def tool_round(talk: Conversation, words: str, calls: int = 1) -> list[ContextItem]:
    items = [talk.say(words)]
    talk.send()
    items.append(talk.call(calls, "I look."))
    items += [talk.result(f"result of {words}") for _ in range(calls)]
    talk.send()
    items.append(talk.answer(f"That was {words}."))
    talk.context.end_turn()
    return items


def random_talk(dice: Random) -> Conversation:
    """Words, calls, windows, pins and dropped items, as they come."""
    talk = Conversation("in-place" if dice.random() < 0.33 else "price")
    talk.system("Be brief.")
    if dice.random() < 0.5:
        talk.open(*["a line of notes"] * dice.randrange(30))
    for number in range(dice.randrange(25)):
        if dice.random() < 0.4:
            tool_round(talk, f"words {number} " * dice.randrange(1, 20), dice.randrange(1, 4))
        else:
            talk.turn(f"words {number} " * dice.randrange(1, 40), "yes " * dice.randrange(1, 60))
    if dice.random() < 0.3:
        talk.say("What was not answered")
    for item in list(talk.context.get_active()):
        if dice.random() < 0.06:
            dice.choice((talk.context.pin, talk.context.drop))(item.id)
    return talk


def service_of(talk: Conversation, *steps: Step, budget: int = 128_000) -> CompactionService:
    return CompactionService(talk.context, ScriptedModel(*steps), budget)


def asked(service: CompactionService) -> list[ModelRequest]:
    assert isinstance(service.model, ScriptedModel)
    return service.model.requests

"""From what a strategy wants to what happens: checked, made whole, and logged."""

from collections.abc import Sequence
from dataclasses import dataclass

from contextui.context.item import ContextItem
from contextui.context.strategies.env import StrategyEnv
from contextui.context.strategies.strategy import Payload, StrategyError
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import unchanged, units
from contextui.text import for_model


@dataclass(frozen=True, slots=True)
class Decision:
    """What goes, and the words that stand for it; None if they stay as they are."""

    goes: tuple[ContextItem, ...]
    memory: str | None


def decide(
    payload: object, history: Sequence[ContextItem], env: StrategyEnv, *, may_be_too_much: bool
) -> Decision:
    """Check what a strategy wants, and make it whole: a call stays with its results.

    Args:
        payload: What the strategy gave.
        history: What it was given.
        env: What surrounds it.
        may_be_too_much: Whether it need not fit: others will make room.

    Raises:
        StrategyError: It cannot be used.
    """
    if not isinstance(payload, Payload):
        raise StrategyError(f"It gave a {type(payload).__name__} and no Payload.")
    known, wanted = {item.id for item in history}, _ids(payload)
    if not wanted <= known:
        raise StrategyError("It gave items that are not in the history.")
    goes: list[ContextItem] = []
    stays = 0
    for unit in units(history):
        if unit.pinned or not unit.head.seq or not wanted.isdisjoint(i.id for i in unit.items):
            stays += sum(map(env.size, unit.items))
        else:
            goes += unit.items
    memory = _memory(payload, env)
    if not may_be_too_much:
        _check_size(stays, memory, history, env)
    return Decision(tuple(goes), memory)


def apply(decision: Decision, seen: dict[str, int], env: StrategyEnv) -> None:
    """Have a decision happen, but for items that were changed since it was made.

    Args:
        decision: What goes.
        seen: The revision of each item when it was decided.
        env: What surrounds the strategy.
    """
    goes, context = list(unchanged(decision.goes, seen)), env.context
    if decision.memory is not None:
        context.compact([*env.memory_items, *goes], decision.memory, trigger="strategy")
    elif goes:
        context.leave_out(goes, "compacted" if env.memory else "trimmed")


def _ids(payload: Payload) -> set[str]:
    try:
        return {item.id for item in payload.history}
    except (TypeError, AttributeError):
        raise StrategyError("The history of its payload is no list of items.") from None


def _memory(payload: Payload, env: StrategyEnv) -> str | None:
    """The new memory; None if it is the same, as the provider's cache would be lost for nothing."""
    if payload.memory is None:
        return None
    if not isinstance(payload.memory, str) or not payload.memory.strip():
        raise StrategyError("The memory of its payload is no text.")
    memory = for_model(payload.memory)
    return None if memory == env.memory else memory


def _check_size(
    stays: int, memory: str | None, history: Sequence[ContextItem], env: StrategyEnv
) -> None:
    """Too much is what is over the budget, if less would do: the last rounds and what is pinned
    stay anyway."""
    grown = 0 if memory is None else env.count(memory) - env.count(env.memory)
    recent = {item.id for one in env.rounds(history)[-ROUNDS_KEPT:] for item in one}
    floor = sum(env.size(item) for item in history if item.pinned or item.id in recent)
    if stays + grown > max(env.room, floor):
        raise StrategyError("It gave more than there is room for.")

"""The end of a turn: whatever became of it, what is left is whole and can be gone on with."""

from contextui.agent.phrases import Phrases
from contextui.agent.protocol import CallProtocol
from contextui.agent.tools import ToolCall
from contextui.agent.turn import Turn
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager


def make_whole(turn: Turn, context: ContextManager, calls: CallProtocol, words: Phrases) -> None:
    """Leave no call without its result, and nothing out that the person has read.

    Args:
        turn: What ends.
        context: Where it took place.
        calls: How the model calls tools.
        words: What is said in place of what did not come.
    """
    if partial := "".join(turn.partial).strip():
        turn.text = partial
        context.add(ContextItem(ItemType.ASSISTANT, f"{partial}\n\n{words.stopped_here}"))
    for call_id in context.ledger.calls.unanswered:
        lost = ToolCall(call_id, "", {})
        context.add(calls.result(lost, words.not_finished, ok=False))
    end_in_words(context, words)
    context.end_turn()


def end_in_words(context: ContextManager, words: Phrases) -> None:
    """Have no result stand at the end: words right behind one provoke empty answers."""
    talk = (one for one in reversed(context.get_active()) if is_conversation(one))
    last = next(talk, None)
    if last is not None and last.tool_call_id is not None:
        context.add(ContextItem(ItemType.ASSISTANT, words.stopped_here))

"""Whose mistake an error is: that of a widget that a window brought along, or our own."""

from types import TracebackType

from textual.dom import DOMNode
from textual.worker import NoActiveWorker, WorkerFailed, get_current_worker

from contextui.tui.desktop.own.loading import Guard


def guard_of(error: BaseException) -> Guard | None:
    """The guarded widget in whose code this was raised; None if it was nobody's but ours."""
    if isinstance(error, WorkerFailed):
        return _of_worker() or guard_of(cause_of(error))
    found = [guard_around(one) for one in _selves(error.__traceback__)]
    return next((one for one in found if one is not None), None)


def cause_of(error: BaseException) -> BaseException:
    """What was raised in the first place."""
    return error.error if isinstance(error, WorkerFailed) else error


def _of_worker() -> Guard | None:
    try:
        return guard_around(get_current_worker().node)
    except NoActiveWorker:
        return None


def _selves(traceback: TracebackType | None) -> list[object]:
    """What the methods that were running belong to, the outermost first."""
    found = []
    while traceback is not None:
        found.append(traceback.tb_frame.f_locals.get("self"))
        traceback = traceback.tb_next
    return found


def guard_around(node: object) -> Guard | None:
    """The guarded widget that something is, or is a part of."""
    around = node.ancestors_with_self if isinstance(node, DOMNode) else []
    return next((one for one in around if isinstance(one, Guard)), None)

"""Checkpoints: the state of a session in one entry, so that a resume can start there.

A checkpoint refers to the items that still matter by their offset in the log: all visible ones,
everything since the oldest of them, and what undo could restore. A new field is written and read
here, and declared in `validation`.
"""

from collections.abc import Mapping
from typing import Any

from contextui.context.item import ContextItem, ItemType, Stage, assign, is_conversation
from contextui.context.ledger import Before, Compaction, Step, items_of
from contextui.context.manager import ContextManager
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window


def checkpoint_data(
    context: ContextManager,
    windows: WindowManager,
    offsets: Mapping[str, int],
    closings: Mapping[str, int],
    turn: int,
) -> dict[str, Any]:
    """Return the state of a conversation between two turns, as JSON-ready data."""
    ledger = context.ledger
    items = [item for item in _relevant_items(context) if item.id in offsets]
    # A window that is still opening is not saved.
    open_windows = [one for one in windows.windows() if not runtime_of(one).is_first_opening]
    stats, windows_named = context.get_stats(), sum(i.type is ItemType.WINDOW for i in items)
    return {
        "seq": context.current_seq,
        "cut": context.cut,
        "turn": turn,
        "ratio": context.counter.ratio,
        "items": [[offsets[item.id], _item_facts(item)] for item in items],
        "rest": [
            stats.total_items - len(items),
            stats.window_items - windows_named,
            stats.all_tokens - sum(map(ledger.tally.tokens_of, items)),
        ],
        "folds": context.folds.among(item.id for item in items),
        "undo": [_step_facts(step) for step in ledger.steps],
        "placement": ledger.priced.save({item.id for item in items}) if ledger.priced else None,
        "windows": [_window_facts(window) for window in open_windows],
        "used": sorted((one.id for one in open_windows), key=windows.focused_at),
        "numbers": windows.numbers,
        "closed": [
            closings[item.content]
            for item in items
            if item.type is ItemType.WINDOW and item.content in closings
        ],
    }


def load_checkpoint(
    data: Mapping[str, Any], context: ContextManager, items: Mapping[int, ContextItem]
) -> None:
    """Load the items of a checkpoint, given by offset, into an empty context; skip all others."""
    ledger = context.ledger
    if ledger.priced is not None:
        ledger.priced.hold()
    for offset, facts in data["items"]:
        if offset not in items:
            continue
        item, changes = items[offset], dict(facts)
        stage = Stage.NEW if changes.pop("open", False) else Stage.FINAL
        assign(item, stage=stage, **{k: v for k, v in changes.items() if k != "seq"})
        ledger.enter(item, facts["seq"])
    context.counter.ratio = data["ratio"]
    ledger.load(
        data["seq"],
        data["cut"],
        rest=data["rest"],
        folds=data.get("folds", {}),  # older logs have none
        undo_steps=[_step(facts, context.items) for facts in data["undo"]],
        placement=data.get("placement"),  # older logs have none
    )


def _window_facts(window: Window) -> dict[str, Any]:
    history = [entry.model_dump(mode="json") for entry in runtime_of(window).history.entries]
    facts = {"windowId": window.id, "name": window.name, "history": history}
    focus = {"focusId": focus_id} if (focus_id := runtime_of(window).focus_id) else {}
    return {**facts, **focus, **runtime_of(window).core.saved.data()}


def _relevant_items(context: ContextManager) -> list[ContextItem]:
    calls = context.calls
    talk = (item for item in context.get_active() if is_conversation(item) and not item.pinned)
    since = next((item.seq for item in talk), context.current_seq + 1)
    kept = {item.id: item for item in context.get_active()}
    kept.update((item.id, item) for item in context.get_all().since(since))
    for step in context.ledger.steps:
        kept.update((item.id, item) for item in items_of(step))
    if (priced := context.ledger.priced) is not None:
        kept.update((item.id, item) for item in priced.items_sent())
    for item in list(kept.values()):
        asker = calls.asker(item)
        kept.update((one.id, one) for one in (asker, *calls.results(asker)))
    for window in context.windows.windows() if context.windows else ():
        kept.update((item.id, item) for item in context.window_items(window.id))
    return sorted(kept.values(), key=lambda item: item.seq)


def _item_facts(item: ContextItem) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "id": item.id,
        "seq": item.seq,
        "pinned": item.pinned,
        "hidden": item.hidden,
    }
    if item.stage is not Stage.FINAL:
        facts["open"] = True
    if item.revision:
        words = {"content": item.content, "blocks": item.blocks, "gist": item.gist}
        facts |= {**words, "whole": item.whole}
    return facts


def _step_facts(step: Step) -> Any:
    if isinstance(step, Compaction):
        return {"summaryId": step.summary.id, "itemIds": [item.id for item in step.items]}
    return [_before_facts(before) for before in step]


def _step(facts: Any, items: Mapping[str, ContextItem]) -> Step:
    if not isinstance(facts, list):
        summary = items.get(facts["summaryId"])
        hidden = (items[item_id] for item_id in facts["itemIds"] if item_id in items)
        return Compaction(summary, tuple(hidden)) if summary is not None else []
    return [_before(fact, items[fact["id"]]) for fact in facts if fact["id"] in items]


def _before_facts(before: Before) -> dict[str, Any]:
    fields, item = dict(before.fields), before.item
    if fields["content"] == item.content and fields["blocks"] == item.blocks:
        del fields["content"], fields["blocks"]
    return {"id": item.id, **fields}


def _before(facts: Mapping[str, Any], item: ContextItem) -> Before:
    words: dict[str, Any] = {"content": item.content, "blocks": item.blocks}
    if "content" in facts:
        words = {"content": facts["content"], "blocks": tuple(facts.get("blocks") or ()) or None}
    whole = facts.get("whole", False)  # missing in older logs
    rest = {"gist": facts["gist"], "hidden": facts["hidden"], "pinned": facts["pinned"]}
    return Before(item, {**words, **rest, "whole": whole})

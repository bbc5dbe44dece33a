"""What a session's log keeps of placement by price, as JSON values.

Each request is logged with what was decided for it, and a checkpoint has all slots. A resumed
session applies these facts and decides nothing again: prices, rules and window classes may have
changed since. What does not fit the conversation is refused; the caller then starts over, as if
nothing had been sent.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from contextui.context.placement.slots import Decision, Form, Offer, Request, Slot, View
from contextui.context.placement.transcript import Transcript
from contextui.windowing.blocks import actions_of

UNFIT = (KeyError, IndexError, TypeError, ValueError, AttributeError)
"""What is raised for facts that do not fit."""


def request_facts(script: Transcript, made: Decision) -> dict[str, Any]:
    """The facts of a request, before it is applied to the transcript."""
    tail, in_front = _used(script.tail), _used(script.tail[: made.place])
    size = script.rank(len(script.slots))
    ranks = {id(slot): rank for rank, slot in enumerate((*tail, *made.new), size)}

    def rank_of(slot: Slot) -> int:
        return script.rank(slot.at) if slot.at >= 0 else ranks[id(slot)]

    return {
        "number": script.requests + 1,
        "time": made.now,
        "model": script.key,
        "slots": size,
        "tail": len(tail),
        "entries": [[script.rank(at), used] for at, used in sorted(made.entries.items())],
        "cut": script.rank(made.offer.cut) if made.offer else None,
        "wants": [
            [rank_of(slot), _form_facts(form), reason]
            for slot, (form, reason) in made.wants.items()
        ],
        "reasons": [[rank_of(slot), reason] for slot, reason in made.reasons.items()],
        "chains": {
            name: [rank_of(slot) for slot in chain]
            for name, chain in made.chains.items()
            if chain or script.views[name].chain
        },
        "place": len(in_front),
        "blocks": [_block_facts(script, slot) for slot in made.new],
    }


def _used(slots: Iterable[Slot]) -> list[Slot]:
    return [slot for slot in slots if slot.want is not None]


def outcome_facts(script: Transcript, request: Request, made: Decision) -> dict[str, Any]:
    """The facts of a request that are known once it was applied."""
    sweep, offer, extra = request.sweep, made.offer, script.prices.write - script.prices.read
    rewritten = round(offer.price / extra) if offer and extra > 0 else 0
    more = {"cause": made.cause, "rewritten": rewritten}
    return {
        "places": [script.rank(at) for at in request.places],
        "marks": request.marks,
        "outdated": request.outdated,
        "read": request.read,
        "written": request.written,
        "plain": request.plain,
        "upToDate": script.up_to_date,
        "sweep": {**sweep._asdict(), **more} if sweep else None,
    }


def decision_of(script: Transcript, facts: Mapping[str, Any]) -> Decision:
    """The decision that facts describe."""
    tail, size = _used(script.tail), script.rank(len(script.slots))
    if (facts["slots"], facts["tail"]) != (size, len(tail)):
        raise ValueError("another conversation")
    new = [_block_of(script, one) for one in facts["blocks"]]
    after = [*tail, *new]

    def place_of(rank: int) -> int:
        if not 0 <= rank <= size:
            raise ValueError("a place that is not there")
        return script.place(rank)

    def slot_of(rank: int) -> Slot:
        return script.used(rank) if 0 <= rank < size else after[rank - size]

    made = Decision(float(facts["time"]), new=new)
    used = [at for at, slot in enumerate(script.tail) if slot.want is not None]
    rank = int(facts["place"])
    if any(slot.group for slot in new):  # inside of a result: directly after it
        made.place = used[rank - 1] + 1
    else:  # directly before words
        made.place = [*used, len(script.tail)][rank]
    script.key = facts["model"]
    made.entries = {place_of(int(at)): float(used) for at, used in facts["entries"]}
    made.wants = {slot_of(at): (_form_of(form), str(why)) for at, form, why in facts["wants"]}
    made.reasons = {slot_of(at): str(reason) for at, reason in facts["reasons"]}
    made.chains = {name: [slot_of(at) for at in chain] for name, chain in facts["chains"].items()}
    if sweep := facts["sweep"]:
        cut, saved = place_of(int(facts["cut"])), int(sweep["saved"])
        made.offer = Offer(cut, float(sweep["rent"]), float(sweep["price"]), saved)
        made.reason = str(sweep["reason"])
    return made


def state_facts(script: Transcript) -> dict[str, Any]:
    """Everything of a transcript, between two turns, for a checkpoint."""
    return {
        "requests": script.requests,
        "last": script.last if math.isfinite(script.last) else None,
        "turn": script.turn,
        "isFresh": script.is_fresh,
        "model": script.sent_key,
        "entries": [[at, used] for at, used in sorted(script.entries.items())],
        "pins": sorted(script.pins),
        "sent": len(script.slots),
        "slots": [_slot_facts(slot) for slot in (*script.slots, *script.tail)],
        "windows": {
            name: {
                "class": script.views[name].kind,
                "isOpen": script.views[name].is_open,
                "isPresent": name in script.present,
                "version": script.views[name].shown,
                "chain": [slot.at for slot in script.views[name].chain],
            }
            for name in {
                **dict.fromkeys(script.present),
                **dict.fromkeys(slot.item for slot in script.slots if slot.text),
            }
        },
    }


def load_state(script: Transcript, facts: Mapping[str, Any]) -> None:
    """Restore a transcript from a checkpoint."""
    slots = [_slot_of(one) for one in facts["slots"]]
    script.requests, script.turn = int(facts["requests"]), int(facts["turn"])
    script.is_fresh = bool(facts["isFresh"])
    script.last = float(facts["last"]) if facts["last"] is not None else script.last
    script.key = script.sent_key = facts["model"]
    script.pins = set(facts["pins"])
    script.entries = {int(at): float(used) for at, used in facts["entries"]}
    for name, one in facts["windows"].items():
        view = View(name, one["class"], 0, is_open=bool(one["isOpen"]))
        view.version = view.shown = int(one["version"])
        view.chain = [slots[at] for at in one["chain"]]
        script.views[name] = view
        if one["isPresent"]:
            script.present[name] = view
    sent = int(facts["sent"])
    script.tail = slots[sent:]
    for slot in script.tail:
        slot.sent = None
    script.rebuild(slots[:sent])


# --- values ------------------------------------------------------------------------------


def _form_facts(form: Form | None) -> list[Any] | None:
    return None if form is None else list(form)


def _form_of(facts: list[Any] | None) -> Form | None:
    if facts is None:
        return None
    kind, tokens, version, key, actions, source = facts
    return Form(kind, int(tokens), int(version), key, int(actions), str(source))


def _block_facts(script: Transcript, slot: Slot) -> dict[str, Any]:
    """A window's block; its list of actions is part of its text."""
    form = slot.full._replace(key=None)
    where = {"call": slot.call, "group": slot.group} if slot.call or slot.group else {}
    return {
        "window": slot.item,
        "class": script.views[slot.item].kind,
        "form": _form_facts(form),
        "text": slot.text,
        **where,
    }


def _block_of(script: Transcript, facts: Mapping[str, Any]) -> Slot:
    name, text, form = str(facts["window"]), str(facts["text"]), _form_of(facts["form"])
    if form is None:
        raise ValueError("a block without a form")
    if form.actions:
        form = form._replace(key=actions_of(text))
    if name not in script.views:
        script.views[name] = View(name, str(facts["class"]), form.tokens)
    script.present[name] = script.views[name]
    slot = Slot(f"{name}@{form.version}", name, script.turn, form, form, text=text)
    slot.call, slot.group, slot.since = facts.get("call"), facts.get("group", ""), script.requests
    return slot


def _slot_facts(slot: Slot) -> dict[str, Any]:
    """A slot, without what is as usual: sent as it is, and wanted as it was sent."""
    full = slot.full._replace(key=None) if slot.text else slot.full
    facts: dict[str, Any] = {"item": slot.item, "full": _form_facts(full)}
    if slot.id != slot.item:
        facts["id"] = slot.id
    for name, usual in _USUAL.items():
        value = getattr(slot, name)
        if value != usual:
            facts[name] = list(value) if name == "parts" else value
    if slot.at >= 0 and slot.sent != slot.full:
        facts["sent"] = _form_facts(slot.sent)
    if slot.want != (slot.sent if slot.at >= 0 else slot.full):
        facts["want"] = _form_facts(slot.want)
    return facts


_USUAL: Mapping[str, Any] = {
    "turn": 0, "call": None, "gist": 0, "group": "", "parts": (0,), "text": "", "seq": 0,
    "since": 0, "reason": "", "actions": "", "is_words": False,
}  # fmt: skip


def _slot_of(facts: Mapping[str, Any]) -> Slot:
    full = _form_of(facts["full"])
    if full is None:
        raise ValueError("a slot without a form")
    text = str(facts.get("text", ""))
    if text and full.actions:
        full = full._replace(key=actions_of(text))
    item = str(facts["item"])
    slot = Slot(str(facts.get("id", item)), item, int(facts.get("turn", 0)), full, full, text=text)
    for name in ("call", "gist", "group", "seq", "since", "reason", "actions", "is_words"):
        setattr(slot, name, facts.get(name, _USUAL[name]))
    slot.parts = tuple(int(one) for one in facts.get("parts", (0,)))
    sent = _form_of(facts["sent"]) if "sent" in facts else full
    slot.sent = sent
    slot.want = _form_of(facts["want"]) if "want" in facts else sent
    return slot

"""Events of a conversation by their sizes in tokens, and what a transcript decides for them."""

import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

from contextui.context.placement.slots import Form, Request, Rules, Slot, View
from contextui.context.placement.transcript import Transcript
from contextui.model import CachePrices

Event = Mapping[str, Any]


class Scenario:
    """Feeds events to a transcript; see `vectors.json` for their fields."""

    def __init__(
        self, prices: CachePrices | None = None, rules: Rules | None = None, system: int = 2_000
    ) -> None:
        self.transcript = Transcript(prices, rules, system)

    def run(self, events: Iterable[Event]) -> list[Request]:
        return [request for event in events if (request := self.feed(event)) is not None]

    def feed(self, event: Event) -> Request | None:
        given = {key: value for key, value in event.items() if key != "event"}
        found: Request | None = getattr(self, f"_{event['event']}")(**given)
        return found

    def _turn(self, item: str, words: int) -> None:
        self.transcript.begin_turn()
        self.transcript.add(item, item, "text", words)

    def _say(self, item: str, words: int) -> None:
        self.transcript.add(item, item, "text", words)

    def _assistant(
        self, item: str, text: int, thinking: int = 0, calls: Iterable[str] = (), call: int = 40
    ) -> None:
        self.transcript.answered()
        if thinking:
            self.transcript.add(f"{item}.thinking", item, "thinking", thinking)
        if text:
            self.transcript.add(item, item, "text", text)
        for name in calls:
            self.transcript.add(name, item, "call", call, call=name)

    def _result(self, call: str, tokens: int, gist: int = 30) -> None:
        name = f"{call}.result"
        self.transcript.add(name, name, "result", tokens, call=call, gist=gist)

    def _show(self, window: str, tokens: int, actions: int = 0, cls: str | None = None) -> None:
        script, kind = self.transcript, cls or window.rsplit("_", 1)[0]
        view = script.views.setdefault(window, View(window, kind, tokens, actions, kind))
        script.present[window] = view
        is_same = not view.is_open and view.tokens == tokens
        view.is_open, view.tokens = True, tokens
        if not is_same:
            view.version, view.is_new = view.version + 1, True

    def _change(self, window: str, tokens: int, change: int, actions: int | None = None) -> None:
        view = self.transcript.views[window]
        view.tokens, view.version = tokens, view.version + 1
        view.pending += change
        if actions is not None:
            view.actions, view.key = actions, f"{view.kind}#{window}.{view.version}"

    def _lod(self, window: str, tokens: int, room: bool = False) -> None:
        view = self.transcript.views[window]
        view.tokens, view.version = tokens, view.version + 1
        view.is_new, view.is_lowered = True, room

    def _close(self, window: str) -> None:
        self.transcript.close(window)

    def _pin(self, item: str) -> None:
        self.transcript.pins.add(item)

    def _paired(self, item: str) -> list[Slot]:
        """The slots of an item, and of the calls that it made, or answers."""
        own = [*self.transcript.slots_of(item)]
        calls = {one.call for one in own if one.call and one.full.kind in ("call", "result")}
        return [*own, *(one for call in calls for one in self.transcript.slots_of_call(call))]

    def _drop(self, item: str) -> None:
        if item in self.transcript.views:
            self.transcript.show(item, is_dropped=True)
            return
        for slot in self._paired(item):
            self.transcript.want(slot, None, "dropped")

    def _restore(self, item: str) -> None:
        if item in self.transcript.views:
            self.transcript.show(item, is_dropped=False)
        for slot in self._paired(item):
            if slot.full.kind not in ("whole", "change", "thinking"):
                self.transcript.want(slot, slot.full, "restored")
                self.transcript.pins.add(slot.item)

    def _edit(self, item: str, tokens: int) -> None:
        for slot in self.transcript.slots_of(item):
            if slot.want and slot.full.kind in ("text", "result"):
                slot.full = Form(slot.full.kind, tokens, slot.full.version + 1)
                slot.gist = min(slot.gist, tokens)
                self.transcript.want(slot, slot.full, "edited")

    def _sweep(self) -> None:
        self.transcript.ask_sweep()

    def _compact(self, before: int, summary: int) -> None:
        script = self.transcript
        old = [slot for slot in (*script.slots, *script.tail) if 0 <= slot.turn < before]
        kept = [slot for slot in old if slot.item not in script.pins]
        script.compact(kept, "summary" if summary else "", summary)

    def _model(self, **prices: Any) -> None:
        old = self.transcript.prices
        names = ("read", "write", "ttl", "minimum", "marks")
        self.transcript.prices = CachePrices(
            **{name: prices.get(name, getattr(old, name)) for name in names}
        )
        self.transcript.entries, self.transcript.last = {}, -math.inf

    def _request(self, t: float) -> Request:
        return self.transcript.apply(self.transcript.plan(t))


def conversation(seed: int, turns: int = 12, pause: float = 60.0) -> list[dict[str, Any]]:
    """A random conversation: windows that open, change and close, calls, drops, edits."""
    dice, events = random.Random(seed), list[dict[str, Any]]()
    now, calls, opened, number = 0.0, 0, list[str](), 0

    def happen() -> None:
        nonlocal number
        kind = dice.random()
        if kind < 0.25 or not opened:
            number += 1
            opened.append(f"{dice.choice(['todo', 'editor', 'notes'])}_{number}")
            size, actions = dice.randint(50, 1_500), dice.choice([0, 120])
            events.append(
                {"event": "show", "window": opened[-1], "tokens": size, "actions": actions}
            )
        elif kind < 0.75:
            size, change = dice.randint(50, 1_500), dice.randint(5, 200)
            window = dice.choice(opened)
            events.append({"event": "change", "window": window, "tokens": size, "change": change})
        elif kind < 0.83:
            window = opened.pop(dice.randrange(len(opened)))
            events.append({"event": "close", "window": window})
        elif kind < 0.9:
            size, room = dice.randint(20, 400), dice.random() < 0.5
            window = dice.choice(opened)
            events.append({"event": "lod", "window": window, "tokens": size, "room": room})
        elif kind < 0.95 and calls:
            name = f"c{dice.randint(1, calls)}.result"
            events.append({"event": dice.choice(["drop", "restore", "pin"]), "item": name})
        elif calls:
            events.append({"event": "edit", "item": f"c{calls}.result", "tokens": 90})

    for turn in range(turns):
        happen()
        events.append({"event": "turn", "item": f"u{turn}", "words": dice.randint(5, 80)})
        now += dice.expovariate(1 / pause)
        events.append({"event": "request", "t": now})
        for step in range(dice.randint(0, 4)):
            calls += 1
            thinking = dice.choice([0, 0, 150])
            answer = {"event": "assistant", "item": f"a{turn}.{step}", "text": 30}
            events.append({**answer, "thinking": thinking, "calls": [f"c{calls}"]})
            result = {"event": "result", "call": f"c{calls}", "tokens": dice.randint(10, 900)}
            events.append({**result, "gist": 10})
            for _ in range(dice.randint(0, 2)):
                happen()
            now += dice.uniform(1, 20)
            events.append({"event": "request", "t": now})
        events.append({"event": "assistant", "item": f"a{turn}", "text": dice.randint(5, 200)})
        if dice.random() < 0.05 and turn > 4:
            events.append({"event": "compact", "before": turn - 3, "summary": 150})
    return events

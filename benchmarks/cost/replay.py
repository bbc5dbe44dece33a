"""Replay recorded runs under four policies, and price them with the same simulated cache.

- append-only: nothing that was sent is ever changed.
- mask each step: long results that are not among the last ten become gists with every request.
- mask in batches: the same, but only every so many requests.
- by price: `contextui.context.placement.transcript.Transcript` decides.

All of them set up to four cache marks where they help most: after the head, at the end, at the
furthest mark that is still valid, and (while masking) in front of the next result to be masked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.cost.cache import ANTHROPIC, Block, Figures, Sent, figures
from benchmarks.cost.runs import Answer, Result, Run, Step, Words
from contextui.context.placement.slots import Rules, Slot, size_of
from contextui.context.placement.transcript import Transcript

BATCH = 10
"""Requests between two rounds of masking."""

RULES = Rules()

Policy = Callable[[Run], Iterator[Sent]]


def blocks(slots: Iterable[Slot]) -> Iterator[tuple[str, str, int, str]]:
    """The blocks that slots show: id, kind, tokens with the list of actions, and that list."""
    for slot in slots:
        if slot.sent is not None:
            yield slot.id, slot.sent.kind, size_of(slot.sent, slot.actions), slot.actions


# --- policies ------------------------------------------------------------------------------


def append_only(run: Run) -> Iterator[Sent]:
    """Never change what was sent."""
    return _masked(run, every=0)


def mask_each_step(run: Run) -> Iterator[Sent]:
    """Replace old long results with gists, with every request."""
    return _masked(run, every=1)


def mask_in_batches(run: Run, every: int = BATCH) -> Iterator[Sent]:
    """Replace old long results with gists, every so many requests."""
    return _masked(run, every)


def _masked(run: Run, every: int) -> Iterator[Sent]:
    """Send everything; mask every so many requests, or never if that is 0."""
    parts, before, marked = [Block("head", run.head)], list[Block](), set[int]()
    results: dict[str, tuple[int, int]] = {}  # place and gist size of each long result
    start = 0
    for number, (at, time) in enumerate(run.requests(), 1):
        for place, step in enumerate(run.steps[start:at], start):
            if isinstance(step, Result) and step.tokens > RULES.long:
                results[step.call] = len(parts), step.gist
            parts += _blocks(step, place)
        start = at
        is_due = bool(every) and number % every == 0
        for call in list(results)[: max(0, len(results) - RULES.recent)] if is_due else ():
            index, gist = results[call]
            if index < len(before):  # the model has seen it whole
                parts[index] = Block(("gist", call), gist)
                del results[call]
        first = min((index for index, _ in results.values()), default=len(parts))
        same = _common(before, parts)
        held = max((mark for mark in marked if mark <= same), default=0)
        marks = {1, held, first if every else 0, len(parts)} - {0}
        yield Sent(list(parts), sorted(marks), time)
        before, marked = list(parts), marks | {mark for mark in marked if mark <= same}


def _blocks(step: Step, place: int) -> Iterator[Block]:
    match step:
        case Words():
            yield Block(("words", place), step.tokens)
        case Answer():
            if step.thinking:
                yield Block(("thinking", place), step.thinking)
            if step.text:
                yield Block(("text", place), step.text)
            for call in step.calls:
                yield Block(("call", call.id), call.tokens)
        case Result():
            yield Block(("result", step.call), step.tokens)


def _common(before: Sequence[Block], now: Sequence[Block]) -> int:
    """Count the equal blocks at the start of two requests."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))


def by_price(run: Run) -> Iterator[Sent]:
    """Let the planner decide what is removed, and when."""
    transcript, start, is_over = Transcript(ANTHROPIC, RULES, run.head), 0, True
    for at, time in run.requests():
        for place, step in enumerate(run.steps[start:at], start):
            if isinstance(step, Words) and is_over:
                transcript.begin_turn()
                is_over = False
            _feed(transcript, step, place)
        answer = run.steps[at]
        is_over = isinstance(answer, Answer) and not answer.calls
        start = at
        request = transcript.apply(transcript.plan(time))
        sent = [Block((name, kind), tokens) for name, kind, tokens, _ in blocks(transcript.slots)]
        yield Sent(sent, request.marks, time)


def _feed(transcript: Transcript, step: Step, place: int) -> None:
    name = f"s{place}"
    match step:
        case Words():
            transcript.add(name, name, "text", step.tokens)
        case Answer():
            transcript.answered()
            if step.thinking:
                transcript.add(f"{name}.thinking", name, "thinking", step.thinking)
            if step.text:
                transcript.add(name, name, "text", step.text)
            for call in step.calls:
                transcript.add(call.id, name, "call", call.tokens, call=call.id)
        case Result():
            own = f"{step.call}.result"
            transcript.add(own, own, "result", step.tokens, call=step.call, gist=step.gist)


POLICIES: Mapping[str, Policy] = {
    "append-only": append_only,
    "mask each step": mask_each_step,
    "mask in batches": mask_in_batches,
    "by price": by_price,
}


# --- figures -------------------------------------------------------------------------------


def compare(runs: Sequence[Run]) -> dict[str, Figures]:
    """Return cost and tokens sent of runs in total for each policy, beside append-only."""
    found = {}
    for name, policy in POLICIES.items():
        each = [figures(policy(run)) for run in runs]
        found[name] = Figures(sum(one.cost for one in each), sum(one.tokens for one in each))
    base = found["append-only"]
    return {
        name: Figures(one.cost / base.cost, one.tokens / base.tokens) for name, one in found.items()
    }


def rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    """Yield the rows of a table: each run, and all of them in total."""
    yield ["run", "requests", *list(POLICIES)[1:]]
    groups = [(run.name, [run]) for run in runs]
    if len(runs) > 1:
        groups.append((f"all {len(runs)} runs", list(runs)))
    for name, group in groups:
        count = sum(1 for run in group for _ in run.requests())
        others = list(compare(group).values())[1:]
        yield [name, f"{count:,}", *(f"{one.cost:.2f} ({one.tokens:.2f})" for one in others)]

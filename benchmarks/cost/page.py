"""Tables of the cost benchmark, printed and written as the page ``docs/benchmarks.md``."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.cost.cache import ANTHROPIC, LOOK_BACK
from benchmarks.cost.loop import AROUND, PLACEMENTS
from benchmarks.cost.mixes import (
    CONFIRMED,
    LONG_MIXES,
    LONG_TURNS,
    TURNS,
    long_costs,
    mix_figures,
    mixes,
)
from benchmarks.cost.replay import BATCH, RULES
from benchmarks.cost.runs import APART

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
SCREEN = "\n## The screen with many windows, files and sessions\n"

Rows = Iterable[Sequence[str]]


def mix_rows() -> Iterator[list[str]]:
    """Yield the table of the editing mixes: cost, and tokens sent in brackets, beside plain."""
    yield ["mix", *PLACEMENTS, CONFIRMED]
    for mix in mixes():
        found = mix_figures(mix).values()
        cells = (f"{one.cost:.2f} ({one.tokens:.2f})" for one in found)
        yield [f"{mix.name}: {mix.about}", *cells]


def long_rows() -> Iterator[list[str]]:
    """Yield the table of the long mixes: cost beside the information bound."""
    yield ["mix", *PLACEMENTS]
    for mix in LONG_MIXES:
        yield [f"{mix.name}: {mix.about}", *(f"{one:.2f}" for one in long_costs(mix).values())]


def aligned(rows: Rows) -> Iterator[str]:
    """Yield the lines of a table as text, the first column to the left."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *rest in table:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


def markdown(rows: Rows) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    head, *body = [list(row) for row in rows]
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in body:
        yield f"| {' | '.join(row)} |"


def page(short: Rows, long: Rows) -> str:
    """Return the text of the page."""
    prices = ANTHROPIC
    return f"""\
# Benchmarks of cost

What an agent's requests cost, as ratios to another way of doing the same work. `python -m
benchmarks.cost write` writes this page; all figures are computed, none is a bill.

## Price model

All requests are priced by one simulated prompt cache with the rules of Anthropic's API. It sees
only the requests: their blocks, cache marks and times.

| | |
|---|---:|
| an input token | 1 |
| a token read from the cache | {prices.read:g} |
| a token written to the cache | {prices.write:g} |
| cache marks in a request | {prices.marks} |
| blocks compared for each mark | {LOOK_BACK} |
| smallest prefix that is cached | {prices.minimum:,} tokens |
| expiry after the last use | {prices.ttl / 60:g} minutes |

An entry exists only where a mark was set. The longest entry with the same prefix is read, the rest
up to the last mark is written. Output tokens are not counted.

## Editing beside plain tool calls

{TURNS} turns with two edits of one line each, played by the real loop with real windows on real
files. Beside it a plain loop makes the same edits with `read_file` and `edit`: all it reads stays
in the conversation. "Plain re-reads" means that it reads a file before each edit; "reads once" is
the best case for it. The figures are the cost beside the plain loop, and in brackets the tokens
sent beside it; below 1 the windows are cheaper.

{_lines(markdown(short))}

The first columns are the values of the setting `placement`: `price` is the default, `in-place`
leaves each window where it was opened. There the plain `edit` returns {AROUND} lines before and
after the change, as editing tools for models often do. The last
column is `price` beside a plain loop whose `edit` only confirms the change: the tersest
alternative, whose model never sees what an edit led to.

A file that is edited has 118 lines, about 1,200 tokens. With windows each edit is followed by
`save`. In C and D each turn also reads a file that is not edited. Requests are seconds apart, so
no cache entry expires.

One file that is read once (B) is where windows cost most: the list of the editor's actions, the
longer system prompt and `save` come on top, and nothing is read twice that they could save. Windows
cost less than plain tools where the plain loop reads files again (A, C, E, F).

## Long conversations beside the information bound

{LONG_TURNS} turns with an editor, a to-do list and a notebook. The bound is the cost of the
information alone: every token is written once, a changed window costs its changed lines, and a
request reads only what is still valid. No placement reaches it in general, since what follows a
changed place has to be written again.

{_lines(markdown(long))}

## Your own sessions

```sh
python -m benchmarks.cost replay FILE...
```

replays recorded runs and prints the cost of each policy beside append-only, and in brackets the
tokens sent beside append-only:

| policy | what it does |
|---|---|
| append-only | never changes what was sent |
| mask each step | replaces long results with a gist in every request |
| mask in batches | does the same in every {BATCH}th request |
| by price | removes outdated content once carrying it costs as much as rewriting what follows |

Long results have more than {RULES.long} tokens; the last {RULES.recent} of them always stay whole.
By price also removes the thinking of finished turns; the other policies keep it. While a turn with
thinking runs, it changes nothing in front of that thinking. A file may be

- a trajectory of mini-swe-agent (`*.traj.json`),
- a session of Claude Code (`~/.claude/projects/*/*.jsonl`): without the lines of subagents; a
  session that was compacted gives one run for each part; messages that were rewound stay in it,
- a recorded run in the form below.

`python -m benchmarks.cost convert FILE` prints its runs in that form, one on each line. They
contain sizes, times and ids of calls, but no text. Save them as `*.jsonl` to replay
them.

## Form of a recorded run

```json
{{"format": "contextui-run-1", "name": "fix-the-parser", "head": 3200, "steps": [
  {{"type": "words", "tokens": 120, "time": 0}},
  {{"type": "answer", "text": 40, "thinking": 0, "time": 4,
   "calls": [{{"id": "c1", "tokens": 35}}]}},
  {{"type": "result", "call": "c1", "tokens": 900, "gist": 30, "time": 5}},
  {{"type": "answer", "text": 80, "time": 9}}
]}}
```

| field | meaning |
|---|---|
| `head` | tokens of tools and system prompt; 0 if left out |
| `words` | a message to the model |
| `answer` | an answer: tokens of its text and thinking, and its calls, each with an id |
| `result` | the result of a call; `gist` is the size of the line that can replace it |
| `time` | seconds since the start; without it, {APART:g} seconds after the step before |

A request is sent before each answer, at the time of the step before it.

## How to run it

```sh
python -m benchmarks.cost        # both tables, as text; takes a few minutes
python -m benchmarks.cost write  # this page
```
{_screen()}"""


def _screen() -> str:
    """Return the section about the screen, which `benchmarks.screen` measures."""
    text = PAGE.read_text("utf-8")
    at = text.find(SCREEN)
    return text[at:] if at >= 0 else ""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)

"""S4.3: what gists save in the document's own two conversations, counted in real tokens."""

from pathlib import Path

import pytest

from contextui import ContextItem, ContextManager, ItemType, WindowManager, Workspace
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step, call
from tests.agent.talking import run

QUESTION = "Have a look at the figures of the {month} report, please, and tell me what stands out."
ANSWER = (
    "In {month} the north sold the most tea, some twelve per cent more than in the month before. "
    "The south fell behind, mostly because two shops were closed for a week. I would compare the "
    "regions by shop next, and leave out the returns, which are counted twice in this table."
)
MONTHS = [
    *("January", "February", "March", "April", "May"),
    *("June", "July", "August", "September", "October"),
]


def program(lines: int) -> str:
    """A program of so many lines, as one finds them."""
    parts = ["import csv\n", "from pathlib import Path\n"]
    while len(parts) < lines:
        number = len(parts)
        parts += [
            "\n",
            "\n",
            f"def total_of_region_{number}(rows: list[dict[str, str]]) -> float:\n",
            f'    """The sum of what region {number} sold."""\n',
            f'    chosen = [row for row in rows if row["region"] == "region {number}"]\n',
            '    return sum(float(row["amount"]) for row in chosen)\n',
        ]
    return "".join(parts[:lines])


def table(rows: int) -> str:
    body = "".join(
        f"2026-01-{n % 28 + 1:02},tea {n % 9},{n * 7 % 90}.50,north\n" for n in range(rows)
    )
    return "date,product,amount,region\n" + body


def talk_of(
    folder: Path, turns: int, files: dict[str, str], paragraphs: int = 1
) -> InteractionController:
    """A conversation of so many turns; each file is read in a turn of its own."""
    steps: list[Step] = []
    names = list(files)
    for name, text in files.items():
        (folder / name).write_text(text)
    for turn in range(turns):
        if turn < len(names):
            steps.append(["I read it.", call("read_file", path=names[turn])])
        steps.append("\n\n".join([ANSWER.format(month=MONTHS[turn])] * paragraphs))
    context = ContextManager(WindowManager(workspace=Workspace(folder)))
    talk = InteractionController(model=ScriptedModel(*steps), context=context, prompt=False)
    for turn in range(turns):
        run(talk, QUESTION.format(month=MONTHS[turn]))
    return talk


def without_gists(context: ContextManager) -> ContextManager:
    """The same conversation, had nothing been replaced."""
    other = ContextManager(WindowManager())
    for item in context.get_all():
        twin = ContextItem(
            item.type,
            item.content,
            blocks=item.blocks,
            tool_call_id=item.tool_call_id,
            tool_name=item.tool_name,
        )
        other.add(twin)
    other.end_turn()
    return other


def tokens(context: ContextManager) -> int:
    return context.compose().tokens


THREE = {"sales.py": program(134), "data.csv": table(94), "chart.py": program(134)}
FIVE = {
    name: table(127) if name.endswith(".csv") else program(160)
    for name in ("sales.py", "data.csv", "clean.py", "costs.csv", "chart.py")
}


@pytest.mark.parametrize(
    ("turns", "paragraphs", "files", "size", "saved"),
    [(5, 3, THREE, 6_000, 0.75), (10, 2, FIVE, 12_000, 0.83)],
    ids=["5 turns", "10 turns"],
)
@pytest.mark.usefixtures("in_place")
def test_gists_save_what_the_document_says(
    tmp_path: Path, *, turns: int, paragraphs: int, files: dict[str, str], size: int, saved: float
) -> None:
    """Conversations of the document's size."""
    talk = talk_of(tmp_path, turns, files, paragraphs)
    whole = tokens(without_gists(talk.context))
    assert whole == pytest.approx(size, rel=0.05)
    assert 1 - tokens(talk.context) / whole >= saved


@pytest.mark.usefixtures("in_place")
def test_each_file_is_paid_for_once(tmp_path: Path) -> None:
    """The next turn is smaller than the one in which the file was read."""
    files = {"sales_analysis.py": program(150)}
    talk = talk_of(tmp_path, 2, files)
    assert isinstance(talk.model, ScriptedModel)
    _, in_its_turn, later = (
        talk.context.counter.count_messages(one.messages) for one in talk.model.requests
    )
    assert later < in_its_turn / 3
    results = [item for item in talk.context.get_all() if item.type is ItemType.TOOL]
    assert [item.content.count("\n") for item in results] == [149]

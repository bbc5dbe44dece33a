"""Policies on recorded runs, and the mixes of the real loop."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cost import page
from benchmarks.cost.__main__ import main
from benchmarks.cost.cache import Block, Figures, PromptCache, figures
from benchmarks.cost.loop import PLACEMENTS, Turn, play_plain
from benchmarks.cost.mixes import CONFIRMED, LONG_MIXES, long_costs, mix_figures, mixes
from benchmarks.cost.replay import POLICIES, append_only, by_price, compare, mask_each_step
from benchmarks.cost.runs import Answer, Call, Result, Run, Step, Words
from contextui.agent.models.scripted import call


def run_of(seed: int, steps: int = 80, pause: float = 10.0) -> Run:
    """A run of one turn with results of all sizes."""
    dice, time, made = random.Random(seed), 0.0, list[Step]([Words(400, 0.0)])
    for number in range(steps):
        calls = tuple(
            Call(f"c{number}.{at}", dice.randint(20, 200)) for at in range(dice.choice((1, 1, 2)))
        )
        thinking = dice.choice((0, 0, 200)) if seed % 2 else 0
        made.append(Answer(dice.randint(0, 150), thinking, calls, time))
        for one in calls:
            size = dice.choice((30, 150, 700, 3_000))
            made.append(Result(one.id, size, min(size, 40), time))
        time += dice.expovariate(1 / pause)
    return Run(f"run {seed}", 2_500, (*made, Answer(100, 0, (), time)))


def test_every_policy_sends_one_request_for_each_answer() -> None:
    for seed in range(2):
        for policy in POLICIES:
            run = run_of(seed)
            sent = list(POLICIES[policy](run))
            assert len(sent) == len(list(run.requests())), (policy, seed)
            assert all(len(one.marks) <= 4 for one in sent), (policy, seed)
            assert [one.time for one in sent] == [time for _, time in run.requests()], (
                policy,
                seed,
            )


def test_append_only_never_changes_what_was_sent() -> None:
    sent = list(append_only(run_of(0)))
    assert all(list(new.blocks[: len(old.blocks)]) == old.blocks for old, new in pairwise(sent))
    cache = PromptCache()
    charges = [cache.charge(one) for one in sent]
    assert all(new.read == sum(old) for old, new in pairwise(charges))


def test_a_masked_result_was_sent_whole_before() -> None:
    for policy in list(POLICIES)[1:]:
        whole: set[str] = set()
        for sent in POLICIES[policy](run_of(1)):
            for kind, name in (_kind_of(block) for block in sent.blocks):
                assert kind != "gist" or name in whole, policy
                if kind == "result":
                    whole.add(name)
        assert whole, policy


def _kind_of(block: Block) -> tuple[str, str]:
    """The kind of a block, and the call that it belongs to."""
    match block.key:
        case ("gist" | "result" as kind, str(name)):
            return str(kind), name
        case (str(name), "gist" | "result" as kind):
            return str(kind), name
    return "", ""


def test_by_price_costs_less_than_append_only_and_masking_each_step() -> None:
    for seed in (0, 2):
        found = compare([run_of(seed)])
        assert found["append-only"] == Figures(1, 1), seed
        assert found["by price"].cost < min(1, found["mask each step"].cost), seed
        assert found["by price"].tokens < 1, seed
        assert found["mask each step"].tokens <= found["mask in batches"].tokens < 1, seed


def test_within_a_turn_with_thinking_by_price_is_append_only() -> None:
    assert compare([run_of(1)])["by price"] == pytest.approx((1, 1))


def test_a_short_run_costs_the_same_under_every_policy() -> None:
    run = run_of(2, steps=5)
    first, *others = [figures(policy(run)) for policy in (append_only, mask_each_step, by_price)]
    assert all(other == pytest.approx(first) for other in others)


def test_after_the_expiry_everything_is_written_again() -> None:
    found = figures(append_only(run_of(3, steps=20, pause=100_000.0)))
    assert found.cost > 1.2 * found.tokens


def test_replay_prints_ratios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for seed in range(2):
        files.append(tmp_path / f"{seed}.json")
        files[-1].write_text(json.dumps(run_of(seed).as_json()), "utf-8")
    assert main(["replay", *map(str, files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split("  ")[0] == "run"
    assert [line[:10].strip() for line in lines[2:]] == ["run 0", "run 1", "all 2 runs"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_a_mix_gives_the_same_figures_twice() -> None:
    mix = mixes(turns=2)[0]
    first, second = mix_figures(mix), mix_figures(mix)
    assert first == second
    assert list(first) == [*PLACEMENTS, CONFIRMED]
    assert all(0 < one.tokens < 1 for one in first.values())


def test_both_scripts_of_a_mix_make_the_same_edits() -> None:
    for number in (0, 6):
        mix = mixes(turns=8)[number]
        plain = [one for turn in mix.with_plain_tools() for one in _calls(turn, "edit")]
        ours = [one for turn in mix.with_windows() for one in _calls(turn, "action")]
        replaced = [one["params"] for one in ours if one["action_id"] == "replace"]
        assert [(one["old"], one["new"]) for one in plain] == [
            (one["old"], one["new"]) for one in replaced
        ], number
        assert len(plain) == 16, number


def _calls(turn: Turn, name: str) -> list[dict[str, Any]]:
    answers: list[Any] = [[one] if isinstance(one, dict) else one for one in turn.answers]
    blocks = [one for answer in answers if isinstance(answer, list) for one in answer]
    return [one["input"] for one in blocks if one["name"] == name]


def test_the_long_mixes_cost_at_least_the_bound() -> None:
    assert all(one >= 1 for one in long_costs(LONG_MIXES[0], turns=5).values())


def test_the_plain_loop_reads_and_edits_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("".join(f"line {number}\n" for number in range(300)), "utf-8")
    read, edit = (
        call("read_file", path="a.py"),
        call("edit", path="a.py", old="line 7\n", new="x\n"),
    )
    sent = play_plain([Turn("Fix it.", [read, edit, "Done."]), Turn("Thanks.", ["Bye."])], tmp_path)
    assert "line 6\nx\nline 8" in (tmp_path / "a.py").read_text("utf-8")
    assert [len(one.blocks) for one in sent] == [2, 4, 6, 8]
    assert all(one.marks[-1] == len(one.blocks) for one in sent)
    assert "12 line 11" in str(sent[2].blocks[-1].key)


def test_a_plain_edit_may_only_confirm(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n", "utf-8")
    edit = call("edit", path="a.py", old="two", new="three")
    sent = play_plain([Turn("Fix it.", [edit, "Done."])], tmp_path, around=None)
    assert '"content": "Saved a.py"' in str(sent[-1].blocks[-1].key)


def test_the_page_has_the_tables() -> None:
    rows = [["mix", "tail"], ["A", "0.3"]]
    text = page.page(rows, rows)
    assert text.count("| mix | tail |\n|---|---:|\n| A | 0.3 |\n") == 2
    assert all(len(line) <= 100 for line in text.splitlines())
    assert list(page.aligned(rows)) == ["mix  tail", "A     0.3"]
    assert list(POLICIES) == [name for name in POLICIES if f"| {name} |" in text]


def test_the_written_page_differs_from_a_new_one_only_in_figures() -> None:
    rows = [["mix", "tail"]]
    assert _without_figures(page.PAGE.read_text("utf-8")) == _without_figures(page.page(rows, rows))


def _without_figures(text: str) -> str:
    return re.sub(r"^\| mix \|.*?\n\n", "", text, flags=re.MULTILINE | re.DOTALL)

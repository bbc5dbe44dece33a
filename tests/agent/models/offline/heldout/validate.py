"""Validate held-out sets: `expect` is not met before, and is met once `by` is carried out.

    validate.py [set.json …]      (set1.json and set2.json beside this file by default)
"""

import asyncio
import importlib
import json
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from cases import Case, _case, check
from contextui import Lod, WindowManager
from contextui.files.workspace import Workspace
from contextui.windowing.finding.registry import discover

HERE = Path(__file__).parent


def classes():
    found = list(discover().classes())
    for name in ("own_windows1", "own_windows2"):
        if not (HERE / f"{name}.py").exists():
            continue
        try:
            more = importlib.import_module(name).WINDOWS
        except Exception as error:  # another person may be writing it just now
            print(f"note: {name} cannot be imported: {error!r}")
            continue
        there = {one.name for one in found}
        for one in more:
            if one.name in there:
                print(f"note: {name}: a window {one.name!r} is there already; left out")
            else:
                found.append(one)
    return found


def unanswered(case: Case) -> Case:
    """The case without what the answer must hold."""
    return replace(case, expect=replace(case.expect, answer=()))


def shape_problems(one: dict, case: Case):
    expect, by = one["expect"], one.get("by", [])
    if "by" not in one:
        yield "by is missing"
    if "open" not in expect:
        yield "expect.open is missing"
    if case.lang not in ("en", "zh") or not case.say or not all(case.say):
        yield "lang or say"
    if one.get("nothing", True) is not True:
        yield "nothing is only true or absent"
    if one.get("nothing") and by:
        yield "nothing may change, and yet `by` does something"
    if not by and not one.get("nothing") and not expect.get("answer"):
        yield "neither by, nor nothing, nor an answer"
    for step in by:
        if sum(key in step for key in ("open", "act", "close")) != 1:
            yield f"by: {step}"


async def carry_out(by, windows):
    for step in by:
        if "open" in step:
            windows.open(step["open"], **step.get("args", {}))
        elif "close" in step:
            windows.close(step["close"])
        else:
            result = await windows.act(
                step["act"], step["action"], step.get("params", {}), actor="person"
            )
            if not result.ok:
                yield f"by: {step}: {result.text}"
        await windows.settle()


async def problems(one: dict, made, verbose: bool):
    found = []
    plain = {key: value for key, value in one.items() if key not in ("by", "nothing")}
    case = _case(**plain)
    found += shape_problems(one, case)
    with tempfile.TemporaryDirectory() as folder:
        windows = WindowManager(made, workspace=Workspace(Path(folder)), lang=case.lang)
        try:
            await case.setup(windows)
            bare, by = unanswered(case), one.get("by", [])
            before = check(bare, windows, "")
            if by and not before:
                found.append("expect holds already before")
            if not by and before:
                found += [f"before (nothing to do): {text}" for text in before]
            if verbose:
                show(one, windows, "before")
            found += [text async for text in carry_out(by, windows)]
            await windows.settle()
            found += [f"after: {text}" for text in check(bare, windows, "")]
            if verbose:
                show(one, windows, "after")
        except Exception as error:
            found.append(f"raised {error!r}")
        finally:
            for window in list(windows.windows()):
                windows.close(window.id)
    return found


def show(one, windows, when):
    print(f"--- {one['id']} {when}")
    for window in windows.windows():
        print(f"[{window.id}]", window.snapshot(Lod.FULL).content)
    if when == "before":
        print("say:", *one["say"], sep="\n  ")
    else:
        print("expect:", json.dumps(one["expect"], ensure_ascii=False))


async def main(names, verbose):
    made, bad, total = classes(), 0, 0
    for name in names:
        data = json.loads(Path(name).read_text("utf-8"))
        for double in [key for key, n in Counter(one["id"] for one in data).items() if n > 1]:
            print(f"{name}: {double} is there twice")
            bad += 1
        for one in data:
            total += 1
            if found := await problems(one, made, verbose):
                bad += 1
                print(one["id"], *found, sep="\n    ")
        several = sum(len(one["say"]) > 1 for one in data)
        asked = sum(not one.get("by") and not one.get("nothing") for one in data)
        nothing = sum(bool(one.get("nothing")) for one in data)
        langs = dict(Counter(one["lang"] for one in data))
        print(f"{name}: {len(data)} {langs}, {several} of several turns, ", end="")
        print(f"{asked} questions without a call, {nothing} with nothing to do")
    print(f"{total} cases, {bad} with problems")
    return bad


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if one != "-v"]
    beside = [one for one in (HERE / "set1.json", HERE / "set2.json") if one.exists()]
    sys.exit(bool(asyncio.run(main(given or beside, "-v" in sys.argv))))

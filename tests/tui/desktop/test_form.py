"""Forms: a field for every type, defaults, what may be left out, and errors beside the field."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.field import Field
from contextui.tui.desktop.form import FormField, FormScreen
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.values import Choice
from tests.tui.desktop.samples import FormWindow, desk_with, enter, frames, region_text
from tests.tui.running import lines, running, shown, until
from tests.tui.sharing import SharedApp, sharing


@asynccontextmanager
async def app_in(folder: Path) -> "AsyncIterator[Pilot[int]]":
    async with running(desk_with(folder, "form")) as pilot:
        pilot.app.screen.add_class("-pane-windows")
        yield pilot


async def tidy(pilot: "Pilot[int]") -> None:
    window = frames(pilot)["form_1"].window
    ended = window.env.every(0.01, lambda: window.state.got.clear())  # type: ignore[attr-defined]  # noqa: PLW0108
    await until(pilot, lambda: not got(pilot))
    ended()
    frames(pilot)["form_1"].clear_note()


shared = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("forms")), tidy))


async def form(pilot: "Pilot[int]", action: str) -> tuple[WindowFrame, dict[str, FormField]]:
    frame = await enter(pilot, "form_1")
    frame.runner.choose(action)
    await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
    await until(pilot, lambda: pilot.app.focused is not None)
    return frame, {one.param.name: one for one in pilot.app.screen.query(FormField)}


def put(filling: FormField, typed: str) -> None:
    assert isinstance(filling.input, Field)
    filling.input.text = typed


def choose(filling: FormField, *options: str) -> None:
    assert isinstance(filling.input, Choice)
    filling.input.chosen = list(options)


def got(pilot: "Pilot[int]") -> dict[str, Any]:
    window = frames(pilot)["form_1"].window
    assert isinstance(window, FormWindow)
    return window.state.got


@pytest.mark.parametrize("size", [(120, 60)])
async def test_every_type_has_its_field_its_default_and_its_error(pilot: "Pilot[int]") -> None:
    frame, fields = await form(pilot, "take")
    share, size = fields["share"].input, fields["size"].input
    assert isinstance(share, Field)
    assert isinstance(size, Choice)
    assert (share.text, size.chosen) == ("0.5", ["m"])
    put(fields["share"], "half")
    put(fields["point"], '{"y": 1}')
    await pilot.press("enter")
    number = fields["number"].input
    await until(pilot, lambda: fields["number"].has_class("-wrong") and number.has_focus)
    text = "\n".join(lines(pilot))
    assert "is missing" in text
    assert 'expected float, got "half"' in text
    assert "text, one per line  optional" in text
    wrong = [name for name, one in fields.items() if one.has_class("-wrong")]
    assert wrong == ["number", "share", "point"]
    assert got(pilot) == {}
    put(fields["text"], "two\nlines")
    put(fields["number"], "12")
    put(fields["share"], "0.75")
    put(fields["names"], "milk\neggs")
    put(fields["numbers"], "1\n2\n3")
    put(fields["point"], '{"x": 3, "y": 4}')
    put(fields["either"], "7")
    put(fields["anything"], "[1, null]")
    choose(fields["colour"], '"sea blue"')
    choose(fields["code"], "2")
    size.focus()
    await pilot.press("right")
    fields["parts"].input.focus()
    await pilot.press("space", "right", "right", "space", "left", "space", "space")
    sure = fields["sure"].input
    await until(pilot, lambda: region_text(pilot, sure) == ["✓ no  · yes  optional"])
    assert region_text(pilot, fields["level"].input) == ["· 1  · 2  · 3  optional"]
    await pilot.click(sure, offset=("✓ no  · yes".index("yes"), 0))
    await until(pilot, lambda: region_text(pilot, sure) == ["· no  ✓ yes  optional"])
    await pilot.press("enter")
    await until(pilot, lambda: frame.note == "Took it.")
    assert got(pilot) == {
        "text": "two\nlines",
        "number": 12,
        "share": 0.75,
        "sure": True,
        "size": "l",
        "colour": "sea blue",
        "level": None,
        "code": "2",
        "names": ["milk", "eggs"],
        "numbers": [1, 2, 3],
        "parts": ["a", "c"],
        "point": {"x": 3, "y": 4},
        "either": 7,
        "anything": [1, None],
    }


@pytest.mark.parametrize("size", [(120, 60)])
async def test_a_default_that_nobody_touches_is_what_is_sent(pilot: "Pilot[int]") -> None:
    frame, fields = await form(pilot, "take")
    put(fields["text"], "a")
    put(fields["number"], "1")
    await pilot.press("enter")
    await until(pilot, lambda: frame.note == "Took it.")
    found = got(pilot)
    assert (found["share"], found["sure"], found["size"]) == (0.5, False, "m")
    assert {found[name] for name in ("colour", "level", "point", "either")} == {None}


async def test_limits_are_beside_the_field_and_hold_before_anything_is_sent(
    pilot: "Pilot[int]",
) -> None:
    frame, fields = await form(pilot, "rate")
    await until(pilot, lambda: shown(pilot, "form_1  Rate…"))
    assert shown(pilot, "at the end")  # what is too long for the title is above the fields
    for name, allowed in (("stars", "1..5"), ("why", "at most 20 characters")):
        (beside,) = fields[name].query(".limits")
        await until(pilot, lambda: shown(pilot, allowed))  # noqa: B023
        assert [one.strip() for one in region_text(pilot, beside)] == [allowed]
        assert beside.region.y == fields[name].input.region.y
        assert beside.region.x >= fields[name].input.region.right
    put(fields["stars"], "6")
    put(fields["why"], "it is far too long for this")
    await pilot.press("enter")
    await until(pilot, lambda: fields["stars"].has_class("-wrong"))
    assert shown(pilot, "must be 1..5")
    assert shown(pilot, "must be at most 20 characters")
    assert got(pilot) == {}
    put(fields["stars"], "5")
    put(fields["why"], "")
    await pilot.press("enter")
    await until(pilot, lambda: frame.note == "Rated 5.")
    assert got(pilot) == {"stars": 5, "why": ""}


async def test_a_form_is_left_by_key_and_by_click_and_a_refusal_keeps_it(
    pilot: "Pilot[int]",
) -> None:
    frame, _ = await form(pilot, "few")
    await pilot.press("m", "escape")
    await until(pilot, lambda: frame.has_focus)
    await form(pilot, "few")
    await pilot.press("m")
    await pilot.click(offset=(1, 1))
    await until(pilot, lambda: frame.has_focus)
    assert got(pilot) == {}
    _, fields = await form(pilot, "few")
    await pilot.press("m", "ctrl+j", "e")  # several lines are several items
    put(fields["times"], "99")
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "That is too often."))
    assert isinstance(pilot.app.screen, FormScreen)
    put(fields["times"], "2")
    await pilot.press("enter")
    await until(pilot, lambda: frame.note == "Few: ['m', 'e'].")
    assert got(pilot) == {"words": ["m", "e"], "times": 2}


@pytest.mark.parametrize("size", [(40, 12)])
async def test_tab_leads_through_a_form_that_fits_a_small_terminal(pilot: "Pilot[int]") -> None:
    _, fields = await form(pilot, "take")
    first, last = fields["text"].input, fields["anything"].input
    assert first.has_focus
    await pilot.press("shift+tab")
    await until(pilot, lambda: last.has_focus)
    await until(pilot, lambda: 0 < last.region.y < 12)
    await until(pilot, lambda: shown(pilot, "esc close"))
    await pilot.press("tab", "tab")
    await until(pilot, lambda: fields["number"].input.has_focus)
    await until(pilot, lambda: 0 < fields["number"].input.region.y < 12)

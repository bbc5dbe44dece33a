"""Forms: a field for every type, defaults, what may be left out, and errors beside the field."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from contextui.tui.desktop.form import Field, FormField, FormScreen
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.values import Choice
from contextui.windowing.action import action
from contextui.windowing.window import Window
from tests.tui.desktop.samples import FormWindow, desk_with, enter, frames, region_text
from tests.tui.running import desk_in, running, shown, until
from tests.tui.sharing import SharedApp


@pytest.fixture(scope="module")
def shared_form(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedApp]:
    """A window with forms, in one app for all tests."""

    @asynccontextmanager
    async def start() -> "AsyncIterator[Pilot[int]]":
        async with running(desk_with(tmp_path_factory.mktemp("forms"), "form")) as pilot:
            pilot.app.screen.add_class("-pane-windows")
            yield pilot

    async def tidy(pilot: "Pilot[int]") -> None:
        window = frames(pilot)["form_1"].window
        ended = window.env.every(0.01, lambda: window.state.got.clear())  # type: ignore[attr-defined]  # noqa: PLW0108
        await until(pilot, lambda: not got(pilot))
        ended()
        frames(pilot)["form_1"].clear_note()

    app = SharedApp(start, tidy)
    yield app
    app.close()


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


def test_every_type_has_its_field(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "take")
        put(fields["text"], "two\nlines")
        put(fields["number"], "12")
        put(fields["share"], "0.75")
        choose(fields["sure"], "true")
        choose(fields["size"], "l")
        choose(fields["colour"], '"sea blue"')
        choose(fields["level"], "2")
        choose(fields["code"], "2")
        put(fields["names"], "milk\neggs")
        put(fields["numbers"], "1\n2\n3")
        choose(fields["parts"], "a", "c")
        put(fields["point"], '{"x": 3, "y": 4}')
        put(fields["either"], "7")
        put(fields["anything"], "[1, null]")
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Took it.")
        assert got(pilot) == {
            "text": "two\nlines",
            "number": 12,
            "share": 0.75,
            "sure": True,
            "size": "l",
            "colour": "sea blue",
            "level": 2,
            "code": "2",
            "names": ["milk", "eggs"],
            "numbers": [1, 2, 3],
            "parts": ["a", "c"],
            "point": {"x": 3, "y": 4},
            "either": 7,
            "anything": [1, None],
        }

    shared_form.run(act)


def test_what_may_be_left_out_has_its_default(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "take")
        share, size = fields["share"].input, fields["size"].input
        assert isinstance(share, Field)
        assert isinstance(size, Choice)
        assert (share.text, size.chosen) == ("0.5", ["m"])
        hint = "text, one per line  optional"
        await until(pilot, lambda: shown(pilot, hint))
        put(fields["text"], "a")
        put(fields["number"], "1")
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Took it.")
        found = got(pilot)
        assert (found["share"], found["sure"], found["size"]) == (0.5, False, "m")
        assert {found[name] for name in ("colour", "level", "point", "either")} == {None}

    shared_form.run(act)


def test_errors_stand_beside_their_fields_and_nothing_is_done(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "take")
        put(fields["share"], "half")
        put(fields["point"], '{"y": 1}')
        await pilot.press("enter")
        await until(pilot, lambda: fields["number"].has_class("-wrong"))
        assert shown(pilot, "is missing")
        assert shown(pilot, 'expected float, got "half"')
        assert not fields["names"].has_class("-wrong")
        assert fields["point"].has_class("-wrong")
        assert got(pilot) == {}
        number = fields["number"].input
        await until(pilot, lambda: number.has_focus)
        put(fields["number"], "1")
        put(fields["share"], "0.1")
        put(fields["point"], "")
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Took it.")

    shared_form.run(act)


def test_limits_are_beside_the_field_and_hold_before_anything_is_sent(
    shared_form: SharedApp,
) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "rate")
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

    shared_form.run(act)


def test_a_refusal_keeps_the_form_and_what_was_typed(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "few")
        await pilot.press(*"milk")
        put(fields["times"], "99")
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "That is too often."))
        assert isinstance(pilot.app.screen, FormScreen)
        put(fields["times"], "2")
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Few: 'milk'.")
        assert got(pilot) == {"words": "milk", "times": 2}

    shared_form.run(act)


def test_ctrl_j_begins_a_line_and_several_lines_are_several_items(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, _ = await form(pilot, "few")
        await pilot.press(*"milk", "ctrl+j", *"eggs", "enter")
        await until(pilot, lambda: "Few: ['milk', 'eggs']." in frame.note)

    shared_form.run(act)


def test_choices_are_made_by_key_and_by_click(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, fields = await form(pilot, "take")
        put(fields["text"], "a")
        put(fields["number"], "1")
        size, parts, sure = (fields[one].input for one in ("size", "parts", "sure"))
        size.focus()
        await pilot.press("right")
        parts.focus()
        await pilot.press("space", "right", "right", "space", "left", "space", "space")
        row = region_text(pilot, sure)[0]
        assert row == "✓ no  · yes  optional"
        assert region_text(pilot, fields["colour"].input) == ["· red  · sea blue  optional"]
        await pilot.click(sure, offset=(row.index("yes"), 0))
        await until(pilot, lambda: region_text(pilot, sure) == ["· no  ✓ yes  optional"])
        await pilot.press("enter")
        await until(pilot, lambda: frame.note == "Took it.")
        found = got(pilot)
        assert (found["size"], found["parts"], found["sure"]) == ("l", ["a", "c"], True)

    shared_form.run(act, (120, 60))


@pytest.mark.parametrize("leave", ["key", "click"])
def test_a_form_is_left_without_anything_being_done(shared_form: SharedApp, leave: str) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        frame, _ = await form(pilot, "few")
        await pilot.press(*"milk")
        if leave == "key":
            await pilot.press("escape")
        else:
            await pilot.click(offset=(1, 1))
        await until(pilot, lambda: frame.has_focus)
        assert got(pilot) == {}

    shared_form.run(act)


def test_tab_leads_from_field_to_field(shared_form: SharedApp) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        _, fields = await form(pilot, "few")
        assert fields["words"].input.has_focus
        await pilot.press("tab")
        await until(pilot, lambda: fields["times"].input.has_focus)
        await pilot.press("shift+tab")
        await until(pilot, lambda: fields["words"].input.has_focus)

    shared_form.run(act)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_a_form_fits_a_small_terminal(shared_form: SharedApp, size: tuple[int, int]) -> None:
    async def act(pilot: "Pilot[int]") -> None:
        _, fields = await form(pilot, "take")
        for _ in range(len(fields) - 1):
            await pilot.press("tab")
        last = fields["anything"].input
        await until(pilot, lambda: last.has_focus)
        await until(pilot, lambda: 0 < last.region.y < size[1])
        await until(pilot, lambda: shown(pilot, "esc close"))

    shared_form.run(act, size)


class Talkative(Window):
    """Has an action with a long label."""

    @action("Write an entry; " + "what it says is summary_text to the model " * 3 + "at the end")
    def write(self, text: str) -> str:
        return text


def test_what_is_too_long_for_the_title_stands_above_the_fields(tmp_path: Path) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path, windows=[Talkative])
        desk.session.windows.open("talkative")
        async with running(desk) as pilot:
            frame = await enter(pilot, "talkative_1")
            frame.runner.choose("write")
            await until(pilot, lambda: shown(pilot, "talkative_1  Write…"))
            assert shown(pilot, "at the end")

    asyncio.run(go())

"""Windows to look at, and how to look at them."""

import threading
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from textual.pilot import Pilot
from textual.widget import Widget

from contextui import ActionError, Body, Button, Element, Form, Lod, Reference, Window, action
from contextui.agent.models.scripted import Step
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.pane import Desktop
from contextui.windowing.finding.registry import discover
from contextui.words import Lang
from tests.tui.running import desk_in, lines, until
from tests.tui.sharing import SharedChat

# Whatever of this were obeyed would be seen: an exception, a click, a title, a clipboard.
PAYLOADS = [
    "zap[/foo][/[/][b]x",
    "zap[@click=app.quit]x[/]",
    "zap\x1b]52;c;b3duZWQ=\x07\x1b]0;owned\x07\x9b31m",
    "zap\u202eb\u2066c\x00\ud800",
    "zap$primary{0}{name}%s",
]


class NoteWindow(Window):
    """Words, and nothing else."""

    name = "note"

    class State(Window.State):
        text: str = "some words"

    state: State

    def opened(self, text: str = "some words") -> None:
        self.state.text = text

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return self.state.text[:40]
        return self.state.text if lod is Lod.FULL else self.state.text[:10]

    @action("Write other words")
    def write(self, text: str) -> str:
        self.state.text = text
        return f"Wrote {len(text)}."

    @action("Say it", effect="read")
    def say(self) -> str:
        return self.state.text

    @action("Refuse")
    def refuse(self, why: str = "no reason") -> str:
        raise ActionError(why)

    @action("Take the last words back")
    def undo(self) -> str:
        self.state.text = "taken back"
        return "Taken back."


class Colour(Enum):
    RED = "red"
    BLUE = "sea blue"


class Point(BaseModel):
    x: int
    y: int = 0


class FormWindow(Window):
    """Takes everything that can be declared, and shows what it got."""

    name = "form"

    class State(Window.State):
        got: dict[str, Any] = {}

    state: State

    def content(self, lod: Lod) -> Body:
        return repr(self.state.got)

    @action("Take all there is")
    def take(
        self,
        *,
        text: str,
        number: int,
        share: float = 0.5,
        sure: bool = False,
        size: Literal["s", "m", "l"] = "m",
        colour: Colour | None = None,
        level: Literal[1, 2, 3] | None = None,
        code: Literal["1", "2"] | None = None,
        names: list[str] | None = None,
        numbers: list[int] | None = None,
        parts: list[Literal["a", "b", "c"]] | None = None,
        point: Point | None = None,
        either: int | str | None = None,
        anything: Any = None,
    ) -> str:
        given = {name: value for name, value in locals().items() if name not in ("self",)}
        self.state.got = {name: _plain(value) for name, value in given.items()}
        return "Took it."

    @action("Rate it; " + "what it says is not to be cut off " * 4 + "at the end")
    def rate(
        self,
        stars: Annotated[int, Field(ge=1, le=5)],
        why: Annotated[str, Field(max_length=20)] = "",
    ) -> str:
        self.state.got = {"stars": stars, "why": why}
        return f"Rated {stars}."

    @action("Take a few words")
    def few(self, words: str | list[str], times: int = 1) -> str:
        self.state.got = {"words": words, "times": times}
        if times > 9:
            raise ActionError("That is too often.")
        return f"Few: {words!r}."


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return value.value if isinstance(value, Enum) else value


class ShelfWindow(Window):
    """Books with buttons."""

    name = "shelf"

    class State(Window.State):
        pages: dict[str, int] = {"1": 0, "2": 0}

    state: State

    def content(self, lod: Lod) -> Body:
        return [
            Element("book", f"Book {number}", id=number, page=page)
            for number, page in self.state.pages.items()
        ]

    def anchors(self, lod: Lod) -> Iterable[Button | Form | Reference]:
        for number in self.state.pages:
            place = f"book-{number}"
            yield Reference(place)
            done = {"book": number, "page": 300}
            yield Button(f"finish-{number}", "read", done, place, "Finish")
            yield Form(f"page-{number}", "read", ("page",), {"book": number}, place, "Page")
        yield Button("again", "reset", label="All again")

    @action("Note how far you are")
    def read(self, book: str, page: int) -> str:
        if page > 300:
            raise ActionError("There are 300 pages.")
        self.state.pages[book] = page
        return f"Book {book}: {page}."

    @action("Begin again")
    def reset(self) -> str:
        self.state.pages = {"1": 0, "2": 0}
        return "All again."


class BrokenWindow(Window):
    """Draws itself once."""

    name = "broken"

    class State(Window.State):
        works: bool = True

    state: State

    def content(self, lod: Lod) -> Body:
        if not self.state.works:
            raise ValueError("[/]no way[@click=app.quit]")
        return "It works."

    @action("Break it")
    def fail(self) -> str:
        self.state.works = False
        return "Broken."

    @action("Mend it")
    def mend(self) -> str:
        self.state.works = True
        return "Mended."


class SlowWindow(Window):
    """Takes its time, as long as it is asked to."""

    name = "slow"
    going_on = threading.Event()

    def content(self, lod: Lod) -> Body:
        return "slow"

    @action("Wait until asked")
    def wait(self) -> str:
        self.going_on.wait(20)
        return "Waited."

    @action("Read for long", effect="read")
    def read(self) -> str:
        self.going_on.wait(20)
        return "one\ntwo\nthree"


class HostileWindow(Window):
    """Shows whatever it is given, wherever something can be shown."""

    name = "hostile"
    description = PAYLOADS[0]

    class State(Window.State):
        text: str = ""
        breaks: bool = False

    state: State

    def opened(self, text: str = "") -> None:
        self.state.text = text

    def content(self, lod: Lod) -> Body:
        text = self.state.text
        if self.state.breaks:
            raise ValueError(text)
        if lod is Lod.GIST:
            return text
        more = Element("more", f"{text}\n{text}", note=text)
        return [Element("item", text, more, id="1", value=text)]

    def anchors(self, lod: Lod) -> Iterable[Button | Form]:
        yield Button("press", "say", {"text": self.state.text}, "item-1", self.state.text)
        yield Form("fill", "say", ("text",), {}, None, self.state.text)

    def preview(self, action_id: str, params: object) -> str | None:
        return f"{action_id} {self.state.text}"

    @action(PAYLOADS[1])
    def say(self, text: str) -> str:
        return text

    @action("Write it", effect="write")
    def write(self, text: str) -> str:
        self.state.text = text
        return text

    @action("Say much", effect="read")
    def say_much(self, text: str) -> str:
        return "\n".join([text] * 5)

    @action("Refuse")
    def refuse(self, text: str) -> str:
        raise ActionError(text)

    @action("Break")
    def fail(self) -> str:
        self.state.breaks = True
        return self.state.text


SAMPLES: Sequence[type[Window]] = (
    NoteWindow,
    FormWindow,
    ShelfWindow,
    BrokenWindow,
    SlowWindow,
    HostileWindow,
)


def desk_with(
    folder: Path, *names: str, lang: Lang = "en", steps: Sequence[Step] = (), **given: Any
) -> AppSession:
    """A session with these windows open, samples or built-in ones."""
    desk = desk_in(folder, *steps, windows=[*discover().classes(), *SAMPLES], lang=lang, **given)
    for name in names:
        desk.session.windows.open(name)
    return desk


def opened(chat: SharedChat, *names: str) -> AppSession:
    """The shared session, with these windows open."""
    for name in names:
        chat.desk.session.windows.open(name)
    return chat.desk


def desktop(pilot: "Pilot[int]") -> Desktop:
    return pilot.app.screen_stack[0].query_one(Desktop)


def frames(pilot: "Pilot[int]") -> dict[str, WindowFrame]:
    """The windows that are mounted, by id."""
    return {one.window.id: one for one in desktop(pilot).query(WindowFrame) if one.display}


async def frame_of(pilot: "Pilot[int]", window_id: str) -> WindowFrame:
    """The frame of a window, once it is there."""
    await until(pilot, lambda: window_id in frames(pilot) and frames(pilot)[window_id].size)
    return frames(pilot)[window_id]


async def enter(pilot: "Pilot[int]", window_id: str) -> WindowFrame:
    frame = await frame_of(pilot, window_id)

    def focused() -> bool:
        if not frame.has_focus:  # a window that just came may have taken it
            frame.focus()
        return frame.has_focus

    await until(pilot, focused)
    return frame


def region_text(pilot: "Pilot[int]", widget: Any) -> list[str]:
    """What stands on the screen where a widget is."""
    from rich.cells import set_cell_size

    x, y, width, height = widget.region
    found = []
    for line in lines(pilot)[y : y + height]:
        padded = set_cell_size(line, 400)
        ahead = set_cell_size(padded, x)
        found.append(set_cell_size(padded[len(ahead.rstrip("\n")) :], width).rstrip())
    return found


def focused_window(pilot: "Pilot[int]") -> str:
    """Return the id of the window that has the focus; empty if none has."""
    focused = pilot.app.focused
    around = focused.ancestors_with_self if focused is not None else []
    return next((one.window.id for one in around if isinstance(one, WindowFrame)), "")


async def seen(pilot: "Pilot[int]", frame: Widget, *texts: str) -> str:
    """Wait until all of these texts are in a window; return all of its text."""

    def text() -> str:
        return "\n".join(region_text(pilot, frame))

    try:
        await until(pilot, lambda: all(one in text() for one in texts))
    except AssertionError as error:
        raise AssertionError(f"{texts} not in\n{text()}") from error
    return text()

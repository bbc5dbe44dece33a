"""Actions at run time, effects that depend on params, and what params say about themselves."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from contextui import Action, ApprovalGate, Body, Lod, Window, WindowManager, action
from contextui.errors import InvalidParamsError
from contextui.testing import WindowTester
from contextui.windowing.action import Effect
from contextui.windowing.params import SchemaParams
from tests.agent.desk import Person


class Loan(BaseModel):
    """Who borrows what, and how long."""

    reader: str
    weeks: int = Field(2, ge=1, le=6, description="How long.")


SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "What it is called."},
        "kind": {"enum": ["book", "map"], "default": "book"},
        "pages": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"shelf": {"type": "integer"}},
            "required": ["shelf"],
        },
    },
    "required": ["title"],
}


def writes(params: Mapping[str, Any]) -> Effect:
    return "write" if params["text"].startswith("!") else "read"


class Library(Window):
    """A library whose services change."""

    class State(Window.State):
        services: list[str] = ["lend", "shelve"]
        done: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(self.state.done) or "nothing yet"

    def more_actions(self) -> Iterable[Action]:
        if "lend" in self.state.services:
            yield Action("lend", "Lend a book", params=Loan, call=self._lend)
        if "shelve" in self.state.services:
            yield Action("shelve", "Put on a shelf", params=SCHEMA, call=self._shelve)

    def _lend(self, reader: str, weeks: int) -> str:
        self.state.done.append(f"{reader} {weeks}")
        return f"lent to {reader} for {weeks}"

    async def _shelve(self, **given: Any) -> str:
        await asyncio.sleep(0)
        self.state.done.append(given["title"])
        return f"shelved {given}"

    @action("Offer services")
    def offer(self, services: list[str]) -> None:
        self.state.services = services

    @action("Ask something", effect=writes)
    def query(self, text: str) -> str:
        return f"answer to {text}"

    @action("Order copies")
    def order(
        self,
        copies: Annotated[int, Field(ge=1, le=5, description="How many.")] = 3,
        title: str = Field("any", description="Which book."),
        note: str | None = None,
    ) -> str:
        """Order copies.

        Args:
            copies: Not used, as the field says more.
            note: A few words
                for the shop.
        """
        return f"{copies} of {title}, {note}"


def test_they_are_listed_and_called_like_declared_ones() -> None:
    with WindowTester(Library) as library:
        assert (
            '<action id="lend" params="reader:string,weeks:int(1..6)=2">Lend a book</action>'
            in library.xml()
        )
        assert library.act("lend", reader="Ada") == "lent to Ada for 2"
        assert library.act("lend", reader="Ada", weeks=6) == "lent to Ada for 6"
        assert library.act("shelve", title="Momo") == "shelved {'title': 'Momo'}"
        assert library.window.state.done == ["Ada 2", "Ada 6", "Momo"]


def test_they_change_with_the_state() -> None:
    with WindowTester(Library) as library:
        library.act("offer", services=["shelve"])
        assert '"lend"' not in library.xml()
        assert library.refused("lend", reader="Ada").startswith("library_1 has no action")
        library.act("offer", services=[])
        assert '"shelve"' not in library.xml()  # drawn anew
        assert list(library.window.actions) == ["offer", "query", "order"]


def test_params_by_schema_are_checked() -> None:
    for params, problem in (
        ({}, "title is missing"),
        ({"title": 7}, 'title: expected string, got "7"'),
        ({"title": "x", "pages": True}, 'pages: expected int, got "true"'),
        ({"title": "x", "nonsense": 1}, 'there is no param "nonsense"'),
        ({"title": "x", "tags": "one"}, 'tags: expected string[], got "one"'),
    ):
        with WindowTester(Library) as library:
            said = library.refused("shelve", **params)
            assert problem in said, params
            assert "Expected: title:string,kind:book|map=book,pages:int(1..)?" in said, params


def test_a_schema_is_shown_compactly() -> None:
    assert str(SchemaParams(SCHEMA)) == (
        "title:string,kind:book|map=book,pages:int(1..)?,tags:string[]?,place:{shelf:int}?"
    )


def test_an_odd_schema_breaks_nothing() -> None:
    for schema in (
        {},
        {"properties": 3},
        {"properties": {"a": None}},
        {"required": "a"},
        {"properties": {"a": {"type": ["x"]}}},
        {"properties": {"a": {"type": {}}, "b": {"type": [{}, ["x"]]}}},
        {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": 3}}},
        {"properties": {"a": {"$ref": "https://example.org/x"}, "b": {"anyOf": [3, None]}}},
        {"properties": {"a": {"enum": ["x", {}, None]}, "b": {"const": []}}},
        {"properties": {"a": {"anyOf": [{"anyOf": [{"$ref": "#/properties/a"}]}, {"items": 3}]}}},
    ):
        params = SchemaParams(schema)
        str(params)
        names = [one.name for one in params.listing]
        assert params.validate(dict.fromkeys(names, "x"), "it") == dict.fromkeys(names, "x"), schema


def test_references_and_nulls_of_a_schema_are_resolved() -> None:
    params = SchemaParams(
        {
            "properties": {
                "when": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "place": {"$ref": "#/$defs/Place"},
                "count": {"type": ["integer", "null"]},
                "key": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "mode": {"const": "fast"},
            },
            "required": ["place"],
            "$defs": {"Place": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        }
    )
    assert str(params) == ("when:string?,place:{x:int?},count:int?,key:string|int?,mode:fast?")
    given = {"when": None, "place": {"x": 1}, "count": None, "key": 3}
    assert params.validate(given, "it") == given
    with pytest.raises(InvalidParamsError, match="when: expected string"):
        params.validate({"when": 3, "place": {}}, "it")


def test_less_is_shown_of_them_at_lower_levels_of_detail() -> None:
    with WindowTester(Library) as library:
        assert '<action id="shelve" params="title:string,' in library.xml(Lod.FULL)
        summary, gist = library.xml(Lod.SUMMARY), library.xml(Lod.GIST)
        assert '<action id="shelve" params="title:string,' in summary
        assert 'tags:string[]?,place:{shelf:int}?"/>' in summary
        assert '<action id="shelve"/>' in gist


def test_one_without_a_call_is_said_in_the_window_which_fails_a_test() -> None:
    class Odd(Library):
        """Offers what it cannot do."""

        def more_actions(self) -> Iterable[Action]:
            yield Action("plain", "No call")

    with (
        WindowTester(Odd) as odd,
        pytest.raises(AssertionError, match="not an Action with a call"),
    ):
        odd.content()


async def test_the_effect_depends_on_the_params() -> None:
    person, windows = Person("no"), WindowManager([Library])
    windows.open("library")
    allow = ApprovalGate("ask", person).allow
    reads = await windows.act("library_1", "query", {"text": "who?"}, allow=allow)
    edits = await windows.act("library_1", "query", {"text": "!burn"}, allow=allow)
    windows.shut_down()
    assert reads.text == "answer to who?"
    assert edits.text == "library_1.query was not carried out: the person declined."
    assert [one.name for one in person.questions] == ["library_1.query"]


def test_an_effect_that_cannot_be_known_asks() -> None:
    cases: list[Any] = [lambda _: 1 / 0, lambda _: "nonsense", lambda params: params["x"]]
    for effect in cases:
        assert Action("a", "A", effect).effect_of({}) == "write", effect


def test_bounds_defaults_and_descriptions_are_shown() -> None:
    with WindowTester(Library) as library:
        assert 'params="copies:int(1..5)=3,title:string=any,note:string?"' in library.xml()
        assert library.act("order") == "3 of any, None"
        assert "less than or equal to 5" in library.refused("order", copies=9)
        assert "copies:int(1..5)=3" in library.refused("order", copies=9)
        assert library.act("describe", action_id="order") == (
            "order(copies:int(1..5)=3,title:string=any,note:string?): Order copies\n"
            "  copies:int(1..5)=3 - How many.\n"
            "  title:string=any - Which book.\n"
            "  note:string? - A few words for the shop."
        )
        assert library.refused("describe", action_id="nothing").startswith(
            'library_1 has no action "nothing"'
        )

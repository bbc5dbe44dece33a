"""The shape of a state: what it lets in, and what it keeps."""

from contextui.context.strategies.builtin import Schema

TRIP = Schema.of(
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "price": {"type": "number"},
            "class": {"type": "string", "enum": ["first", "second"]},
            "direct": {"type": "boolean"},
            "stops": {"type": "array"},
        },
    }
)


def test_only_what_fits_gets_in() -> None:
    given = {
        "city": 7,
        "days": True,
        "price": 3,
        "class": "third",
        "direct": 1,
        "stops": [],
        "x": 1,
    }
    assert TRIP.fitting(given) == {"price": 3, "stops": []}
    assert TRIP.fitting([given]) == {}


def test_news_change_what_they_name_and_null_takes_away() -> None:
    before = {"city": "Rome", "days": 3}
    assert TRIP.merged(before, {"days": 4, "direct": False}) == {
        "city": "Rome",
        "days": 4,
        "direct": False,
    }
    assert TRIP.merged(before, {"city": None}) == {"days": 3}
    assert TRIP.merged(before, {"days": "four"}) == before


def test_the_short_form_is_the_same_schema() -> None:
    assert Schema.of({"city": "string"}).as_json() == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
    }

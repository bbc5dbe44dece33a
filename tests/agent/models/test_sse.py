"""Events out of bytes: however they are cut into pieces, and whatever ends their lines."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.agent.models.stream import data_of

LINES = [
    "data: a",
    "data:b",
    "data:  c ",
    "data",
    ": hello",
    "event: ping",
    "id: 5",
    "",
    "",
    "data: 你",
]


def read(chunks: Sequence[bytes], longest: int = 1_000) -> list[str]:
    async def pieces() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def all_of() -> list[str]:
        return [data async for data in data_of(pieces(), longest)]

    return asyncio.run(all_of())


def expected(lines: Sequence[str]) -> list[str]:
    """What the standard says of such lines, each of which has its end."""
    found: list[str] = []
    data: list[str] = []
    for line in lines:
        if line.split(":")[0] == "data":
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            found.append("\n".join(data))
            data = []
    return found


@given(st.lists(st.sampled_from(LINES)), st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 9))
def test_pieces_and_ends_make_no_difference(lines: list[str], end: str, size: int) -> None:
    raw = "".join(line + end for line in lines).encode()
    assert read([raw[n : n + size] for n in range(0, len(raw), size)]) == expected(lines)


def test_an_event_may_follow_a_byte_order_mark_and_is_dropped_if_it_is_cut_off() -> None:
    assert read([b"data: a\n\ndata: b\n"]) == read([b"data: a\n\ndata: b"]) == ["a"]
    assert read([b"\xef\xbb", b"\xbfdata: a\n\n"]) == ["a"]


def test_nothing_is_endless() -> None:
    for piece in (b"x", b"x\n", b"data: x\n", b":\r"):
        with pytest.raises(ValueError, match="without an end"):
            read([piece * 100] * 1_000)


def test_a_long_event_of_many_lines_takes_no_longer_than_it_must() -> None:
    [data] = read([b"data: x\n" * 200_000, b"\n"], longest=10_000_000)
    assert len(data) == 2 * 200_000 - 1


def test_what_is_no_text_is_no_event() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read([b"data: \xff\n\n"])

"""Server-sent events, as they come: in pieces of any size, in time that grows with their length.

The SDK's own reader takes hours for a long event of many lines, and lets one fill the memory.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

_BOM = b"\xef\xbb\xbf"
_FIELD = b"data"


async def data_of(chunks: AsyncIterator[bytes], longest: int) -> AsyncGenerator[str]:
    """What each event says; one that the end of the stream cuts short says nothing.

    Args:
        chunks: The bytes of the stream.
        longest: Bytes that one event may have.

    Raises:
        ValueError: An event is longer, or is no UTF-8.
    """
    said: list[bytes] = []
    size = 0
    async with aclosing(_lines(chunks, longest)) as lines:
        async for line in lines:
            size += len(line)
            if size > longest:
                raise ValueError("an event without an end")
            if not line:
                if said:
                    yield b"\n".join(said).decode()
                said, size = [], 0
                continue
            field, _, value = line.partition(b":")
            if field == _FIELD:
                said.append(value.removeprefix(b" "))


async def _lines(chunks: AsyncIterator[bytes], longest: int) -> AsyncGenerator[bytes]:
    """The lines, whatever ends them: LF, CR, or both, also if a chunk ends between the two."""
    begun: list[bytes] = []
    size, may_be_lf, is_first = 0, False, True
    async for chunk in chunks:
        rest = chunk.removeprefix(b"\n") if may_be_lf else chunk
        may_be_lf = chunk.endswith(b"\r") if chunk else may_be_lf
        for part in rest.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            begun.append(line)
            size += len(line)
            if size > longest:
                raise ValueError("a line without an end")
            if line != part:
                whole = b"".join(begun)
                yield whole.removeprefix(_BOM) if is_first else whole
                begun, size, is_first = [], 0, False

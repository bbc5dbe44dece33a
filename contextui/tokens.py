"""Token usage as the provider reports it, and our own count.

The count is exact with the cl100k vocabulary, and estimated by character class as a fallback.
"""

import binascii
import functools
import gzip
import hashlib
import json
import logging
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from contextui.text import for_model

if TYPE_CHECKING:
    from tiktoken import Encoding

_log = logging.getLogger(__name__)

Content = str | Sequence[Mapping[str, object]]
"""A message's content: plain text, or blocks in the provider's JSON form."""


class Message(Protocol):
    """Anything with a role and a content, whose tokens can be counted."""

    @property
    def role(self) -> str:
        """The role, such as `user`."""

    @property
    def content(self) -> Content:
        """The text or blocks."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token usage of requests, under the provider's field names, and its cost.

    Attributes:
        cost: What the requests cost in dollars, as far as the prices are known; None if none is.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        theirs, costs = other.as_dict(), [self.cost, other.cost]
        sums = {name: count + theirs[name] for name, count in self.as_dict().items()}
        known = [cost for cost in costs if cost is not None]
        return Usage(**sums, cost=sum(known) if known else None)

    def __bool__(self) -> bool:
        return any(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """Return the token counts by field name."""
        return {name: getattr(self, name) for name in _COUNTS}

    @property
    def cached(self) -> float | None:
        """The share of the input that came from the cache; None if nothing was sent."""
        read = self.cache_read_input_tokens
        sent = self.input_tokens + self.cache_creation_input_tokens + read
        return read / sent if sent else None

    def figures(self) -> dict[str, float]:
        """Return the token counts, and ``cost_usd`` if it is known, as logs have them."""
        return self.as_dict() | ({"cost_usd": self.cost} if self.cost is not None else {})


_COUNTS = tuple(field.name for field in fields(Usage) if field.name != "cost")


class TokenCounter:
    """Counts tokens of texts and messages, and calibrates itself by the provider's usage.

    Counts are additive: a message is the sum of its parts, each counted separately, so callers can
    cache the counts of parts that do not change. Thread-safe.

    Args:
        encode: Counts the tokens of one text; by default with the cl100k vocabulary.

    Example:
        >>> TokenCounter().count("Hello, world!")
        4
    """

    _PER_MESSAGE = 4
    _PER_IMAGE = 1_600
    _SMOOTHING = 0.25
    _MIN_RATIO, _MAX_RATIO = 0.5, 2.0

    def __init__(self, encode: Callable[[str], int] | None = None) -> None:
        self._encode = encode or _count_cl100k
        self._exact = True
        self._ratio = 1.0
        self._role_tokens: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def exact(self) -> bool:
        """False once the vocabulary failed to load and counts are estimates."""
        return self._exact

    @property
    def ratio(self) -> float:
        """Tokens that the provider reports per token counted here, smoothed."""
        return self._ratio

    @ratio.setter
    def ratio(self, ratio: float) -> None:
        self._ratio = min(max(ratio, self._MIN_RATIO), self._MAX_RATIO)

    def count(self, text: str) -> int:
        """Count the tokens of one text; never raises, and estimates if the vocabulary fails."""
        text = for_model(text)
        try:
            return self._encode(text)
        except BaseException as error:
            # A panic of the tokenizer is not an Exception; neither is an interrupt.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            self._fall_back(error)
            return self.estimate(text)

    def count_content(self, content: Content) -> int:
        """Count the tokens of a message's content, tool calls and results included.

        Every image counts as much as the largest: its size in bytes says nothing.
        """
        return sum(map(self.count, _texts(content))) + self._PER_IMAGE * _images(content)

    def count_messages(self, messages: Iterable[Message]) -> int:
        """Count messages as they are sent: 4 tokens each, plus role and content."""
        return sum(
            self.message_overhead(message.role) + self.count_content(message.content)
            for message in messages
        )

    def message_overhead(self, role: str) -> int:
        """Return the tokens that a message costs without its content."""
        if role not in self._role_tokens:
            self._role_tokens[role] = self.count(role)
        return self._PER_MESSAGE + self._role_tokens[role]

    def calibrate(self, counted: int, reported: int) -> None:
        """Adjust the ratio by the usage that the provider reported for a counted request.

        Counts that are not positive are ignored: some providers report 0 for unknown. One report
        moves the ratio a quarter of the way, always within 0.5 to 2.
        """
        if counted <= 0 or reported <= 0:
            return
        seen = min(max(reported / counted, self._MIN_RATIO), self._MAX_RATIO)
        with self._lock:
            self._ratio += self._SMOOTHING * (seen - self._ratio)

    def calibrated(self, tokens: int) -> int:
        """Convert tokens counted here to the number the provider will probably report."""
        return math.ceil(tokens * self._ratio)

    def room_in(self, max_tokens: int) -> int:
        """Convert a limit of the provider's tokens to tokens as counted here."""
        return math.floor(max_tokens / self._ratio)

    @staticmethod
    def should_compact(tokens: int, max_tokens: int, threshold: float = 0.8) -> bool:
        """Whether the tokens reach the threshold, rounded down to whole tokens."""
        # As floats, 0.29 * 100 is 28.999999999999996; compute with the decimal as written.
        return tokens >= math.floor(Fraction(str(threshold)) * max_tokens)

    @staticmethod
    def estimate(text: str) -> int:
        """Estimate quickly: 1.5 Chinese, Japanese or Korean characters per token, or 4 others."""
        cjk = 0 if text.isascii() else sum(len(run) for run in _CJK.findall(text))
        twelfths = 8 * cjk + 3 * (len(text) - cjk)
        return -(-twelfths // 12)

    def _fall_back(self, error: BaseException) -> None:
        with self._lock:
            if self._exact:
                _log.warning("Token counts are estimates from now on: %s", error or repr(error))
            self._exact, self._encode = False, self.estimate


def check_budget(tokens: int) -> None:
    """Raise a `ValueError` unless a budget is a positive integer."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens <= 0:
        raise ValueError(f"A budget is a positive number of tokens, not {tokens!r}.")


_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    "\U0001aff0-\U0001b16f\U00020000-\U0003fffd]+"
)


def _texts(content: Content) -> Iterator[str]:
    """Yield the texts of a content that cost tokens."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        match block:
            case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
                yield text
            case {"type": "tool_use", "name": str(name), "input": arguments}:
                yield name
                yield _compact_json(arguments)
            case {"type": "tool_result", "content": str() | list() | tuple() as result}:
                yield from _texts(result)
            case {"type": "tool_result"} if not block.get("content"):
                continue
            case {"type": "image"}:
                continue
            case _:
                yield _compact_json(block)


def _images(content: Content) -> int:
    if isinstance(content, str):
        return 0
    blocks = [block for block in content if isinstance(block, Mapping)]  # a model may send anything
    inner = (block.get("content") for block in blocks if block.get("type") == "tool_result")
    within = sum(_images(one) for one in inner if isinstance(one, list | tuple))
    return within + sum(block.get("type") == "image" for block in blocks)


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


# The tokenizer panics, and prints, on a run of a million white-space characters. No run panicked at
# 600,000 in tests, and pieces stay far below that.
_PIECE, _LONGEST_PIECE = 1 << 15, 1 << 16

# Positions that no token of `_WORDS` spans, so splitting there changes no count: after a letter or
# digit before punctuation or white space, before a blank, at the start of a line.
_BREAK = re.compile(
    r"[^\W_](?=[\s!-/:-@\[-`{-~\u2010-\u2027\u3001\u3002\uff01-\uff0f\uff1a-\uff20])"
    r"|\S(?=[ \t])"
    r"|\n(?=\S)"
)

_WORDS = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_RANKS = "cl100k_base.tiktoken.gz"
_RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_loading = threading.Lock()


def _count_cl100k(text: str) -> int:
    with _loading:
        encoding = _load_encoding()
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str, length: int = _PIECE, longest: int = _LONGEST_PIECE) -> Iterator[str]:
    """Split text into pieces whose token counts add up to that of the whole.

    A piece ends at the first break after `length`. A run without breaks is cut at `longest`.
    """
    start = 0
    while len(text) - start > longest:
        found = _BREAK.search(text, start + length, start + longest)
        end = found.end() if found else start + longest
        yield text[start:end]
        start = end
    yield text[start:]


@functools.cache
def _load_encoding() -> "Encoding":
    # Loading takes a sixth of a second, and tiktoken itself would download the ranks.
    from tiktoken import Encoding  # noqa: PLC0415

    packed = (resources.files("contextui") / "data" / _RANKS).read_bytes()
    ranks = gzip.decompress(packed)
    if hashlib.sha256(ranks).hexdigest() != _RANKS_SHA256:
        raise ValueError(f"{_RANKS} is damaged")
    words = ranks.split()  # tokens and ranks in turn
    tokens = map(binascii.a2b_base64, words[::2])
    return Encoding(
        "cl100k_base",
        pat_str=_WORDS,
        mergeable_ranks=dict(zip(tokens, map(int, words[1::2]), strict=True)),
        special_tokens={},
    )

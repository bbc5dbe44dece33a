"""`CompactionService`: replace older messages with a model's summary, and report the result."""

import asyncio
import math
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contextui.context.compaction.plan import (
    FALLBACK,
    RETAIN,
    SUMMARY_SHARE,
    CompactionPlan,
    mentioned_files,
    plan,
)
from contextui.context.compaction.summary import Asker, NoSummaryError, Summarizer, Summary
from contextui.context.item import SUMMARY, ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.units import unchanged
from contextui.errors import ContextUIError
from contextui.events import CompactionResult, Trigger
from contextui.model import Model
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.error_text import reason_of
from contextui.words import Lang, Message, Words

FUTILE = 2
"""The number of futile attempts in a row after which automatic compaction stops."""

LEAST_SAVING = 0.2
"""The minimum share of a request's tokens to save; below it, nothing is changed."""

_HEADINGS = 500  # tokens by which a summary may exceed a short conversation, for its headings
_FULL = 0.8  # of the room: a summary that leaves the request fuller than this does not help
_LONGEST_ERROR = 300  # characters
_LEAST_TOKENS = 256  # lower limit of a summary's length, however small the budget is


class NothingToCompactError(ContextUIError):
    """The conversation has nothing that can be compacted."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A running compaction: its trigger, the tokens of a request before, and the summarizer."""

    trigger: Trigger
    before: int
    summarizer: Summarizer


class CompactionService:
    """Compacts a context by replacing older messages with a summary.

    Args:
        context: The context to compact.
        model: The model that summarizes.
        budget: The maximum tokens of a request, in the provider's count.
        reserved: Tokens of each request that are not messages: the tools.
        max_tokens: The maximum tokens of an answer, in the provider's count.
        threshold: The share of the budget from which on compaction is due.

    Example:
        >>> service = CompactionService(context, model, budget=128_000)
        >>> if service.is_due():
        ...     print(await service.compact("auto"))
        Compacted 96 messages: 102,400 → 21,310 tokens, 79.2% less. /undo restores them.
    """

    def __init__(
        self,
        context: ContextManager,
        model: Model,
        budget: int,
        *,
        reserved: int = 0,
        max_tokens: int = 8_192,
        threshold: float = 0.8,
    ) -> None:
        self.context, self.model, self.budget = context, model, budget
        self.threshold = threshold
        self._reserved, self._max_tokens = reserved, max_tokens
        self._futile = 0
        self._left_out: dict[str, tuple[ContextItem, ...]] = {}

    def is_due(self, coming: int = 0) -> bool:
        """Whether the context is nearly full and something can be compacted."""
        if not self._is_full(coming):
            self._futile = 0
            return False
        return self._futile < FUTILE and bool(self.preview().goes)

    def preview(self) -> CompactionPlan:
        """Plan what would be summarized and what would stay."""
        return plan(self.context, RETAIN, self.room)

    def check(self) -> CompactionPlan:
        """Return the plan if compaction is possible and would save enough."""
        chosen = self.possible()
        if little := self.saves_little(chosen):
            raise NothingToCompactError(little)
        return chosen

    def saves_little(self, chosen: CompactionPlan) -> Message | None:
        """Why a plan saves too little even with an empty summary; None if it may save enough."""
        before = self.context.outlook().tokens
        return _saves_little(before, before - chosen.tokens)

    def possible(self) -> CompactionPlan:
        """Return the plan if anything can be compacted."""
        chosen = self.preview()
        if chosen.messages < 2:
            raise NothingToCompactError("There is too little to compact: fewer than two messages.")
        if not chosen.goes:
            raise NothingToCompactError(
                "There is nothing to compact yet: the last rounds and pinned items always stay."
            )
        return chosen

    async def compact(self, trigger: Trigger = "manual") -> CompactionResult:
        """Replace older messages with a summary.

        If the model gives no summary, only the newest part of the conversation stays. If less than
        `LEAST_SAVING` would be saved, nothing is changed, and the result says so. Cancellation
        changes nothing.

        Raises:
            NothingToCompactError: Nothing can be compacted.
        """
        chosen = self.possible()
        this = _Attempt(trigger, self.context.outlook().tokens, self._summarizer())
        if little := self.saves_little(chosen):
            return self._result(this, (), Summary(""), little.text(self._lang))
        seen = {item.id: item.revision for item in chosen.goes}
        try:
            summary = await self._summarize(this, chosen)
        except Exception as problem:  # any failure is reported, and the fallback makes room
            return self._fall_back(this, problem)
        goes = list(unchanged(chosen.goes, seen))
        if not goes:
            raise NothingToCompactError(
                "Nothing was compacted: all items to compact were changed in the meantime."
            )
        if little := _saves_little(this.before, self._with(summary.text, goes, this)):
            return self._result(this, (), Summary(""), little.text(self._lang))
        self.context.compact(goes, summary.text, trigger=trigger, files=summary.files)
        for item in goes:
            self._left_out.pop(item.id, None)
        return self._result(this, goes, summary)

    def _summarizer(self) -> Summarizer:
        tokens = min(self.budget // SUMMARY_SHARE, self._max_tokens)
        asker = Asker(self.model, self.context.counter, self.context.report_usage)
        return Summarizer(asker, self.room, max(tokens, _LEAST_TOKENS), self._lang)

    async def _summarize(self, this: _Attempt, chosen: CompactionPlan) -> Summary:
        items = sorted(self._whole(chosen.goes), key=lambda item: item.seq)
        windows = self.context.windows
        files = await asyncio.to_thread(mentioned_files, items, windows) if windows else []
        summary = await this.summarizer.summarize(items, files)
        tokens = self.context.counter.count(summary.text)
        left = math.floor(_FULL * self.room) - (this.before - chosen.tokens)
        if tokens > max(left, self.room // SUMMARY_SHARE):
            raise NoSummaryError("The summary is too long.")
        if tokens > chosen.tokens + _HEADINGS:
            raise NoSummaryError("The summary is longer than what it replaces.")
        return summary

    def _whole(self, goes: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """Expand the notes of earlier fallbacks to the items that they replaced."""
        for item in goes:
            if item.id in self._left_out:
                yield from self._whole(self._left_out[item.id])
            else:
                yield item

    def _fall_back(self, this: _Attempt, problem: Exception) -> CompactionResult:
        """Without a summary, keep only the newest part."""
        error = one_line(mask(reason_of(problem, self._lang)), _LONGEST_ERROR)
        goes, text = plan(self.context, FALLBACK, self.room).goes, ""
        if goes:
            text = Words(self._lang)(
                "(The conversation before this, {count} messages, was left out without a summary: "
                "{error} The person can summarize it with /compact.)",
                count=_messages(goes),
                error=error,
            )
        if _saves_little(this.before, self._with(text, goes, this)):
            return self._result(this, (), Summary(""), error)
        if goes:
            note = self.context.compact(goes, text, trigger=this.trigger)
            self._left_out[note.id] = goes
        return self._result(this, goes, Summary(text), error)

    def _with(self, text: str, goes: Iterable[ContextItem], this: _Attempt) -> int:
        size = self.context.item_tokens
        summary = ContextItem(ItemType.SYSTEM, text, id=SUMMARY + uuid.uuid4().hex)
        return this.before - sum(map(size, goes)) + size(summary)

    def _result(
        self, this: _Attempt, goes: Iterable[ContextItem], summary: Summary, error: str = ""
    ) -> CompactionResult:
        after, by_itself = self.context.outlook().tokens, this.trigger == "auto"
        is_futile = self._is_full() or (by_itself and after >= this.before)
        self._futile = self._futile + by_itself if is_futile else 0
        return CompactionResult(
            success=not error,
            trigger=this.trigger,
            pre_tokens=this.before,
            post_tokens=after,
            messages=_messages(goes),
            files_included=summary.files,
            summary=summary.text,
            error=error,
            usage=this.summarizer.asker.usage,
            requests=this.summarizer.asker.requests,
            is_futile=is_futile,
            gave_up=by_itself and self._futile >= FUTILE,
        )

    def _is_full(self, coming: int = 0) -> bool:
        tokens = self.context.outlook().tokens + self._reserved + coming
        return TokenCounter.should_compact(
            self.context.counter.calibrated(tokens), self.budget, self.threshold
        )

    @property
    def room(self) -> int:
        """The tokens available for all messages together, in our own count."""
        return max(self.context.counter.room_in(self.budget) - self._reserved, 1)

    @property
    def _lang(self) -> Lang:
        return self.context.windows.lang if self.context.windows is not None else "en"


def _saves_little(before: int, after: int) -> Message | None:
    if before - after >= LEAST_SAVING * before:
        return None
    shown = {"before": f"{before:,}", "after": f"{max(after, 0):,}"}
    return Message(
        "Compacting would save less than {percent}% ({before} → {after} tokens).",
        {"percent": round(100 * LEAST_SAVING), **shown},
    )


def _messages(items: Iterable[ContextItem]) -> int:
    return sum(map(is_conversation, items))

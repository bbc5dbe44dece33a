"""`CompactionService`: makes room by a summary, and says what came of it."""

import asyncio
import math
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contextui.config.choices import Lang
from contextui.context.compaction.files import mentioned_files
from contextui.context.compaction.plan import FALLBACK, RETAIN, SUMMARY_SHARE, Plan, plan
from contextui.context.compaction.result import CompactionResult
from contextui.context.compaction.summary import NoSummaryError, Summarizer, Summary
from contextui.context.item import SUMMARY, ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.units import unchanged
from contextui.errors import ContextUIError
from contextui.events import Trigger
from contextui.model import Model
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.trouble import reason_of

FUTILE = 2
"""Tries in a row that help too little, after which no further one is made by itself."""

_HEADINGS = 500  # tokens: a summary of little may be so much longer, for its headings
_FULL = 0.8  # of the room: a summary that fills more than that does not help
_LONGEST_ERROR = 300  # characters
_LEAST_TOKENS = 256  # that a summary may have, however small the budget is
_LEFT_OUT: dict[Lang, str] = {
    "en": "(The conversation before this, {count} messages, was left out without a summary: "
    "{error} The person can have it summarized with /compact.)",
    "zh": "（此前的对话共 {count} 条，已在没有总结的情况下省略：{error} "
    "用户可以用 /compact 再试一次。）",
}


class NothingToCompactError(ContextUIError):
    """A conversation of which nothing can go."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One compaction on its way: who wanted it, what a request cost before, who is asked, and
    whether nothing is done where nothing is saved."""

    trigger: Trigger
    before: int
    asking: Summarizer
    must_save: bool


class CompactionService:
    """Compacts a context.

    Args:
        context: What is to be compacted.
        model: Who summarizes.
        budget: The provider's tokens that a request may have.
        reserved: Tokens of each request that are no messages: the tools.
        max_tokens: The provider's tokens that an answer may have.

    Example:
        >>> service = CompactionService(context, model, budget=128_000)
        >>> if service.is_due():
        ...     print(await service.compact("auto"))
        Compacted 96 messages: 102,400 → 21,310 tokens, 79.2% less. /undo brings them back.
    """

    def __init__(
        self,
        context: ContextManager,
        model: Model,
        budget: int,
        *,
        reserved: int = 0,
        max_tokens: int = 8_192,
    ) -> None:
        self.context, self.model, self.budget = context, model, budget
        self._reserved, self._max_tokens = reserved, max_tokens
        self._futile = 0
        self._left_out: dict[str, tuple[ContextItem, ...]] = {}

    def is_due(self, coming: int = 0) -> bool:
        """Whether there is so little room left that some should be made, and it could be.

        Once there is room again, earlier tries that helped too little are forgotten.

        Args:
            coming: Tokens that the next request will have beside all that there is.
        """
        if not self._is_full(coming):
            self._futile = 0
            return False
        return self._futile < FUTILE and bool(self.preview().goes)

    def preview(self) -> Plan:
        """What would go and what would stay."""
        return plan(self.context, RETAIN, self._room)

    def check(self) -> Plan:
        """The same, if anything can go.

        Raises:
            NothingToCompactError: Nothing can.
        """
        chosen = self.preview()
        if chosen.messages < 2:
            raise NothingToCompactError("There is too little to compact: fewer than two messages.")
        if not chosen.goes:
            raise NothingToCompactError(
                "There is nothing to compact yet: the last rounds and what is pinned always stay."
            )
        return chosen

    async def compact(
        self, trigger: Trigger = "manual", *, must_save: bool = False
    ) -> CompactionResult:
        """Have a summary take the place of what was said long ago.

        Whatever goes wrong with the summary, there is room afterwards: then the newest part of
        the conversation stays. Cancelled or killed on the way it changes nothing.

        Args:
            trigger: Who wants it.
            must_save: Change nothing where a request would cost as much as before.

        Raises:
            NothingToCompactError: Nothing can go.
        """
        chosen = self.check()
        this = _Try(trigger, self.context.outlook().tokens, self._summarizer(), must_save)
        seen = {item.id: item.revision for item in chosen.goes}
        try:
            summary = await self._summarize(this, chosen)
        except Exception as problem:  # whatever it was: it is told, and there is room
            return self._fall_back(this, problem)
        goes = list(unchanged(chosen.goes, seen))
        if not goes:
            raise NothingToCompactError("All that was to go was changed meanwhile, and stays.")
        after = self._with(summary.text, goes, this)
        if must_save and after >= this.before:
            grown = f"{this.before:,} → {after:,}"
            return self._result(
                this, (), Summary(""), f"The summary would save nothing ({grown} tokens)."
            )
        self.context.compact(goes, summary.text, trigger=trigger, files=summary.files)
        for item in goes:
            self._left_out.pop(item.id, None)
        return self._result(this, goes, summary)

    def _summarizer(self) -> Summarizer:
        tokens = min(self.budget // SUMMARY_SHARE, self._max_tokens)
        return Summarizer(
            model=self.model,
            counter=self.context.counter,
            room=self._room,
            max_tokens=max(tokens, _LEAST_TOKENS),
            lang=self._lang,
            report=self.context.report_usage,
        )

    async def _summarize(self, this: _Try, chosen: Plan) -> Summary:
        items = sorted(self._whole(chosen.goes), key=lambda item: item.seq)
        windows = self.context.windows
        files = await asyncio.to_thread(mentioned_files, items, windows) if windows else []
        summary = await this.asking.summarize(items, files)
        tokens = self.context.counter.count(summary.text)
        left = math.floor(_FULL * self._room) - (this.before - chosen.tokens)
        if tokens > max(left, self._room // SUMMARY_SHARE):
            raise NoSummaryError("The summary is too long.")
        if tokens > chosen.tokens + _HEADINGS:
            raise NoSummaryError("The summary is longer than what it stands for.")
        return summary

    def _whole(self, goes: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """What goes, and in the place of what says that something was left out, that itself."""
        for item in goes:
            if item.id in self._left_out:
                yield from self._whole(self._left_out[item.id])
            else:
                yield item

    def _fall_back(self, this: _Try, problem: Exception) -> CompactionResult:
        """Without a summary, keep the newest part."""
        said = str(problem) if isinstance(problem, ContextUIError) else reason_of(problem)
        error = one_line(mask(said), _LONGEST_ERROR)
        goes, words = plan(self.context, FALLBACK, self._room).goes, ""
        if goes:
            words = _LEFT_OUT[self._lang].format(count=_messages(goes), error=error)
        if this.must_save and self._with(words, goes, this) >= this.before:
            return self._result(this, (), Summary(""), error)
        if goes:
            note = self.context.compact(goes, words, trigger=this.trigger)
            self._left_out[note.id] = goes
        return self._result(this, goes, Summary(words), error)

    def _with(self, words: str, goes: Iterable[ContextItem], this: _Try) -> int:
        """What a request would cost with these words in the place of what goes."""
        size = self.context.ledger.size
        summary = ContextItem(ItemType.SYSTEM, words, id=SUMMARY + uuid.uuid4().hex)
        return this.before - sum(map(size, goes)) + size(summary)

    def _result(
        self, this: _Try, goes: Iterable[ContextItem], summary: Summary, error: str = ""
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
            usage=this.asking.usage,
            requests=this.asking.requests,
            is_futile=is_futile,
            gave_up=by_itself and self._futile >= FUTILE,
        )

    def _is_full(self, coming: int = 0) -> bool:
        tokens = self.context.outlook().tokens + self._reserved + coming
        return TokenCounter.should_compact(self.context.counter.calibrated(tokens), self.budget)

    @property
    def _room(self) -> int:
        """The tokens, as they are counted here, that there are for messages."""
        return max(self.context.counter.room_in(self.budget) - self._reserved, 1)

    @property
    def _lang(self) -> Lang:
        return self.context.windows.lang if self.context.windows is not None else "en"


def _messages(items: Iterable[ContextItem]) -> int:
    return sum(map(is_conversation, items))

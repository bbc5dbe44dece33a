"""`CompactionService`: replace older messages with a model's summary, and report the result."""

import asyncio
import math
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from contextui.config.settings import Lang
from contextui.context.compaction.plan import (
    FALLBACK,
    RETAIN,
    SUMMARY_SHARE,
    Plan,
    mentioned_files,
    plan,
)
from contextui.context.compaction.summary import NoSummaryError, Summarizer, Summary
from contextui.context.item import SUMMARY, ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.units import unchanged
from contextui.errors import ContextUIError
from contextui.events import Trigger
from contextui.model import Model, Usage
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.trouble import reason_of


@dataclass(frozen=True, slots=True)
class _Phrases:
    saved: str
    grown: str
    files: str
    done: str
    failed: str
    unchanged: str
    futile: str
    gave_up: str


_ALL: dict[Lang, _Phrases] = {
    "en": _Phrases(
        saved="{before:,} → {after:,} tokens, {percent:.1f}% less",
        grown="{before:,} → {after:,} tokens, which saves nothing",
        files=", with {files}",
        done="Compacted {count} messages: {saved}{files}. /undo brings them back.",
        failed="There is no summary: {error} The newest part was kept: {saved}. "
        "/compact tries again, /undo brings everything back.",
        unchanged="Not compacted: {error} The conversation stays as it is.",
        futile=" There is still little room: what is pinned, the windows or the last rounds "
        "take it. Unpin, close or drop something.",
        gave_up=" It will not be tried again by itself.",
    ),
    "zh": _Phrases(
        saved="{before:,} → {after:,} 个 token，减少 {percent:.1f}%",
        grown="{before:,} → {after:,} 个 token，没有节省",
        files="，包含文件：{files}",
        done="已压缩 {count} 条消息：{saved}{files}。/undo 可以恢复。",
        failed="没有得到总结：{error} 已保留最近的部分：{saved}。"
        "/compact 再试一次，/undo 全部恢复。",
        unchanged="没有压缩：{error} 对话保持原样。",
        futile=" 剩余空间仍然很少：固定的内容、窗口或最近几轮占用了它。"
        "请取消固定、关闭或移除一些。",
        gave_up=" 不会再自动尝试。",
    ),
}


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The result of a compaction.

    Attributes:
        success: Whether there is a summary. Without one, only the newest part of the conversation
            stays; undo restores the rest. If that, or the summary, would save too little, nothing
            is changed and `messages` is 0.
        trigger: What started it.
        pre_tokens: The tokens of a request before.
        post_tokens: The tokens of a request now.
        messages: How many messages were replaced.
        files_included: The files whose content the summary was made with.
        summary: The text that replaces the messages: the summary, or why there is none.
        error: Why there is no summary.
        usage: The token usage of making the summary.
        requests: How many requests that took.
        is_futile: Whether the context is still nearly full, or an automatic attempt saved nothing.
        gave_up: Whether automatic compaction stops, because earlier attempts saved too little.
    """

    success: bool
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    messages: int = 0
    files_included: tuple[str, ...] = ()
    summary: str = ""
    error: str = ""
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    is_futile: bool = False
    gave_up: bool = False

    @property
    def percent(self) -> float:
        """The percentage of tokens saved."""
        return round(100 - 100 * self.post_tokens / max(self.pre_tokens, 1), 1)

    def told(self, lang: Lang = "en") -> str:
        """Format the result for the person, in one line."""
        words = _ALL[lang]
        saved = (words.saved if self.post_tokens < self.pre_tokens else words.grown).format(
            before=self.pre_tokens, after=self.post_tokens, percent=self.percent
        )
        names = ", ".join(one_line(path, 60) for path in self.files_included)
        files = words.files.format(files=names) if names else ""
        failed = words.failed if self.messages else words.unchanged
        line = (words.done if self.success else failed).format(
            count=self.messages, saved=saved, files=files, error=self.error
        )
        futile = words.futile if self.is_futile else ""
        return line + futile + (words.gave_up if self.gave_up else "")

    def __str__(self) -> str:
        return self.told()


FUTILE = 2
"""The number of futile attempts in a row after which automatic compaction stops."""

LEAST_SAVING = 0.2
"""The minimum share of a request's tokens to save; below it, nothing is changed."""

_HEADINGS = 500  # tokens by which a summary may exceed a short conversation, for its headings
_FULL = 0.8  # of the room: a summary that leaves the request fuller than this does not help
_LONGEST_ERROR = 300  # characters
_LEAST_TOKENS = 256  # lower limit of a summary's length, however small the budget is
_TOO_SHORT: dict[Lang, str] = {
    "en": "There is too little to compact: fewer than two messages.",
    "zh": "内容太少，无法压缩：不到两条消息。",
}
_NOTHING_GOES: dict[Lang, str] = {
    "en": "There is nothing to compact yet: the last rounds and what is pinned always stay.",
    "zh": "还没有可以压缩的内容：最近几轮和固定的内容总是保留。",
}
_SAVES_LITTLE: dict[Lang, str] = {
    "en": "Compacting would save less than {percent}% ({before:,} → {after:,} tokens).",
    "zh": "压缩节省的空间不到 {percent}%（{before:,} → {after:,} 个 token）。",
}
_LEFT_OUT: dict[Lang, str] = {
    "en": "(The conversation before this, {count} messages, was left out without a summary: "
    "{error} The person can have it summarized with /compact.)",
    "zh": "（此前的对话共 {count} 条，已在没有总结的情况下省略：{error} "
    "用户可以用 /compact 再试一次。）",
}


class NothingToCompactError(ContextUIError):
    """The conversation has nothing that can be compacted."""


@dataclass(frozen=True, slots=True)
class _Try:
    """A running compaction: its trigger, the tokens of a request before, and the summarizer."""

    trigger: Trigger
    before: int
    asking: Summarizer


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
        threshold: float = 0.8,
    ) -> None:
        self.context, self.model, self.budget = context, model, budget
        self.threshold = threshold
        self._reserved, self._max_tokens = reserved, max_tokens
        self._futile = 0
        self._left_out: dict[str, tuple[ContextItem, ...]] = {}

    def is_due(self, coming: int = 0) -> bool:
        """Whether the context is nearly full and something can be compacted.

        Once the context is no longer full, earlier futile attempts are forgotten.

        Args:
            coming: Tokens that the next request adds to the current context.
        """
        if not self._is_full(coming):
            self._futile = 0
            return False
        return self._futile < FUTILE and bool(self.preview().goes)

    def preview(self) -> Plan:
        """Plan what would be summarized and what would stay."""
        return plan(self.context, RETAIN, self._room)

    def check(self) -> Plan:
        """Return the plan if compaction is possible and would save enough.

        Raises:
            NothingToCompactError: It is not possible, or would not save enough.
        """
        chosen = self.possible()
        if little := self.saves_little(chosen):
            raise NothingToCompactError(little)
        return chosen

    def saves_little(self, chosen: Plan) -> str:
        """Why this plan saves too little even with an empty summary; empty if it may save
        enough."""
        before = self.context.outlook().tokens
        return self._saves_little(before, before - chosen.tokens)

    def possible(self) -> Plan:
        """Return the plan if anything can be compacted.

        Raises:
            NothingToCompactError: Nothing can.
        """
        chosen = self.preview()
        if chosen.messages < 2:
            raise NothingToCompactError(_TOO_SHORT[self._lang])
        if not chosen.goes:
            raise NothingToCompactError(_NOTHING_GOES[self._lang])
        return chosen

    def _saves_little(self, before: int, after: int) -> str:
        """Why such a compaction saves too little; empty if it saves enough."""
        if before - after >= LEAST_SAVING * before:
            return ""
        percent = round(100 * LEAST_SAVING)
        words = _SAVES_LITTLE[self._lang]
        return words.format(percent=percent, before=before, after=max(after, 0))

    async def compact(self, trigger: Trigger = "manual") -> CompactionResult:
        """Replace older messages with a summary.

        If the model gives no summary, only the newest part of the conversation stays. If less than
        `LEAST_SAVING` would be saved, nothing is changed, and the result says so. Cancellation
        changes nothing.

        Args:
            trigger: What started it.

        Raises:
            NothingToCompactError: Nothing can be compacted.
        """
        chosen = self.possible()
        this = _Try(trigger, self.context.outlook().tokens, self._summarizer())
        if little := self.saves_little(chosen):
            return self._result(this, (), Summary(""), little)
        seen = {item.id: item.revision for item in chosen.goes}
        try:
            summary = await self._summarize(this, chosen)
        except Exception as problem:  # any failure is reported, and the fallback makes room
            return self._fall_back(this, problem)
        goes = list(unchanged(chosen.goes, seen))
        if not goes:
            raise NothingToCompactError("All that was to go was changed meanwhile, and stays.")
        if little := self._saves_little(this.before, self._with(summary.text, goes, this)):
            return self._result(this, (), Summary(""), little)
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
        """Expand the notes of earlier fallbacks to the items they replaced, so that these are
        summarized."""
        for item in goes:
            if item.id in self._left_out:
                yield from self._whole(self._left_out[item.id])
            else:
                yield item

    def _fall_back(self, this: _Try, problem: Exception) -> CompactionResult:
        """Without a summary, keep only the newest part."""
        said = str(problem) if isinstance(problem, ContextUIError) else reason_of(problem)
        error = one_line(mask(said), _LONGEST_ERROR)
        goes, words = plan(self.context, FALLBACK, self._room).goes, ""
        if goes:
            words = _LEFT_OUT[self._lang].format(count=_messages(goes), error=error)
        if self._saves_little(this.before, self._with(words, goes, this)):
            return self._result(this, (), Summary(""), error)
        if goes:
            note = self.context.compact(goes, words, trigger=this.trigger)
            self._left_out[note.id] = goes
        return self._result(this, goes, Summary(words), error)

    def _with(self, words: str, goes: Iterable[ContextItem], this: _Try) -> int:
        """The tokens of a request with this text in place of the items that go."""
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
        return TokenCounter.should_compact(
            self.context.counter.calibrated(tokens), self.budget, self.threshold
        )

    @property
    def _room(self) -> int:
        """The tokens available for messages, in our own count."""
        return max(self.context.counter.room_in(self.budget) - self._reserved, 1)

    @property
    def _lang(self) -> Lang:
        return self.context.windows.lang if self.context.windows is not None else "en"


def _messages(items: Iterable[ContextItem]) -> int:
    return sum(map(is_conversation, items))

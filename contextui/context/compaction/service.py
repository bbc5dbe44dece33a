"""`CompactionService`: makes room by a summary, and says what came of it."""

from dataclasses import dataclass

from contextui.context.compaction.files import mentioned_files
from contextui.context.compaction.plan import FALLBACK, RETAIN, Plan, plan
from contextui.context.compaction.summary import NoSummaryError, summarize
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Trigger
from contextui.model import Model, ModelError
from contextui.text import one_line
from contextui.tokens import TokenCounter
from contextui.windowing.env import Lang

FUTILE = 2
"""Tries in a row that free nothing, after which no further one is made by itself."""

_SUMMARY_SHARE = 8  # the part of the budget that a summary may take: an eighth
_LEFT_OUT: dict[Lang, str] = {
    "en": "(The conversation before this, {count} messages, was left out without a summary: "
    "{error})",
    "zh": "（此前的对话共 {count} 条，已在没有总结的情况下省略：{error}）",
}


class NothingToCompactError(ContextUIError):
    """A conversation too short to be summarized."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What came of a compaction.

    Attributes:
        success: Whether there is a summary. Without one the newest part of the conversation
            stays, and the rest is left out; undo brings it back.
        trigger: Who wanted it.
        pre_tokens: What a request cost before.
        post_tokens: What it costs now.
        files_included: The files whose content the summary was made with.
        summary: The summary.
        error: Why there is none.
    """

    success: bool
    trigger: Trigger
    pre_tokens: int
    post_tokens: int
    files_included: tuple[str, ...] = ()
    summary: str = ""
    error: str = ""

    @property
    def percent(self) -> int:
        """How much less it is."""
        return round(100 - 100 * self.post_tokens / max(self.pre_tokens, 1))

    def __str__(self) -> str:
        saved = f"{self.pre_tokens:,} → {self.post_tokens:,} tokens, {self.percent}% less"
        if not self.success:
            return (
                f"There is no summary: {self.error} The newest part was kept: {saved}. "
                "/compact tries again, /undo brings everything back."
            )
        files = ", ".join(one_line(path, 60) for path in self.files_included)
        return f"Compacted: {saved}{f', with {files}' if files else ''}. /undo brings it back."


class CompactionService:
    """Compacts a context.

    Args:
        context: What is to be compacted.
        model: Who summarizes.
        budget: The provider's tokens that a request may have.

    Example:
        >>> service = CompactionService(context, model, budget=128_000)
        >>> if service.is_due():
        ...     print(await service.compact("auto"))
        Compacted: 102,400 → 21,310 tokens, 79% less. /undo brings it back.
    """

    def __init__(self, context: ContextManager, model: Model, budget: int) -> None:
        self.context, self.model, self.budget = context, model, budget
        self._futile = 0

    def is_due(self) -> bool:
        """Whether there is so little room left that one should be made, and it could help."""
        counter = self.context.counter
        tokens = counter.calibrated(self.context.outlook().tokens)
        enough = TokenCounter.should_compact(tokens, self.budget)
        return enough and self._futile < FUTILE and bool(self.preview().goes)

    def preview(self) -> Plan:
        """What would go and what would stay."""
        return plan(self.context, RETAIN, self.budget)

    async def compact(self, trigger: Trigger = "manual") -> CompactionResult:
        """Have a summary take the place of what was said long ago.

        Cancelled or killed on the way it changes nothing.

        Raises:
            NothingToCompactError: There are fewer than two messages that could go.
        """
        chosen = self.preview()
        if len(chosen.goes) < 2:
            raise NothingToCompactError("There is too little to compact yet.")
        before = self.context.outlook().tokens
        windows, lang = self.context.windows, self._lang
        files = mentioned_files(chosen.goes, windows) if windows is not None else []
        names = tuple(one.path for one in files)
        try:
            summary = await summarize(
                self.model, chosen.goes, files, self.context.counter, room=self.budget,
                max_tokens=max(self.budget // _SUMMARY_SHARE, 256), lang=lang,
            )  # fmt: skip
            if self.context.counter.count(summary) > max(chosen.tokens, 1):
                raise NoSummaryError("The summary is longer than what it stands for.")
        except (ModelError, NoSummaryError) as problem:
            return self._fall_back(trigger, before, str(problem))
        self.context.compact(chosen.goes, summary, trigger=trigger, files=names)
        after = self._note(before)
        return CompactionResult(True, trigger, before, after, names, summary)

    def _fall_back(self, trigger: Trigger, before: int, error: str) -> CompactionResult:
        """Without a summary, keep the newest part."""
        chosen = plan(self.context, FALLBACK, self.budget)
        if chosen.goes:
            words = _LEFT_OUT[self._lang].format(count=len(chosen.goes), error=error)
            self.context.compact(chosen.goes, words, trigger=trigger)
        return CompactionResult(False, trigger, before, self._note(before), error=error)

    def _note(self, before: int) -> int:
        after = self.context.outlook().tokens
        self._futile = 0 if after < before else self._futile + 1
        return after

    @property
    def _lang(self) -> Lang:
        return self.context.windows.lang if self.context.windows is not None else "en"

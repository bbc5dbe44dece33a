"""What came of a compaction, in figures and in words."""

from dataclasses import dataclass, field

from contextui.config.choices import Lang
from contextui.events import Trigger
from contextui.model import Usage
from contextui.text import one_line


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
    """What came of a compaction.

    Attributes:
        success: Whether there is a summary. Without one the newest part of the conversation
            stays, and the rest is left out; undo brings it back. Where that, or the summary,
            would save too little, nothing is changed and `messages` is 0.
        trigger: Who wanted it.
        pre_tokens: What a request cost before.
        post_tokens: What it costs now.
        messages: How many messages went.
        files_included: The files whose content the summary was made with.
        summary: What stands for the messages: the summary, or why there is none.
        error: Why there is no summary.
        usage: What it cost to make it.
        requests: How many requests that took.
        is_futile: Whether there is as little room as before.
        gave_up: Whether it is tried no more by itself, as it helped too little before.
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
        """How much less it is."""
        return round(100 - 100 * self.post_tokens / max(self.pre_tokens, 1), 1)

    def told(self, lang: Lang = "en") -> str:
        """What the person should know, in one line."""
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

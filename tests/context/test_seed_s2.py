"""The eight tests that S2 names in its section 8.12, each under its name there."""

import asyncio
import json
from pathlib import Path

import pytest

from contextui.agent.models.scripted import ScriptedModel
from contextui.context.compaction.plan import mentioned_files
from contextui.context.compaction.service import CompactionService
from contextui.context.item import ContextItem, ItemType
from contextui.files.workspace import Workspace
from contextui.model import LlmMessage, ModelError
from contextui.session import record
from contextui.session.session import Session
from contextui.session.store import SessionStore
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager
from tests.context.compaction.long_talk import OUTLINE, talk_of


def session_in(folder: Path) -> Session:
    return SessionStore(folder / "home").create(folder)


def say(session: Session, words: str) -> ContextItem:
    return session.context.add(ContextItem(ItemType.USER, words))


def test_token_counter_counts_tokens() -> None:
    """TokenCounter: 计算 Token 数量"""
    counter = TokenCounter()
    assert counter.count("Hello, world!") == 4
    messages = [LlmMessage("user", "Hello, world!"), LlmMessage("assistant", "Hi.")]
    assert counter.count_messages(messages) == (4 + 1 + 4) + (4 + 1 + 2)
    called = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "utils.ts"}}
    assert counter.count_messages([LlmMessage("assistant", (called,))]) > 4 + 1


def test_token_counter_estimates_quickly() -> None:
    """TokenCounter: 快速估算"""
    texts = ["", "abcd", "abcde", "你好world", "帮我创建一个待办列表"]
    assert [TokenCounter.estimate(text) for text in texts] == [0, 1, 2, 3, 7]


def test_memory_store_adds_messages(tmp_path: Path) -> None:
    """MemoryStore: 添加消息"""
    with session_in(tmp_path) as session:
        items = [say(session, f"message {number}") for number in range(3)]
        assert list(session.context.get_all()) == items
        assert [item.seq for item in items] == [1, 2, 3]
        assert all(item.is_loaded for item in items)


def test_memory_store_keeps_to_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MemoryStore: 内存限制"""
    assert (record.LIMIT, record.KEPT) == (1_000, 800)
    monkeypatch.setattr(record, "LIMIT", 60)
    monkeypatch.setattr(record, "KEPT", 40)
    with session_in(tmp_path) as session:
        context = session.context
        items = [say(session, f"message {number}") for number in range(61)]
        for item in items:
            context.drop(item.id)
        context.end_turn()
        assert sum(item.is_loaded for item in items) == 40
        assert items[-1].is_loaded
        assert items[0].content == "message 0"  # its content is read from the log


def test_jsonl_store_appends_and_reads(tmp_path: Path) -> None:
    """JSONLStore: 追加和读取"""
    with session_in(tmp_path) as session:
        say(session, "first")
        before = session.path.read_bytes()
        say(session, "第二")
        after = session.path.read_bytes()
        assert after.startswith(before)
        assert json.loads(after.splitlines()[-1])["message"]["content"] == "第二"
    with SessionStore(tmp_path / "home").open(session.id) as again:
        assert [item.content for item in again.context.get_all()] == ["first", "第二"]


def test_compaction_service_succeeds() -> None:
    """CompactionService: 压缩成功"""
    talk = talk_of(50)
    service = CompactionService(talk.context, ScriptedModel(OUTLINE), 128_000)
    result = asyncio.run(service.compact())
    assert (result.success, result.files_included) == (True, ())
    assert result.post_tokens < result.pre_tokens
    kept = [item for item in talk.context.get_active() if item.type is not ItemType.SYSTEM]
    assert len(kept) == 20  # 20% of 100


def test_compaction_service_falls_back() -> None:
    """CompactionService: 降级策略"""
    talk = talk_of(50)
    model = ScriptedModel(ModelError("server", "It failed."))
    result = asyncio.run(CompactionService(talk.context, model, 128_000).compact())
    assert (result.success, result.error, result.files_included) == (False, "It failed.", ())
    assert "/compact" in result.summary
    kept = [item for item in talk.context.get_active() if item.type is not ItemType.SYSTEM]
    assert len(kept) == 30  # 30% of 100


def test_file_analyzer_finds_paths(tmp_path: Path) -> None:
    """FileAnalyzer: 提取文件路径"""
    (tmp_path / "src").mkdir()
    for name in ("utils.ts", "src/utils.ts", "src/other.ts"):
        (tmp_path / name).write_text("export {}")
    called = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "src/utils.ts"}}
    items = [
        ContextItem(ItemType.USER, "帮我重构 utils.ts 文件"),
        ContextItem(ItemType.ASSISTANT, "utils.ts, src/other.ts", blocks=[called]),
    ]
    with Workspace(tmp_path) as workspace:
        found = mentioned_files(items, WindowManager([], workspace=workspace))
    assert [one.path for one in found] == ["src/utils.ts", "utils.ts", "src/other.ts"]

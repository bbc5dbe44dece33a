"""The preamble of a message: the list of code files."""

from pathlib import Path
from typing import Any

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel
from contextui.context.manager import ContextManager
from contextui.events import Notice
from contextui.files.workspace import Workspace
from contextui.model import ModelRequest
from contextui.session.code.store import FOLDER, CodeStore
from contextui.windowing.manager import WindowManager
from contextui.words import Lang
from tests.agent.talking import controller, end, of, run
from tests.windowing.samples import Todo


def talk_in(folder: Path, *steps: Any, lang: Lang = "en", **given: Any) -> InteractionController:
    windows = WindowManager([Todo], workspace=Workspace(folder), lang=lang)
    return controller(*(steps or ["Yes."] * 9), context=ContextManager(windows), **given)


def last_texts(talk: InteractionController) -> list[str]:
    assert isinstance(talk.model, ScriptedModel)
    request: ModelRequest = talk.model.requests[-1]
    return [
        str(block["text"]) for block in request.messages[-1].content if not isinstance(block, str)
    ]


@pytest.fixture
def store(tmp_path: Path) -> CodeStore:
    made = CodeStore(tmp_path / FOLDER)
    made.save("code_sales_analysis", "python", "print(1)", "销售数据分析")
    made.save("code_visualization_chart", "python", "print(2)", "趋势图表")
    made.save("code_report_template", "html", "<p>", "报告模板")
    return made


@pytest.mark.usefixtures("store")
def test_the_list_has_the_specified_form(tmp_path: Path) -> None:
    talk = talk_in(tmp_path, lang="zh")
    run(talk, "你好")
    listed, words = last_texts(talk)
    assert words == "你好"
    head, *lines, empty, how = listed.split("\n")
    assert head == "可用代码文件列表："
    assert sorted(lines) == [
        "- code_report_template (html) - 报告模板",
        "- code_sales_analysis (python) - 销售数据分析",
        "- code_visualization_chart (python) - 趋势图表",
    ]
    assert empty == ""
    assert how == "你可以通过 <code_ref>{code_id}</code_ref> 标签在最终报告中引用这些代码。"


def test_the_list_is_added_once_and_again_when_it_changed(tmp_path: Path, store: CodeStore) -> None:
    talk = talk_in(tmp_path)
    run(talk, "One.")
    run(talk, "Two.")
    assert last_texts(talk) == ["Two."]
    store.save("code_new", "sql", "select 1")
    run(talk, "Three.")
    listed, words = last_texts(talk)
    assert words == "Three."
    assert "- code_new (sql) - 1 line of sql\n" in listed


@pytest.mark.usefixtures("store")
def test_a_dropped_list_is_not_added_again_and_one_left_out_for_room_is(tmp_path: Path) -> None:
    talk = talk_in(tmp_path)
    run(talk, "One.")
    listed = talk.context.get_active()[0]
    talk.context.drop(listed.id)
    run(talk, "Two.")
    assert last_texts(talk) == ["Two."]
    talk.context.restore(listed.id)
    talk.context.unpin(listed.id)
    talk.context.leave_out([listed])
    run(talk, "Three.")
    assert last_texts(talk)[0].startswith("Available code files:")


def test_without_code_files_nothing_is_added(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    talk = talk_in(tmp_path)
    run(talk, "Hello.")
    assert last_texts(talk) == ["Hello."]
    assert not list((tmp_path / FOLDER).iterdir())


def test_an_unreadable_store_is_reported_and_the_turn_continues(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    (inside / ".contextui").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (inside / FOLDER).symlink_to(tmp_path / "elsewhere")
    talk = talk_in(inside)
    events = run(talk, "Hello.")
    assert end(events).reason == "done"
    assert of(Notice, events)
    assert last_texts(talk) == ["Hello."]

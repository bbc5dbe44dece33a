"""A session as one page: escaped, masked, with nothing loaded from anywhere."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from contextui.context.item import ContextItem, ItemType
from contextui.events import WOKEN
from contextui.names import BESIDE
from contextui.session.export import Format, exported
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.windows.todo.window import TodoWindow
from contextui.words import LANGUAGES, Lang, Words

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=y> &amp; \x1b[2J \u202e </pre></style>"
KEY = "sk-ant-api03-5f3a9c27e1b84d0f9a6c"


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def page(home: Path, lang: Lang = "en") -> tuple[str, Reader]:
    options = SessionOptions(classes=[TodoWindow])
    store = SessionStore(home, options)
    with store.create("/src/<b>shop</b>") as session:
        session.context.add(ContextItem(ItemType.USER, f"Hello {HOSTILE}"))
        blocks = [{"type": "tool_use", "id": "a", "name": "create", "input": {"x": HOSTILE}}]
        session.context.add(ContextItem(ItemType.ASSISTANT, f"Key {KEY}", blocks=blocks))
        long = "\n".join([HOSTILE] * 20)
        session.context.add(ContextItem(ItemType.TOOL, long, tool_call_id="a"))
        session.windows.open("todo", items=[HOSTILE, "milk"])
        gone = session.context.add(ContextItem(ItemType.ASSISTANT, "Dropped words"))
        session.context.end_turn()
        session.context.drop(gone.id)
        session.rename(f"Title {HOSTILE}")
    view = store.view(session.id, whole=True)
    view.windows.settle_now()
    try:
        text = exported(view, "html", lang)
    finally:
        view.close()
    reader = Reader()
    reader.feed(text)
    return text, reader


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_the_program_added_is_a_note_and_not_yours(tmp_path: Path, lang: Lang) -> None:
    store, woken = SessionStore(tmp_path, SessionOptions(classes=[TodoWindow])), Words(lang)(WOKEN)
    with store.create("/src") as session:
        session.context.add(ContextItem(ItemType.USER, "(You did x.)", id=f"{BESIDE}report-1"))
        session.context.add(ContextItem(ItemType.USER, "Hello"))
        session.context.add(ContextItem(ItemType.ASSISTANT, "Hi"))
        session.context.end_turn()
        session.context.add(ContextItem(ItemType.USER, woken))
    view = store.view(session.id, whole=True)
    try:
        text, html = exported(view, "md", lang), exported(view, "html", lang)
    finally:
        view.close()
    assert "## Note\n\n(You did x.)\n\n## You\n\nHello" in text
    assert f"## Note\n\n{woken}" in text
    you, note = Words(lang)("You"), Words(lang)("Note")
    for who, kind, said in ((note, "other", "(You did x.)"), (you, "you", "Hello"),
                            (note, "other", woken)):  # fmt: skip
        assert (
            f'<section class="{kind}"><div class="who">{who}</div>\n<div class="said">{said}'
            in html
        )
        assert f'<td class="k">{who}</td><td>{said}</td>' in html


def test_nothing_in_a_page_acts_or_loads(tmp_path: Path) -> None:
    text, reader = page(tmp_path)
    assert not {"script", "img", "link", "iframe", "a", "b", "object", "form"} & set(reader.tags)
    names = {name for name, _ in reader.attributes}
    assert names <= {"class", "lang", "charset", "http-equiv", "content", "name"}
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|@import|url\(", text)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_page_has_the_conversation_the_windows_and_the_items(tmp_path: Path) -> None:
    _, reader = page(tmp_path)
    for words in ("Hello <script>", "Title <script>", "/src/<b>shop</b>", "milk", "[✓]", "[X]",
                  "Dropped words", "todo_1", "20 lines"):  # fmt: skip
        assert words in reader.text, words


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_keys_are_masked(tmp_path: Path, form: Format) -> None:
    text, _ = page(tmp_path)
    assert KEY not in text
    store = SessionStore(tmp_path, SessionOptions(classes=[TodoWindow]))
    view = store.view(store.list()[0].id, whole=True)
    written = exported(view, form)
    assert KEY not in written
    assert "sk-ant-***" in written
    assert form != "json" or json.loads(written)["session"]["id"] == view.info.id
    view.close()

"""Every word of the desktop is there in Chinese."""

import re
from pathlib import Path

import contextui
import contextui.tui.desktop
from contextui.tui.desktop.actions import _KEYS
from contextui.tui.desktop.form import _WANTED
from contextui.tui.desktop.shared import short_name
from contextui.tui.words import CHINESE, Words
from contextui.windowing.finding.registry import discover
from contextui.windowing.snapshot import Lod

FOLDER = Path(contextui.tui.desktop.__file__).parent
CALLED = re.compile(r"words\(\s*\"((?:[^\"\\]|\\.)+)\"")
BOUND = re.compile(r"Binding\(\s*\"[^\"]+\",\s*\"[^\"]+\",\s*\"([^\"]+)\"")
LISTED = re.compile(r"keys [+=]+ \[?\(?(.*)")


def used() -> set[str]:
    widgets = (Path(contextui.__file__).parent / "windows").glob("*/widget.py")
    text = "\n".join(path.read_text("utf-8") for path in [*FOLDER.rglob("*.py"), *widgets])
    keys = re.findall(r"\(\"(?:enter|space|esc|tab|\^j)\", \"([^\"]+)\"\)", text)
    return {*CALLED.findall(text), *BOUND.findall(text), *keys}


def test_every_word_that_is_used_has_its_chinese() -> None:
    assert len(used()) > 30
    assert sorted(word for word in used() if word not in CHINESE) == []


def test_words_that_are_put_together_have_theirs() -> None:
    wanted = {about for _, _, about in _KEYS} | {lod.value for lod in Lod}
    wanted |= {"changed on disk", "deleted on disk", "CPU", "MEM", "DISK", "LOAD", "NET"}
    wanted |= {"the line is too long to be shown whole", "a character there is shown as several"}
    wanted |= {"No window is open. Ask for one, or /open."}
    wanted |= {"Too small for windows. Chat still works.", "you", "model"}
    wanted |= {"Typed, but {path} is not open here any more: {text}"}
    assert sorted(word for word in wanted if word not in CHINESE) == []


def test_every_action_of_the_built_in_windows_has_a_chinese_name() -> None:
    names = {
        short_name(action, Words("en")).rstrip("…")
        for cls in discover().classes()
        if cls.__module__.startswith("contextui.")
        for action in cls.actions.values()
    }
    assert sorted(name for name in names if name not in CHINESE) == []


def test_what_the_actions_of_the_built_in_windows_are_about_is_there_in_chinese() -> None:
    said = {
        action.label: action.labelled("zh")
        for cls in discover().classes()
        if cls.__module__.startswith("contextui.")
        for action in cls.actions.values()
    }
    assert [label for label, chinese in said.items() if chinese.isascii()] == []


def test_what_the_built_in_windows_are_for_is_there_in_chinese() -> None:
    ours = [cls for cls in discover().classes() if cls.__module__.startswith("contextui.")]
    assert [cls.name for cls in ours if not cls.description_zh] == []


def test_what_is_wanted_in_a_field_is_said_in_chinese() -> None:
    assert sorted(word for word in _WANTED.values() if word not in CHINESE) == []


def test_chinese_takes_the_values_that_english_takes() -> None:
    for english, chinese in CHINESE.items():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese))

"""Tables of sentences, and how many of them the model carries out."""

import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from contextui.words import Lang
from tests.agent.models.offline.talk import Talk, Turn


@dataclass
class Rate:
    """How many sentences of a table were carried out, and what came of the others."""

    name: str
    carried_out: int = 0
    nothing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.carried_out + len(self.nothing) + len(self.wrong)

    @property
    def share(self) -> float:
        return self.carried_out / self.count

    @property
    def wrong_share(self) -> float:
        return len(self.wrong) / self.count

    def add(self, name: str, *, is_right: bool, has_acted: bool) -> None:
        if is_right:
            self.carried_out += 1
        else:
            (self.wrong if has_acted else self.nothing).append(name)

    def __str__(self) -> str:
        return (
            f"offline model, {self.name}: {self.carried_out} of {self.count} carried out "
            f"({self.share:.0%}), {len(self.nothing)} did nothing, "
            f"{len(self.wrong)} did something else"
        )


def total(name: str, rates: Iterable[Rate]) -> Rate:
    whole = Rate(name)
    for one in rates:
        whole.carried_out += one.carried_out
        whole.nothing += one.nothing
        whole.wrong += one.wrong
    return whole


def show(line: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Print a line although the test passes."""
    with capsys.disabled():
        print(f"\n{line}", file=sys.stderr)


@dataclass(frozen=True)
class Scene:
    """The windows that a part of the development table is about, and what was done to them."""

    lang: Lang
    opened: Mapping[str, Mapping[str, Any]]
    done: tuple[tuple[str, str, Mapping[str, Any]], ...]

    def said(self, words: str, folder: Path) -> Turn:
        with Talk(folder, self.lang, opened=self.opened) as talk:
            for window_id, action_id, params in self.done:
                talk.act(window_id, action_id, **params)
            return talk.say(words)


@dataclass(frozen=True)
class Sentence:
    """A sentence of the development table, and the calls that must come of it."""

    scene: Scene
    words: str
    calls: tuple[str, ...]


def development(lang: Lang) -> Iterator[Sentence]:
    for by_lang in _table().values():
        part = by_lang[lang]
        for words, *calls in (*part["say"], *([one] for one in part.get("nothing", ()))):
            yield Sentence(_scene(part, lang), words, tuple(calls))


def scene(name: str, lang: Lang) -> Scene:
    return _scene(_table()[name][lang], lang)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("development.toml").read_text("utf-8"))


def _scene(part: Mapping[str, Any], lang: Lang) -> Scene:
    return Scene(lang, part.get("open", {}), tuple(map(tuple, part.get("do", ()))))

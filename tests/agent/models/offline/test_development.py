"""The development table: the sentences that the offline model is made with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextui.words import Lang
from tests.agent.models.offline.table import Rate, Sentence, development, show
from tests.agent.models.offline.talk import UNKNOWN, built_in

WANTED = 0.95
"""The share of sentences that must be carried out."""


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_sentences_are_carried_out(
    lang: Lang, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rate, reached, harm = Rate(f"development, {lang}"), set[tuple[str, str]](), list[str]()
    for number, one in enumerate(development(lang)):
        (tmp_path / str(number)).mkdir()
        turn = one.scene.said(one.words, tmp_path / str(number))
        rate.add(
            f"{one.words!r}: {turn.calls or turn.text}",
            is_right=turn.calls == one.calls,
            has_acted=bool(turn.calls),
        )
        if turn.calls == one.calls:
            reached |= {(lang, name) for name in _actions(one)}
        if turn.calls and not one.calls:
            harm.append(f"{one.words!r}: {turn.calls}")
    show(rate, capsys)
    assert harm == []
    assert rate.share >= WANTED, [*rate.wrong, *rate.nothing]
    assert {(lang, name) for name in _every_action()} <= reached


def _actions(sentence: Sentence) -> Iterator[str]:
    """Return the actions and classes that a sentence is about: ``todo.add``, ``create todo``."""
    for call in sentence.calls:
        name, _, rest = call.partition(" ")
        if name == "create":
            yield f"create {rest.partition(' ')[0]}"
        else:
            window_id, _, action_id = name.partition(".")
            yield f"{window_id.rpartition('_')[0]}.{action_id}"


def _every_action() -> Iterator[str]:
    for cls in (*built_in(), *UNKNOWN):
        yield f"create {cls.name}"
        yield from (f"{cls.name}.{action_id}" for action_id in cls.actions)

"""The offline model understands talk that it was not made for, about windows of many kinds."""

from pathlib import Path

import pytest

from contextui.agent.models.offline.reading.words import is_chinese
from contextui.text import one_line
from contextui.words import Lang
from tests.agent.models.offline.said import SAID, Said
from tests.agent.models.offline.talk import Talk


@pytest.mark.parametrize("said", SAID, ids=[one_line(said.words[0], 40) for said in SAID])
def test_what_is_said_is_carried_out(said: Said, tmp_path: Path) -> None:
    lang: Lang = "zh" if is_chinese(said.words[0]) else "en"
    with Talk(tmp_path, lang, said.classes, said.files) as talk:
        for name, args in said.opened:
            talk.windows.open(name, **args)
        for window_id, action_id, params in said.acts:
            talk.act(window_id, action_id, **params)
        answer = [talk.say(words).text for words in said.words][-1]
        assert said.holds(talk.windows.get, answer), answer

"""The offline model understands plain wishes, in both languages, also about strangers' windows."""

from pathlib import Path

import pytest

from tests.agent.models.offline.talk import Talk
from tests.agent.models.offline.wishes import WISHES, Wish


@pytest.mark.parametrize("wish", WISHES, ids=[wish.words for wish in WISHES])
def test_a_wish_becomes_the_calls_that_it_means(wish: Wish, tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        for name, args in wish.opened:
            talk.windows.open(name, **args)
        assert talk.say(wish.words).calls == wish.calls

"""The Chinese words that windows declare and show: no lexicon need know them."""

import re
from functools import lru_cache

from contextui.agent.models.offline.reading.scanning import HAN, HEAD
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown.profiles import telling
from contextui.agent.models.offline.shown.surroundings import Surroundings

_RUN = re.compile(f"[{HAN}]{{2,}}")
_LONGEST = 6  # characters of a part
_MOST = 300  # things of a window that are looked at


def declared_parts(words: str, around: Surroundings) -> frozenset[str]:
    """The parts of declared texts, and behind a `=` the things shown, that were said."""
    head = words[:HEAD]
    texts = [one.description for one in around.windows]
    texts += [one.description for one in around.classes]
    for window in around.windows:
        texts += [one.label for one in window.actions]
    params = [one for window in around.windows for act in window.actions for one in act.params]
    chosen = {choice for one in params for choice in one.type.choices if choice in head}
    things = [one for window in around.windows for one in window.items[:_MOST]]
    shown = [text for one in things for text in (one.text, *(value for _, value in one.attributes))]
    whole = {f"={text}" for text in shown if 1 < len(text) <= _LONGEST and text in head}
    whole |= {f"={text}" for text in chosen if len(text) > 1 and not text.isascii()}
    return _parts_in(head, tuple(texts)) | whole


@lru_cache(maxsize=64)
def _parts_in(words: str, texts: tuple[str, ...]) -> frozenset[str]:
    found = set[str]()
    for text in texts:
        for run in _RUN.findall(text[:HEAD]):
            found |= {
                part
                for start in range(len(run) - 1)
                for end in range(start + 2, min(start + _LONGEST, len(run)) + 1)
                if (part := run[start:end]) in words and telling(keys_of(part))
            }
    return frozenset(found)

"""Every word on the screen, in the language of the person.

The English words are the keys, so that the code can be read; each part of the screen has a file
with its Chinese.
"""

from collections.abc import Mapping

from contextui.config.settings import Lang
from contextui.tui.words import conversation, desktop, frame, inspector

CHINESE: Mapping[str, str] = {
    **frame.CHINESE,
    **conversation.CHINESE,
    **desktop.CHINESE,
    **inspector.CHINESE,
}


class Words:
    """Says things in a language.

    Example:
        >>> Words("zh")("Context")
        '上下文'
        >>> Words("en")("{count} more lines", count=3)
        '3 more lines'
    """

    def __init__(self, lang: Lang = "en") -> None:
        self.lang: Lang = lang

    def __call__(self, english: str, **values: object) -> str:
        """The words, with the values put in."""
        words = CHINESE.get(english, english) if self.lang == "zh" else english
        return words.format(**values) if values else words

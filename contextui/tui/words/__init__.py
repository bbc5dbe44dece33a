"""UI text and its translations.

The English strings are the keys, which keeps the code readable; each part of the screen has a
module with its Chinese translations.
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
    """Translates UI text into a locale.

    Example:
        >>> Words("zh")("Context")
        '上下文'
        >>> Words("en")("{count} more lines", count=3)
        '3 more lines'
    """

    def __init__(self, lang: Lang = "en") -> None:
        self.lang: Lang = lang

    def __call__(self, english: str, **values: object) -> str:
        """Return the translated text, with the values formatted in."""
        words = CHINESE.get(english, english) if self.lang == "zh" else english
        return words.format(**values) if values else words

"""Large pastes: the field shows a word for them, what is sent holds them."""

from contextui.tui.cells import short

LARGE = 20_000
"""Characters from which a paste is not put into the field itself."""


class Pastes:
    """Keeps large pastes until what they belong to is sent.

    Example:
        >>> pastes = Pastes()
        >>> pastes.keep("x" * 1_000_000)
        '[pasted 1: 1.0M characters]'
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def keep(self, text: str) -> str:
        """The word that stands for a paste."""
        number = len(self._kept) + 1
        word = f"[pasted {number}: {short(len(text))} characters]"
        self._kept[word] = text
        return word

    def whole(self, text: str) -> str:
        """The text with every paste that is still named in it."""
        for word, paste in self._kept.items():
            text = text.replace(word, paste, 1)
        return text

    def forget(self) -> None:
        """They were sent."""
        self._kept.clear()

"""Large pastes: the field shows a word for them, what is sent holds them."""

from contextui.tui.cells import short

_LARGE = 20_000  # characters
_LONG = 100  # lines


def is_large(text: str) -> bool:
    """Whether a paste is too large to be put into the field itself."""
    return len(text) >= _LARGE or text.count("\n") >= _LONG


class Pastes:
    """Keeps large pastes, also once they were sent: who calls up old words wants all of them.

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
        word = f"[pasted {number}: {counted(text)}]"
        self._kept[word] = text
        return word

    def whole(self, text: str) -> str:
        """The text with every paste that is still named in it."""
        for word, paste in self._kept.items():
            text = text.replace(word, paste, 1)
        return text


def counted(text: str) -> str:
    """How much it is, in lines if it has many."""
    lines = text.rstrip("\n").count("\n") + 1
    return f"{short(len(text))} characters" if lines < _LONG else f"{lines:,} lines"

"""The words of an answer on their way to a person, with the code that they refer to."""

from contextui.cli.words import spoken
from contextui.files.workspace import Workspace
from contextui.secrets import OwnMasked, mask_own
from contextui.session.code.refs import LONGEST, MARKS, has_reference, with_code


class Answer:
    """Takes the words of one answer as they come, and gives what can be said of them.

    Args:
        workspace: Where the code files are that the words may refer to.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace
        self._masked = OwnMasked()
        # In pieces: an answer may be megabytes, and come some letters at a time.
        self._given: list[str] = []
        self._kept: list[str] = []

    def take(self, text: str) -> None:
        """More words came."""
        self._kept.append(self._masked.take(text))

    def settled(self) -> str:
        """What no words to come can change, and was not given yet."""
        kept = "".join(self._kept)
        end = _settled(kept)
        self._kept = [kept[end:]]
        return self._give(kept[:end])

    def rest(self) -> str:
        """All that was not given yet, as the answer is whole."""
        self._kept.append(self._masked.rest())
        kept, self._kept = "".join(self._kept).removesuffix("\r"), []
        return self._give(kept)

    def _give(self, text: str) -> str:
        self._given.append(text)
        if not has_reference(text):
            return text
        whole = "".join(self._given)  # what stands before tells whether this is within code
        told = with_code(whole, self._workspace, spoken(), start=len(whole) - len(text))
        return mask_own(told)


def _next_mark(text: str, start: int) -> int:
    """Where the next reference begins; -1 if none does."""
    return min((at for mark in MARKS if (at := text.find(mark, start)) >= 0), default=-1)


def _settled(text: str) -> int:
    """Up to a reference whose line is not whole yet: it may turn out to be an example."""
    begins = _next_mark(text, 0)
    while begins >= 0:
        closes = text.find("</", begins)
        line_end = text.find("\n", closes) if closes >= 0 else begins + LONGEST
        if line_end < 0 or line_end > len(text):
            return begins
        begins = _next_mark(text, line_end)
    for mark in MARKS:
        for length in range(min(len(mark), len(text)), 0, -1):
            if text.endswith(mark[:length]):
                return len(text) - length
    return len(text.removesuffix("\r"))  # the line feed to it may follow

"""The words of an answer on their way to a person, with the code that they refer to."""

from contextui.cli.words import spoken
from contextui.files.workspace import Workspace
from contextui.session.code.refs import LONGEST, MARK, with_code


class Answer:
    """Takes the words of one answer as they come, and gives what can be said of them.

    Args:
        workspace: Where the code files are that the words may refer to.
    """

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace
        self._text = ""
        self._given = 0

    def take(self, text: str) -> None:
        """More words came."""
        self._text += text

    def settled(self) -> str:
        """What no words to come can change, and was not given yet."""
        return self._give(self._settled())

    def rest(self) -> str:
        """All that was not given yet, as the answer is whole."""
        return self._give(len(self._text.removesuffix("\r")))

    def _give(self, end: int) -> str:
        given, self._given = self._given, max(end, self._given)
        return with_code(self._text[: self._given], self._workspace, spoken(), start=given)

    def _settled(self) -> int:
        """Up to a reference whose line is not whole yet: it may turn out to be an example."""
        text, begins = self._text, self._text.find(MARK, self._given)
        while begins >= 0:
            closes = text.find("</", begins)
            line_end = text.find("\n", closes) if closes >= 0 else begins + LONGEST
            if line_end < 0 or line_end > len(text):
                return begins
            begins = text.find(MARK, line_end)
        for length in range(min(len(MARK), len(text)), 0, -1):
            if text.endswith(MARK[:length]):
                return len(text) - length
        return len(text.removesuffix("\r"))  # the line feed to it may follow

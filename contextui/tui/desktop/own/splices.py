"""Changes of a text as splices, and how two of them that were made at once both stay."""

from dataclasses import dataclass

from contextui.files import buffer


@dataclass(frozen=True, slots=True)
class Splice:
    """A text in the place of the characters from `start` to `end`."""

    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """The text with this change made."""
        return text[: self.start] + self.text + text[self.end :]


def change(old: str, new: str) -> Splice | None:
    """The one splice that makes `new` of `old`; None if they are the same.

    Example:
        >>> change("milk and eggs", "milk or eggs")
        Splice(start=5, end=8, text='or')
    """
    if old == new:
        return None
    return Splice(*buffer.change(old, new))


def rebase(mine: Splice, theirs: Splice) -> Splice:
    """My change of a text, as it is to be made after theirs.

    Where both touched the same place their text stays, and mine follows it: nothing is lost.
    """
    moved = len(theirs.text) - (theirs.end - theirs.start)
    if mine.end < theirs.start or (mine.end == theirs.start and mine.start < mine.end):
        return mine
    if mine.start >= theirs.end:
        return Splice(mine.start + moved, mine.end + moved, mine.text)
    behind = theirs.start + len(theirs.text)
    return Splice(behind, behind, mine.text)

"""What the folder asks of whoever works in it: its AGENTS.md."""

from dataclasses import dataclass
from pathlib import Path

from contextui.agent.prompt import LONGEST_GUIDE
from contextui.cli.words import words
from contextui.files.errors import FileError, MissingFileError
from contextui.files.textfile import TextFile
from contextui.files.workspace import Workspace

NAME = "AGENTS.md"
_LARGEST = 1_000_000  # bytes; far more than any prompt has room for


@dataclass(frozen=True, slots=True)
class Guide:
    """The guide's text, and why there is none if one was expected."""

    text: str = ""
    notices: tuple[str, ...] = ()


def read_guide(folder: Path) -> Guide:
    """Read the guide of a folder; one that cannot be read is told and left out."""
    try:
        with Workspace(folder) as workspace:
            data = workspace.for_model().read_bytes(NAME, limit=_LARGEST)
            text = TextFile.from_bytes(data, NAME).text
    except MissingFileError:
        return Guide()
    except FileError as error:
        return Guide(notices=(words("{file} is left out. {error}", file=NAME, error=error),))
    count = len(text.strip())
    cut = words(
        "{file} has {count} characters; the model is told the first {most}.",
        file=NAME,
        count=f"{count:,}",
        most=f"{LONGEST_GUIDE:,}",
    )
    return Guide(text, (cut,) if count > LONGEST_GUIDE else ())

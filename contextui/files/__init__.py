"""Files of the workspace: path checks, encodings, editing, atomic saves, search and diffs.

Start with `contextui.files.workspace.Workspace`. Paths cannot leave the workspace, text files keep
every byte that was not edited, saves are atomic, and huge files are read in pages.
"""

from typing import TYPE_CHECKING

from contextui.lazy import lazy_exports

if TYPE_CHECKING:
    from contextui.files.diff import diff_text as diff_text
    from contextui.files.errors import FileError as FileError
    from contextui.files.textfile import TextFile as TextFile
    from contextui.files.workspace import Workspace as Workspace

__getattr__, __dir__ = lazy_exports(__name__)

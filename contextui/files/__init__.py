"""Files of the workspace: path checks, encodings, editing, atomic saves, search and diffs.

Start with `contextui.files.workspace.Workspace`. Paths cannot leave the workspace, text files keep
every byte that was not edited, saves are atomic, and huge files are read in pages.
"""

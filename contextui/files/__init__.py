"""The workspace: the files that the person and the model work on.

Start with `contextui.files.workspace.Workspace`. Paths cannot leave it, text files keep every
byte that was not edited, a save is whole or did not happen, and huge files are read in pages.
"""

"""The Textual app: live windows, the conversation, and a context inspector.

`app` only wires; `main` is the main screen, with one pane each for `desktop`, `conversation` and
`inspector`. The screen works on a `Desk` and receives the session's events in batches through
`link`. Slash commands are in `commands` and `menu`; messages to the model go through `link.Talk`.
"""

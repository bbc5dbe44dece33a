"""The Textual app: live windows, the conversation, and a context inspector.

`app` only wires; `main` is the main screen, with one pane each for `desktop`, `conversation` and
`inspector`. The screen works on an `AppSession` and receives the session's events in batches from
its `ChangeCollector`. Slash commands are in `slash_commands`; messages go through `turn_queue`.
"""

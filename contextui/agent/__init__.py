"""The agent loop: send the context to the model, run its tool calls on windows, repeat.

`controller` runs a turn and `loop` its steps; `turn` holds the state of the running turn and
`events` what it emits. `room` makes room first (strategy, compaction) and `preamble` collects what
precedes the person's message. `prompt` writes the system prompt. `request` repairs and validates
every request, `wire` converts it to the Messages API and `retry` resends it after transient errors.
`protocol` reads tool calls from an answer, `tools` runs them, and `approval` asks before writes.
"""

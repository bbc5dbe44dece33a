"""The agent loop: send the context to the model, run its tool calls on windows, repeat.

Read `loop` first: a turn is `run`, `step`, `query`, `act`. `controller` is the API around it.
`context_space` has the limits and makes room first (strategy, compaction). `prompt` writes the
system prompt and what precedes the person's message; `mention` reads the files that it names.
`request` repairs and validates every request, `cache_marks` converts it to the Messages API and
marks what is cached, and `retry` resends it after transient errors. `tools` reads tool calls from
an answer and runs them, `functions` adds an application's own, and `approval` asks before writes.
"""

from typing import TYPE_CHECKING

from contextui.lazy import lazy_exports

if TYPE_CHECKING:
    from contextui.agent.approval import ApprovalGate as ApprovalGate
    from contextui.agent.approval import Decision as Decision
    from contextui.agent.approval import Question as Question
    from contextui.agent.context_space import TurnOptions as TurnOptions
    from contextui.agent.controller import InteractionController as InteractionController
    from contextui.agent.functions import tool as tool

__getattr__, __dir__ = lazy_exports(__name__)

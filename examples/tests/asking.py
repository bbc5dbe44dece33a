"""Calls as a model makes them: with a person who is asked."""

import asyncio
from typing import Any, Literal

from contextui import ActionResult, ApprovalGate
from contextui.agent import Decision, Question
from contextui.testing import WindowTester


def call(
    tester: WindowTester[Any], action_id: str, answer: Literal["once", "no"] = "no", **params: Any
) -> tuple[ActionResult, list[Question]]:
    """Call an action as a model does; return its result, and what the person was asked."""
    asked = list[Question]()

    async def decide(question: Question) -> Decision:
        asked.append(question)
        return Decision(answer)

    gate = ApprovalGate("ask", decide)
    acting = tester.windows.act(tester.window.id, action_id, params, allow=gate.allow)
    return asyncio.run(acting), asked

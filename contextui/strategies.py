"""Context strategies: choose what of a long history goes into a request."""

from contextui.context.strategies.builtin import EntityExtraction, SlidingWindow, Summarization
from contextui.context.strategies.registry import make_strategy
from contextui.context.strategies.strategy import (
    ContextStrategy,
    Payload,
    StrategyEnv,
    StrategyError,
)

__all__ = [
    "ContextStrategy",
    "EntityExtraction",
    "Payload",
    "SlidingWindow",
    "StrategyEnv",
    "StrategyError",
    "Summarization",
    "make_strategy",
]

"""How often tests repeat what they do at random: `make test-thorough` repeats it most."""

import os

IS_THOROUGH = bool(os.environ.get("CONTEXTUI_THOROUGH"))


def times(usual: int, thorough: int) -> int:
    """The number of repetitions that is wanted."""
    return thorough if IS_THOROUGH else usual

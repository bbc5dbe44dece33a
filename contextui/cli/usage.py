"""`UsageError`: what was asked of the program cannot be meant."""

from contextui.cli.words import words
from contextui.errors import ContextUIError


class UsageError(ContextUIError):
    """Arguments that do not fit; the text says which, in the language of the person.

    Args:
        english: The words, with names in braces for values.
        values: What stands for these names.
    """

    def __init__(self, english: str, **values: object) -> None:
        super().__init__(words(english, **values))

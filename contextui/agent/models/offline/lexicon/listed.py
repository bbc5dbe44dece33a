"""How the lexicon's lists are written: words between spaces."""


def listed(text: str) -> tuple[str, ...]:
    """The words of a list.

    Example:
        >>> listed("red green blue")
        ('red', 'green', 'blue')
    """
    return tuple(text.split())

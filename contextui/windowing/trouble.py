"""What went wrong, in words that are safe to show, whatever raised them."""

from contextui.text import one_line


def reason_of(problem: BaseException) -> str:
    """The kind of the problem and what it says, in one inert line of bounded length."""
    try:
        words = str(problem)
    except BaseException as worse:  # its author wrote how it speaks, and may have erred there too
        words = f"(it cannot say what: {type(worse).__name__})"
    return one_line(f"{type(problem).__name__}: {words}", 1_000)

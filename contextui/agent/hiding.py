"""Keeps the tags of the text protocol from whoever watches an answer being written."""

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


class TagFilter:
    """Lets words pass as they are streamed, and holds back what may be a call.

    Of a call nothing is kept but what may be the beginning of its end, so a long one costs no
    more than its length.

    Example:
        >>> tags = TagFilter()
        >>> tags.pass_on("I look. <tool_"), tags.pass_on("call>{}</tool_call> Done")
        ('I look. ', ' Done')
    """

    def __init__(self) -> None:
        self._held = ""
        self._in_call = False

    def pass_on(self, text: str) -> str:
        """What can be shown now."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        place = 0
        while True:
            tag = _CLOSE if self._in_call else _OPEN
            found = text.find(tag, place)
            end = found if found >= 0 else len(text) - _begun(text, tag, place)
            if not self._in_call:
                shown.append(text[place:end])
            if found < 0:
                self._held = text[end:]
                return "".join(shown)
            place, self._in_call = found + len(tag), not self._in_call


def _begun(text: str, tag: str, place: int) -> int:
    """How many of the last characters, from a place on, may be the beginning of a tag."""
    longest = min(len(text) - place, len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(tag[:n])), 0)

"""Keeps the tags of the text protocol from whoever watches an answer being written."""

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


class TagFilter:
    """Lets words pass as they are streamed, and holds back what may be a call.

    Example:
        >>> tags = TagFilter()
        >>> tags.pass_on("I look. <tool_"), tags.pass_on("call>{}</tool_call> Done")
        ('I look. ', ' Done')
    """

    def __init__(self) -> None:
        self._held = ""

    def pass_on(self, text: str) -> str:
        """What can be shown now."""
        self._held += text
        shown = ""
        while True:
            start = self._held.find(_OPEN)
            if start < 0:
                keep = _begun(self._held)
                cut = len(self._held) - keep
                shown, self._held = shown + self._held[:cut], self._held[cut:]
                return shown
            end = self._held.find(_CLOSE, start)
            shown += self._held[:start]
            if end < 0:
                self._held = self._held[start:]
                return shown
            self._held = self._held[end + len(_CLOSE) :]


def _begun(text: str) -> int:
    """How many of the last characters may be the beginning of a tag."""
    longest = min(len(text), len(_OPEN) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(_OPEN[:n])), 0)

"""What a session's log tells of the turns before: what they cost, and where each ended."""

from pathlib import Path

from contextui.errors import ContextUIError
from contextui.session.entry import decode
from contextui.session.reading import lines, open_plain
from contextui.tui.inspector.spending import Spending, usage_of

_SEQ = b'"data":{"seq":'
_ID = len(b'{"uuid":"')
_TOLD = tuple(
    f'"subtype":"{name}"'.encode() for name in ("usage", "change", "turn_end", "compact_boundary")
)
_UNREADABLE = (ContextUIError, LookupError, TypeError, ValueError)


def read_past(path: Path) -> Spending:
    """Read the account of a session out of its log. For a thread of its own: logs may be long.

    Only entries that tell of it are parsed; of an item, nothing but its seq is looked at. A
    damaged line costs that line.
    """
    return _Reading().run(path)


class _Reading:
    def __init__(self) -> None:
        self._spending = Spending()
        self._seqs: dict[bytes, int] = {}
        self._seq, self._turn = 0, 0

    def run(self, path: Path) -> Spending:
        """Read all of it."""
        try:
            with open_plain(path) as file:
                for line in lines(file):
                    self._read(line.text)
        except OSError:
            pass  # the log says nothing: then nothing is known of the turns before
        return self._spending

    def _read(self, line: bytes) -> None:
        try:
            place = line.rfind(_SEQ)
            if place >= 0:
                digits = line[place + len(_SEQ) : place + len(_SEQ) + 20]
                self._seq = int(digits.split(b",")[0].split(b"}")[0])
                self._seqs[line[_ID : line.index(b'"', _ID)]] = self._seq
            elif any(told in line for told in _TOLD):
                self._take(line)
        except _UNREADABLE:
            return

    def _take(self, line: bytes) -> None:
        entry = decode(line)
        data = entry.data or {}
        match entry.subtype:
            case "usage":
                self._spending.spend(self._turn + 1, usage_of(data["usage"]), data["counted"])
            case "change":
                first = self._seqs.get(str(data["itemIds"][0]).encode(), 0)
                self._spending.note(data["operation"], first)
            case "compact_boundary":
                # Its summary comes next; in older logs it came before.
                comes = data.get("summaryId", "").encode() not in self._seqs
                self._spending.note("compact", self._seq + comes)
            case "turn_end" if not data["early"]:
                self._turn = int(data["turn"])
                self._spending.end_turn(self._seq)

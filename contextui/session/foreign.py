"""What other programs' logs leave out: the gists of the files that were read (S4.2)."""

from typing import Any

from contextui.config.choices import Lang
from contextui.context.calls import Calls
from contextui.context.gists.gist import gist
from contextui.context.item import ContextItem
from contextui.model import Block
from contextui.session.entry import Entry

_TOOLS = ("read_file", "file_reader")
_ID_PREFIX = "call_read_file_"
_PATHS = ("path", "file_path", "filename", "file")


def gist_of_read(entry: Entry, item: ContextItem, calls: Calls, lang: Lang) -> str | None:
    """The gist of a file that another program's tool read; None of all else.

    Args:
        entry: The result as it stands in the log.
        item: The item that it became.
        calls: Know the call, and with it the path.
        lang: The language of the gist.
    """
    result = entry.tool_result
    if result is None or not isinstance(result.output, str) or item.is_error or item.gist:
        return None
    call = _call(item, calls)
    by_name = item.tool_name in _TOOLS or call.get("name") in _TOOLS
    path = _path(call.get("input"))
    if path is None or not (by_name or result.id.startswith(_ID_PREFIX)):
        return None
    return gist(path, result.output, lang)


def _call(item: ContextItem, calls: Calls) -> Block:
    blocks = calls.asker(item).blocks or ()
    return next((block for block in blocks if block.get("id") == item.tool_call_id), {})


def _path(given: Any) -> str | None:
    named = (given.get(name) for name in _PATHS) if isinstance(given, dict) else ()
    return next((path for path in named if isinstance(path, str) and path), None)

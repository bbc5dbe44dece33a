"""Lists in the model's words that grow at their end while they are streamed.

The base builds a list anew for every word that comes to its end: a third of a second for thirty
items, in which nothing else on the screen moves.
"""

from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock


async def _grow(self: MarkdownBlock, block: MarkdownBlock) -> None:
    """Build only the last item of a list anew when more comes."""
    there = list(self.children)
    if not there or type(block) is not type(self):
        await MarkdownBlock._update_from_block(self, block)
        return
    rows = list(block.compose())
    kept = len(there) - 1
    if len(str(len(rows))) != len(str(len(there))):
        kept = 0  # the numbers got wider, and stand flush right
    await self.remove_children(there[kept:])
    await self.mount_all(rows[kept:])


def _growing(name: str) -> type[MarkdownBlock]:
    base = Markdown.BLOCKS[name]
    return type(f"Growing{base.__name__}", (base,), {"_update_from_block": _grow})


LISTS = {name: _growing(name) for name in ("bullet_list_open", "ordered_list_open")}
"""What draws the lists, by the names that Markdown's blocks go by."""

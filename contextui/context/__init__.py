"""The model's context: items, the requests composed from them, and their token cost.

Start with `manager`: it makes every change to an `item` and composes every request. `ledger` holds
the items and all derived state. `placement` composes requests by price, which keep what was sent
before. `render` makes a request from scratch, as a pure function: windows are then in place. `trim`
decides what is left out first when the budget is exceeded.
"""

from typing import TYPE_CHECKING

from contextui.lazy import lazy_exports

if TYPE_CHECKING:
    from contextui.context.compaction.service import CompactionService as CompactionService
    from contextui.context.gists.gist import gist as gist
    from contextui.context.item import ContextItem as ContextItem
    from contextui.context.item import ItemType as ItemType
    from contextui.context.ledger import ContextStats as ContextStats
    from contextui.context.manager import ContextManager as ContextManager
    from contextui.context.messages import Composition as Composition
    from contextui.context.render import ContextRenderer as ContextRenderer
    from contextui.context.render import RenderOptions as RenderOptions
    from contextui.events import CompactionResult as CompactionResult

__getattr__, __dir__ = lazy_exports(__name__)

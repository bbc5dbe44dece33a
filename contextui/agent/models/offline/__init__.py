"""The offline model: it carries out plain wishes without a network and without weights.

The way of a wish: what the request shows (`scene`), the person's words as tokens (`scanning`,
`words`), parted into `clauses`; each of them is weighed against what windows declare
(`matching`), its values are shared among the params (`filling`), and calls come of that
(`planning`), or words (`saying`).
"""

from contextui.agent.models.offline.model import OfflineModel
from contextui.agent.models.offline.outline import outline

__all__ = ["OfflineModel", "outline"]

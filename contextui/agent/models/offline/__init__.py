"""The offline model: it carries out plain wishes without a network and without weights.

Begin with `model`. The way of a wish leads through the rooms in this order, each of which knows
only those before it: `lexicon` holds words, `reading` makes clauses of a text, `shown` reads what
is open and declared, `referring` finds what is spoken of, `parting` and `filling` find the values,
`meaning` weighs what a clause can mean, `answering` has what is said, and `planning` makes calls
of it all. `outlining` stands beside them: it makes the summary when one is asked for.
"""

from contextui.agent.models.offline.model import OfflineModel
from contextui.agent.models.offline.outlining.outline import outline

__all__ = ["OfflineModel", "outline"]

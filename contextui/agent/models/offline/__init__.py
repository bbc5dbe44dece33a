"""The offline model: small, sure, and without a network.

`tokens` divides what was typed, `scene` reads the request, `match` scores every declared action
against a clause, `slots` and `items` find the values, `plan` decides what to do next, and `answers`
says what windows show. The words are data, in `lexicon.toml`.
"""

from contextui.agent.models.offline.model import OfflineModel, explain

__all__ = ["OfflineModel", "explain"]

"""The offline model: it carries out plain wishes without a network and without weights."""

from contextui.agent.models.offline.model import OfflineModel
from contextui.agent.models.offline.outline import outline

__all__ = ["OfflineModel", "outline"]

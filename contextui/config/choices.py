"""What is chosen among a few words, in the settings and in the parts that they are for."""

from typing import Literal

Provider = Literal["auto", "anthropic", "offline"]
"""Who answers; ``auto`` goes by what there is."""

Placement = Literal["tail", "in-place"]
"""Where live windows stand in a request, see `contextui.context.placement`."""

LodName = Literal["full", "summary", "gist"]
"""How much of itself a window shows when it opens."""

Approval = Literal["ask", "auto", "read-only"]
"""Ask the person each time, allow everything, or allow nothing that writes."""

Lang = Literal["en", "zh"]
"""The language of the person."""

ToolProtocol = Literal["native", "text"]
"""How a model calls tools: by the provider's own means, or by writing `<tool_call>` tags."""

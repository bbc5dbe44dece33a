"""The Chinese of the conversation."""

CHINESE: dict[str, str] = {}

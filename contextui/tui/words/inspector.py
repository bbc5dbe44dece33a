"""The Chinese of the inspector."""

CHINESE: dict[str, str] = {}

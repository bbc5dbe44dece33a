"""The Chinese of the desktop."""

CHINESE: dict[str, str] = {}

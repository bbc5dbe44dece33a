"""x"""

CHINESE: dict[str, str] = {}

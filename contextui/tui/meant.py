"""Keys as they are meant: with an input method on, letters arrive full-width."""

import unicodedata

from textual.events import Key
from textual.keys import KEY_NAME_REPLACEMENTS

_MADE_OF = {"。": ".", "【": "[", "】": "]", "、": "/"}  # what input methods make of keys


def meant_key(event: Key) -> str | None:
    """What bindings call the key that was meant; None if it is the one that arrived.

    Example:
        >>> meant_key(Key("fullwidth_latin_small_letter_d", "ｄ"))
        'd'
    """
    given = event.character or ""
    plain = _MADE_OF.get(given, unicodedata.normalize("NFKC", given))
    if len(plain) != 1 or plain == given:
        return None
    if plain.isalnum():
        return plain
    name = unicodedata.name(plain).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)

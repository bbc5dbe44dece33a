"""English words without their endings, so that "notes" and "noting" are found as "note"."""

import re
from functools import lru_cache

_IRREGULAR = {
    "took": "take", "taken": "take", "wrote": "write", "written": "write", "made": "make",
    "gave": "give", "given": "give", "found": "find", "sent": "send", "shown": "show",
    "threw": "throw", "thrown": "throw", "ran": "run", "went": "go", "gone": "go", "kept": "keep",
    "chose": "choose", "chosen": "choose", "drew": "draw", "drawn": "draw", "hidden": "hide",
    "hid": "hide", "spoken": "speak", "said": "say", "told": "tell", "paid": "pay",
    "spent": "spend", "bought": "buy", "brought": "bring", "men": "man", "people": "person",
    "dice": "dice", "children": "child", "fed": "feed", "lent": "lend", "sold": "sell",
    "entries": "entry", "does": "do", "going": "go", "has": "have", "is": "is",
    "this": "this", "his": "his",
    "news": "news", "always": "always", "thing": "thing", "things": "thing", "string": "string",
    "nothing": "nothing", "anything": "anything", "everything": "everything", "bring": "bring",
    "something": "something", "king": "king", "ring": "ring", "sing": "sing", "spring": "spring",
    "morning": "morning", "evening": "evening", "during": "during", "bed": "bed", "red": "red",
    "need": "need", "needed": "need", "feed": "feed", "speed": "speed", "seed": "seed",
    "used": "use", "using": "use", "uses": "use", "gas": "gas", "bus": "bus", "yes": "yes",
    "less": "less", "ours": "our", "us": "us", "as": "as", "was": "was", "its": "its",
    "embed": "embed", "hundred": "hundred", "wing": "wing", "heading": "heading",
    "shopping": "shopping", "reading": "reading", "setting": "setting", "settings": "setting",
    "meeting": "meeting", "building": "building", "saying": "saying", "following": "following",
    "including": "including", "containing": "containing", "living": "living", "lens": "lens",
    "seconds": "seconds", "plus": "plus", "minus": "minus", "status": "status", "bring up": "bring",
}  # fmt: skip
_VOWEL = re.compile("[aeiouy]")
_SHORT = re.compile("[^aeiou][aeiouy][^aeiouwxy]")
_ENDINGS = ("ing", "edly", "ed", "ness", "ly")


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The part of a word that its forms share.

    Example:
        >>> {stem("adding"), stem("added"), stem("adds")}
        {'add'}
    """
    word = word.casefold().replace("’", "'").removesuffix("'s").replace("-", "")
    if not word.isascii() or len(word) > 40:
        return word
    known = _IRREGULAR.get(word)
    return _without_e(known) if known else _without_e(_without_ending(_singular(word)))


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and _VOWEL.search(rest):
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lszaeiou"
            if _SHORT.fullmatch(rest):
                return rest + "e"  # making: make
            return rest[:-1] if doubled else rest
    return word


def _without_e(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("e") else word

"""Cost of sanitizing and bounded counting, as ratios to the bare operation.

Both sides of a ratio run in this process, one after the other, and the best of several runs
counts.
"""

import timeit
from collections.abc import Callable

from contextui.text import for_terminal, for_xml
from contextui.tokens import TokenCounter, _load_encoding

SIZE = 1_000_000
ENGLISH = ("The window shows seven items, and the model adds one.\n" * SIZE)[:SIZE]
CHINESE = ("窗口里有七个条目，模型又加了一个。\n" * SIZE)[:SIZE]


def best(work: Callable[[str], object], text: str) -> float:
    return min(timeit.repeat(lambda: work(text), number=1, repeat=7))


def main() -> None:
    texts = {"English": ENGLISH, "Chinese": CHINESE}
    # The gates come first: the tokenizer leaves an encoded copy in each string it saw, which
    # would make `str.encode` a mere copy.
    for name, text in texts.items():
        encoded = best(str.encode, text)
        for gate in (for_xml, for_terminal):
            ratio = best(gate, text) / encoded
            print(f"{name}: {gate.__name__} / str.encode  {ratio:.2f}")
    count, encode = TokenCounter().count, _load_encoding().encode_ordinary
    for name, text in texts.items():
        ratio = best(count, text) / best(encode, text)
        print(f"{name}: count / encode_ordinary of the whole  {ratio:.2f}")


if __name__ == "__main__":
    main()

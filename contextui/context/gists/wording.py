"""How a gist is worded: one bounded, inert line in either language."""

from collections.abc import Iterable, Sequence

from contextui.config.choices import Lang
from contextui.text import counted, one_line, shown_name

_PATH = 200  # characters of a path; its end tells more than its beginning
_NAME = 40  # characters of one name in a list
_NAMES, _LETTERS = 20, 240  # names of a list, and characters of all of them
_READ: dict[Lang, str] = {"en": "file read", "zh": "文件已读取"}
_THERE: dict[Lang, str] = {"en": "file", "zh": "文件"}
_CHINESE = {
    "line": "行", "row": "行", "item": "项", "column": "列", "sheet": "个工作表",
    "functions": "函数", "classes": "类", "tables": "表", "selectors": "选择器",
    "columns": "列", "keys": "键", "text": "文本", "binary": "二进制",
}  # fmt: skip


def told(path: str, facts: Iterable[str], lang: Lang, *, was_read: bool = True) -> str:
    """The whole line: which file was read, or is there, and what is known of it."""
    name = shown_name(path)
    if len(name) > _PATH:
        name = "…" + name[-_PATH:]
    mark = _READ[lang] if was_read else _THERE[lang]
    return f"[{mark}] {name} ({', '.join(facts)})"


def worded(term: str, lang: Lang) -> str:
    """A term of the gists, in this language."""
    return _CHINESE[term] if lang == "zh" else term


def number_of(count: int, noun: str, lang: Lang) -> str:
    """A number of things."""
    return f"{count}{_CHINESE[noun]}" if lang == "zh" else counted(count, noun)


def listed(label: str, names: Sequence[str], lang: Lang) -> str:
    """Names under a label; of a long list the first ones, and how many more there are."""
    shown: list[str] = []
    for name in names[:_NAMES]:
        # Names come from anywhere: none may pass for another part of the line.
        word = shown_name(one_line(name, _NAME)) or "''"
        if shown and sum(map(len, shown)) + len(word) > _LETTERS:
            break
        shown.append(word)
    if rest := len(names) - len(shown):
        shown.append(f"… 另有{rest}个" if lang == "zh" else f"… {rest} more")
    return f"{worded(label, lang)}: {', '.join(shown)}"


def size_of(count: int) -> str:
    """A number of bytes.

    Example:
        >>> size_of(999), size_of(2_560), size_of(3_000_000)
        ('999B', '2.5KB', '2.9MB')
    """
    if count < 1024:
        return f"{count}B"
    size = count / 1024
    for unit in ("KB", "MB"):
        if round(size, 1) < 1024:
            return f"{size:.1f}{unit}"
        size /= 1024
    return f"{size:.1f}GB"

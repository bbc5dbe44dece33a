"""What the provider is told of the three tools. It never changes, so that its cache holds."""

from contextui.agent.file_reader import PAGE
from contextui.config.choices import Lang
from contextui.model import Tool

_ABOUT: dict[Lang, dict[str, str]] = {
    "en": {
        "create": "Open a window of one of the classes in the system prompt. The new window, with "
        "its id and its actions, stands in the result.",
        "name": "The name of the class.",
        "args": "The args that the class declares, by name.",
        "action": "Carry out an action, or an anchor, of an open window. Every window also has the "
        "action close with an optional summary.",
        "window_id": "Such as todo_1.",
        "action_id": "The id of the action.",
        "params": "The params that the action declares, by name.",
        "read_file": f"Read a text file of the folder, {PAGE} lines at most; start says from which "
        "line on.",
        "path": "Relative to the folder, or the id of a listed code file.",
        "start": "The first line, 1 if left out.",
    },
    "zh": {
        "create": "打开系统提示所列的某一类窗口。新窗口连同它的 id 和操作会出现在结果中。",
        "name": "窗口类的名称。",
        "args": "该类声明的参数，按名称给出。",
        "action": "执行某个已打开窗口的操作或锚点。每个窗口都有 close 操作，可带 summary。",
        "window_id": "例如 todo_1。",
        "action_id": "操作的 id。",
        "params": "该操作声明的参数，按名称给出。",
        "read_file": f"读取文件夹中的文本文件，一次最多 {PAGE} 行；start 指定从第几行开始。",
        "path": "相对于该文件夹的路径，或所列代码文件的 id。",
        "start": "起始行，省略时为 1。",
    },
}

_TAKES = {
    "create": ({"name": "string", "args": "object"}, ["name"]),
    "action": (
        {"window_id": "string", "action_id": "string", "params": "object"},
        ["window_id", "action_id"],
    ),
    "read_file": ({"path": "string", "start": "integer"}, ["path"]),
}


def _tool(name: str, lang: Lang) -> Tool:
    kinds, required = _TAKES[name]
    about = _ABOUT[lang]
    properties = {one: {"type": kind, "description": about[one]} for one, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name, about[name], schema)


TOOLS: dict[Lang, tuple[Tool, ...]] = {
    lang: tuple(_tool(name, lang) for name in _TAKES) for lang in _ABOUT
}
"""The tools, as they are declared in a language."""

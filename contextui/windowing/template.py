"""`contextui new-window NAME --kind KIND`: a working window and its test, from templates."""

import os
from importlib import resources
from pathlib import Path
from string import Template
from typing import Literal, get_args

from contextui.errors import ContextUIError, os_reason
from contextui.names import WINDOW_NAME
from contextui.text import quote, shown_path


class NewWindowError(ContextUIError):
    """A new window cannot be created: its name is invalid, or its file exists."""


Kind = Literal["simple", "job", "connection", "table", "widget", "package"]
"""The kinds of new windows."""

KINDS: tuple[Kind, ...] = get_args(Kind)


def write_new_window(name: str, folder: Path, kind: Kind = "simple") -> list[Path]:
    """Write a window's files into a folder, without overwriting anything; return their paths."""
    if kind == "package":
        folder /= f"contextui-{name}"
    contents = {folder / file: text for file, text in _texts(name, kind).items()}
    for path in contents:
        if os.path.lexists(path):
            raise NewWindowError(
                "{path} exists already and was not overwritten.", path=shown_path(path)
            )
    for path, text in contents.items():
        try:
            if kind == "package":
                path.parent.mkdir(exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            shown = shown_path(path)
            raise NewWindowError(
                "{path} cannot be written: {why}.", path=shown, why=os_reason(error)
            ) from error
    return list(contents)


def _texts(name: str, kind: Kind) -> dict[str, str]:
    """Return the texts of a new window's files, by file name."""
    if not WINDOW_NAME.fullmatch(name):
        raise NewWindowError(
            "{name} cannot be a window's name. Use lowercase letters, digits, - and _, starting "
            "with a letter, such as shopping-list.",
            name=quote(name),
        )
    words = [word for word in name.replace("-", "_").split("_") if word]
    if words[0].startswith("test"):  # or pytest would collect the file or the class
        words.insert(0, "the")
    # The suffix keeps the file from shadowing a standard module, such as code or calendar.
    module = "_".join(words) + "_window"
    stem = "".join(map(str.capitalize, words))
    names = {
        "name": name,
        "module": module,
        "cls": f"{stem}Window",
        "title": " ".join(words),
        "widget": f"_{'_'.join(words)}_widget",  # the underscore: it is not a window itself
        "view": f"{stem}View",
    }
    templates = {f"{module}.py": f"{kind}.py", f"test_{module}.py": f"test_{kind}.py"}
    if kind == "widget":
        templates[f"{names['widget']}.py"] = "view.py"
    if kind == "package":
        templates |= {"pyproject.toml": "pyproject.toml", "README.md": "README.md"}
    return {file: _filled(template, names) for file, template in templates.items()}


def _filled(template: str, names: dict[str, str]) -> str:
    file = resources.files(__package__).joinpath("templates", f"{template}.txt")
    return Template(file.read_text(encoding="utf-8")).substitute(names)

"""The colours of code, in those of the app's theme."""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color, ColorParseError
from textual.widgets.text_area import TextAreaTheme

from contextui.files.languages import language_of

_ROLES = {
    "text-accent": "keyword keyword.function keyword.return keyword.operator include repeat "
    "exception conditional boolean tag heading",
    "text-success": "string string.documentation string.special",
    "text-warning": "number float constant constant.builtin escape",
    "text-primary": "function function.call function.method method method.call property link",
    "text-secondary": "type type.class type.builtin class constructor attribute namespace",
}
_NAMES = {"shell": "bash", "c++": "cpp"}


def code_theme(name: str, variables: Mapping[str, str]) -> TextAreaTheme:
    """A theme for code that is made of the app's colours."""
    styles: dict[str, Style] = {"comment": Style(dim=True, italic=True)}
    for role, captures in _ROLES.items():
        try:
            color = Color.parse(variables.get(role, "")).rich_color
        except ColorParseError:  # a theme of the terminal's own colours
            continue
        styles |= dict.fromkeys(captures.split(), Style(color=color))
    return TextAreaTheme(name, syntax_styles=styles)


def code_language(path: str, available: set[str]) -> str | None:
    """The language of a file, if its syntax is known."""
    language = language_of(path) or ""
    language = _NAMES.get(language, language)
    return language if language in available else None

"""Colors of code: one table for answers and for the editor, in the roles of the theme."""

from collections.abc import Mapping

from pygments.token import Token, _TokenType
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.content import Content
from textual.highlight import HighlightTheme, highlight
from textual.widgets._markdown import MarkdownFence
from textual.widgets.text_area import TextAreaTheme

ROLES: dict[str, tuple[str, tuple[_TokenType, ...]]] = {
    "text-accent": (
        "keyword keyword.function keyword.return keyword.operator include repeat exception "
        "conditional boolean tag heading",
        (
            *(Token.Keyword, Token.Operator.Word, Token.Name.Tag),
            *(Token.Generic.Heading, Token.Generic.Subheading),
        ),
    ),
    "text-success": (
        "string string.documentation string.special",
        (Token.Literal.String, Token.Generic.Inserted),
    ),
    "text-warning": (
        "number float constant constant.builtin escape",
        (
            *(Token.Literal.Number, Token.Keyword.Constant, Token.Name.Constant),
            Token.Literal.String.Escape,
        ),
    ),
    "text-primary": (
        "function function.call function.method method method.call property link",
        (Token.Name.Function, Token.Name.Decorator),
    ),
    "text-secondary": (
        "type type.class type.builtin class constructor attribute namespace",
        (
            *(Token.Keyword.Type, Token.Name.Class, Token.Name.Exception),
            *(Token.Name.Attribute, Token.Name.Namespace, Token.Name.Builtin),
        ),
    ),
    "text-error": ("", (Token.Generic.Deleted,)),
}
"""The parts of code of each color: captures of the editor's parser, and tokens of answers."""
COMMENT = "faint"


class CodeTheme(HighlightTheme):
    """The colors of code in answers. What a lexer does not know is plain text, not an error."""

    STYLES = {
        Token.Comment: f"${COMMENT} italic",
        **{token: f"${role}" for role, (_, tokens) in ROLES.items() for token in tokens},
    }


class CodeFence(MarkdownFence):
    """A code block of an answer, in the same colors as the editor."""

    @classmethod
    def highlight(
        cls,
        code: str,
        language: str,
        ansi: bool = False,  # noqa: ARG003
        dark: bool = False,  # noqa: ARG003
    ) -> Content:
        return highlight(code, language=language or "text", theme=CodeTheme)


def code_theme(name: str, variables: Mapping[str, str]) -> TextAreaTheme:
    """Build the editor's theme from the app's colors."""
    styles: dict[str, Style] = {"comment": Style(dim=True, italic=True)}
    captures = {role: names.split() for role, (names, _) in ROLES.items()}
    for role, names in {COMMENT: ["comment"], **captures}.items():
        try:
            color = Color.parse(variables.get(role, "")).rich_color
        except ColorParseError:  # a theme that uses the terminal's own colors
            continue
        styles |= dict.fromkeys(names, Style(color=color, italic=role == COMMENT or None))
    return TextAreaTheme(name, syntax_styles=styles)

"""How SQL, R and CSS declare things, for the scanner that outlines use.

As there, each search is bounded, so that a hostile text costs time in proportion to its length.
"""

import re

from contextui.files.scanning import Declaration, Syntax

_BLOCK_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"
_DOUBLE = r'"(?:\\[\s\S]|[^"\\])*(?:"|\Z)'
_SINGLE = r"'(?:\\[\s\S]|[^'\\])*(?:'|\Z)"


def _declaration(kind: str, pattern: str, *within: str) -> Declaration:
    return Declaration(kind, re.compile(pattern), frozenset(within) or None)


_SQL_WORD = r'(?:[\w$#]+|"[^"\n]{1,200}"|`[^`\n]{1,200}`|\[[^\]\n]{1,200}\])'
_CREATE = r"(?i:\s*create\s+(?:or\s+(?:replace|alter)\s+)?"
_SQL_NAME = rf"(?:if\s+not\s+exists\s+)?)(?P<name>{_SQL_WORD}(?:\.{_SQL_WORD}){{0,3}})"
_SQL = Syntax(
    re.compile(
        rf"--[^\n]*|{_BLOCK_COMMENT}|'(?:''|[^'])*(?:'|\Z)"
        r"|\$(?P<tag>\w{0,60})\$[\s\S]*?(?:\$(?P=tag)\$|\Z)"  # the body of a function
    ),
    (
        _declaration(
            "table",
            rf"{_CREATE}(?:(?:global|local|temp|temporary|unlogged|external|virtual|foreign)\s+)*"
            rf"table\s+{_SQL_NAME}",
        ),
        _declaration(
            "view", rf"{_CREATE}(?:(?:materialized|temp|temporary)\s+)*view\s+{_SQL_NAME}"
        ),
        _declaration(
            "function", rf"{_CREATE}(?:aggregate|function|procedure|proc|trigger)\s+{_SQL_NAME}"
        ),
    ),
)

_R_NAME = r"(?P<name>[^\W\d_][\w.]*|\.[\w.]*|`[^`\n]{1,200}`)"
_R_CLASS = r"(?:R6::|methods::)?(?:R6Class|setRefClass|setClass)\s*\("
_R = Syntax(
    re.compile(rf'#[^\n]*|[rR]"(?P<dashes>-*)\([\s\S]*?(?:\)(?P=dashes)"|\Z)|{_DOUBLE}|{_SINGLE}'),
    (
        _declaration("class", rf"\s*{_R_NAME}\s*(?:<<?-|=)\s*{_R_CLASS}"),
        _declaration("function", rf"\s*{_R_NAME}\s*<<?-\s*(?:function\b|\\\()"),
        # Further to the right it would be an argument of a call.
        _declaration("function", rf"{_R_NAME}\s*=\s*(?:function\b|\\\()"),
    ),
)

_CSS = Syntax(
    re.compile(
        rf"{_BLOCK_COMMENT}|url\([^)\n]{{0,2000}}\)|//[^\n]*"
        r"""|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?"""
    ),
    (
        _declaration("function", r"\s*@(?:mixin|function)\s+(?P<name>[\w-]+)"),
        _declaration(
            "group", r"\s*@(?P<name>media|supports|layer|container|scope)\b[^;]*$", "top", "group"
        ),
        _declaration(
            "selector",
            r"\s*(?![^{]*:\s)(?P<name>[^\s{};@,$\[][^{};,\[]*)(?:[,\[][^{};]*)?(?:\{|(?<=,)\s*$)",
            *("top", "group"),
        ),
    ),
)

SYNTAXES = {"sql": _SQL, "r": _R, "css": _CSS}
"""The languages that are scanned here, by the names that `language_of` gives them."""

"""Scan source code for declarations: the syntax of each language, and language detection.

Every pattern is bounded, so that hostile input costs only linear time: hence the length limits in
the patterns for strings and regex literals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_OPAQUE = {"function", "method"}  # local declarations in their bodies are skipped
_LONGEST = 1_000  # characters of a line with a declaration; longer (minified) lines are skipped
_DEEPEST = 20
_SIGNS = re.compile(r"[{};]")
_NOT_A_LINE_END = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Declaration:
    """The declaration of one kind of symbol.

    Attributes:
        kind: The kind in an outline.
        pattern: Matched at the start of a line; its group "name" is the name.
        within: The kinds it must be directly in, "top" for the file itself; None for anywhere but
            in functions.
    """

    kind: str
    pattern: re.Pattern[str]
    within: frozenset[str] | None = None


@dataclass(frozen=True)
class Syntax:
    """The syntax of a language, as far as needed for scanning.

    Attributes:
        blanks: Matches comments and strings, which are blanked out; a group "keep" stays.
        declarations: The declarations to find; the first match counts.
        braces: Whether blocks are in braces; otherwise they end with an "end" at the same
            indentation.
        members: The kinds in which a function is a method.
    """

    blanks: re.Pattern[str]
    declarations: tuple[Declaration, ...]
    braces: bool = True
    members: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Open:
    kind: str
    level: int
    begun: bool  # whether its block has begun


def scan(text: str, syntax: Syntax) -> Iterator[tuple[str, str, int, int]]:
    """Yield the kind, name, line and depth of each declaration."""
    blank = syntax.blanks.sub(_blanked, text)
    open_: list[_Open] = []
    level = 0
    for number, line in enumerate(blank.split("\n"), 1):
        here = level if syntax.braces else len(line) - len(line.lstrip())
        if not syntax.braces and line.strip():
            while open_ and open_[-1].level >= here:
                open_.pop()
        around = [each for each in open_ if each.begun]
        found = _declared(line, around, here, syntax)
        if found:
            kind, name = found
            yield kind, name, number, len(around)
            # A declaration without a block by now has none.
            open_[:] = [*around, _Open(kind, here, begun=not syntax.braces)]
        if syntax.braces:
            level = _follow(line, level, open_)


def _blanked(match: re.Match[str]) -> str:
    kept = match.groupdict().get("keep") or ""
    return kept + _NOT_A_LINE_END.sub(" ", match[0][len(kept) :])


def _declared(line: str, around: list[_Open], here: int, syntax: Syntax) -> tuple[str, str] | None:
    inmost, level = (around[-1].kind, around[-1].level) if around else ("top", -1)
    if inmost in _OPAQUE or len(around) >= _DEEPEST or len(line) > _LONGEST:
        return None
    for declaration in syntax.declarations:
        if declaration.within is not None and (
            inmost not in declaration.within or (syntax.braces and here != level + 1)
        ):
            continue
        match = declaration.pattern.match(line)
        if match:
            member = declaration.kind == "function" and inmost in syntax.members
            return ("method" if member else declaration.kind), match["name"].strip()
    return None


def _follow(line: str, level: int, open_: list[_Open]) -> int:
    """Update the nesting level after a line; remove declarations that were closed or have no
    body."""
    for char in _SIGNS.findall(line):
        if char == "{":
            level += 1
            if open_ and open_[-1].level == level - 1:
                open_[-1].begun = True
        elif char == "}":
            level = max(level - 1, 0)
            while open_ and open_[-1].begun and open_[-1].level >= level:
                open_.pop()
        elif char == ";" and open_ and not open_[-1].begun and open_[-1].level == level:
            open_.pop()  # declared, but without a body
    return level


_LINE_COMMENT = r"//[^\n]*"
_BLOCK_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"
_HASH_COMMENT = r"(?<![\w$\\&{'\"])#[^\n]*"
_DOUBLE = r'"(?:\\[\s\S]|[^"\\\n])*"?'
_DOUBLE_LINES = r'"(?:\\[\s\S]|[^"\\])*(?:"|\Z)'
_SINGLE = r"'(?:\\[\s\S]|[^'\\\n])*'?"
_SINGLE_LINES = r"'(?:\\[\s\S]|[^'\\])*(?:'|\Z)"
_BACKTICK = r"`(?:\\[\s\S]|[^`\\])*(?:`|\Z)"
_NAME = r"(?P<name>[^\W\d]\w*)"
_JS_NAME = r"(?P<name>[#$\w]+)"
_GENERICS = r"(?:<[^(){};]*>)?"
_NO_CALL = r"(?!(?:if|for|while|switch|catch|return|else|do|new|throw|case|with|function|await)\b)"


def _blanks(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _declaration(kind: str, pattern: str, within: str | None = None) -> Declaration:
    kinds = None if within is None else frozenset(within.split())
    return Declaration(kind, re.compile(rf"\s*(?:{pattern})"), kinds)


_JS_BLANKS = _blanks(
    _LINE_COMMENT,
    _BLOCK_COMMENT,
    _DOUBLE,
    _SINGLE,
    _BACKTICK,
    r"(?P<keep>[=(,:\[!&|?{};]\s*)/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n]){0,100}\]|[^/\\\n\[]){1,200}/[a-z]*",
)
_EXPORT = r"(?:export\s+)?(?:default\s+)?(?:declare\s+)?"
_JS_FUNCTIONS = (
    _declaration("class", rf"{_EXPORT}(?:abstract\s+)?class\s+{_JS_NAME}"),
    _declaration("function", rf"{_EXPORT}(?:async\s+)?function\s*\*?\s*{_JS_NAME}\s*{_GENERICS}\("),
    _declaration(
        "function",
        rf"{_EXPORT}(?:const|let|var)\s+{_JS_NAME}\s*(?::[^=]+)?=\s*(?:async\s*)?"
        rf"(?:function\b|{_GENERICS}\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?::[^=]+)?=>|[$\w]+\s*=>)",
    ),
)
_JS_MEMBERS = (
    _declaration(
        "method",
        r"(?:(?:public|private|protected|static|async|override|abstract|readonly|get|set)\s+)*"
        rf"\*?\s*{_NO_CALL}{_JS_NAME}\s*\??{_GENERICS}\((?:[^;]*\{{|[^{{}}]*$)",
        "class",
    ),
    _declaration(
        "method",
        r"(?:(?:public|private|protected|static|readonly)\s+)*"
        rf"{_JS_NAME}\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^()]*\)\s*(?::[^=]+)?|[$\w]+\s*)=>",
        "class",
    ),
)
_JAVASCRIPT = Syntax(_JS_BLANKS, (*_JS_FUNCTIONS, *_JS_MEMBERS))
_TYPESCRIPT = Syntax(
    _JS_BLANKS,
    (
        _declaration("interface", rf"{_EXPORT}interface\s+{_JS_NAME}"),
        _declaration("enum", rf"{_EXPORT}(?:const\s+)?enum\s+{_JS_NAME}"),
        _declaration("type", rf"{_EXPORT}type\s+{_JS_NAME}\s*{_GENERICS}\s*="),
        _declaration("namespace", rf"{_EXPORT}(?:namespace|module)\s+(?P<name>[$\w.]+)\s*\{{"),
        *_JS_FUNCTIONS,
        *_JS_MEMBERS,
    ),
)

_GO = Syntax(
    _blanks(_LINE_COMMENT, _BLOCK_COMMENT, _DOUBLE, r"`[^`]*(?:`|\Z)", _SINGLE),
    (
        _declaration("method", rf"func\s*\([^)]*\)\s*{_NAME}"),
        _declaration("function", rf"func\s+{_NAME}"),
        _declaration("struct", rf"(?:type\s+)?{_NAME}(?:\[[^\]]*\])?\s+struct\b"),
        _declaration("interface", rf"(?:type\s+)?{_NAME}(?:\[[^\]]*\])?\s+interface\b"),
        _declaration("type", rf"type\s+{_NAME}(?:\[[^\]]*\])?\s+=?\s*[^\s(]"),
    ),
)

_VISIBLE = r"(?:pub(?:\s*\([^)]*\))?\s+)?"
_RUST = Syntax(
    _blanks(
        _LINE_COMMENT,
        _BLOCK_COMMENT,
        r'b?r(?P<hashes>#*)"[\s\S]*?(?:"(?P=hashes)|\Z)',
        _DOUBLE_LINES,
        r"'(?:\\(?:[^\n']|')[^'\n]*|[^'\\\n])'",  # a character; a lifetime has no second quote
    ),
    (
        _declaration(
            "function",
            rf"{_VISIBLE}(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?"
            rf"(?:extern\s+(?:\"[^\"]*\"\s*)?)?\s*fn\s+{_NAME}",
        ),
        _declaration("struct", rf"{_VISIBLE}(?:struct|union)\s+{_NAME}"),
        _declaration("enum", rf"{_VISIBLE}enum\s+{_NAME}"),
        _declaration("trait", rf"{_VISIBLE}(?:unsafe\s+)?(?:auto\s+)?trait\s+{_NAME}"),
        _declaration(
            "impl", r"(?:unsafe\s+)?impl\b\s*(?:<[^{]*?>\s+)?(?P<name>[^{]+?)\s*(?:\{|where|$)"
        ),
        _declaration("module", rf"{_VISIBLE}mod\s+{_NAME}\s*\{{"),
        _declaration("type", rf"{_VISIBLE}type\s+{_NAME}", "top"),
        _declaration("macro", rf"macro_rules!\s*{_NAME}"),
    ),
    members=frozenset({"impl", "trait"}),
)

_C_BLANKS = (
    _LINE_COMMENT,
    _BLOCK_COMMENT,
    r'R"(?P<mark>[^\s()\\]{0,16})\([\s\S]*?(?:\)(?P=mark)"|\Z)',
    _DOUBLE,
    r"(?<![0-9a-fA-F])'(?:\\[^\n]|[^'\\\n])*'",  # 1'000 is a number
)
_MODIFIERS = (
    r"(?:(?:public|private|protected|static|final|abstract|default|sealed|non-sealed|strictfp|"
    r"synchronized|native|transient)\s+)*"
)
_ANNOTATIONS = r"(?:@[\w.]+(?:\([^()]*\))?\s+)*"
_JAVA_TYPES = "class interface enum record annotation"
_JAVA = Syntax(
    _blanks(_LINE_COMMENT, _BLOCK_COMMENT, r'"""[\s\S]*?(?:"""|\Z)', _DOUBLE, _SINGLE),
    (
        _declaration("class", rf"{_ANNOTATIONS}{_MODIFIERS}class\s+{_NAME}"),
        _declaration("annotation", rf"{_ANNOTATIONS}{_MODIFIERS}@interface\s+{_NAME}"),
        _declaration("interface", rf"{_ANNOTATIONS}{_MODIFIERS}interface\s+{_NAME}"),
        _declaration("enum", rf"{_ANNOTATIONS}{_MODIFIERS}enum\s+{_NAME}"),
        _declaration("record", rf"{_ANNOTATIONS}{_MODIFIERS}record\s+{_NAME}\s*(?:<[^(]*>)?\("),
        _declaration(
            "method",
            rf"{_ANNOTATIONS}{_MODIFIERS}(?:<[^()=;]*>\s*)?{_NO_CALL}"
            rf"(?:[\w.]+(?:<[^()=;]*>)?(?:\[\])*\s+)?{_NAME}\s*\([^;=]*(?:\{{|$|;)",
            _JAVA_TYPES,
        ),
    ),
)

_BLOCK = r"\s*(?:final\s*)?(?::[^;(){}]*)?(?:\{|$)"  # after a type's name, where it is defined
_ARGUMENTS = r"(?:<[^<>;(){}]*(?:<[^<>;(){}]*>[^<>;(){}]*)*>)?"
_TEMPLATE = r"(?:template\s*<[^{}]*>\s*)?"
_TYPED = (
    r"(?!(?:typedef|using|return|goto|delete|throw|co_return|public|private|protected)\b)"
    rf"{_NO_CALL}(?:[\w:]+{_ARGUMENTS}[\s*&]+)+(?P<name>(?:\w+::)*(?:~?\w+|operator\W+))\s*\("
)
_C_TYPES = (
    _declaration("struct", rf"{_TEMPLATE}(?:typedef\s+)?struct\s+{_NAME}{_BLOCK}"),
    _declaration("enum", rf"(?:typedef\s+)?enum\s+(?:class\s+|struct\s+)?{_NAME}{_BLOCK}"),
    _declaration("union", rf"(?:typedef\s+)?union\s+{_NAME}{_BLOCK}"),
)
_DEFINED = r"[^;{}]*(?:\{|$)"  # a definition, not only a declaration
_C = Syntax(
    _blanks(*_C_BLANKS, r"(?m:^[ \t]*#(?:\\\n|[^\n])*)"),
    (*_C_TYPES, _declaration("function", _TYPED + _DEFINED)),
)
_CPP = Syntax(
    _C.blanks,
    (
        _declaration("namespace", r"(?:inline\s+)?namespace\s+(?P<name>[\w:]+)\s*(?:\{|$)"),
        _declaration("class", rf"{_TEMPLATE}class\s+{_NAME}{_BLOCK}"),
        *_C_TYPES,
        _declaration("method", _TEMPLATE + _TYPED, "class struct"),
        _declaration(
            "method",
            rf"(?:explicit\s+|virtual\s+|inline\s+)*{_NO_CALL}(?P<name>~?\w+)\s*\(",
            "class struct",
        ),
        _declaration("function", _TEMPLATE + _TYPED + _DEFINED),
        _declaration("function", rf"{_NO_CALL}(?P<name>\w+::~?\w+)\s*\({_DEFINED}"),
    ),
)

_RUBY = Syntax(
    _blanks(
        r"<<[-~](?P<quote>['\"`]?)(?P<mark>[A-Za-z_]\w*)(?P=quote)[^\n]{0,500}\n"
        r"(?:[^\n]{0,1000}\n){0,200}?[ \t]*(?P=mark)\b",
        r"(?m:^=begin\b[\s\S]*?(?:^=end\b[^\n]*|\Z))",
        r"(?m:^__END__$)[\s\S]*",
        _HASH_COMMENT,
        _DOUBLE,
        _SINGLE,
    ),
    (
        _declaration("class", r"class\s+(?P<name>[A-Z][\w:]*)"),
        _declaration("module", r"module\s+(?P<name>[A-Z][\w:]*)"),
        _declaration(
            "function",
            r"(?:(?:private|public|protected|private_class_method|module_function)\s+)?"
            r"def\s+(?P<name>(?:self\.)?(?:[^\W\d]\w*[?!=]?|[^\s\w(]+))",
        ),
    ),
    braces=False,
    members=frozenset({"class", "module"}),
)

_PHP = Syntax(
    _blanks(
        r"\?>[\s\S]*?(?:<\?(?:php|=)?|\Z)",
        r"\A(?:(?!<\?)[\s\S])*<\?(?:php|=)?",
        r"//(?:(?!\?>)[^\n])*",
        r"(?<![\w$])#(?!\[)(?:(?!\?>)[^\n])*",
        _BLOCK_COMMENT,
        r"<<<[ \t]*(?P<quote>['\"]?)(?P<mark>[A-Za-z_]\w*)(?P=quote)\n"
        r"(?:[^\n]{0,1000}\n){0,200}?[ \t]*(?P=mark)\b",
        _DOUBLE_LINES,
        _SINGLE_LINES,
    ),
    (
        _declaration("namespace", r"namespace\s+(?P<name>[\w\\]+)\s*[;{]"),
        _declaration("class", rf"(?:(?:abstract|final|readonly)\s+)*class\s+{_NAME}"),
        _declaration("interface", rf"interface\s+{_NAME}"),
        _declaration("trait", rf"trait\s+{_NAME}"),
        _declaration("enum", rf"enum\s+{_NAME}"),
        _declaration(
            "function",
            r"(?:(?:public|private|protected|static|abstract|final)\s+)*"
            rf"function\s+&?\s*{_NAME}",
        ),
    ),
    members=frozenset({"class", "interface", "trait", "enum"}),
)

_SHELL = Syntax(
    _blanks(
        r"<<-?[ \t]*(?P<quote>['\"]?)(?P<mark>[A-Za-z_]\w*)(?P=quote)[^\n]{0,500}\n"
        r"(?:[^\n]{0,1000}\n){0,200}?[ \t]*(?P=mark)(?=\n|\Z)",
        r"\\.",
        _HASH_COMMENT,
        _DOUBLE_LINES,
        r"'[^']*(?:'|\Z)",
        r"\$\{[^}\n]*\}",
    ),
    (
        _declaration("function", r"function\s+(?P<name>[\w:.-]+)"),
        _declaration("function", r"(?P<name>[\w:.-]+)\s*\(\s*\)"),
    ),
)

SYNTAXES = {
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C,
    "c++": _CPP,
    "ruby": _RUBY,
    "php": _PHP,
    "shell": _SHELL,
}
"""The scanned languages, by name as in `language_of`."""


_SUFFIXES = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "c++": "cc cpp cxx c++ hh hpp hxx ipp",
    "ruby": "rb rake gemspec",
    "php": "php phtml",
    "shell": "sh bash zsh ksh",
    "markdown": "md markdown mdown mkd",
    "html": "html htm xhtml",
    "css": "css scss sass less",
    "sql": "sql",
    "json": "json jsonl ndjson",
    "yaml": "yaml yml",
    "xml": "xml xsd xsl svg",
    "toml": "toml",
    "ini": "ini cfg conf",
    "r": "r",
    "csharp": "cs",
    "kotlin": "kt kts",
    "swift": "swift",
    "lua": "lua",
}
_NAMES = {
    "makefile": "make",
    "dockerfile": "docker",
    "rakefile": "ruby",
    "gemfile": "ruby",
    ".bashrc": "shell",
    ".zshrc": "shell",
    ".profile": "shell",
}
_BY_SUFFIX = {f".{suffix}": name for name, all_ in _SUFFIXES.items() for suffix in all_.split()}


def language_of(name: str) -> str | None:
    """The language of a file by its name, in lower case; None if unknown."""
    path = PurePosixPath(name)
    return _NAMES.get(path.name.lower()) or _BY_SUFFIX.get(path.suffix.lower())

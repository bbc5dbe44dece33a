"""Which language a file is written in, by its name."""

from pathlib import PurePosixPath

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
    """The language of a file of this name, in lower case; None if the name does not tell."""
    path = PurePosixPath(name)
    return _NAMES.get(path.name.lower()) or _BY_SUFFIX.get(path.suffix.lower())

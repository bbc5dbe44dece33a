"""Mask API keys and other secrets in text that is shown, logged or stored.

`mask` is for any text: log lines, tracebacks, the inspector. It detects secrets by their form and
by the names before them, and those of the environment by their values. Text without secrets is
returned as the same object. `mask_arguments` is for process arguments, which have lost their
quotes: it masks too much rather than too little.
"""

import os
import re
from functools import cache, lru_cache
from typing import Any

MASK = "***"
SHORTEST = 8
"""Minimum length of an environment variable's value to be masked."""

_KEYS = (  # prefixes of well-known services' keys; the prefix stays visible
    *("sk-ant-", "sk-", "sk_live_", "sk_test_", "rk_live_", "whsec_", "ghp_", "gho_", "ghs_"),
    *("ghu_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xapp-", "hf_", "npm_", "pypi-"),
    *("AKIA", "ASIA", "AIza", "ya29.", "eyJ"),
)
_PASSWORD = r"passw(?:or)?d|passphrase|pwd"
_KEY = r"(?:api|access|secret|private|auth|account|signing|encryption)[_.-]?key|token|secret"
_ANY = rf"{_PASSWORD}|{_KEY}|credentials?|authorization|(?-i:KEY(?==))"
_WORDS = ("passw", "passphrase", "pwd", "key", "token", "secret", "credential", "authorization")
_SCHEMES = r"bearer|basic|token|digest|negotiate|aws4[\w-]*"

# A quoted value; a bare value; a value that cannot be a word, a number or an identifier.
_QUOTED = r"""(?P<quote>\\?["'])(?![$<{*])(?:(?!(?P=quote)).){4,}(?=(?P=quote))"""
_LETTER = r"[^\s\"'`,;&<>*\\]"
_CODE = r"[-/${(\[]|(?-i:[A-Z_]+(?!\S))|[\w.]{1,99}[(\[{]"  # an option, a path, TOKEN, getpass()
_BARE = rf"(?!{_CODE}){_LETTER}{{6,}}(?<![)}}\].:])"
_RANDOM = rf"(?={_LETTER}{{0,99}}\d)(?={_LETTER}{{0,99}}[a-z]){_BARE}"


def _before_value(names: str, separator: str = r"\s*[:=]\s*") -> str:
    """Return the pattern of what precedes a value: `name=`, `"name": ` or `--name `."""
    number = r"(?:[_-]?\d+)?"
    option = rf"(?<![\w-])--?[\w.-]*(?:{names})\s+"
    return rf"(?P<shown>(?:{names}){number}\\?[\"']?{separator}|{option})"


_FORMS = [  # required substrings in lower case; pattern, masked except for its group `shown`
    (
        ("private key-",),
        r"(?P<shown>-----BEGIN [\w ]*PRIVATE KEY-----)(?!\*)(?s:.+?)(?=-----END|\Z)",
    ),
    (
        _KEYS,
        rf"(?<!\w)(?P<shown>(?-i:{'|'.join(map(re.escape, _KEYS))}))"
        r"(?=[\w.+/=-]{0,99}\d)[\w.+/=-]{16,}",
    ),
    (("@",), r"(?P<shown>://)(?:[^\s/@:\"'<>*]*:[^\s/@\"'<>]*|(?=[^\s@]*\d)[^\s/@:\"'<>*]+)(?=@)"),
    (
        ("authorization", "cookie"),
        rf"(?P<shown>authorization:[ \t]*(?:{_SCHEMES})[ \t]+|cookie:[ \t]*(?=[^\r\n\"']*=))"
        r"(?!\*)[^\r\n\"']{6,}",
    ),
    (("bearer", "basic"), rf"(?P<shown>\b(?:bearer|basic)\s+){_RANDOM}"),
    (_WORDS, _before_value(_ANY) + _QUOTED),
    (_WORDS, _before_value(_ANY) + _RANDOM),
    (_WORDS, _before_value(_PASSWORD, "=") + _BARE),
]


@cache
def _masked_forms() -> list[tuple[tuple[str, ...], re.Pattern[str]]]:
    """Compile the forms when they are first needed: this takes as long as many an import."""
    return [
        (tuple(one.lower() for one in within), re.compile(form, re.IGNORECASE))
        for within, form in _FORMS
    ]


_ENV_NAME = re.compile(
    rf"\w*(?:passw(?:or)?d|passphrase|credentials?|{_KEY})(?:_?\d+)?", re.IGNORECASE
)

_NAME = (
    rf"(?!token(?:s|iz))(?:{_PASSWORD}|{_KEY}|credential|authorization|cookie"
    r"|(?<![a-z])(?:pin|otp)(?![a-z])|密码|密钥|口令|令牌)"
)

_SECRET = (
    r"(?:key|token|secret|passw|passphrase|pass(?:in|out|code)?(?![a-z])|pwd|credential|auth|cookie"
    r"|signature|(?<![a-z])(?:pw|pin|otp)(?![a-z]))[\w.-]*"
)
_NUMBER = r"\d+(?::\d+)?(?!\S)"  # a port
_ARGUMENTS = (  # everything after a secret's name is masked
    rf"""(?P<shown>{_SECRET}["']?\s*[:=]).+""",
    rf"(?P<shown>(?:(?<![\w-])-[\w.-]*{_SECRET}|\bbearer|\bbasic)\s).+",
    r"(?P<shown>\b\w*(?:secret|password|passwd)\w*\s+(?=[^\s-])).+",
    rf"(?P<shown>(?<!\S)-(?:[apw]\s+|u\s+[^\s:]+:))(?!{_NUMBER})\S+",
    rf"(?P<shown>(?<!\S)-(?-i:[PWk])\s+)(?!{_NUMBER}|-|/|https?:)\S+",
    r"(?P<shown>(?<!\S)(?:-u|--[\w-]*user)[\s=]*[^\s:%=]+[:%])(?!//)\S+",
    r"(?P<shown>(?:mysql|mariadb|sshpass|7z|7za|rar|unrar)\S* (?:.* )?-p)\S+",
    r"(?P<shown>(?<!\S)/p:)\S+",
    r"(?P<shown>htpasswd .*?-\w*b\w* ).+",
    r"(?P<shown>://)[^\s/@]+(?=@)",
    r"(?<![\w/~+-])(?P<shown>)(?![/-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])[\w+/-]{20,}",
)


@cache
def _argument_forms() -> list[re.Pattern[str]]:
    return [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in _ARGUMENTS]


def mask(text: str) -> str:
    """Replace each secret in a text with `***`.

    Detected by form: keys of well-known services (the prefix stays visible), `Bearer …`, `KEY=…`,
    `"password": "…"`, `--token …`, cookies, private keys, and credentials in URLs. Detected by
    value, wherever they occur: environment variables with names such as `…API_KEY`, `…TOKEN`,
    `…SECRET` or `…PASSWORD`.

    Example:
        >>> mask("401 for https://joe:hunter2@example.org with key sk-ant-api03-5f3a9c27e1")
        '401 for https://***@example.org with key sk-ant-***'
    """
    text = mask_own(text)
    lower = text.lower()
    for within, form in _masked_forms():
        if any(word in lower for word in within):
            text = form.sub(_masked, text)
    return text


def mask_own(text: str) -> str:
    """Replace only the environment's secrets with `***`.

    Fast, and without false positives: for text that a person or a model works with.
    """
    for _, value in own_secrets():
        if value in text:
            text = text.replace(value, MASK)
    return text


def partial_secret(text: str) -> int:
    """Count the characters at the end of a text that may start one of the environment's secrets.

    A caller that streams text holds them back until more arrives.
    """
    values = [value for _, value in own_secrets()]
    cut = len(text) - max((_partial(text, value) for value in values), default=0)
    while (whole := _secret_across(text, values, cut)) is not None:
        cut = whole  # a secret may end with its own prefix: keep it complete
    return len(text) - cut


class StreamMask:
    """Masks the environment's secrets in streamed text, even when split across chunks.

    Example:
        >>> masked = StreamMask()
        >>> masked.take("The key is corr") + masked.take("ect horse") + masked.rest()
        'The key is correct horse'
    """

    def __init__(self) -> None:
        self._held = ""

    def __bool__(self) -> bool:
        """Whether any text is held back."""
        return bool(self._held)

    def take(self, text: str) -> str:
        """Add a chunk, and return the text that can be shown now."""
        text = self._held + text
        end = len(text) - partial_secret(text)
        self._held = text[end:]
        return mask_own(text[:end])

    def rest(self) -> str:
        """Return the text held back, at the end of the stream."""
        text, self._held = self._held, ""
        return mask_own(text)


def _secret_across(text: str, values: list[str], cut: int) -> int | None:
    """Return where the first secret that spans the position `cut` starts."""
    found = (text.find(one, max(0, cut - len(one) + 1), cut + len(one) - 1) for one in values)
    return min((at for at in found if 0 <= at < cut), default=None)


def _partial(text: str, value: str) -> int:
    longest = min(len(text), len(value) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(value[:n])), 0)


def own_secrets(shortest: int = SHORTEST) -> list[tuple[str, str]]:
    """Return the environment variables that hold secrets, longest value first.

    One value may contain another, so the longest must be replaced first.

    Args:
        shortest: The minimum length of a value.
    """
    # Every line on the screen asks. Comparing the variables is much faster than decoding them.
    global _own  # noqa: PLW0603
    now, own = os.environ._data, _own  # type: ignore[attr-defined]
    if own[0] != now:
        _own = own = dict(now), {}
    if shortest not in own[1]:
        own[1][shortest] = _find_own(shortest)
    return own[1][shortest]


def add_secret(text: str) -> None:
    """Mask a key that the person entered or configured, like those of the environment."""
    global _own  # noqa: PLW0603
    if text and text not in _entered:
        _entered.add(text)
        _own = {}, {}


def add_named_secret(name: str, value: str) -> None:
    """Mask a value that is configured under a secret's name, such as the header `X-Api-Key`."""
    if names_secret(name):
        add_secret(re.sub(rf"^\s*(?:{_SCHEMES})\s+", "", value, flags=re.IGNORECASE).strip())


def names_secret(words: str) -> bool:
    """Whether words name a secret, as `api_key` and `Your password` do.

    Example:
        >>> names_secret("GitHub API key"), names_secret("max_tokens")
        (True, False)
    """
    return re.search(_NAME, re.sub(r"[\s-]+", "_", words), re.IGNORECASE) is not None


_entered: set[str] = set()
_own: tuple[dict[Any, Any], dict[int, list[tuple[str, str]]]] = ({}, {})
"""The environment as it was seen last, and its secrets by their minimum length."""


def _find_own(shortest: int) -> list[tuple[str, str]]:
    found = [(name, os.environ.get(name, "")) for name in os.environ if _is_secret(name)]
    found += [("/login", value) for value in _entered]
    worth = [(name, value) for name, value in found if len(value) >= shortest and value[0] != "/"]
    return sorted(worth, key=lambda one: len(one[1]), reverse=True)


def mask_arguments(line: str) -> str:
    """Mask secrets in the arguments of a process, given as one line.

    Beyond `mask`, this covers everything after a word such as `--auth`, the values of one-letter
    options such as `-p`, and each long word that could be a key.
    """
    for form in _argument_forms():
        line = form.sub(_masked, line)
    return mask(line)


def _masked(match: re.Match[str]) -> str:
    quote = match.groupdict().get("quote") or ""
    return match["shown"] + quote + MASK


@lru_cache(maxsize=1_000)
def _is_secret(name: str) -> bool:
    return _ENV_NAME.fullmatch(name) is not None

"""Recognize files that can run code or hold secrets, by their names and content."""

import re
from collections.abc import Iterable
from fnmatch import translate

SECRET_FILES = (
    ".env*", "*.env",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*",
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc.yml", ".pypirc", ".htpasswd",
    ".git/config", ".git-credentials", ".git/credentials",
    ".aws/*", ".azure/*", ".config/gcloud/*", ".docker/config.json", ".dockercfg",
    ".ssh/*", ".gnupg/*", ".kube/*", "kubeconfig*", "*.kubeconfig",
    "credentials", "credentials*.json", "*credentials.json", "service-account*.json",
    "client_secret*.json", "secret.*", "secrets", "secrets.*", "*.secret", "*.secrets",
    "*.tfstate", "*.tfvars", "vault.yml", "vault.yaml",
)  # fmt: skip
"""Name patterns of files that hold secrets. A pattern with "/" is compared with the end of the
path, any other with the file's name; case-insensitive."""

_ADDED_SHEBANG = re.compile(r"^\+\ufeff?#!", re.MULTILINE)


class SecretFiles:
    """Recognizes files that hold secrets by their names.

    Args:
        patterns: Added to `SECRET_FILES`; a pattern that begins with ``!`` is an exception.

    Example:
        >>> SecretFiles(["*.vault", "!test.key"]).has("keys/server.key")
        True
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        given = list(patterns)
        self._added = _compiled(one for one in given if not one.startswith("!"))
        self._excepted = _compiled(one[1:] for one in given if one.startswith("!"))

    def has(self, path: str) -> bool:
        """Whether the file at this path may hold secrets."""
        plain = f"/{path.casefold()}"
        if self._excepted.match(plain):
            return False
        if self._added.match(plain):
            return True
        return bool(_SECRET.match(plain)) and not _PUBLIC.match(plain)


def _compiled(patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile patterns into one expression, to match a path that begins with "/"."""
    ways = []
    for pattern in patterns:
        plain = pattern.casefold().lstrip("/")
        way = translate(plain)
        ways.append(f"(?s:.*/){way if '/' in plain else way.replace('.*', '[^/]*')}")
    return re.compile("|".join(f"(?:{way})" for way in ways) or r"(?!)")


_SECRET = _compiled(SECRET_FILES)
_PUBLIC = _compiled(["*.pub"])  # the half of a key pair that is made to be shared


def asks_by_name(path: str, new: str = "") -> bool:
    """Whether a write to a path needs approval each time, as far as its name and content say.

    True for absolute paths, hidden files and all in hidden folders (``.git``, ``.contextui``), and
    for scripts.

    Args:
        new: The new content, or a diff to it.
    """
    is_script = new.startswith("#!") or bool(_ADDED_SHEBANG.search(new))
    # On some file systems, git~1 is .git.
    is_hidden = any(
        (name.startswith(".") and name not in (".", "..")) or name.casefold().startswith("git~")
        for name in path.split("/")
    )
    return is_script or is_hidden or path.startswith(("/", "~"))

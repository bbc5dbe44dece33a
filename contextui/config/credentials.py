"""API keys and servers that the person entered in the app.

Keys are kept in the operating system's keyring if the package ``keyring`` is installed
and works, and otherwise in ``credentials.json`` in contextui's home, which only the person can
read. A key belongs to one address and is never sent to another. Environment variables have
precedence.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from contextui import secrets
from contextui.errors import ContextUIError, os_reason
from contextui.plain_file import read_plain, write_private
from contextui.text import shown_path

CREDENTIALS_FILE = "credentials.json"

_SERVICE = "contextui"
_LARGEST = 1_000_000
_LONGEST_KEY = 10_000

Where = Literal["keyring", "file"]


class CredentialsError(ContextUIError):
    """A key cannot be stored, read or removed; the message says why and contains no key."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key that is stored; its text is read only when it is needed.

    Attributes:
        url: The only address that it is sent to; empty for the provider's own.
    """

    provider: str
    where: Where
    url: str = ""
    _text: str = field(default="", repr=False)

    def read(self) -> str:
        """Return the key; empty if the keyring does not have it any more."""
        if self.where == "file":
            return self._text
        ring = _keyring()
        if ring is None:
            return ""
        try:
            text = ring.get_password(_SERVICE, _user(self.provider, self.url))
        except Exception:  # backends raise what they like, and may be locked
            return ""
        if not text:
            return ""
        secrets.add_secret(text)
        return str(text)


class Credentials:
    """The keys and servers of one person.

    Example:
        >>> Credentials(home).put("openai", "sk-…")
        'file'
    """

    def __init__(self, home: Path) -> None:
        self.path = home / CREDENTIALS_FILE

    def get(self, provider: str) -> StoredKey | None:
        """Return the stored key of a provider, if there is one."""
        entry = self._read().get("keys", {}).get(provider)
        if not isinstance(entry, Mapping):
            return None
        url = entry.get("url")
        url = url if isinstance(url, str) else ""
        if entry.get("where") == "keyring":
            return StoredKey(provider, "keyring", url)
        text = entry.get("key")
        if not isinstance(text, str) or not text:
            return None
        secrets.add_secret(text)
        return StoredKey(provider, "file", url, text)

    def put(self, provider: str, key: str, url: str = "") -> Where:
        """Store a key, and return where."""
        key = key.strip()
        if not key or len(key) > _LONGEST_KEY or not (key.isascii() and key.isprintable()):
            raise CredentialsError("That is not a key: copy it again.")
        secrets.add_secret(key)
        where: Where = "keyring" if _put_in_keyring(_user(provider, url), key) else "file"
        entry = {"where": where, "url": url} | ({"key": key} if where == "file" else {})
        with self._changing() as data:
            data.setdefault("keys", {})[provider] = entry
        return where

    def remove(self, provider: str) -> bool:
        """Remove a key; return whether there was one."""
        known = self.get(provider)
        if known is None:
            return False
        if known.where == "keyring" and (ring := _keyring()) is not None:
            with suppress(Exception):  # it may be gone already
                ring.delete_password(_SERVICE, _user(provider, known.url))
        with self._changing() as data:
            data.get("keys", {}).pop(provider, None)
        return True

    def hide(self) -> None:
        """Mask all keys of the file in everything that is shown, exported or logged from now on."""
        for provider in self._read().get("keys", {}):
            self.get(provider)  # which masks it; one in the keyring is masked when it is read

    @property
    def servers(self) -> dict[str, str]:
        """The addresses of the servers that the person added, by name."""
        found = self._read().get("servers", {})
        return {
            name: url for name, url in found.items() if isinstance(url, str) and name.isprintable()
        }

    def add_server(self, name: str, url: str) -> None:
        """Add a server, or change its address."""
        with self._changing() as data:
            data.setdefault("servers", {})[name] = url

    # --- the file ----------------------------------------------------------------------

    def _read(self) -> dict[str, Any]:
        """Read the file; one that is missing or damaged counts as empty."""
        try:
            found = json.loads(read_plain(self.path, _LARGEST))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {name: one for name, one in found.items() if isinstance(one, dict)}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        from filelock import FileLock, Timeout  # noqa: PLC0415  (only here)

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=5, mode=0o600):
                data = self._read()
                yield data
                write_private(self.path, json.dumps(data, ensure_ascii=False, indent=1).encode())
        except (OSError, Timeout) as error:
            reason = os_reason(error) if isinstance(error, OSError) else "it is locked"
            raise CredentialsError(
                "{file} cannot be written: {why}.", file=shown_path(self.path), why=reason
            ) from None


# --- the keyring ---------------------------------------------------------------------------


def _user(provider: str, url: str) -> str:
    return f"{provider} {url}".strip()


def _keyring() -> Any:
    try:
        import keyring  # noqa: PLC0415  (optional, and slow)
        from keyring.backends import fail  # noqa: PLC0415

        backend = keyring.get_keyring()
        if isinstance(backend, fail.Keyring) or getattr(backend, "priority", 1) <= 0:
            return None
    except Exception:  # not installed, or its backend is broken
        return None
    return backend


def _put_in_keyring(user: str, key: str) -> bool:
    """Store a key in the keyring; return whether it can be read from there again."""
    ring = _keyring()
    if ring is None:
        return False
    try:
        ring.set_password(_SERVICE, user, key)
        return bool(ring.get_password(_SERVICE, user) == key)
    except Exception:  # locked, or no session bus
        return False

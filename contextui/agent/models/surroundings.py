"""What the environment says about the way to a server: proxies and certificates.

The HTTP library reads the same variables. It fails on them while it is being made, in words that
name none of them, so they are looked at before.
"""

import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from contextui.agent.models.wording import FailureWords
from contextui.text import one_line, quote

_SCHEMES = ("http", "https", "all")
_SOCKS = ("socks5", "socks5h")
_FILE, _FOLDER = "SSL_CERT_FILE", "SSL_CERT_DIR"
_WHO = re.compile("//[^/]*@")  # who asks, and the password, in an address


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that is set.

    Attributes:
        variable: What names it.
        url: Its address.
    """

    variable: str
    url: str

    def __str__(self) -> str:
        """The address as it may be shown."""
        return shown(self.url)


def shown(url: str) -> str:
    """An address as it may be shown: in one line, without a name and a password in it."""
    return one_line(_WHO.sub("//", url).partition("?")[0], 200)


def proxy_for(url: str) -> Proxy | None:
    """The proxy that requests to this address go through, if there is one."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    set_ones = dict(_proxies())
    return set_ones.get(parts.scheme) or set_ones.get("all")


def problem(words: FailureWords) -> str | None:
    """What the environment says that no connection can be made with; None if all is well."""
    if variable := _unreadable():
        return words.no_certificates.format(
            variable=variable, value=quote(os.environ[variable], 200)
        )
    for _, proxy in _proxies():
        if form := _fault(proxy.url, words):
            return form.format(variable=proxy.variable, value=quote(str(proxy), 200))
    return None


def variables() -> list[str]:
    """The names of all that is set."""
    files = [name for name in (_FILE, _FOLDER) if os.environ.get(name)]
    return [*files, *(proxy.variable for _, proxy in _proxies())]


def _proxies() -> Iterator[tuple[str, Proxy]]:
    found = getproxies()
    for scheme in _SCHEMES:
        if url := found.get(scheme):
            small, large = f"{scheme}_proxy", f"{scheme}_proxy".upper()
            variable = small if os.environ.get(small) else large
            yield scheme, Proxy(variable, url if "://" in url else f"http://{url}")


def _fault(url: str, words: FailureWords) -> str | None:
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or a bracket that is none
        return words.no_proxy
    if parts.scheme in _SOCKS and is_address:
        return None if find_spec("socksio") else words.no_socks
    return None if parts.scheme in ("http", "https") and is_address else words.no_proxy


def _unreadable() -> str | None:
    """The variable that names certificates where there are none."""
    if file := os.environ.get(_FILE):
        try:
            ssl.create_default_context(cafile=file)
        except (OSError, ValueError):  # a failure of SSL is an OSError too
            return _FILE
        return None
    folders = [one for one in os.environ.get(_FOLDER, "").split(os.pathsep) if one]
    return _FOLDER if folders and not any(map(os.path.isdir, folders)) else None

"""Connection errors, proxies and certificates: why a request got no reply."""

import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from contextui.config.settings import is_address
from contextui.config.sources import KEY_VARIABLE
from contextui.model import ErrorKind, ModelError
from contextui.secrets import mask
from contextui.text import one_line, quote
from contextui.words import Message, msg

_SCHEMES = ("http", "https", "all")
_SOCKS = ("socks5", "socks5h")
_FILE, _FOLDER = "SSL_CERT_FILE", "SSL_CERT_DIR"
_CREDENTIALS = re.compile("//[^/]*@")  # user name and password in an address
_NO_PROXY_ADDRESS = msg(
    "{variable} is {value}: it must be the address of a proxy, such as http://localhost:3128, or "
    "unset."
)
_NO_SOCKS = msg(
    "{variable} is {value}: a SOCKS proxy needs the package socksio (pip install socksio). Or use "
    "an HTTP proxy, or unset it."
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, and the environment variable that names it."""

    variable: str
    url: str

    def __str__(self) -> str:
        """Return the address without user name and password."""
        return shown(self.url)


def shown(url: str) -> str:
    """Strip user name, password and query from an address, for display."""
    return one_line(_CREDENTIALS.sub("//", url).partition("?")[0], 200)


def proxy_for(url: str) -> Proxy | None:
    """Return the proxy for requests to this address, if there is one."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid bracket
        return None
    if proxy_bypass(parts.hostname or ""):
        return None
    set_ones = dict(_proxies())
    return set_ones.get(parts.scheme) or set_ones.get("all")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def exposed_host(url: str) -> str:
    """Return the host to which everything for this address goes unencrypted; empty if none.

    This includes private networks: others may listen there too. What goes to this machine is
    exposed only if it takes the way over a proxy elsewhere.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme != "http":
            return ""
        proxy = proxy_for(url) if is_loopback(parts.hostname or "") else None
        host = urlsplit(proxy.url).hostname if proxy is not None else parts.hostname
    except ValueError:  # an invalid port or bracket
        return ""
    return "" if host is None or is_loopback(host) else host


def unencrypted(url: str) -> Message | None:
    """Return the warning that a key for this address is sent unencrypted, if it is."""
    if not (host := exposed_host(url)):
        return None
    return Message(
        "The API key is sent to {host} unencrypted (http://): others on the network can read it. "
        "Use https:// if the server offers it.",
        {"host": one_line(host, 100)},
    )


def problem() -> ModelError | None:
    """Check the environment's proxies and certificates; return the error if they cannot be used."""
    if variable := _unreadable():
        return ModelError(
            "settings",
            "{variable} is {value}, but no certificates can be read there: correct "
            "it, or unset it.",
            variable=variable,
            value=quote(os.environ[variable], 200),
        )
    for _, proxy in _proxies():
        if fault := _fault(proxy.url):
            value = quote(str(proxy), 200)
            return ModelError("settings", fault, variable=proxy.variable, value=value)
    return None


def variables() -> list[str]:
    """Return the names of the proxy and certificate variables that are set."""
    files = [name for name in (_FILE, _FOLDER) if os.environ.get(name)]
    return [*files, *(proxy.variable for _, proxy in _proxies())]


def _proxies() -> Iterator[tuple[str, Proxy]]:
    found = getproxies()
    for scheme in _SCHEMES:
        if url := found.get(scheme):
            small, large = f"{scheme}_proxy", f"{scheme}_proxy".upper()
            variable = small if os.environ.get(small) else large
            yield scheme, Proxy(variable, url if "://" in url else f"http://{url}")


def _fault(url: str) -> str | None:
    if is_address(url, *_SOCKS):
        return None if find_spec("socksio") else _NO_SOCKS
    return None if is_address(url) else _NO_PROXY_ADDRESS


def _unreadable() -> str | None:
    if file := os.environ.get(_FILE):
        try:
            ssl.create_default_context(cafile=file)
        except (OSError, ValueError):  # SSL errors are OSErrors too
            return _FILE
        return None
    folders = [one for one in os.environ.get(_FOLDER, "").split(os.pathsep) if one]
    return _FOLDER if folders and not any(map(os.path.isdir, folders)) else None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server that requests are sent to."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    variable: str = KEY_VARIABLE
    url_variable: str = "ANTHROPIC_BASE_URL"
    api: str = "Messages API"
    path: str = "/v1/messages"

    def __str__(self) -> str:
        """Return the address without user name and password."""
        return shown(self.url)

    @property
    def server(self) -> Message:
        """Description of the sender of a reply. Without encryption it may be the proxy itself."""
        server, proxy = Message("The server at {at}", {"at": str(self)}), proxy_for(self.url)
        if proxy is None or not self.url.startswith("http://"):
            return server
        way = Message("the proxy at {proxy} ({variable})", _of(proxy))
        return Message("{server}, via {way},", {"server": server, "way": way})

    @property
    def warning(self) -> Message | None:
        """The warning that a key or password is sent unencrypted, if it is."""
        has_secret = bool(self.key or _CREDENTIALS.search(self.url))
        return unencrypted(self.url) if has_secret else None

    def error(self, kind: ErrorKind, text: str, /, **values: object) -> ModelError:
        """Return an error whose message may name the server and what sets its address and key."""
        own = {
            "server": self.server,
            "at": str(self),
            "model": quote(self.model),
            "variable": self.variable,
            "url_variable": self.url_variable,
            "api": self.api,
        }
        return ModelError(kind, Message(text, own | values))


def _of(proxy: Proxy) -> dict[str, object]:
    return {"proxy": str(proxy), "variable": proxy.variable}


def plain(words: str) -> str:
    """Format a message of a library or the system in one line, with secrets masked."""
    return one_line(mask(words), 200).rstrip(".")


PROXY_AUTH = 407
"""The HTTP status of a proxy that requires authentication."""

_PLAIN_TEXT = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "RECORD_LAYER_FAILURE",
)  # TLS errors if the server sends plain text
_UNREACHABLE = msg(
    "{server} cannot be reached: {reason}. Check the network, and {url_variable} or --base-url."
)


def unreachable(error: Exception, endpoint: Endpoint, *, was_reached: bool = False) -> ModelError:
    """Return the error for a request that got no reply, or only the beginning of one."""
    import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

    cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
    if isinstance(cause, httpx2.ReadTimeout):
        return no_reply(endpoint)
    if isinstance(cause, httpx2.ProxyError):
        return _proxy_error(cause, endpoint)
    if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return _not_connected(cause, endpoint, was_reached)
    # Messages of other errors may contain a header.
    is_plain = isinstance(cause, (httpx2.NetworkError, httpx2.RemoteProtocolError))
    reason = (is_plain and plain(str(cause))) or type(cause).__name__
    return endpoint.error("connection", _UNREACHABLE, reason=reason)


def no_reply(endpoint: Endpoint) -> ModelError:
    """Return the error for a request that was accepted and never answered."""
    return endpoint.error("silent", msg("{server} does not respond."))


def proxy_auth_required(proxy: Proxy, endpoint: Endpoint) -> ModelError:
    """Return the error for a proxy that requires authentication."""
    text = msg(
        "The proxy at {proxy} ({variable}) requires a user name and a password: set them in "
        "{variable}, as in http://name:password@host:port."
    )
    return endpoint.error("settings", text, **_of(proxy))


def _not_connected(cause: Exception, endpoint: Endpoint, was_reached: bool) -> ModelError:
    proxy, root = proxy_for(endpoint.url), _root(cause)
    reason = _reason(root)
    if isinstance(root, ssl.SSLCertVerificationError):
        text = msg(
            "The certificate of {at} is not trusted: {reason}. If it is correct, "
            "set SSL_CERT_FILE to the file of its issuer's certificate."
        )
        return endpoint.error("settings", text, reason=reason)
    if isinstance(root, ssl.SSLError) and root.reason in _PLAIN_TEXT:
        text = msg("{at} does not support https: use http:// in {url_variable} or --base-url.")
        return endpoint.error("settings", text)
    # If the server never replied, or nothing listens on this machine, long backoff is useless.
    at_home = is_loopback(urlsplit(proxy.url if proxy else endpoint.url).hostname or "")
    is_hopeless = not was_reached or (at_home and isinstance(root, ConnectionRefusedError))
    kind: ErrorKind = "unreached" if is_hopeless else "connection"
    if proxy is not None and not isinstance(root, ssl.SSLError):  # TLS errors are the server's
        text = msg(
            "The proxy at {proxy} ({variable}) cannot be reached: {reason}. Check {variable}, "
            "or add the host of {at} to NO_PROXY."
        )
        return endpoint.error(kind, text, reason=reason, **_of(proxy))
    if isinstance(root, ConnectionRefusedError):
        text = msg(
            "Nothing listens at {at}: start the server there, or check "
            "{url_variable} or --base-url."
        )
        return endpoint.error(kind, text)
    server = Message("The server at {at}", {"at": str(endpoint)})
    return endpoint.error(kind, _UNREACHABLE, server=server, reason=reason)


def _proxy_error(cause: Exception, endpoint: Endpoint) -> ModelError:
    proxy = proxy_for(endpoint.url) or Proxy("HTTPS_PROXY", "")
    status = str(cause)[:3]
    if status == str(PROXY_AUTH):
        return proxy_auth_required(proxy, endpoint)
    kind: ErrorKind = "settings" if status.startswith("4") else "connection"
    text = msg(
        "The proxy at {proxy} ({variable}) does not forward the request to {at}: {reason}. "
        "Check {variable}, or add the host to NO_PROXY."
    )
    reason = plain(str(cause)) or type(cause).__name__
    return endpoint.error(kind, text, reason=reason, **_of(proxy))


def _root(error: BaseException) -> BaseException:
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return error


def _reason(root: BaseException) -> str:
    if isinstance(root, ssl.SSLCertVerificationError):
        return plain(root.verify_message)
    if isinstance(root, OSError) and root.errno and root.errno > 0:
        return plain(os.strerror(root.errno) if not isinstance(root, ssl.SSLError) else str(root))
    message = root.strerror if isinstance(root, OSError) else ""
    return plain(message or str(root)) or type(root).__name__

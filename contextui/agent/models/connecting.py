"""Requests to which there was no reply: who is not there, the server or the proxy before it."""

import os
import re
import ssl

from contextui.agent.models.endpoint import Endpoint, plain
from contextui.agent.models.surroundings import Proxy, proxy_for
from contextui.model import ErrorKind, ModelError

PROXY_AUTH = 407
"""The status by which a proxy asks for a name and a password."""

_LOOPBACK = re.compile(r"\w+://(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)", re.IGNORECASE)
_PLAIN_TEXT = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "RECORD_LAYER_FAILURE",
)  # what comes where TLS was to come


def unreachable(error: Exception, endpoint: Endpoint, *, was_reached: bool = False) -> ModelError:
    """The failure of a request to which there was no reply, or only the beginning of one.

    Args:
        error: What the SDK or the HTTP library says.
        endpoint: Whom it went to.
        was_reached: Whether that one has replied before.
    """
    import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

    cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
    words = endpoint.words
    if isinstance(cause, httpx2.ReadTimeout):
        return no_reply(endpoint)
    if isinstance(cause, httpx2.ProxyError):
        return _not_passed_on(cause, endpoint)
    if isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return _not_connected(cause, endpoint, was_reached)
    # Of other failures the words may hold a header.
    is_plain = isinstance(cause, (httpx2.NetworkError, httpx2.RemoteProtocolError))
    reason = (is_plain and plain(str(cause))) or type(cause).__name__
    sentence = words.unreachable.format(server=endpoint.server, reason=reason)
    return ModelError("connection", sentence)


def no_reply(endpoint: Endpoint) -> ModelError:
    """The failure of a request that was taken and never answered."""
    return ModelError("silent", endpoint.words.no_reply.format(server=endpoint.server))


def wants_name(proxy: Proxy, endpoint: Endpoint) -> ModelError:
    """The failure of a request that the proxy does not pass on for a stranger."""
    return ModelError("settings", _by_way(endpoint.words.way_wants_name, proxy, endpoint))


def _not_connected(cause: Exception, endpoint: Endpoint, was_reached: bool) -> ModelError:
    words, proxy = endpoint.words, proxy_for(endpoint.url)
    root = _root(cause)
    reason = _reason(root)
    # Where nobody ever replied, or nobody is at home, waiting for long does not help.
    at_home = _LOOPBACK.match(proxy.url if proxy else endpoint.url)
    is_hopeless = not was_reached or (at_home and isinstance(root, ConnectionRefusedError))
    kind: ErrorKind = "unreached" if is_hopeless else "connection"
    if isinstance(root, ssl.SSLCertVerificationError):
        return ModelError("settings", words.untrusted.format(at=endpoint, reason=reason))
    if isinstance(root, ssl.SSLError) and root.reason in _PLAIN_TEXT:
        return ModelError("settings", words.no_https.format(at=endpoint))
    if proxy is not None and not isinstance(root, ssl.SSLError):  # it is the server's, behind it
        return ModelError(kind, _by_way(words.way_unreachable, proxy, endpoint, reason))
    if isinstance(root, ConnectionRefusedError):
        return ModelError(kind, words.nobody.format(at=endpoint))
    server = words.server.format(at=endpoint)
    return ModelError(kind, words.unreachable.format(server=server, reason=reason))


def _not_passed_on(cause: Exception, endpoint: Endpoint) -> ModelError:
    proxy = proxy_for(endpoint.url) or Proxy("HTTPS_PROXY", "")
    status = str(cause)[:3]
    if status == str(PROXY_AUTH):
        return wants_name(proxy, endpoint)
    kind: ErrorKind = "settings" if status.startswith("4") else "connection"
    reason = plain(str(cause)) or type(cause).__name__
    return ModelError(kind, _by_way(endpoint.words.way_refuses, proxy, endpoint, reason))


def _by_way(form: str, proxy: Proxy, endpoint: Endpoint, reason: str = "") -> str:
    way = endpoint.way(proxy)
    return form.format(
        Way=way[:1].upper() + way[1:], variable=proxy.variable, at=endpoint, reason=reason
    )


def _root(error: BaseException) -> BaseException:
    """What it all began with."""
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return error


def _reason(root: BaseException) -> str:
    """Why there is no connection, in the system's own words."""
    if isinstance(root, ssl.SSLCertVerificationError):
        return plain(root.verify_message)
    if isinstance(root, OSError) and root.errno and root.errno > 0:
        return plain(os.strerror(root.errno) if not isinstance(root, ssl.SSLError) else str(root))
    told = root.strerror if isinstance(root, OSError) else ""
    return plain(told or str(root)) or type(root).__name__

"""Map errors of the server and the SDK to a `ModelError` with a kind and a message.

The messages contain no secrets: what a server says is masked, and headers are never shown.
"""

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from contextui.agent.models import connection
from contextui.agent.models.connection import (
    PROXY_AUTH,
    Endpoint,
    plain,
    proxy_for,
    shown,
    wants_name,
)
from contextui.model import ErrorKind, ModelError
from contextui.secrets import MASK, mask
from contextui.text import one_line, quote

if TYPE_CHECKING:
    import anthropic

_BY_STATUS: dict[int, ErrorKind] = {
    400: "bad_request",
    401: "auth",
    402: "auth",  # out of credit
    403: "auth",
    404: "not_found",
    405: "not_found",
    408: "server",
    409: "server",
    413: "too_large",
    429: "rate_limit",
    499: "server",
    501: "not_found",
    529: "overloaded",
}
_BY_TYPE: dict[str, ErrorKind] = {
    "invalid_request_error": "bad_request",
    "authentication_error": "auth",
    "billing_error": "auth",
    "permission_error": "auth",
    "not_found_error": "not_found",
    "request_too_large": "too_large",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
}
_LOOKED_AT = 10_000  # characters of a server's message that are examined
_TOO_LONG = re.compile(
    r"(prompt|input|request) (is|was) too (long|large)|context[ _](length|window|size|limit)",
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"thinking`? blocks?|\bsignature|prefix[ _-]?mismatch|block_binding|content\.\d+\.\w*thinking",
    re.IGNORECASE,
)


def refused(error: "anthropic.APIStatusError", endpoint: Endpoint) -> ModelError:
    """Return the error for an HTTP error status."""
    proxy = proxy_for(endpoint.url)
    if error.status_code == PROXY_AUTH and proxy is not None:
        return wants_name(proxy, endpoint)
    headers = error.response.headers
    if 300 <= error.status_code < 400:
        return _elsewhere(headers.get("location", ""), endpoint)
    failure = told(error.body, endpoint, error.status_code)
    failure.retry_after = _pause(headers.get("retry-after-ms"), headers.get("retry-after"))
    return failure


def told(body: object, endpoint: Endpoint, status: int = 200) -> ModelError:
    """Return the error that a server describes in the body of a reply or an event."""
    words = _shown(_said(body), endpoint)
    kind = _kind(_type(body), status, str(body)[:_LOOKED_AT])
    sentence = _sentence(kind, endpoint, status, words)
    says = endpoint.words.says.format(sentence=sentence, words=words)
    return ModelError(kind, says if words else sentence)


def unsendable(error: Exception, endpoint: Endpoint) -> ModelError:
    """Return the error for a request that cannot be serialized as JSON."""
    words = endpoint.words.unsendable.format(kind=type(error).__name__)
    return ModelError("bad_request", words)


def no_address(endpoint: Endpoint) -> ModelError:
    """Return the error for an invalid server address."""
    words = endpoint.words.no_address.format(url=quote(str(endpoint), 200))
    return ModelError("not_found", words)


def no_client(error: Exception, endpoint: Endpoint) -> ModelError:
    """Return the error if no client can be created; usually caused by the environment."""
    reason = plain(str(error)) or type(error).__name__
    named = ", ".join(connection.variables())
    words = endpoint.words.no_client.format(reason=reason, variables=named or "HTTPS_PROXY")
    return ModelError("settings", words)


def not_a_stream(kind: str, endpoint: Endpoint) -> ModelError:
    """Return the error for a reply that is no event stream."""
    words = endpoint.words
    said = quote(kind) if kind else words.something
    return ModelError("not_found", words.not_a_stream.format(server=endpoint.server, kind=said))


# --- what a server reports -----------------------------------------------------------------


def _elsewhere(location: str, endpoint: Endpoint) -> ModelError:
    """Never follow redirects: the conversation would go to a server the person did not name."""
    where = quote(shown(location) or "?", 200)
    return ModelError(
        "not_found", endpoint.words.elsewhere.format(server=endpoint.server, where=where)
    )


def _kind(error_type: str, status: int, body: str) -> ErrorKind:
    kind = _BY_STATUS.get(status) or _BY_TYPE.get(error_type)
    if kind is None:
        kind = "bad_request" if 400 <= status < 500 else "server"
    if kind == "bad_request" and _TOO_LONG.search(body):
        return "too_large"
    if kind == "bad_request" and _THINKING.search(body):
        return "thinking"
    return kind


def _sentence(kind: ErrorKind, endpoint: Endpoint, status: int, said: str) -> str:
    words = endpoint.words
    forms: dict[ErrorKind, str] = {
        "auth": words.auth if endpoint.key else words.no_key,
        "not_found": words.not_found if "model" in said.lower() else words.no_api,
        "too_large": words.too_large,
        "thinking": words.thinking,
        "rate_limit": words.rate_limit,
        "overloaded": words.overloaded,
        "bad_request": words.bad_request,
    }
    return forms.get(kind, words.failed).format(
        server=endpoint.server,
        model=quote(endpoint.model),
        variable=endpoint.variable,
        status="" if status == 200 else words.status.format(status=status),
    )


def _type(body: object) -> str:
    match body:
        case {"error": {"type": str(name)}}:
            return name
    return ""


def _said(body: object) -> str:
    """Extract the server's error message."""
    match body:
        case {"error": {"message": str(words)}} | {"error": str(words)}:
            return words
        case {"message": str(words)} | {"detail": str(words)}:
            return words
        case str(words) if not words.lstrip().startswith("<"):  # an HTML page
            return words
    return ""


def _shown(words: str, endpoint: Endpoint) -> str:
    """Format the server's message in one line, without secrets."""
    words = words[:_LOOKED_AT]
    if endpoint.key is not None:
        words = words.replace(endpoint.key.get_secret_value(), MASK)
    return one_line(mask(words), 300)


def _pause(milliseconds: str | None, seconds: str | None) -> float | None:
    """Parse the retry-after headers: a number, or a date."""
    pause = _number(milliseconds)
    if pause is not None:
        return pause / 1_000
    return _number(seconds) if _number(seconds) is not None else _until(seconds)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _until(date: str | None) -> float | None:
    try:
        then = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max((then - datetime.now(UTC)).total_seconds(), 0.0)

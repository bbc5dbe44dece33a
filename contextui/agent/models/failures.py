"""Map errors of the server and the SDK to a `ModelError` with a kind and a message.

The messages contain no secrets: what a server says is masked, and headers are never shown.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from contextui.agent.models import connection
from contextui.agent.models.connection import (
    PROXY_AUTH,
    Endpoint,
    plain,
    proxy_auth_required,
    proxy_for,
    shown,
)
from contextui.model import ErrorKind, ModelError
from contextui.secrets import MASK, mask
from contextui.text import one_line, quote
from contextui.words import Message, msg

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
_EXAMINED = 10_000  # characters of a server's message that are examined
_TOO_LONG = re.compile(
    r"(prompt|input|request) (is|was) too (long|large)|context[ _](length|window|size|limit)"
    r"|exceeds? the (available|maximum) context",
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"thinking`? blocks?|\bsignature|prefix[ _-]?mismatch|block_binding|content\.\d+\.\w*thinking"
    r"|reasoning_content|reasoning_details",
    re.IGNORECASE,
)


def refused(
    status: int, headers: Mapping[str, str], body: object, endpoint: Endpoint
) -> ModelError:
    """Return the error for an HTTP error status."""
    proxy = proxy_for(endpoint.url)
    if status == PROXY_AUTH and proxy is not None:
        return proxy_auth_required(proxy, endpoint)
    if 300 <= status < 400:
        return _redirected(headers.get("location", ""), endpoint)
    failure = reported(body, endpoint, status)
    failure.retry_after = _pause(headers.get("retry-after-ms"), headers.get("retry-after"))
    return failure


def reported(body: object, endpoint: Endpoint, status: int = 200) -> ModelError:
    """Return the error that a server describes in the body of a reply or an event."""
    words = _shown(_message(body), endpoint)
    kind = _kind(_type(body), status, str(body)[:_EXAMINED])
    plain_status = Message(" (status {status})", {"status": status}) if status != 200 else ""
    sentence = endpoint.error(kind, _sentence(kind, endpoint, words), status=plain_status)
    if not words:
        return sentence
    values = {"sentence": sentence.message, "words": words}
    return ModelError(kind, Message("{sentence} It says: {words}", values))


def unsendable(error: Exception, endpoint: Endpoint) -> ModelError:
    """Return the error for a request that cannot be serialized as JSON."""
    text = msg("The request contains something that cannot be written as JSON ({kind}).")
    return endpoint.error("bad_request", text, kind=type(error).__name__)


def invalid_address(endpoint: Endpoint) -> ModelError:
    """Return the error for an invalid server address."""
    text = msg(
        "{url} is not a server address: {url_variable} or --base-url must "
        "be like https://example.com or http://localhost:8080."
    )
    return endpoint.error("not_found", text, url=quote(str(endpoint), 200))


def no_client(error: Exception, endpoint: Endpoint) -> ModelError:
    """Return the error if no client can be created; usually caused by the environment."""
    text = msg(
        "The connection settings of the environment do not work ({reason}): check {variables}."
    )
    reason = plain(str(error)) or type(error).__name__
    named = ", ".join(connection.variables())
    return endpoint.error("settings", text, reason=reason, variables=named or "HTTPS_PROXY")


def not_a_stream(kind: str, endpoint: Endpoint) -> ModelError:
    """Return the error for a reply that is not an event stream."""
    text = msg(
        "{server} answered with {kind} instead of an event stream: check that "
        "{url_variable} or --base-url is the address of a {api}."
    )
    received = quote(kind) if kind else Message("something")
    return endpoint.error("not_found", text, kind=received)


# --- what a server reports -----------------------------------------------------------------


def _redirected(location: str, endpoint: Endpoint) -> ModelError:
    """Never follow redirects: the conversation would go to a server the person did not name."""
    text = msg(
        "{server} redirects to {where}: if that is correct, set "
        "{url_variable} or --base-url to it, without {path}."
    )
    where = quote(shown(location) or "?", 200)
    return endpoint.error("not_found", text, where=where, path=endpoint.path)


def _kind(error_type: str, status: int, body: str) -> ErrorKind:
    kind = _BY_STATUS.get(status) or _BY_TYPE.get(error_type)
    if kind == "rate_limit" and "insufficient_quota" in body:  # out of credit: no retry helps
        return "auth"
    if kind is None:
        kind = "bad_request" if 400 <= status < 500 else "server"
    if kind == "bad_request" and _TOO_LONG.search(body):
        return "too_large"
    if kind == "bad_request" and _THINKING.search(body):
        return "thinking"
    return kind


def _sentence(kind: ErrorKind, endpoint: Endpoint, message: str) -> str:
    forms: dict[ErrorKind, str] = {
        "auth": msg("{server} rejected the API key: check {variable}.")
        if endpoint.key
        else msg("{server} requires an API key: enter it with /login, or set {variable}."),
        "not_found": msg(
            "{server} does not know the model {model}: choose another with /model or --model."
        )
        if endpoint.model and "model" in message.lower()
        else msg("{server} has no {api} at this address: check {url_variable} or --base-url."),
        "too_large": msg("The request is too large for the model."),
        "thinking": msg("The model rejected its own thinking blocks."),
        "rate_limit": msg("{server} limits requests: too many in a short time."),
        "overloaded": msg("{server} is overloaded."),
        "bad_request": msg("{server} rejected the request{status}."),
    }
    return forms.get(kind, msg("{server} failed{status}."))


def _type(body: object) -> str:
    match body:
        case {"error": {"type": str(name)}}:
            return name
    return ""


def _message(body: object) -> str:
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
    words = words[:_EXAMINED]
    if endpoint.key:
        words = words.replace(endpoint.key, MASK)
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

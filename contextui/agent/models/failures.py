"""What went wrong with a request, in words for the person and as a kind for the loop.

Nothing secret is in the words: what a server says is masked, and headers are never shown.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from pydantic import SecretStr

from contextui.model import ErrorKind, ModelError
from contextui.secrets import MASK, mask
from contextui.text import one_line, quote

if TYPE_CHECKING:
    import anthropic

_BY_STATUS: dict[int, ErrorKind] = {
    400: "bad_request",
    401: "auth",
    402: "auth",  # nothing is left to pay with
    403: "auth",
    404: "not_found",
    408: "server",
    409: "server",
    413: "too_large",
    429: "rate_limit",
    499: "server",
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
_SENTENCES: dict[ErrorKind, str] = {
    "auth": "{server} does not let this key in: check ANTHROPIC_API_KEY.",
    "not_found": "{server} does not know the model {model}: name another with --model or "
    "ANTHROPIC_MODEL.",
    "too_large": "The request is larger than the model takes.",
    "thinking": "The model does not take its own thinking back.",
    "rate_limit": "{server} was asked too much in too short a time.",
    "overloaded": "{server} has no room just now.",
    "bad_request": "{server} refuses the request{status}.",
}
_LOOKED_AT = 10_000  # characters of what a server says
_WHO = re.compile("//[^/]*@")  # who asks, and the password, in an address
_TOO_LONG = re.compile(
    r"(prompt|input|request) (is|was) too (long|large)|context[ _](length|window|size|limit)",
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"thinking`? blocks?|\bsignature|prefix[ _-]?mismatch|block_binding|content\.\d+\.\w*thinking",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom requests go to.

    Attributes:
        url: The server's address.
        model: The model's name.
        key: What is sent to be let in, if there is something.
    """

    url: str
    model: str
    key: SecretStr | None = None

    def __str__(self) -> str:
        """The address as it may be shown: without a name and a password in it."""
        return one_line(_WHO.sub("//", self.url).partition("?")[0], 200)


def refused(error: "anthropic.APIStatusError", endpoint: Endpoint) -> ModelError:
    """The failure of a request that was answered by a status, or by an error in the stream."""
    failure = told(error.body, endpoint, error.status_code)
    headers = error.response.headers
    failure.retry_after = _pause(headers.get("retry-after-ms"), headers.get("retry-after"))
    return failure


def told(body: object, endpoint: Endpoint, status: int = 200) -> ModelError:
    """The failure that a server tells of in the body of a reply."""
    words = _shown(_said(body), endpoint)
    kind = _kind(_type(body), status, str(body)[:_LOOKED_AT])
    sentence = _sentence(kind, endpoint, status, words)
    return ModelError(kind, f"{sentence} It says: {words}" if words else sentence)


def unsendable(error: Exception) -> ModelError:
    """The failure of a request that cannot be written as JSON."""
    return ModelError(
        "bad_request",
        f"The request holds something that cannot be written as JSON ({type(error).__name__}).",
    )


def unreachable(error: Exception, endpoint: Endpoint) -> ModelError:
    """The failure of a request to which there was no reply, or only the beginning of one."""
    import httpx2  # noqa: PLC0415  (heavy, and loaded by now)

    cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
    if isinstance(cause, httpx2.ReadTimeout):
        return ModelError("connection", f"The server at {endpoint} was asked and does not answer.")
    # Of other failures the words may hold a header.
    is_plain = isinstance(cause, (httpx2.NetworkError, httpx2.RemoteProtocolError))
    reason = (is_plain and one_line(mask(str(cause)), 200).rstrip(".")) or type(cause).__name__
    return ModelError(
        "connection",
        f"The server at {endpoint} cannot be reached: {reason}. "
        "Check the network, and ANTHROPIC_BASE_URL or --base-url.",
    )


def no_address(endpoint: Endpoint) -> ModelError:
    """The failure of a request that could go nowhere."""
    return ModelError(
        "not_found",
        f"{quote(str(endpoint), 200)} is no address of a server: ANTHROPIC_BASE_URL or --base-url "
        "must be like https://example.com or http://localhost:8080.",
    )


def not_a_stream(kind: str, endpoint: Endpoint) -> ModelError:
    """The failure of a request that was answered by something else than events."""
    said = quote(kind) if kind else "something"
    return ModelError(
        "not_found",
        f"The server at {endpoint} answered with {said} where events were to come: "
        "check that ANTHROPIC_BASE_URL or --base-url is the address of a Messages API.",
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


def _sentence(kind: ErrorKind, endpoint: Endpoint, status: int, words: str) -> str:
    if kind == "auth" and endpoint.key is None:
        form = "{server} wants a key: set ANTHROPIC_API_KEY."
    elif kind == "not_found" and "model" not in words.lower():
        form = "{server} has no Messages API there: check ANTHROPIC_BASE_URL or --base-url."
    else:
        form = _SENTENCES.get(kind, "{server} failed{status}.")
    return form.format(
        server=f"The server at {endpoint}",
        model=quote(endpoint.model),
        status="" if status == 200 else f" (status {status})",
    )


def _type(body: object) -> str:
    match body:
        case {"error": {"type": str(name)}}:
            return name
    return ""


def _said(body: object) -> str:
    """The server's own words, as far as they are words."""
    match body:
        case {"error": {"message": str(words)}} | {"error": str(words)}:
            return words
        case {"message": str(words)} | {"detail": str(words)}:
            return words
        case str(words) if not words.lstrip().startswith("<"):  # a page is not for people here
            return words
    return ""


def _shown(words: str, endpoint: Endpoint) -> str:
    """Words of the server in one line, without secrets."""
    words = words[:_LOOKED_AT]
    if endpoint.key is not None:
        words = words.replace(endpoint.key.get_secret_value(), MASK)
    return one_line(mask(words), 300)


def _pause(milliseconds: str | None, seconds: str | None) -> float | None:
    """How long the server wants to be left alone: a number, or a date."""
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

"""The certificates of the system, read once: each HTTP client would take 40 ms to read them."""

import os
import ssl

import httpcore2


def share() -> None:
    """Give all HTTP clients of this process the same certificates, as the environment is now."""
    known: dict[tuple[object, ...], ssl.SSLContext] = {}
    read = httpcore2.default_ssl_context

    def read_once(*, _trust_env: bool = True) -> ssl.SSLContext:
        key = (_trust_env, *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))
        if key not in known:
            known[key] = read(_trust_env=_trust_env)
        return known[key]

    httpcore2.default_ssl_context = read_once

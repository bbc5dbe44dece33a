"""The machine's certificates are not read: each client would take a tenth of a second for that.

No test trusts a server of the network. Files that a test names are read as ever.
"""

import ssl
from typing import Any

_load = ssl.SSLContext.load_verify_locations
_SYSTEM = ssl.get_default_verify_paths().openssl_cafile


def _load_given(context: ssl.SSLContext, cafile: Any = None, *given: Any, **named: Any) -> None:
    if cafile != _SYSTEM:
        _load(context, cafile, *given, **named)


def skip_system() -> None:
    """Create contexts without the machine's certificates, in this process."""
    ssl.SSLContext.load_verify_locations = _load_given  # type: ignore[assignment, method-assign]

"""Who may come in: whoever has the token, from the page itself, by the machine's own name."""

import secrets
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from contextui.cli.serve.address import Address


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Door:
    """Decides about requests.

    A stranger's page cannot read the token. It may still try to come in by a name of its own that
    leads here, so names count too; and it cannot hide where it comes from.

    Attributes:
        address: Where the server listens.
        token: What the link holds.
    """

    address: Address
    token: str = field(default_factory=new_token, repr=False)

    def knows(self, token: str) -> bool:
        """Whether this is the token; how long that takes tells nothing."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def is_called(self, host: str) -> bool:
        """Whether a request that asks for this host means this machine."""
        name = _hostname(host)
        if name in ("", "localhost"):
            return bool(name)
        try:
            found = ip_address(name)
        except ValueError:  # a name: one that was given, or the machine's own
            own = {self.address.name.lower(), socket.gethostname().lower()}
            return not self.address.is_loopback and name in own
        return found.is_loopback or not self.address.is_loopback

    @staticmethod
    def is_own_page(host: str, origin: str) -> bool:
        """Whether a request comes from a page that was served here."""
        return origin.lower() == f"http://{host.lower()}"


def _hostname(host: str) -> str:
    """The name in a Host header; nothing if the header is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        return (parts.hostname or "") if parts.port != 0 else ""
    except ValueError:
        return ""

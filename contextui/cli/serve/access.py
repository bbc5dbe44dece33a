"""Access to `contextui serve`: address, token, and which requests are allowed."""

import secrets
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from contextui.cli.flags import UsageError
from contextui.errors import os_reason
from contextui.text import quote

LOOPBACK = "127.0.0.1"
# Reserved for documentation; no packet is ever sent to them.
_NOWHERE = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}


@dataclass(frozen=True, slots=True)
class Address:
    """The address that the server listens on."""

    name: str
    host: str
    port: int  # 0 for any free one
    family: socket.AddressFamily

    @classmethod
    def of(cls, name: str, port: int) -> "Address":
        """Resolve a host."""
        if not 0 <= port <= 65_535:
            raise UsageError("--port is {port}: it must be a number from 0 to 65535.", port=port)
        try:
            found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise UsageError("There is no host {name}. See --host.", name=quote(name)) from None
        # One address only: several would each get a different free port.
        family, _, _, _, place = min(found, key=lambda one: one[0] is not socket.AF_INET)
        return cls(name, str(place[0]), port, family)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return ip_address(self.host).is_loopback

    @property
    def shown(self) -> list[str]:
        """The hosts for links, for this machine first.

        A wildcard address cannot be connected to.
        """
        if not ip_address(self.host).is_unspecified:
            return [_in_link(self.host)]
        here = "::1" if self.family is socket.AF_INET6 else LOOPBACK
        return [_in_link(one) for one in dict.fromkeys([here, _outward(self.family) or here])]

    def listen(self) -> socket.socket:
        """Open the listening socket."""
        try:
            # "::" includes the machine's IPv4 addresses.
            both = ip_address(self.host).is_unspecified and self.family is socket.AF_INET6
            return socket.create_server(
                (self.host, self.port),
                family=self.family,
                dualstack_ipv6=both and socket.has_dualstack_ipv6(),
            )
        except OSError as error:
            raise UsageError(
                "{name} port {port} cannot be used: {reason}. Choose another --port.",
                name=self.name,
                port=self.port,
                reason=os_reason(error),
            ) from None


def _in_link(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _outward(family: socket.AddressFamily) -> str | None:
    """Return the address at which other machines reach this one, if known."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_NOWHERE[family])
            return str(probe.getsockname()[0])
        except OSError:
            return None


@dataclass(frozen=True, slots=True)
class AccessCheck:
    """Decides which requests are allowed.

    Another website cannot read the token. It may still reach the server through a host name of its
    own (DNS rebinding), so the Host header is checked too; and it cannot forge its Origin header.
    """

    address: Address
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def is_token(self, token: str) -> bool:
        """Whether this is the token, compared in constant time."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header names this machine."""
        name = _hostname(host)
        if name in ("", "localhost"):
            return bool(name)
        try:
            found = ip_address(name)
        except ValueError:  # a name: the given one, or the machine's own
            own = {self.address.name.lower(), socket.gethostname().lower()}
            return not self.address.is_loopback and name in own
        return found.is_loopback or not self.address.is_loopback

    @staticmethod
    def is_same_origin(host: str, origin: str) -> bool:
        """Whether a request comes from a page of this server."""
        return origin.lower() == f"http://{host.lower()}"


def _hostname(host: str) -> str:
    try:
        parts = urlsplit(f"//{host}")
        return (parts.hostname or "") if parts.port != 0 else ""
    except ValueError:
        return ""

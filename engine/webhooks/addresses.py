"""Addresses that webhooks may reach: public ones, and private ones that a setting names.

A name is resolved at each attempt, and the connection goes to the very address that was checked. So a name that points
elsewhere a moment later (DNS rebinding) reaches nothing.
"""

import socket
import threading
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from db.tables.webhooks import LONGEST_ADDRESS
from engine.errors import Refused
from engine.settings import Settings

Address = IPv4Address | IPv6Address
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last 32 bits


class AddressRefused(Exception):
    """A host is, or resolves to, an address that webhooks may not reach. The message is one sentence."""


class Unresolved(Exception):
    """A host name has no address. The message is one sentence."""


def check_url(url: str, settings: Settings) -> str:
    """Check the address of a webhook or callback, and return it.

    Raises:
        Refused: It is no web address, not encrypted though it must be, holds a login, or names a private address.
    """
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, whole = urlsplit(""), False
    plain = url.isascii() and url.isprintable() and not set(url) & set(" \"'<>\\`")
    if not whole or not plain or parts.scheme not in ("http", "https") or len(url) > LONGEST_ADDRESS:
        raise Refused("This is not a web address. Write for example https://example.org/hooks/glossator.")
    if parts.username is not None or parts.fragment:
        raise Refused("The address must not contain a login or a part behind #. Messages are signed with a secret.")
    if parts.scheme == "http" and not settings.webhook_http:
        raise Refused("The address must begin with https://. GLOSSATOR_WEBHOOK_HTTP allows http://.")
    try:
        literal = ip_address((parts.hostname or "").split("%")[0])
    except ValueError:
        return url  # a name; it is resolved at each attempt
    if not is_allowed(literal, settings.webhook_private_addresses):
        raise Refused(_private(str(parts.hostname), literal))
    return url


def host_of(url: str) -> str:
    """Return the host of an address: what audit entries and logs name, because paths may hold secrets."""
    return urlsplit(url).hostname or ""


def resolve(host: str, port: int, allowed: Sequence[str], seconds: float) -> list[str]:
    """Return the addresses of a host, after each of them was checked.

    Args:
        host: Name or address.
        port: Port to connect to.
        allowed: Private addresses and networks that may be reached.
        seconds: Longest time.

    Raises:
        Unresolved: The name has no address, or was not resolved in time.
        AddressRefused: One of its addresses is private and not allowed.
    """
    answer: list[str] = []

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        answer.extend(dict.fromkeys(str(row[4][0]) for row in rows))

    # The system's look-up knows no time limit; a thread that hangs in it ends by itself.
    thread = threading.Thread(target=look_up, name="webhook-look-up", daemon=True)
    thread.start()
    thread.join(seconds)
    addresses = list(answer)
    if not addresses:
        raise Unresolved(f"The host {host} has no address.")
    for address in addresses:
        parsed = ip_address(address.split("%")[0])
        if not is_allowed(parsed, allowed):
            raise AddressRefused(_private(host, parsed))
    return addresses


def is_allowed(address: Address, allowed: Sequence[str]) -> bool:
    """Return whether an address is public, or lies in one of the allowed networks."""
    inner = _inner(address)
    networks = [ip_network(network) for network in allowed]
    return any(
        part.version == network.version and part in network for part in {address, inner} for network in networks
    ) or (_is_public(address) and _is_public(inner))


def _is_public(address: Address) -> bool:
    reserved = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and (not reserved or (isinstance(address, IPv6Address) and address in _NAT64))


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address carries, or the address itself."""
    if not isinstance(address, IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _private(host: str, address: Address) -> str:
    subject = f"{host}" if host == str(address) else f"{host} ({address})"
    return f"{subject} is a private address. An administrator can allow it (GLOSSATOR_WEBHOOK_PRIVATE_ADDRESSES)."

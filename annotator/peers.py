"""The peer of a request: the address at the other end of its connection, whatever its headers say.

X-Forwarded-For, which uvicorn writes over the address of the client, is a header like any other: whoever reaches this
server directly could send it. So annotator.http_limits notes the peer before.
"""

from functools import cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import Scope

from engine.settings import Settings

PEER = "peer"  # in the state of a request


def is_from_proxy(scope: Scope, settings: Settings) -> bool:
    """Return whether a trusted proxy sent a request."""
    try:
        peer = ip_address(scope.get("state", {}).get(PEER, ""))
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped is not None:
        peer = peer.ipv4_mapped
    return any(peer in network for network in _networks(tuple(settings.trusted_proxies)))


@cache
def _networks(proxies: tuple[str, ...]) -> list[IPv4Network | IPv6Network]:
    return [ip_network(proxy) for proxy in proxies]

"""The person whom a trusted proxy names in a header, where GLOSSATOR_PROXY_USER_HEADER is set.

Only the connection itself tells who sent a header. X-Forwarded-For, which uvicorn writes over the address of the
client, is a header like any other: whoever reaches this server directly could send it. So the address of the connection
is noted before (annotator.http_limits), and compared with GLOSSATOR_TRUSTED_PROXIES.
"""

import re
from ipaddress import IPv6Address, ip_address, ip_network

from starlette.requests import HTTPConnection

from annotator.http_limits import PEER
from engine.accounts.identities import LONGEST, PROXY, Person
from engine.settings import Settings


def person_of(request: HTTPConnection, settings: Settings) -> Person | None:
    """Return the person whom a trusted proxy names; None without one.

    A header that comes twice names nobody: a proxy that adds its own behind that of a client has not removed that.
    """
    if not settings.proxy_user_header or not _is_trusted(request, settings):
        return None
    subject = _value(request, settings.proxy_user_header)
    if not subject or len(subject) > LONGEST or not subject.isprintable():
        return None
    groups = _value(request, settings.proxy_groups_header)
    return Person(
        issuer=PROXY,
        subject=subject,
        name=_value(request, settings.proxy_name_header) or subject,
        email=_value(request, settings.proxy_email_header),
        groups=frozenset(group.strip() for group in re.split(r"[,;|]", groups) if group.strip()),
    )


def _value(request: HTTPConnection, name: str) -> str:
    """Return the value of a header, in UTF-8 as proxies write it; "" when it is missing or comes twice."""
    values = request.headers.getlist(name) if name else []
    if len(values) != 1:
        return ""
    raw = values[0].encode("latin-1")
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def _is_trusted(request: HTTPConnection, settings: Settings) -> bool:
    try:
        peer = ip_address(request.scope.get("state", {}).get(PEER, ""))
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped is not None:
        peer = peer.ipv4_mapped
    return any(peer in ip_network(proxy) for proxy in settings.trusted_proxies)

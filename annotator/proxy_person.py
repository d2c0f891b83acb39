"""The person whom a trusted proxy names in a header, where GLOSSATOR_PROXY_USER_HEADER is set.

Only the connection itself tells who sent a header; see annotator.peers.
"""

from starlette.requests import HTTPConnection

from annotator.peers import is_from_proxy
from engine.accounts.identities import LONGEST, PROXY, Person
from engine.settings import Settings


def person_of(request: HTTPConnection, settings: Settings) -> Person | None:
    """Return the person whom a trusted proxy names; None without one.

    A header that comes twice names nobody: a proxy that adds its own behind that of a client has not removed that.
    """
    if not settings.proxy_user_header or not is_from_proxy(request.scope, settings):
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
        groups=frozenset(group.strip() for group in groups.split(",") if group.strip()),
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

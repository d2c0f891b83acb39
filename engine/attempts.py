"""Slowing down who guesses passwords. Attempts are rows, so that all processes that serve count the same ones.

Three counts over the last quarter of an hour, each with growing waits once it is full: of one name from one address; of one
address, whatever the names; of one name, whatever the addresses. The last two spare who has logged in from that address
lately: nobody can shut a person out by failing in their name elsewhere, nor a whole house by failing behind the same router.
The first spares nobody: who fails five times in a colleague's name, behind the same router, lets them wait, 30 seconds at
first and never more than a quarter of an hour. Sparing people there would let who sits beside them guess without end.

Behind a proxy on another machine, all people have the proxy's address unless GLOSSATOR_TRUSTED_PROXIES names it.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import LoginAttempt, LoginSession, User
from engine import audit
from engine.errors import TooMany
from engine.workspace import Workspace

WINDOW = timedelta(minutes=15)
OF_A_PAIR, OF_AN_ADDRESS, OF_A_NAME = 5, 30, 50  # failures within the window that cost no waiting
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=15)
KEPT = timedelta(days=1)
KNOWN_FOR = timedelta(days=90)  # how long an address counts as the person's own after a login from it


@dataclass(frozen=True, slots=True)
class Attempt:
    """A password that is about to be tried. It counts as wrong until it is said to have been right."""

    id: str
    name: str
    address: str
    failures: int  # of this name from this address, this one included, if it fails


def begin(workspace: Workspace, name: str, user: User | None, address: str) -> Attempt:
    """Count an attempt before its password is looked at, so that many at once cannot outrun the count.

    `user`: whose name it is, None where it is nobody's. TooMany, with the seconds to wait, when a count is full; what is
    refused so is not counted.
    """
    return _begin(workspace, user.name if user is not None else _hidden(name), user, address, "wrong passwords")


def begin_to_join(workspace: Workspace, invitation_id: str, address: str) -> Attempt:
    """Count an attempt to choose a name with an invitation's link, which tells whether somebody has that name.

    It failed when the name was taken. TooMany as in `begin`.
    """
    return _begin(workspace, f"invitation {invitation_id}", None, address, "names that are taken")


def _begin(workspace: Workspace, key: str, user: User | None, address: str, what: str) -> Attempt:
    network = network_of(address)
    with workspace.database.write() as session:
        _one_at_a_time(workspace, session, network, key)
        moment = now()
        session.execute(delete(LoginAttempt).where(LoginAttempt.created_at < moment - KEPT))
        here, named = LoginAttempt.address == network, LoginAttempt.name == key
        of_pair = _failures(session, moment, here & named, forgiving=True)
        counts = [(of_pair, OF_A_PAIR)]
        if user is None or not _is_known(session, user, network, moment):
            counts += [
                (_failures(session, moment, here), OF_AN_ADDRESS),
                (_failures(session, moment, named), OF_A_NAME),
            ]
        wait = max(_wait(count, newest, free, moment) for (count, newest), free in counts)
        if wait > 0:
            raise TooMany(f"Too many {what}. Try again in {_spoken(wait)}.", wait)
        attempt = LoginAttempt(name=key, address=network, created_at=moment)
        session.add(attempt)
        session.flush()
        return Attempt(attempt.id, key, network, of_pair[0] + 1)


def succeeded(session: Session, attempt: Attempt) -> None:
    """Say, inside the caller's unit of work, that the password was right."""
    row = session.get(LoginAttempt, attempt.id)
    if row is not None:
        row.succeeded = True


def failed(workspace: Workspace, attempt: Attempt) -> None:
    """Say that the password was wrong: the failure that fills the count goes into the audit trail."""
    if attempt.failures == OF_A_PAIR:
        audit.note(
            workspace,
            None,
            "login.limited",
            attempt.name,
            name=attempt.name,
            address=attempt.address,
            failures=attempt.failures,
        )


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the /64 that one IPv6 customer has to choose from."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:60]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        if not parsed.is_loopback:
            return str(ip_network((parsed, 64), strict=False))
    return str(parsed)


def _failures(
    session: Session, moment: datetime, which: ColumnElement[bool], *, forgiving: bool = False
) -> tuple[int, datetime | None]:
    """How many attempts failed within the window (`forgiving`: since the last success in it), and when the last one did."""
    since = moment - WINDOW
    if forgiving:
        success = session.scalar(
            select(func.max(LoginAttempt.created_at)).where(
                which, LoginAttempt.succeeded, LoginAttempt.created_at > since
            )
        )
        since = success or since
    row = session.execute(
        select(func.count(LoginAttempt.id), func.max(LoginAttempt.created_at)).where(
            which, LoginAttempt.succeeded.is_(False), LoginAttempt.created_at > since
        )
    ).one()
    return row[0], row[1]


def _wait(count: int, newest: datetime | None, free: int, moment: datetime) -> int:
    """Seconds until the next attempt: none while the count is not full, then twice as many after each failure."""
    if newest is None or count < free:
        return 0
    wait = min(FIRST_WAIT * 2 ** min(count - free, 10), LONGEST_WAIT)
    return max(0, -int(-(newest + wait - moment).total_seconds() // 1))


def _is_known(session: Session, user: User, network: str, moment: datetime) -> bool:
    addresses = session.scalars(
        select(LoginSession.address)
        .where(LoginSession.user_id == user.id, LoginSession.created_at > moment - KNOWN_FOR)
        .distinct()
    )
    return any(network_of(address) == network for address in addresses)


def _one_at_a_time(workspace: Workspace, session: Session, network: str, key: str) -> None:
    """Let attempts of one address, then of one name, count one after the other; on SQLite the writer is alone already."""
    if workspace.database.dialect == "postgresql":
        for subject in (f"login from {network}", f"login as {key}"):
            session.execute(select(func.pg_advisory_xact_lock(func.hashtext(subject))))


def _hidden(name: str) -> str:
    """What stands for a name that nobody has. People type their password there by mistake; it must not be kept."""
    return f"nobody ({hashlib.sha256(name.encode()).hexdigest()[:16]})"


def _spoken(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} seconds" if seconds > 1 else "a second"
    minutes = -(-seconds // 60)
    return "a minute" if minutes == 1 else f"{minutes} minutes"

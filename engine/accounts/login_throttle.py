"""Throttling of password guesses.

Failures of the last 15 minutes are counted for a name at an address, for an address, and for a name. When a count is
full, waits grow with each further failure:

| count               | free failures        | exempt                                            |
|---------------------|----------------------|---------------------------------------------------|
| name at one address | FREE_FAILURES_PAIR   | nobody                                            |
| address             | FREE_FAILURES_ADDRESS| users who have logged in from this address before |
| name                | FREE_FAILURES_NAME   | users who have logged in from this address before |

The exemptions keep attackers elsewhere, or behind the same router, from locking out users. The first count has none:
five failures in a colleague's name at the same address delay the colleague, 30 seconds at first and 15 minutes at most.
An exemption there would allow unlimited guesses from that address.

Failures stay in memory (engine.login_attempts) and are written together, at most once a second
(engine.deferred_writes). So a flood of wrong passwords takes no write lock from annotators. The counts include rows of
all processes and unwritten failures of this one. A killed process loses the failures of its last second; other
processes see them a second late.

Behind a proxy on another machine, all users share the proxy's address unless GLOSSATOR_TRUSTED_PROXIES names it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import LoginAttempt, LoginSession, User
from engine import audit
from engine.errors import TooMany
from engine.login_attempts import MINUTE, Attempt
from engine.plurals import count
from engine.workspace import Workspace

WINDOW = timedelta(minutes=15)
FREE_FAILURES_PAIR, FREE_FAILURES_ADDRESS, FREE_FAILURES_NAME = (
    5,
    30,
    50,
)  # failures within the window without a wait
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=15)
KEPT = timedelta(days=1)
CLEARED = 5_000  # older attempts deleted at a time, once a minute
KNOWN_FOR = timedelta(days=90)  # time for which a user is known at an address after a login from it
PASSWORDS, NAMES = "wrong passwords", "taken names"


@contextmanager
def throttled_login(workspace: Workspace, name: str, user: User | None, address: str) -> Iterator[Attempt]:
    """Count a login attempt while its password is checked, so simultaneous ones cannot exceed the count.

    The attempt counts as failed unless `record_success` is called inside.

    Args:
        workspace: open workspace.
        name: name as typed.
        user: user of that name, or None.
        address: client address.

    Raises:
        TooMany: a count is full; this attempt is not counted.
    """
    key = user.name if user is not None else _hidden(name)
    with _throttle(workspace, key, user, address, PASSWORDS, name) as attempt:
        yield attempt


@contextmanager
def throttled_joining(workspace: Workspace, invitation_id: str, address: str) -> Iterator[Attempt]:
    """Count an attempt to choose a name with an invitation link, which reveals whether the name is taken.

    The attempt counts as failed when the name is taken.

    Args:
        workspace: open workspace.
        invitation_id: id of the invitation.
        address: client address.

    Raises:
        TooMany: a count is full.
    """
    key = f"invitation {invitation_id}"
    with _throttle(workspace, key, None, address, NAMES, key) as attempt:
        yield attempt


def check(workspace: Workspace, name: str, address: str) -> None:
    """Check whether an attempt of this name and address was refused a moment ago; uses memory only.

    Raises:
        TooMany: it was refused.
    """
    refusal = workspace.login_attempts.find_refusal(name, network_of(address))
    if refusal is not None:
        raise _too_many(*refusal)


def is_known(workspace: Workspace, name: str, address: str) -> bool:
    """Return whether the user of that name has logged in from that address within KNOWN_FOR."""
    with workspace.database.read() as session:
        user = session.scalar(select(User).where(User.name == name, User.disabled_at.is_(None)))
        return user is not None and _is_known(session, user, network_of(address), now())


@contextmanager
def _throttle(
    workspace: Workspace, key: str, user: User | None, address: str, what: str, typed: str
) -> Iterator[Attempt]:
    network = network_of(address)
    tried = workspace.login_attempts
    if workspace.deferred_writes.is_full:  # the database cannot be written, and without counts there is no limit
        raise TooMany("Logins are paused: the server cannot write to its database. Try again in a minute.", 60)
    with tried.turn, workspace.database.read() as session:
        attempt = Attempt(key, network)
        attempt.failures, wait = _look(workspace, session, attempt, user)
        if wait > 0:
            tried.refuse(typed, network, wait, what)
            raise _too_many(wait, what)
        tried.add(attempt)
    try:
        yield attempt
    except BaseException:
        attempt.right = False  # the success was not stored
        raise
    finally:
        if attempt.right:
            tried.drop(attempt)
        else:
            _record_failure(workspace, attempt)


def record_success(session: Session, attempt: Attempt) -> None:
    """Record, inside the caller's unit of work, that the password was right."""
    session.add(_row(attempt, succeeded=True))
    attempt.right = True


def _look(workspace: Workspace, session: Session, attempt: Attempt, user: User | None) -> tuple[int, int]:
    """Return the failures of this name at this address, including this one, and the seconds to wait first."""
    instant, name, address = attempt.moment, attempt.name, attempt.address
    # Read before the database: an attempt written in between is found in both, and counted once by its id.
    fresh = workspace.login_attempts.unwritten(name, address)
    same_address, named = LoginAttempt.address == address, LoginAttempt.name == name
    of_here, of_name = (
        [failure for failure in fresh if failure.address == address],
        [failure for failure in fresh if failure.name == name],
    )
    of_both = [failure for failure in of_here if failure.name == name]
    of_pair = _failures(session, instant, same_address & named, of_both, forgiving=True)
    counts = [(of_pair, FREE_FAILURES_PAIR)]
    if user is None or not _is_known(session, user, address, instant):
        counts += [
            (_failures(session, instant, same_address, of_here), FREE_FAILURES_ADDRESS),
            (_failures(session, instant, named, of_name), FREE_FAILURES_NAME),
        ]
    return of_pair[0] + 1, max(wait_after(count, newest, free, instant) for (count, newest), free in counts)


def _record_failure(workspace: Workspace, attempt: Attempt) -> None:
    """Queue a failure for writing, and an audit entry when it fills the count.

    In a flood, only their number.
    """
    tried, later = workspace.login_attempts, workspace.deferred_writes
    later.add(lambda session: session.add(_row(attempt)), done=lambda: tried.drop(attempt))
    if tried.may_clear():
        later.add(_clear)
    if attempt.failures != FREE_FAILURES_PAIR:
        return
    if tried.may_say():
        name, address, failures = attempt.name, attempt.address, attempt.failures
        later.add(
            lambda session: audit.record(
                session, None, "login.limited", name, name=name, address=address, failures=failures
            )
        )
        return

    reported = [0]

    def tell(session: Session) -> None:
        reported[0] = tried.unsaid
        audit.record(session, None, "login.limited.more", "logins", times=reported[0])

    later.add(tell, done=lambda: tried.mark_named(reported[0]), key="login.limited.more", delay=MINUTE)


def _row(attempt: Attempt, *, succeeded: bool = False) -> LoginAttempt:
    return LoginAttempt(
        id=attempt.id,
        name=attempt.name,
        address=attempt.address,
        succeeded=succeeded,
        created_at=attempt.moment,
    )


def _clear(session: Session) -> None:
    old = select(LoginAttempt.id).where(LoginAttempt.created_at < now() - KEPT).limit(CLEARED)
    session.execute(delete(LoginAttempt).where(LoginAttempt.id.in_(old)).execution_options(synchronize_session=False))


def _too_many(seconds: int, what: str) -> TooMany:
    return TooMany(f"Too many {what}. Try again in {duration_in_words(seconds)}.", seconds)


def network_of(address: str) -> str:
    """Return the network that counts as one address: an IPv4 address, or the /64 of an IPv6 address."""
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
    session: Session,
    moment: datetime,
    which: ColumnElement[bool],
    unwritten: Sequence[Attempt],
    *,
    forgiving: bool = False,
) -> tuple[int, datetime | None]:
    """Return number and time of failures within the window.

    `forgiving`: only those since the last success in it.
    """
    since = moment - WINDOW
    if forgiving:
        success = session.scalar(
            select(func.max(LoginAttempt.created_at)).where(
                which, LoginAttempt.succeeded, LoginAttempt.created_at > since
            )
        )
        since = success or since
    fresh = [failure for failure in unwritten if failure.moment > since]
    count, newest = session.execute(
        select(func.count(LoginAttempt.id), func.max(LoginAttempt.created_at)).where(
            which,
            LoginAttempt.succeeded.is_(False),
            LoginAttempt.created_at > since,
            LoginAttempt.id.not_in([failure.id for failure in fresh]),
        )
    ).one()
    return count + len(fresh), max((at for at in (newest, *(failure.moment for failure in fresh)) if at), default=None)


def wait_after(count: int, newest: datetime | None, free: int, moment: datetime) -> int:
    """Return the seconds until the next attempt: none until the count is full, then doubled per failure.

    Args:
        count: failures.
        newest: time of the last one, or None.
        free: failures without a wait.
        moment: the present.
    """
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


def _hidden(name: str) -> str:
    """Return a stand-in for an unknown name, which may be a mistyped password and must not be stored."""
    return f"nobody ({hashlib.sha256(name.encode()).hexdigest()[:16]})"


def duration_in_words(seconds: int) -> str:
    """Return a duration for a sentence, as "30 seconds" or "5 minutes"."""
    if seconds < 60:
        return f"{seconds} seconds" if seconds > 1 else "a second"
    minutes = -(-seconds // 60)
    return "a minute" if minutes == 1 else count(minutes, "minute")

"""The second factor of a login: codes by time from an app (TOTP, RFC 6238), and recovery codes.

A code is right in its own 30 seconds and the step before and after, so that clocks may differ a little. Each is right
once: the step of the last right one is stored, and earlier ones are refused. Wrong codes are counted in the row of the
factor, under its lock, so that several processes cannot exceed the count. Only a right code resets it: whoever knows
the password alone cannot.
"""

import base64
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime

import pyotp
import segno
from pydantic import BaseModel
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import RecoveryCode, SecondFactor, User
from engine import audit
from engine.accounts import login_throttle
from engine.accounts.digests import digest
from engine.errors import Conflict, NotFound, Refused, TooMany
from engine.settings import Settings
from engine.workspace import Workspace

STEP_SECONDS = 30
DIGITS = 6
FREE_FAILURES = 5  # wrong codes without a wait
RECOVERY_CODES = 10
WRONG = (
    "The code is wrong, or was used already. Wait for the next one; if none is right, check the clock of your device."
)
_ISSUER = "Glossator"
_RECOVERY_BYTES = 10  # 80 bits: nobody guesses them, so a plain SHA-256 protects them
_NO_FACTOR = "You have no second factor. Set one up first."


class SecondFactorView(BaseModel):
    """A person's second factor. `since`: None without one. `required`: the server asks for one of this person."""

    since: datetime | None
    required: bool
    recovery_codes: int


class Enrolment(BaseModel):
    """A secret for an app, which a code has yet to confirm.

    `address`: the secret as otpauth://. `qr`: a picture of that address, as a data URI.
    """

    secret: str
    address: str
    qr: str


class RecoveryCodes(BaseModel):
    """Recovery codes, shown once."""

    recovery_codes: list[str]


def is_required(settings: Settings, user: User) -> bool:
    """Return whether the server asks for a second factor of a person who logs in with a password."""
    wanted = settings.second_factor
    return settings.auth == "login" and (wanted == "everyone" or (wanted == "admins" and user.role == "admin"))


def is_confirmed(session: Session, user_id: str) -> bool:
    """Return whether a person has a second factor."""
    factor = session.get(SecondFactor, user_id)
    return factor is not None and factor.confirmed_at is not None


def owners(session: Session, user_ids: Sequence[str]) -> set[str]:
    """Return those of some people who have a second factor."""
    confirmed = SecondFactor.confirmed_at.is_not(None)
    return set(session.scalars(select(SecondFactor.user_id).where(SecondFactor.user_id.in_(user_ids), confirmed)))


def view(workspace: Workspace, user: User) -> SecondFactorView:
    """Return a person's second factor."""
    with workspace.database.read() as session:
        factor = session.get(SecondFactor, user.id)
        left = session.scalar(
            select(func.count()).where(RecoveryCode.user_id == user.id, RecoveryCode.used_at.is_(None))
        )
    since = factor.confirmed_at if factor is not None else None
    return SecondFactorView(since=since, required=is_required(workspace.settings, user), recovery_codes=left or 0)


def prepare(session: Session, user: User) -> Enrolment:
    """Make a secret for a person inside the caller's unit of work; one that was not confirmed is replaced.

    Raises:
        Conflict: the person has a second factor.
    """
    factor = _locked(session, user.id)
    if factor is not None and factor.confirmed_at is not None:
        raise Conflict("You have a second factor already. Remove it first to set up another device.")
    if factor is None:
        factor = SecondFactor(user_id=user.id)
        session.add(factor)
    factor.secret, factor.failures, factor.failed_at, factor.last_step = pyotp.random_base32(), 0, None, 0
    session.flush()
    return _enrolment(user, factor.secret)


def prepared(session: Session, user: User) -> Enrolment | None:
    """Return the secret that a person has not confirmed yet, or None. A confirmed one is never shown again."""
    factor = session.get(SecondFactor, user.id)
    return _enrolment(user, factor.secret) if factor is not None and factor.confirmed_at is None else None


def confirm(session: Session, user: User, code: str, address: str) -> list[str] | None:
    """Confirm a prepared secret by a code, inside the caller's unit of work; audited.

    Returns:
        New recovery codes; None for a wrong code, which the caller must commit.

    Raises:
        NotFound: there is no prepared secret.
        TooMany: too many wrong codes.
    """
    factor = _locked(session, user.id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound("Nothing waits for a code. Begin with the second factor anew.")
    if not _fits(session, factor, user, code, address):
        return None
    factor.confirmed_at = now()
    audit.record(session, user.id, "second_factor.set", user.id)
    return _new_recovery_codes(session, user.id)


def accept(session: Session, user: User, code: str, address: str) -> bool:
    """Use up a code of an app or a recovery code, inside the caller's unit of work.

    Returns:
        Whether it was right. The caller must commit in both cases.

    Raises:
        NotFound: the person has no second factor.
        TooMany: too many wrong codes; this one was not looked at.
    """
    factor = _locked(session, user.id)
    if factor is None or factor.confirmed_at is None:
        raise NotFound(_NO_FACTOR)
    return _fits(session, factor, user, code, address, recovery=True)


def check_wait(session: Session, user: User) -> None:
    """Refuse a code before any lock is taken while its person has to wait.

    Raises:
        TooMany: too many wrong codes.
    """
    factor = session.get(SecondFactor, user.id)
    if factor is not None:
        _check_wait(factor)


def renew_recovery_codes(session: Session, user: User) -> list[str]:
    """Replace all recovery codes inside the caller's unit of work; audited."""
    audit.record(session, user.id, "second_factor.codes", user.id)
    return _new_recovery_codes(session, user.id)


def remove(session: Session, settings: Settings, user: User) -> None:
    """Remove a person's own second factor inside the caller's unit of work; audited.

    Raises:
        Refused: the server asks for one.
    """
    if is_required(settings, user):
        raise Refused("This server requires a second factor. Ask an admin to reset it if you change your device.")
    forget(session, user.id)
    audit.record(session, user.id, "second_factor.remove", user.id)


def forget(session: Session, user_id: str) -> None:
    """Delete secret and recovery codes inside the caller's unit of work."""
    for table in (SecondFactor, RecoveryCode):
        session.execute(delete(table).where(table.user_id == user_id).execution_options(synchronize_session=False))


def _locked(session: Session, user_id: str) -> SecondFactor | None:
    return session.get(SecondFactor, user_id, with_for_update=True, populate_existing=True)


def _fits(
    session: Session, factor: SecondFactor, user: User, code: str, address: str, *, recovery: bool = False
) -> bool:
    _check_wait(factor)
    plain = re.sub(r"[\s-]", "", code).upper()
    step = _step_of(factor, plain)
    if step is not None:
        factor.last_step = step
    if step is not None or (recovery and _use_recovery_code(session, user, plain)):
        factor.failures, factor.failed_at = 0, None
        return True
    factor.failures, factor.failed_at = factor.failures + 1, now()
    if factor.failures == FREE_FAILURES:
        audit.record(
            session,
            None,
            "second_factor.limited",
            user.id,
            name=user.name,
            address=address,
            wrong_codes=factor.failures,
        )
    return False


def _check_wait(factor: SecondFactor) -> None:
    wait = login_throttle.wait_after(factor.failures, factor.failed_at, FREE_FAILURES, now())
    if wait > 0:
        raise TooMany(f"Too many wrong codes. Try again in {login_throttle.duration_in_words(wait)}.", wait)


def _step_of(factor: SecondFactor, code: str) -> int | None:
    """Return the step whose code this is, among those that are not used up; None for a wrong one."""
    if not (code.isascii() and code.isdigit() and len(code) == DIGITS):
        return None
    totp, current = pyotp.TOTP(factor.secret, digits=DIGITS, interval=STEP_SECONDS), current_step()
    steps = range(max(current - 1, factor.last_step + 1), current + 2)
    fitting = [step for step in steps if hmac.compare_digest(totp.generate_otp(step), code)]
    return min(fitting, default=None)


def current_step() -> int:
    """Return the number of the present 30 seconds."""
    return int(now().timestamp()) // STEP_SECONDS


def _use_recovery_code(session: Session, user: User, code: str) -> bool:
    found = session.scalar(
        select(RecoveryCode).where(
            RecoveryCode.user_id == user.id,
            RecoveryCode.code_sha256 == _digest_of(user.id, code),
            RecoveryCode.used_at.is_(None),
        )
    )
    if found is None:
        return False
    found.used_at = now()
    session.flush()
    unused = select(func.count()).where(RecoveryCode.user_id == user.id, RecoveryCode.used_at.is_(None))
    audit.record(session, user.id, "second_factor.recovery", user.id, codes=session.scalar(unused) or 0)
    return True


def _new_recovery_codes(session: Session, user_id: str) -> list[str]:
    session.execute(
        delete(RecoveryCode).where(RecoveryCode.user_id == user_id).execution_options(synchronize_session=False)
    )
    codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    session.add_all(RecoveryCode(user_id=user_id, code_sha256=_digest_of(user_id, code)) for code in codes)
    return ["-".join(re.findall("....", code)) for code in codes]


def _digest_of(user_id: str, code: str) -> str:
    return digest(f"{user_id} {code}")


def _enrolment(user: User, secret: str) -> Enrolment:
    address = pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).provisioning_uri(
        name=user.name, issuer_name=_ISSUER
    )
    picture = segno.make_qr(address, error="m").svg_data_uri(scale=4, dark="#000", light="#fff")
    return Enrolment(secret=secret, address=address, qr=picture)

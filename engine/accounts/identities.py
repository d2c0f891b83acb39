"""Sign-ins by single sign-on: who a person is here, their name and roles, and their session.

A person is known by issuer and subject. An equal name proves nothing: people choose names at providers.
"""

from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Identity, LoginSession, User
from engine import audit
from engine.accounts import group_roles, names, second_factor, sessions
from engine.accounts.digests import digest
from engine.accounts.users import user_named
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.settings import Settings
from engine.workspace import Workspace

PROXY = "proxy"  # issuer of people whom a trusted proxy names
LONGEST = 255  # characters of issuer and subject


@dataclass(frozen=True, slots=True)
class Person:
    """A person as a provider describes them at a sign-in.

    Attributes:
        issuer: the provider; PROXY for a proxy.
        subject: their id there.
        name: their name there.
        email: their e-mail address when the provider has verified it, else "".
        groups: their groups there.
        id_token: what the provider signed, for a logout there; None from a proxy.
    """

    issuer: str
    subject: str
    name: str
    email: str = ""
    groups: frozenset[str] = frozenset()
    id_token: str | None = None


def sign_in(workspace: Workspace, person: Person, *, client: str = "", address: str = "") -> str:
    """Begin a session of a person; at the first sign-in with a new account. Name and roles follow the provider.

    Args:
        workspace: open workspace.
        person: who signs in, verified by the caller.
        client: user agent of the browser.
        address: client address.

    Returns:
        Token for the cookie.

    Raises:
        Forbidden: the account is disabled, or no group of the person may sign in.
    """
    try:
        return _sign_in(workspace, person, client, address)
    except IntegrityError:  # the same person, or another one of that name, signed in for the first time meanwhile
        return _sign_in(workspace, person, client, address)


def _sign_in(workspace: Workspace, person: Person, client: str, address: str) -> str:
    settings = workspace.settings
    if not group_roles.is_admitted(settings, person.groups):
        _refuse(workspace, person, "no group of theirs may sign in")
        raise Forbidden("Your account has no access to Glossator. Ask an admin to add you to one of its groups.")
    with workspace.database.write() as session:
        group_roles.take_turn(session, settings)
        identity = session.scalar(
            select(Identity).where(Identity.issuer == person.issuer, Identity.subject == person.subject)
        )
        if identity is None:
            identity = _first_sign_in(settings, session, person)
        user = sessions.lock_user(session, identity.user_id)
        assert user is not None  # users are never deleted
        if user.disabled_at is None:
            _rename(session, user, person)
            group_roles.apply(session, settings, user, person.groups)
            identity.used_at = now()
            proxy_user = person.subject if person.issuer == PROXY else None
            return sessions.begin(
                workspace,
                session,
                user.id,
                client=client,
                address=address,
                id_token=person.id_token,
                proxy_user=proxy_user,
            )
    _refuse(workspace, person, "the account is disabled")
    raise Forbidden("Your account in Glossator is disabled. Ask an admin to enable it.")


def _first_sign_in(settings: Settings, session: Session, person: Person) -> Identity:
    user = _account_of_address(settings, session, person)
    if user is None:
        user = User(name=names.free_name(session, person.name), role="annotator")
        session.add(user)
        session.flush()
        audit.record(session, user.id, "sign_in.first", user.id, provider=person.issuer)
    else:
        _hand_over(session, user)
        audit.record(session, user.id, "sign_in.email", user.id, provider=person.issuer)
    identity = Identity(issuer=person.issuer, subject=person.subject, user_id=user.id)
    session.add(identity)
    session.flush()
    return identity


def _account_of_address(settings: Settings, session: Session, person: Person) -> User | None:
    """Return the account that is called as the person's address, locked; None where somebody signs in with it."""
    if not settings.oidc_link_by_email or not person.email:
        return None
    called = User.name == names.compose_name(person.email), User.name != names.LOCAL_NAME
    user_id = session.scalar(select(User.id).where(*called))
    user = sessions.lock_user(session, user_id) if user_id is not None else None
    if user is None:
        return None
    in_use = {person.issuer, settings.oidc_issuer, PROXY if settings.proxy_user_header else ""}
    links = select(Identity.id).where(Identity.user_id == user.id, Identity.issuer.in_(in_use))
    return None if session.scalar(links.limit(1)) is not None else user  # who left may have had this address before


def _hand_over(session: Session, user: User) -> None:
    """End everything that opens an account: with an invitation, anybody could have made it under that address."""
    user.password_hash = None
    second_factor.forget(session, user.id)
    sessions.revoke_all(session, user.id)
    links = delete(Identity).where(Identity.user_id == user.id)  # of providers that are in use no longer
    session.execute(links.execution_options(synchronize_session=False))


def _rename(session: Session, user: User, person: Person) -> None:
    """Take over a changed name of an account without a password; others log in with the name that they have."""
    if user.password_hash is not None or names.is_name_of(user.name, person.name):
        return
    user.name = names.free_name(session, person.name)
    audit.record(session, user.id, "sign_in.name", user.id, provider=person.issuer)  # names, erasing could not find


def _refuse(workspace: Workspace, person: Person, why: str) -> None:
    audit.note(workspace, None, "sign_in.refused", person.subject, name=person.name, provider=person.issuer, why=why)


def link(workspace: Workspace, name: str, subject: str, *, issuer: str, by: str | None) -> None:
    """Let a person sign in with an existing account, also one who has signed in with another before; audited.

    Args:
        workspace: open workspace.
        name: name of the account.
        subject: id of the person at the provider.
        issuer: the provider; PROXY for a proxy.
        by: id of the acting admin.

    Raises:
        NotFound: there is no such account.
        Refused: the subject is empty or too long, or the account is that of the command line.
    """
    if not 0 < len(subject) <= LONGEST or not subject.isprintable():
        raise Refused(f"The id of a person has 1 to {LONGEST} printable characters. Copy it from the provider.")
    user = user_named(workspace, name)
    if user.name == names.LOCAL_NAME:
        raise Refused(f"Nobody can sign in as the user {user.name!r} of the command line. Choose another user.")
    with workspace.database.write() as session:
        identity = session.scalar(select(Identity).where(Identity.issuer == issuer, Identity.subject == subject))
        if identity is None:
            session.add(Identity(issuer=issuer, subject=subject, user_id=user.id))
        elif identity.user_id == user.id:
            raise Conflict(f"{subject} signs in as {name} already. Nothing was changed.")
        else:
            identity.user_id = user.id
        audit.record(session, by, "users.link", user.id, name=name, person=subject, provider=issuer)


def unlink(workspace: Workspace, name: str, *, by: str | None) -> int:
    """Take all links to providers from an account, end its sessions, and return the number of links; audited.

    The next sign-in of such a person makes a new account.

    Raises:
        NotFound: there is no such account, or nobody signs in with it.
    """
    user = user_named(workspace, name)
    with workspace.database.write() as session:
        linked = session.scalars(select(Identity).where(Identity.user_id == user.id)).all()
        if not linked:
            raise NotFound(f"Nobody signs in as {name} through a provider. Nothing was changed.")
        sessions.revoke_all(session, user.id)
        for identity in linked:
            session.delete(identity)
        audit.record(session, by, "users.unlink", user.id, name=name)
        return len(linked)


def id_token_of(workspace: Workspace, token: str) -> str | None:
    """Return what the provider signed at the sign-in of a session that has not ended; None for all others."""
    wanted = LoginSession.token_sha256 == digest(token)
    with workspace.database.read() as session:
        return session.scalar(select(LoginSession.id_token).where(wanted, LoginSession.revoked_at.is_(None)))

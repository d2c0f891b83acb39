"""Single sign-on: the provider's answer, its keys and its clock, and the projects that its groups name."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from sqlalchemy import or_, select

from db.tables import Project
from engine.accounts import group_roles
from engine.accounts.identity_provider import IdentityProvider, ProviderDown
from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.settings import Settings, is_loopback
from engine.workspace import Workspace


def check_provider(settings: Settings) -> Iterator[Finding]:
    """Yield whether people can sign in at the provider, and through the proxy."""
    if settings.proxy_user_header:
        yield from _check_header(settings)
    if not settings.oidc_issuer:
        return
    provider = IdentityProvider(settings)
    try:
        document = provider.discover()
        keys = provider.load_keys()
    except ProviderDown as error:
        mend = (
            f"Check GLOSSATOR_OIDC_ISSUER, and that {urlsplit(settings.oidc_issuer).hostname} can be reached from here."
        )
        yield broken("single sign-on", f"{settings.oidc_issuer} cannot be used: {error.reason}.", mend)
        return
    yield ok("single sign-on", f"{settings.oidc_issuer} answers, with {len(keys.keys)} keys that sign.")
    if "end_session_endpoint" not in document:
        sentence = "The provider has no address for a logout: its own session goes on."
        yield ok("single sign-on", sentence)
    if not settings.secure_cookies and not is_loopback(settings.host):
        sentence = "Sign-ins come back to an http:// address."
        yield warning("single sign-on", sentence, "Serve behind TLS, and set GLOSSATOR_SECURE_COOKIES=true.")
    yield from _check_clock(provider, settings)


def check_groups(workspace: Workspace) -> Iterator[Finding]:
    """Yield the projects of GLOSSATOR_GROUP_ROLES that do not exist."""
    wanted = group_roles.roles_in_projects(workspace.settings, ())
    if not wanted:
        return
    named = select(Project.id, Project.name).where(
        Project.bin_of.is_(None), or_(Project.id.in_(wanted), Project.name.in_(wanted))
    )
    with workspace.database.read() as session:
        known = {word for row in session.execute(named) for word in row}
    if missing := sorted(wanted.keys() - known):
        sentence = f"GLOSSATOR_GROUP_ROLES names projects that do not exist: {', '.join(missing)}."
        yield warning("groups", sentence, "Correct the names, or use the ids of the projects.")
    else:
        yield ok("groups", "Every project of GLOSSATOR_GROUP_ROLES exists.")


def _check_header(settings: Settings) -> Iterator[Finding]:
    trusted = ", ".join(settings.trusted_proxies)
    sentence = f"Every program at {trusted} can name a person in the header {settings.proxy_user_header}."
    if any(address.endswith("/0") for address in settings.trusted_proxies):
        mend = "Name the proxy's address alone in GLOSSATOR_TRUSTED_PROXIES."
        yield broken("proxy login", sentence, mend)
    else:
        yield ok("proxy login", sentence)


def _check_clock(provider: IdentityProvider, settings: Settings) -> Iterator[Finding]:
    """Compare the clocks: the header Date has whole seconds."""
    date = provider.date()
    if date is None:
        return
    seconds = (datetime.now(UTC) - parsedate_to_datetime(date)).total_seconds()
    if abs(seconds) > max(1, settings.oidc_leeway_seconds):
        sentence = f"The clocks of this machine and the provider differ by {abs(seconds):,.0f} seconds."
        yield broken("single sign-on", sentence, "Set both by NTP; until then nobody can sign in.")
    else:
        yield ok("single sign-on", "The clocks of this machine and the provider agree.")

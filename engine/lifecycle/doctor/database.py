"""The database: settings that keep what was acknowledged, connections, schema, clock, and work that waits."""

import time
from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import ColumnElement, func, or_, select, text
from sqlalchemy.orm import Session

from db.base import now
from db.session import POOL, Database
from db.tables import AuditEntry, Change, Document, Identity, ModelVersion, Project, User
from engine.accounts.identities import PROXY
from engine.annotation.predictors import Predictors
from engine.errors import Refused
from engine.lifecycle.database_copies import find_program
from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.lifecycle.doctor.storing import MOST_SKEW_SECONDS
from engine.lifecycle.health import NEEDED, Look, Part
from engine.models import registry
from engine.plurals import count
from engine.workspace import Workspace

_OLDEST = 12  # PostgreSQL
_CONNECTIONS = POOL["pool_size"] + POOL["max_overflow"]  # of a process at most
_BACKUP_AGE = timedelta(days=8)
_KEPT = {"fsync": "on", "full_page_writes": "on"}
_PARTS = {  # of the health check: name here, mend
    "blobs": ("files", "Check GLOSSATOR_BLOBS, its keys and the network, or the owner of the data folder."),
    "database": ("database", "Start it, or correct GLOSSATOR_DATABASE_URL."),
    "worker": ("worker", "glossator worker, or glossator serve"),
    "figures": ("figures", "Run: glossator check --rebuild"),
}


def check_parts(workspace: Workspace) -> Iterator[Finding]:
    """Yield the parts of the health check that GET /api/health/ready answers with."""
    parts: dict[str, Part] = {}
    Look(workspace, Predictors(workspace)).all(parts.__setitem__)
    for part, (name, mend) in _PARTS.items():
        sentence = " ".join(filter(None, (parts[part].sentence, "" if parts[part].ok else parts[part].details)))
        if parts[part].ok:
            yield ok(name, sentence)
        else:
            yield broken(name, sentence, mend) if part in NEEDED else warning(name, sentence, mend)


def check_settings(database: Database) -> Iterator[Finding]:
    """Yield whether the database keeps what it acknowledges, and has room for the connections."""
    with database.read() as session:
        if database.dialect == "sqlite":
            yield _sqlite(session)
        else:
            yield from _postgresql(session)


def check_moments(database: Database) -> Iterator[Finding]:
    """Yield whether the clocks of database and machine agree: leases end by the clock."""
    with database.read() as session:
        skew = 0.0
        if database.dialect == "postgresql":
            skew = float(session.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0) - time.time()
        newest = session.scalar(select(func.max(Change.created_at)))
    ahead = (newest - now()).total_seconds() if newest is not None else 0.0
    if abs(skew) > MOST_SKEW_SECONDS:
        sentence = f"The database's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} this machine's."
        yield broken("database clock", sentence, "Set both clocks by NTP: leases of tasks and jobs end by them.")
    elif ahead > MOST_SKEW_SECONDS:
        sentence = f"The newest change is dated {ahead:.0f} s in the future: a clock was set back, or one is ahead."
        yield warning("database clock", sentence, "Set the clocks of all machines by NTP.")
    else:
        yield ok("database clock", "The clocks of machine and database agree.")


def check_models(workspace: Workspace) -> Iterator[Finding]:
    """Yield the projects whose model is missing."""
    with workspace.database.read() as session:
        projects = session.execute(select(Project.id, Project.name)).tuples().all()
        if not projects or session.scalar(select(ModelVersion.id).limit(1)) is None:
            return
        champions = registry.champions(session, [project for project, _ in projects])
    names = dict(projects)
    there = {sha: sha in workspace.blobs for sha in {version.checkpoint_sha256 for version in champions.values()}}
    missing = sorted(names[project] for project, version in champions.items() if not there[version.checkpoint_sha256])
    if missing:
        mend = "Restore the files from a backup, or roll back: glossator models rollback --project NAME"
        yield broken("models", f"The weights in use are missing: projects {', '.join(missing)}.", mend)
    else:
        yield ok("models", f"The weights in use of {count(len(projects), 'project')} are there.")


def check_backups(workspace: Workspace) -> Iterator[Finding]:
    """Yield when the last backup was made."""
    made = select(func.max(AuditEntry.created_at)).where(AuditEntry.action == "backup")
    with workspace.database.read() as session:
        last = session.scalar(made)
        documents = session.scalar(select(func.count()).select_from(Document)) or 0
    mend = "glossator backup FOLDER, every night by cron or a systemd timer"
    if last is not None and now() - last < _BACKUP_AGE:
        yield ok("last backup", f"The last backup was made on {last:%Y-%m-%d %H:%M} UTC.")
    elif last is not None:
        yield warning("last backup", f"The last backup was made {(now() - last).days} days ago.", mend)
    elif documents:
        yield warning("last backup", "No backup was ever made by glossator backup.", mend)
    else:
        yield ok("last backup", "There are no documents to back up yet.")


def check_admins(workspace: Workspace) -> Iterator[Finding]:
    """Yield whether somebody can log in and give rights, where people log in."""
    settings = workspace.settings
    if settings.auth != "login":
        yield ok("login", "No login: this machine alone is served.")
        return
    issuers = {settings.oidc_issuer, PROXY if settings.proxy_user_header else ""} - {""}
    ways: list[ColumnElement[bool]] = [
        select(Identity.id).where(Identity.user_id == User.id, Identity.issuer.in_(issuers)).exists()
    ]
    if settings.password_login != "nobody":
        ways.append(User.password_hash.is_not(None))
    able = User.role == "admin", User.disabled_at.is_(None), or_(*ways)
    with workspace.database.read() as session:
        an_admin_can = session.scalar(select(User.id).where(*able).limit(1)) is not None
    groups = sorted(group for group, role in settings.group_roles.items() if role == "admin")
    if an_admin_can:
        yield ok("login", "People log in, and an admin can.")
    elif groups and issuers:
        yield ok("login", f"No admin has signed in yet; whoever is in the group {' or '.join(groups)} becomes one.")
    elif settings.password_login == "nobody":
        mend = "Sign in once, then run: glossator users role NAME admin"
        yield broken("login", "People must sign in elsewhere, and no admin can.", mend)
    else:
        yield broken("login", "People must log in, and no admin can.", "glossator users add NAME --role admin")


def _sqlite(session: Session) -> Finding:
    names = ("journal_mode", "synchronous", "foreign_keys")
    values = [str(session.scalar(text(f"PRAGMA {name}"))) for name in names]
    version = session.scalar(text("SELECT sqlite_version()"))
    if values == ["wal", "2", "1"]:
        return ok("database settings", f"SQLite {version} writes ahead (WAL) and through to the disk.")
    shown = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    mend = "Put the data folder on a local disk that supports WAL."
    return broken("database settings", f"SQLite {version} may lose what it acknowledged: {shown}.", mend)


def _postgresql(session: Session) -> Iterator[Finding]:
    def shown(name: str) -> str:
        return str(session.scalar(text(f"SHOW {name}")))

    major = int(shown("server_version_num")) // 10_000
    if major < _OLDEST:
        sentence = f"PostgreSQL {major} is too old."
        yield broken("database settings", sentence, f"Install PostgreSQL {_OLDEST} or newer.")
    wrong = [f"{name}={shown(name)}" for name, value in _KEPT.items() if shown(name) != value]
    if shown("synchronous_commit") == "off":
        wrong.append("synchronous_commit=off")
    if wrong:
        sentence = f"PostgreSQL {major} may lose what it acknowledged: {', '.join(wrong)}."
        yield broken("database settings", sentence, "Set them to on in postgresql.conf, and restart PostgreSQL.")
    elif major >= _OLDEST:
        yield ok("database settings", f"PostgreSQL {major} writes through to the disk.")
    if shown("server_encoding") != "UTF8":
        sentence = f"The database stores text as {shown('server_encoding')}, which lacks characters."
        yield broken("database settings", sentence, "createdb --encoding=UTF8 NAME, and restore a backup into it.")
    free = int(shown("max_connections")) - int(shown("superuser_reserved_connections"))
    sentence = f"PostgreSQL allows {free} connections; each web process opens up to {_CONNECTIONS}, and a worker some."
    if free < _CONNECTIONS + 10:
        yield warning("connections", sentence, f"Raise max_connections above {_CONNECTIONS + 10}, or use a pooler.")
    else:
        yield ok(
            "connections", f"{sentence} Room for {count(free // (_CONNECTIONS + 10), 'web process', 'web processes')}."
        )
    try:
        program = find_program("pg_dump", major)
    except Refused as error:
        yield warning("backup", f"Backups cannot be made: {error}", f"apt-get install postgresql-client-{major}")
    else:
        yield ok("backup", f"Backups are made by {program}.")

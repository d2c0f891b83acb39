"""All checks in order. One that fails itself is a finding, too, and the others still run."""

from collections.abc import Callable, Iterable, Iterator

from sqlalchemy.exc import SQLAlchemyError

from engine.errors import Refused
from engine.lifecycle.doctor import confined, database, installed, serving, signing_in, storing
from engine.lifecycle.doctor.finding import Finding, broken, ok
from engine.settings import Settings
from engine.workspace import OtherSchema, Workspace, open_workspace

Check = Callable[[], Iterable[Finding]]


def examine(settings: Settings, address: str | None = None) -> Iterator[Finding]:
    """Check an installation. Nothing is created; files that others can read are made private, as at every start.

    Args:
        settings: settings of the installation.
        address: address that people open, to try a proxy; None: it is not tried.

    Yields:
        The findings, each as soon as it is known.
    """
    yield from _run("program", installed.check_program)
    yield from _run("packages", lambda: installed.check_packages(settings))
    yield from _run("data folder", lambda: storing.check_folder(settings))
    yield from _run("disk", lambda: storing.check_disk(settings))
    yield from _run("clock", lambda: storing.check_clock(settings))
    yield from _run("database", lambda: examine_database(settings))
    yield from _run("port", lambda: serving.check_port(settings))
    yield from _run("proxy", lambda: serving.check_proxy(settings, address))
    yield from _run("single sign-on", lambda: signing_in.check_provider(settings))
    yield from _run("fonts", installed.check_fonts)
    yield from _run("OCR", lambda: installed.check_ocr(settings))
    yield from _run("confinement", lambda: confined.check_readers(settings))
    yield from _run("weights", lambda: installed.check_weights(settings))


def examine_database(settings: Settings) -> Iterator[Finding]:
    """Yield what is found in the database and the store of the files, once there is a database."""
    if not storing.database_exists(settings):
        yield ok("database", "There is no database yet; the first start creates it.")
        return
    try:
        workspace = open_workspace(settings, upgrade=False)
    except OtherSchema as error:
        yield broken("database", str(error), "See docs/deploy.md, Upgrade.")
        return
    except Refused as error:
        yield broken("files", str(error), "Correct GLOSSATOR_BLOBS and install its package, or free disk space.")
        return
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
        mend = "Start it, or correct GLOSSATOR_DATABASE_URL."
        yield broken("database", f"The database cannot be used: {reason}", mend)
        return
    try:
        for name, check in _OF_DATABASE:
            yield from _run(name, lambda: check(workspace))  # noqa: B023  (run at once)
    finally:
        workspace.close()


_OF_DATABASE: tuple[tuple[str, Callable[[Workspace], Iterable[Finding]]], ...] = (
    ("database", database.check_parts),
    ("database settings", lambda workspace: database.check_settings(workspace.database)),
    ("database clock", lambda workspace: database.check_moments(workspace.database)),
    ("models", database.check_models),
    ("login", database.check_admins),
    ("groups", signing_in.check_groups),
    ("last backup", database.check_backups),
)


def _run(name: str, check: Check) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:  # a check of what is broken may break in any way; the others still run
        yield broken(name, f"The check failed ({type(error).__name__}: {error}).", "Report this with the whole line.")

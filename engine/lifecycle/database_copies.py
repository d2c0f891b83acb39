"""Copies of a database while people work: SQLite by its backup API, PostgreSQL by pg_dump; and back."""

import errno
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from sqlalchemy import func, inspect, select, text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

import db.tables  # noqa: F401  (fills Base.metadata)
from db.base import Base
from db.session import Database
from engine.errors import Refused

FILES = {"sqlite": "database.sqlite", "postgresql": "database.dump"}  # names of the copies
_PAGES = 1_000  # of SQLite, in one step
_DEBIAN = Path("/usr/lib/postgresql")  # has the programs of each version
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
OnBytes = Callable[[int, int | None], None]  # done, and all where that is known


def count_rows(session: Session) -> dict[str, int]:
    """Return the number of rows by table."""
    tables = sorted(Base.metadata.tables.values(), key=lambda table: table.name)
    return {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def copy_database(session: Session, database: Database, target: Path, on_bytes: OnBytes) -> None:
    """Write the state that a session sees to a file, while others write.

    Args:
        session: of `Database.snapshot_read`.
        database: its database.
        target: new file.
        on_bytes: called as it grows.

    Raises:
        Refused: The database is damaged, or pg_dump is missing, too old or fails.
        OSError: The file cannot be written.
    """
    if database.dialect == "sqlite":
        _copy_sqlite(session, target, on_bytes)
    else:
        _dump(session, database.url, target, on_bytes)


def find_faults(file: Path) -> list[str]:
    """Return what SQLite finds wrong in a database file, at most a few sentences."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return sqlite_faults(connection.execute)


def sqlite_faults(execute: Callable[[str], Iterable[tuple[object, ...]]]) -> list[str]:
    """Return the first of what SQLite finds wrong in its pages, indexes and foreign keys."""
    lines = [str(row[0]) for row in execute("PRAGMA integrity_check(3)")]
    faults = [] if lines == ["ok"] else lines
    broken = {(str(row[0]), str(row[2])) for row in execute("PRAGMA foreign_key_check")}
    return faults + [f"rows of {child} name rows of {parent} that do not exist" for child, parent in sorted(broken)]


def place_sqlite(copy: Path, target: Path, rows: dict[str, int]) -> None:
    """Give a checked copy the name of the database.

    Args:
        copy: in the folder of the database, written through to the disk.
        target: the name.
        rows: number of rows by table, which it must have.

    Raises:
        Refused: It is damaged, has other rows, or there is a database.
    """
    faults = find_faults(copy)
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        counts = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in rows}
    if faults or counts != rows:
        raise Refused(f"The database of the backup is damaged: {faults[0] if faults else 'rows are missing'}.")
    try:
        target.hardlink_to(copy)
    except FileExistsError:
        raise Refused(f"There is a database at {target}; nothing is overwritten.") from None
    copy.unlink()


def is_empty(database: Database) -> bool:
    """Return whether a PostgreSQL database has no table."""
    with database.engine.connect() as connection:
        schemas = [name for name in inspect(connection).get_schema_names() if name != "information_schema"]
        return not any(inspect(connection).get_table_names(schema=name) for name in schemas)


def load_dump(database: Database, dump: Path, rows: dict[str, int]) -> None:
    """Restore a dump into an empty PostgreSQL database, in one transaction.

    Raises:
        Refused: pg_restore is missing, too old or fails, or the rows are others than `rows` (number by table).
    """
    with database.engine.connect() as connection:
        program = find_program("pg_restore", _server_version(connection.scalar(text("SHOW server_version_num"))))
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    _run([program, *options, f"--dbname={_address(database.url)}", str(dump)], database.url)
    with database.read() as session:
        counts = {name: session.scalar(text(f'SELECT count(*) FROM "{name}"')) for name in rows}
    if counts != rows:
        raise Refused("The restored database has other rows than the backup. Empty it and restore again.")


def _copy_sqlite(session: Session, target: Path, on_bytes: OnBytes) -> None:
    """Copy page by page within the session's transaction: its state stays, so writers never restart the copy."""
    size = session.scalar(text("PRAGMA page_size")) or 0
    session.scalar(text("SELECT count(*) FROM sqlite_master"))  # the transaction has its state from here on
    source = session.connection().connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    with closing(sqlite3.connect(target)) as copy:
        copy.execute("PRAGMA synchronous=OFF")  # it is flushed to the disk at the end

        def report(_status: int, remaining: int, pages: int) -> None:
            on_bytes((pages - remaining) * size, pages * size)

        try:
            source.backup(copy, pages=_PAGES, progress=report)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        if faults := sqlite_faults(copy.execute):
            raise Refused(f"The database is damaged: {faults[0]}. No backup was made; keep the earlier ones.")


def _dump(session: Session, address: URL, target: Path, on_bytes: OnBytes) -> None:
    program = find_program("pg_dump", _server_version(session.scalar(text("SHOW server_version_num"))))
    snapshot = session.scalar(select(func.pg_export_snapshot()))
    options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={target}"]

    def report() -> None:
        if target.exists():
            on_bytes(target.stat().st_size, None)

    _run([program, *options, f"--dbname={_address(address)}"], address, report)


def _run(command: list[str], address: URL, report: Callable[[], None] = lambda: None) -> None:
    """Run a program of PostgreSQL; the password goes by the environment, which other users cannot read."""
    password = {} if address.password is None else {"PGPASSWORD": str(address.password)}
    process = subprocess.Popen(command, env={**os.environ, **password}, stderr=subprocess.PIPE, text=True)
    try:
        while True:
            try:
                _, complaint = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                report()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode:
        lines = [line for line in complaint.strip().splitlines() if line]
        raise Refused(f"{Path(command[0]).name} failed: {lines[0] if lines else process.returncode}")


def find_program(name: str, version: int) -> str:
    """Return the path of a program of PostgreSQL that is as new as the server, from PATH or Debian's folders."""
    places = [shutil.which(name, path=place) for place in os.environ.get("PATH", "").split(os.pathsep) if place]
    places += [str(place) for place in sorted(_DEBIAN.glob(f"*/bin/{name}"))]
    seen = []
    for place in dict.fromkeys(place for place in places if place and Path(place).is_file()):
        told = subprocess.run([place, "--version"], capture_output=True, text=True, check=False).stdout
        number = _VERSION.search(told)
        if number and int(number[1]) >= version:
            return place
        seen.append(number[1] if number else told.strip())
    if seen:
        raise Refused(
            f"{name} of version {', '.join(dict.fromkeys(seen))} is older than the server, {version}. "
            f"Install postgresql-client-{version}."
        )
    raise Refused(f"{name} is not on the PATH. Install PostgreSQL's client programs (postgresql-client-{version}).")


def _server_version(number: object) -> int:
    return int(str(number)) // 10_000


def _address(address: URL) -> str:
    """Return an address as libpq reads it, without the password."""
    return address.set(drivername="postgresql", password=None).render_as_string(hide_password=False)

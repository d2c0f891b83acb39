"""The folder of an export: it gets its name when it is whole; an interrupted export resumes in it.

Files are written beside the target, in a folder named after the export. Its log, a SQLite file, names every finished
file with its SHA-256. The same export into the same target finds that folder, keeps the files that the log names, and
writes the rest.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self

from db.blobs import sha256_of
from engine.errors import Conflict, Refused
from engine.workspace import Workspace

_CHUNK = 1 << 20
LOG_FILE = ".finished.sqlite"
LOCK_FILE, MANIFEST_FILE = ".lock", "manifest.json"


@dataclass(frozen=True, slots=True)
class Written:
    """A file of an export: its path in the folder, its content's SHA-256, its size in bytes."""

    path: str
    sha256: str
    bytes: int


class Destination:
    """A folder that is being filled; a context manager.

    `finish` renames the folder to `out`; left without it, the folder stays for another try.

    Args:
        workspace: Where the stored files are.
        out: The target.
        name: Name of the export, so that another export to the same target does not go on with these files.

    Raises:
        Refused: `out` holds files, or cannot be written.
        Conflict: Another process writes the same export to it.
    """

    def __init__(self, workspace: Workspace, out: Path, name: str) -> None:
        check_free(out)
        self.out = out.absolute()
        self._workspace = workspace
        self.folder = self.out.parent / f".{self.out.name}.{name}.part"

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / LOCK_FILE).open("w")
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise Conflict(f"Another process is writing this export to {self.out}.") from None
        try:
            self._log = _Log(self.folder / LOG_FILE)
        except (OSError, sqlite3.Error) as error:
            self._lock.close()
            raise self._unwritable(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._log.close()
        self._lock.close()
        if isinstance(error, Refused):  # another try would end as this one did
            shutil.rmtree(self.folder, ignore_errors=True)
        elif isinstance(error, OSError | sqlite3.Error):
            raise self._unwritable(error) from None

    def blob(self, path: str, sha256: str) -> None:
        """Copy a stored file to `path` byte by byte; a file that an earlier try copied stays.

        Raises:
            Refused: The stored file was changed on disk.
        """
        entry = self._log.find(path)
        target = self.folder / path
        if entry is not None and entry.sha256 == sha256 and target.is_file() and target.stat().st_size == entry.bytes:
            self._log.add(entry)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.part")
        with self._workspace.blobs.open(sha256) as source:
            copied = _copy_file(source, temporary)
        if copied != sha256:
            raise Refused(f"The stored page image {sha256[:12]} was changed on disk; restore it from a backup.")
        temporary.replace(target)
        self._log.add(Written(path, sha256, target.stat().st_size))

    @contextmanager
    def text(self, path: str) -> Iterator[IO[str]]:
        """Open a file to write UTF-8 text to; lines end with a line feed on every system."""
        with self.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            yield file

    @contextmanager
    def file(self, path: str) -> Iterator[Path]:
        """Yield a path to write a file to; the file is renamed to `path` when the context ends."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.part")
        yield temporary
        temporary.replace(target)
        self._log.add(Written(path, sha256_of(target), target.stat().st_size))

    def manifest(self, content: dict[str, Any]) -> str:
        """Write manifest.json: `content`, then every finished file by path. Return its SHA-256."""
        with self.text(MANIFEST_FILE) as file:
            file.write(_json(content).removesuffix("\n}") + ',\n "files": [')
            for at, entry in enumerate(self._log.list_finished()):
                file.write(f"{',' if at else ''}\n  {json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True)}")
            file.write("\n ]\n}\n")
        written = self._log.find(MANIFEST_FILE)
        assert written is not None
        return written.sha256

    def json(self, path: str, content: Any) -> None:
        """Write a small JSON file, keys sorted."""
        with self.text(path) as file:
            file.write(_json(content) + "\n")

    def finish(self) -> None:
        """Delete files of an earlier try that this one did not write, and rename the folder to `out`."""
        for path in _files_in(self.folder):  # what an earlier try wrote, and this one did not
            if path not in (LOG_FILE, LOCK_FILE) and not self._log.has(path):
                (self.folder / path).unlink()
        self._log.close()
        for path in (LOG_FILE, LOCK_FILE):
            (self.folder / path).unlink()
        if self.out.is_dir():
            self.out.rmdir()
        self.folder.rename(self.out)

    def _unwritable(self, error: Exception) -> Refused:
        return Refused(f"The export cannot be written to {self.out}: {getattr(error, 'strerror', None) or error}.")


def check_free(out: Path) -> None:
    """Check that `out` is a new or an empty folder.

    Raises:
        Refused: It holds files, or is a file.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out.absolute()} is not empty; export into a new or an empty folder.")


def _files_in(folder: Path, within: str = "") -> Iterator[str]:
    """Yield the path of every file, relative to the folder; one folder's names are held, not all."""
    with os.scandir(folder / within) as entries:
        for entry in entries:
            path = f"{within}/{entry.name}" if within else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _files_in(folder, path)
            else:
                yield path


def _copy_file(source: BinaryIO, target: Path) -> str:
    """Copy an open file, and return the SHA-256 of what was written."""
    digest = hashlib.sha256()
    with target.open("wb") as writing:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            writing.write(chunk)
    return digest.hexdigest()


class _Log:
    """The log of finished files, on disk because there may be one for every answer.

    Files of an earlier try are known, but not finished until this try has them too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._open()
        except sqlite3.OperationalError:  # no room, no right: the log is as good as it was
            raise
        except sqlite3.DatabaseError:  # half of a file, of a machine that lost its power: nothing is known then
            self._base.close()
            path.unlink()
            self._open()

    def _open(self) -> None:
        # No transaction is awaited on the disk: what a power cut leaves of the log is held against the files' sizes.
        self._base = sqlite3.connect(self._path, isolation_level=None)
        self._base.execute("PRAGMA journal_mode=TRUNCATE")  # killed in the middle, it is mended from its journal
        self._base.execute("PRAGMA synchronous=OFF")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, sha256 TEXT, bytes INTEGER, now INTEGER) "
            "WITHOUT ROWID"
        )
        self._base.execute("UPDATE file SET now = 0")

    def find(self, path: str) -> Written | None:
        """Return the file of that path, as this try or an earlier one finished it."""
        row = self._base.execute("SELECT path, sha256, bytes FROM file WHERE path = ?", (path,)).fetchone()
        return Written(*row) if row else None

    def has(self, path: str) -> bool:
        """Whether this try finished a file of that path."""
        return self._base.execute("SELECT 1 FROM file WHERE path = ? AND now", (path,)).fetchone() is not None

    def add(self, one: Written) -> None:
        """Note a file that is finished."""
        self._base.execute("INSERT OR REPLACE INTO file VALUES (?, ?, ?, 1)", (one.path, one.sha256, one.bytes))

    def list_finished(self) -> Iterator[Written]:
        """Yield the files that this try finished, by path."""
        for row in self._base.execute("SELECT path, sha256, bytes FROM file WHERE now ORDER BY path"):
            yield Written(*row)

    def close(self) -> None:
        self._base.close()


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)

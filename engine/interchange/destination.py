"""Where an export is written: a folder that gets its name only when it is whole, and that an interrupted export goes on with.

Files are written beside the target, in a folder named after what is written; its log names every file that is finished, with its SHA-256. The
same export into the same target finds that folder, keeps what the log names, and writes the rest.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from db.blobs import sha256_of
from engine.errors import Conflict, Refused
from engine.workspace import Workspace

LOG_FILE = ".finished.jsonl"
MANIFEST_FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class Written:
    """A file of an export: its path in the folder, its content's SHA-256, its size in bytes."""

    path: str
    sha256: str
    bytes: int


class Destination:
    """A folder that is being filled; used as a context, which renames it to `out` by `finish` or leaves it for another try.

    `name`: of what is written, so that another export into the same place does not go on with these files. Refused when `out` holds
    files already or cannot be written; Conflict when another process writes the same export to it.
    """

    def __init__(self, workspace: Workspace, out: Path, name: str) -> None:
        check_free(out)
        self.out = out.absolute()
        self._workspace = workspace
        self.folder = self.out.parent / f".{self.out.name}.{name}.part"
        self._finished: dict[str, Written] = {}
        self._known: dict[str, Written] = {}  # of an earlier try

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / ".lock").open("w")
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise Conflict(f"Another process is writing this export to {self.out}.") from None
        self._known = {one.path: one for one in _logged(self.folder / LOG_FILE)}
        self._log = (self.folder / LOG_FILE).open("w", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._log.close()
        self._lock.close()
        if isinstance(error, Refused):  # another try would end as this one did
            shutil.rmtree(self.folder, ignore_errors=True)
        elif isinstance(error, OSError):
            raise self._unwritable(error) from None

    def blob(self, path: str, sha256: str) -> Written:
        """Copy a stored file to `path`, its bytes as they are; what was copied before stays. Refused when it was changed on disk."""
        there = self._known.get(path)
        target = self.folder / path
        if there is not None and there.sha256 == sha256 and target.is_file() and target.stat().st_size == there.bytes:
            return self._finish(there)
        target.parent.mkdir(parents=True, exist_ok=True)
        source = self._workspace.blobs.path(sha256)
        temporary = target.with_name(f".{target.name}.part")
        shutil.copyfile(source, temporary)
        if sha256_of(temporary) != sha256:
            raise Refused(f"The stored page image {sha256[:12]} was changed on disk; restore it from a backup.")
        temporary.replace(target)
        return self._finish(Written(path, sha256, target.stat().st_size))

    @contextmanager
    def text(self, path: str) -> Iterator[IO[str]]:
        """Open a file to write UTF-8 text to; lines end with a line feed on every system."""
        with self.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            yield file

    @contextmanager
    def file(self, path: str) -> Iterator[Path]:
        """Yield the path to write a file to, which has its name once the context is left."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.part")
        yield temporary
        temporary.replace(target)
        self._finish(Written(path, sha256_of(target), target.stat().st_size))

    def json(self, path: str, content: Any) -> None:
        """Write a small JSON file, keys sorted."""
        with self.text(path) as file:
            file.write(json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False) + "\n")

    @property
    def files(self) -> list[Written]:
        """The files that are finished, by path."""
        return sorted(self._finished.values(), key=lambda one: one.path)

    def finish(self) -> None:
        """Give the folder its name."""
        self._log.close()
        for path in (self.folder / LOG_FILE, self.folder / ".lock"):
            path.unlink(missing_ok=True)
        for path in sorted(self.folder.rglob("*"), reverse=True):  # of an earlier try that wrote something else
            if path.is_file() and str(path.relative_to(self.folder)) not in self._finished:
                path.unlink()
        if self.out.is_dir():
            self.out.rmdir()
        self.folder.rename(self.out)

    def _finish(self, written: Written) -> Written:
        if written.path not in self._finished:
            self._finished[written.path] = written
            self._log.write(json.dumps([written.path, written.sha256, written.bytes]) + "\n")
            self._log.flush()
        return written

    def _unwritable(self, error: OSError) -> Refused:
        return Refused(f"The export cannot be written to {self.out}: {error.strerror or error}.")


def check_free(out: Path) -> None:
    """Refuse a place that holds something already."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out.absolute()} is not empty; export into a new or an empty folder.")


def _logged(path: Path) -> Iterator[Written]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield Written(*json.loads(line))
        except (ValueError, TypeError):  # the last line of a process that was killed
            return

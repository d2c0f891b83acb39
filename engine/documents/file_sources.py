"""Files for a project, on this machine or as objects of a bucket, and parts of a job that take them in.

A part of an `engine.executors` executor may run on another machine: an object is fetched there, and a file of this
machine travels with its part unless the parts share this machine's disk.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.documents.bucket_files import new_objects, note_object
from engine.documents.ingest import ingest
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.executors.executor import Executor, Part, Report
from engine.jobs.cancellation import ShouldStop, check
from engine.settings import MEGABYTE
from engine.storage.object_store import ObjectStore, StoredObject, is_address, objects_at
from engine.text import name_of_path
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine; `content` where it travels to another one."""

    path: Path
    content: bytes | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return name_of_path(self.path.name)

    @property
    def place(self) -> str:
        """Return its path as it was given."""
        return name_of_path(str(self.path))

    def fetch(self, workspace: Workspace, folder: Path) -> Path:
        """Return its path here. Raises Refused for a named pipe, which would be waited for without end."""
        if self.content is not None:
            target = folder / "file"
            target.write_bytes(self.content)
            return target
        if self.path.exists() and not self.path.is_file():
            raise Refused(f"{self.name} is no regular file, so it was not read.")
        return self.path

    def packed(self, most_bytes: float) -> "LocalFile":
        """Return the file with its content, where that can be read here and is not too large to be read at all."""
        try:
            if self.path.is_file() and self.path.stat().st_size <= most_bytes:
                return replace(self, content=self.path.read_bytes())
        except OSError:
            pass  # the part says why
        return self

    def note(self, workspace: Workspace, project_id: str, document_id: str | None) -> None:
        """Do nothing: a file is known by its content."""


@dataclass(frozen=True, slots=True)
class BucketFile:
    """An object below the address of a bucket."""

    address: str
    line: StoredObject

    @property
    def name(self) -> str:
        """Return the last part of its key."""
        return self.line.key.rpartition("/")[2]

    @property
    def place(self) -> str:
        """Return its address."""
        return f"{self.address}/{self.line.key}"

    def fetch(self, workspace: Workspace, folder: Path) -> Path:
        """Fetch it into the folder, and return its path there."""
        target = folder / "object"
        _store(self.address, dumps(workspace.settings.blobs_options)).fetch(self.line.key, target)
        return target

    def note(self, workspace: Workspace, project_id: str, document_id: str | None) -> None:
        """Note that it was taken in as a document, or refused (None)."""
        note_object(workspace, project_id, self.address, self.line, document_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFile:
    """What became of a file: the document that it is now, or the reason and the sentence of its refusal.

    `created` is False for a document that was in the project before.
    """

    seconds: float
    sentence: str
    document_id: str | None = None
    created: bool = False
    pages: int = 0
    words: int = 0
    reason: str = ""


class BucketFiles:
    """The new objects of buckets; none is fetched here.

    Attributes:
        new: number of new or changed objects.
        known: number of objects that were taken in before.
    """

    def __init__(self, workspace: Workspace, project_id: str, addresses: Iterable[str], *, refused_again: bool) -> None:
        self._objects: list[tuple[str, list[StoredObject]]] = []
        self.new = self.known = 0
        for address in addresses:
            store, objects = objects_at(address, workspace.settings.blobs_options)
            new = list(new_objects(workspace, project_id, store.address, objects, refused=refused_again))
            self._objects.append((store.address, new))
            self.new += len(new)
            self.known += len(objects) - len(new)

    def __iter__(self) -> Iterator[BucketFile]:
        """Yield the new objects."""
        return (BucketFile(address, line) for address, objects in self._objects for line in objects)


def file_parts(
    workspace: Workspace,
    executor: Executor,
    files: Iterable[LocalFile | BucketFile],
    *,
    project_id: str,
    user_id: str | None,
    licence: str | None,
    on_begin: Callable[[LocalFile | BucketFile], None] = lambda file: None,
) -> Iterator[Part]:
    """Yield a part for each file, as the executor has room for it; see `take_file`."""
    most = workspace.settings.max_upload_mb * MEGABYTE
    for file in files:
        on_begin(file)
        if isinstance(file, LocalFile) and not executor.shares_disk:
            file = file.packed(most)
        yield Part(take_file, (file, project_id, user_id, licence))


def take_file(
    workspace: Workspace,
    file: LocalFile | BucketFile,
    project_id: str,
    user_id: str | None,
    licence: str | None,
    *,
    report: Report,
    should_stop: ShouldStop,
) -> TakenFile:
    """Take a file into a project, and return what became of it; see `engine.executors`."""
    check(should_stop)
    began = time.perf_counter()
    outcome: Mapping[str, Any]
    try:
        with TemporaryDirectory(prefix="glossator-") as folder:
            done = ingest(
                workspace,
                file.fetch(workspace, Path(folder)),
                name=file.name,
                project_id=project_id,
                user_id=user_id,
                licence=licence,
            )
        file.note(workspace, project_id, done.document_id)
        outcome = {
            "document_id": done.document_id,
            "created": done.created,
            "pages": done.pages,
            "words": done.words,
            "sentence": " ".join(done.warnings),
        }
    except DocumentRefused as error:
        file.note(workspace, project_id, None)
        outcome = {"reason": error.reason.value, "sentence": str(error)}
    except Refused as error:
        outcome = {"reason": "refused", "sentence": str(error)}
    except OSError as error:
        outcome = {"reason": "refused", "sentence": f"{file.name} cannot be read: {error.strerror or error}."}
    return TakenFile(seconds=round(time.perf_counter() - began, 2), **outcome)


def local_files(places: Iterable[str]) -> list[Path]:
    """Return the files among places of this machine, and those in folders, at any depth."""
    paths = [Path(place) for place in places if not is_address(place)]
    return [
        file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if not file.is_dir()
    ]


@cache
def _store(address: str, options: str) -> ObjectStore:
    """Return the store of an address, once a process: each one connects anew."""
    return ObjectStore(address, loads(options))

"""Files that `glossator ingest` reads: of this machine, and objects of buckets that are new."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.documents.bucket_files import new_objects, note_object
from engine.storage.object_store import ObjectStore, StoredObject, is_address, objects_at
from engine.text import name_of_path
from engine.workspace import Workspace


class LocalFile:
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name, self.place = name_of_path(path.name), name_of_path(str(path))

    def fetch(self) -> Path:
        """Return its path."""
        return self._path

    def note(self, document_id: str | None) -> None:
        """Do nothing: a file is known by its content."""


class BucketFile:
    """An object of a bucket."""

    def __init__(
        self, workspace: Workspace, project_id: str, store: ObjectStore, line: StoredObject, folder: Path
    ) -> None:
        self._workspace, self._project_id, self._store = workspace, project_id, store
        self._line, self._folder = line, folder
        self.name, self.place = line.key.rpartition("/")[2], f"{store.address}/{line.key}"

    def fetch(self) -> Path:
        """Fetch it into the folder, and return its path there."""
        target = self._folder / "object"
        target.unlink(missing_ok=True)
        self._store.fetch(self._line.key, target)
        return target

    def note(self, document_id: str | None) -> None:
        """Note that it was taken in as a document, or refused (None)."""
        note_object(self._workspace, self._project_id, self._store.address, self._line, document_id)


class BucketFiles:
    """The new objects of buckets; iterating fetches none before it is asked to.

    Attributes:
        new: number of new or changed objects.
        known: number of objects that were taken in before.
    """

    def __init__(self, workspace: Workspace, project_id: str, addresses: Iterable[str], *, refused_again: bool) -> None:
        self._workspace, self._project_id = workspace, project_id
        self._objects: list[tuple[ObjectStore, list[StoredObject]]] = []
        self.new = self.known = 0
        for address in addresses:
            store, objects = objects_at(address, workspace.settings.blobs_options)
            new = list(new_objects(workspace, project_id, store.address, objects, refused=refused_again))
            self._objects.append((store, new))
            self.new += len(new)
            self.known += len(objects) - len(new)

    def __iter__(self) -> Iterator[BucketFile]:
        """Yield the new objects; each one's file is replaced by the next."""
        with TemporaryDirectory(prefix="glossator-") as folder:
            for store, objects in self._objects:
                for line in objects:
                    yield BucketFile(self._workspace, self._project_id, store, line, Path(folder))


def local_files(places: Iterable[str]) -> list[Path]:
    """Return the files among places of this machine, and those in folders, at any depth."""
    paths = [Path(place) for place in places if not is_address(place)]
    return [
        file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if not file.is_dir()
    ]

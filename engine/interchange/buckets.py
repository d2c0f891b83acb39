"""Datasets in buckets: fetched to be imported, and exported into one.

An export is uploaded under a mark that names its manifest. The manifest comes last: where there is one, the export is
complete. The same export again goes on with the files that are missing.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.errors import Refused
from engine.interchange.destination import MANIFEST_FILE
from engine.storage.object_store import ObjectStore, objects_at

_AT_ONCE = 8  # files; waits for the network overlap
_MARK = ".uploading-"


@contextmanager
def fetched_set(address: str, options: Mapping[str, Any]) -> Iterator[Path]:
    """Yield a local copy of a dataset, a folder or a file, until the context ends.

    Raises:
        Refused: Nothing is at the address, it is unknown, its export is not complete, or a key leads out of the folder.
        StoreUnavailable: The store does not answer, or refuses access.
    """
    store, objects = objects_at(address, options)
    if any(line.key.startswith(_MARK) for line in objects):
        raise Refused(f"The export to {address} is not complete. Run it again to go on with it.")
    with TemporaryDirectory(prefix="glossator-") as name:
        folder = Path(name) / (store.address.rpartition("/")[2] or "set")
        folder.mkdir()

        def fetch(key: str) -> None:
            target = folder / key
            if not target.resolve().is_relative_to(folder.resolve()):
                raise Refused(f"The key {key!r} leads out of {address}. Rename the object.")
            target.parent.mkdir(parents=True, exist_ok=True)
            store.fetch(key, target)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(fetch, (line.key for line in objects)))
        yield folder if store.address == address.rstrip("/") else folder / objects[0].key


def check_free(store: ObjectStore, manifest_sha256: str | None = None) -> None:
    """Check that nothing is at an address but a part of the same export.

    Args:
        store: the address.
        manifest_sha256: manifest of the export; None: any part of an export passes.

    Raises:
        Refused: Something else is there.
    """
    keys = {line.key for line in store.list_objects()}
    mark = _MARK if manifest_sha256 is None else f"{_MARK}{manifest_sha256}"
    if keys and not any(key.startswith(mark) for key in keys):
        raise Refused(f"{store.address} is not empty; export into a new prefix.")


def upload_export(
    store: ObjectStore, folder: Path, manifest_sha256: str, on_file: Callable[[int, int], None] = lambda *_: None
) -> int:
    """Upload the folder of an export; files that an earlier try uploaded stay.

    Args:
        store: where it goes.
        folder: the export.
        manifest_sha256: of its manifest, which names all files by their hashes.
        on_file: called with the files that are there, and all files.

    Returns:
        The number of files uploaded now.

    Raises:
        Refused: Another export or something else is at the address.
        StoreUnavailable: The store does not answer; the same call goes on.
    """
    check_free(store, manifest_sha256)
    mark = f"{_MARK}{manifest_sha256}"
    store.put(mark, b"?")
    known = {line.key: line.bytes for line in store.list_objects()}
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST_FILE)
    uploaded = 0

    def upload(path: Path) -> bool:
        key = path.relative_to(folder).as_posix()
        if known.get(key) == path.stat().st_size:
            return False
        store.put_file(key, path)
        return True

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done, new in enumerate(pool.map(upload, files), 1):
            uploaded += new
            on_file(done, len(files) + 1)
    store.put_file(MANIFEST_FILE, folder / MANIFEST_FILE)
    store.remove(mark)
    return uploaded + 1

"""Objects at an address of fsspec: written whole, read by ranges, listed; repeated while the store does not answer.

An object store (S3, GCS, Azure) shows an object when its upload is complete. Other file systems, such as SFTP, write
to a temporary key first and rename.
"""

import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.core import split_protocol

from db.blobs import StoreUnavailable
from engine.errors import Refused

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 20.0
RANGE_BYTES = 8 << 20  # of one request
_PAUSES = (0.2, 2.0)  # seconds before the second request, and at most; each pause doubles
_WHOLE = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "memory", "oss", "r2"}
_NEW = ".new-"
PACKAGES = {  # package of fsspec and extra of Glossator that installs it, by protocol
    **dict.fromkeys(("s3", "s3a"), ("s3fs", "s3")),
    **dict.fromkeys(("gs", "gcs"), ("gcsfs", "gcs")),
    **dict.fromkeys(("az", "abfs", "abfss"), ("adlfs", "azure")),
}
_OURS = (TypeError, AttributeError, NotImplementedError, AssertionError)  # mistakes of a program, not of a network
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a listing.

    Attributes:
        key: its place below the address.
        bytes: its size.
        modified: when it was written (seconds since 1970); 0 if the store does not say.
        mark: what changes with its content: ETag, or time and size.
    """

    key: str
    bytes: int
    modified: float
    mark: str


class ObjectStore:
    """Objects below an address; safe for threads and for processes that fork.

    Args:
        address: such as s3://bucket/prefix, gs://bucket/prefix, az://container/prefix.
        options: arguments of fsspec's file system, such as endpoint_url, key, secret.
        patience: seconds for which a request is repeated while the store does not answer; None: 20.

    Raises:
        Refused: The address is unknown, or the package for it is not installed.
    """

    def __init__(self, address: str, options: Mapping[str, Any], patience: float | None = None) -> None:
        self.address = address.rstrip("/")
        self.options = {"use_listings_cache": False, "skip_instance_cache": True, **options}
        self._patience = PATIENCE_SECONDS if patience is None else patience
        self._protocol = split_protocol(address)[0] or ""
        self._lock = threading.Lock()
        self._opened: tuple[int, fsspec.AbstractFileSystem] | None = None
        try:
            kind = fsspec.get_filesystem_class(self._protocol) if self._protocol else None
        except ImportError as error:
            _, extra = PACKAGES.get(self._protocol, ("", ""))
            remedy = f"pip install -c constraints.txt -e '.[{extra}]'" if extra else str(error)
            raise Refused(f"{self.address} needs a package that is not installed: {remedy}") from None
        except ValueError:
            kind = None
        if kind is None:
            raise Refused(f"{address!r} is no address of an object store. Write for example s3://bucket/prefix.")
        self._root = str(kind._strip_protocol(self.address))

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key; complete and durable when it returns."""
        self._put(key, len(content), lambda files, place: files.pipe_file(place, content))

    def put_file(self, key: str, source: Path) -> None:
        """Store a file, which must not change meanwhile, under a key; complete and durable when it returns."""
        self._put(key, source.stat().st_size, lambda files, place: files.put_file(str(source), place))

    def chunks(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end`, a range request each; FileNotFoundError if there is no object.

        A request that fails is repeated alone, so a lost connection costs one range.
        """
        if end is None:
            end = self.size(key)
            if end is None:
                raise FileNotFoundError(f"{self.address}/{key}")
        while start < end:
            following = min(end, start + RANGE_BYTES)
            content = self._lasting(lambda files, a=start, b=following: files.cat_file(self._at(key), start=a, end=b))  # type: ignore[misc]
            if not content:
                return
            yield content
            start += len(content)

    def size(self, key: str) -> int | None:
        """Return the bytes of an object; None if there is none."""
        entry = self.find(key)
        return None if entry is None else entry.bytes

    def find(self, key: str) -> StoredObject | None:
        """Return an object as a listing has it; None if there is none."""
        try:
            line = self._lasting(lambda files: files.info(self._at(key)))
        except FileNotFoundError:
            return None
        return _to_stored(key, line) if line["type"] == "file" else None

    def list_objects(self, below: str = "") -> Iterator[StoredObject]:
        """Yield the objects whose key is below a folder, by key; the listing is held in memory."""
        root = self._at(below)
        try:
            lines = self._lasting(lambda files: files.find(root, detail=True))
        except FileNotFoundError:
            return
        for name in sorted(lines):
            line = lines[name]
            key = str(line["name"]).removeprefix(self._root).lstrip("/")
            if line["type"] == "file" and key and not key.rpartition("/")[2].startswith(_NEW):
                yield _to_stored(key, line)

    def fetch(self, key: str, target: Path) -> None:
        """Write an object to a new file; FileNotFoundError if there is none."""
        with target.open("xb") as file:
            for chunk in self.chunks(key):
                file.write(chunk)

    def list_folders(self) -> list[str]:
        """Return the names of the folders right below the address, sorted."""
        try:
            lines = self._lasting(lambda files: files.ls(self._root, detail=True))
        except FileNotFoundError:
            return []
        return sorted(str(line["name"]).rstrip("/").rpartition("/")[2] for line in lines if line["type"] == "directory")

    def remove(self, key: str) -> None:
        """Delete an object; nothing happens if there is none."""
        try:
            self._lasting(lambda files: files.rm_file(self._at(key)))
        except FileNotFoundError:
            return

    def check_writable(self) -> None:
        """Write a small object the first time, and look for it from then on. Raises StoreUnavailable."""
        key = ".reachable"
        if self.size(key) is None:
            self.put(key, b"?")

    def _put(self, key: str, size: int, write: Callable[[fsspec.AbstractFileSystem, str], object]) -> None:
        place = self._at(key)

        def act(files: fsspec.AbstractFileSystem) -> None:
            if self._protocol in _WHOLE:
                write(files, place)
                return
            folder, _, name = place.rpartition("/")
            temporary = f"{folder}/{_NEW}{uuid.uuid4().hex}"
            files.makedirs(folder, exist_ok=True)
            write(files, temporary)
            files.mv(temporary, f"{folder}/{name}")

        try:
            self._lasting(act)
            stored = self.size(key)
        except FileNotFoundError as error:
            raise StoreUnavailable(f"{self.address} does not exist. Make the bucket, or check its name.") from error
        if stored != size:
            raise StoreUnavailable(f"{self.address} stored {stored} of {size} bytes of {key}; nothing was saved.")

    def _at(self, key: str) -> str:
        return f"{self._root}/{key}" if key else self._root

    def _files(self) -> fsspec.AbstractFileSystem:
        """Return the file system of this process: one that was made before a fork has lost its threads."""
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), fsspec.filesystem(self._protocol, **self.options)
            return self._opened[1]

    def _lasting(self, act: Callable[[fsspec.AbstractFileSystem], T]) -> T:
        """Call `act`, which must be harmless to do twice, until the store answers or patience ends."""
        latest, pause = time.monotonic() + self._patience, _PAUSES[0]
        while True:
            try:
                return act(self._files())
            except (FileNotFoundError, *_OURS):
                raise
            except PermissionError as error:
                raise StoreUnavailable(
                    f"{self.address} refuses access ({_first_line(error)}). Check the keys in GLOSSATOR_BLOBS_OPTIONS "
                    "or the environment, and their rights."
                ) from error
            except Exception as error:  # each package has exceptions of its own
                if time.monotonic() > latest:
                    raise StoreUnavailable(
                        f"{self.address} does not answer ({_first_line(error)}); nothing was saved. Try again, "
                        "or check the network and GLOSSATOR_BLOBS."
                    ) from error
                _log.warning("%s does not answer (%s); trying again", self.address, _first_line(error))
            time.sleep(pause)
            pause = min(2 * pause, _PAUSES[1])


def is_address(place: str) -> bool:
    """Return whether a place is an address of a bucket, and no path."""
    return "://" in place


def objects_at(address: str, options: Mapping[str, Any]) -> tuple[ObjectStore, list[StoredObject]]:
    """Return the store and the objects of an address: those below it, or the one of that very name.

    Raises:
        Refused: The address is unknown, or the package for it is not installed, or nothing is there.
        StoreUnavailable: The store does not answer, or refuses access.
    """
    store = ObjectStore(address, options)
    objects = list(store.list_objects())
    if objects:
        return store, objects
    folder, _, name = store.address.rpartition("/")
    if name and not folder.endswith(":/"):  # not the bucket itself
        store = ObjectStore(folder, options)
        if store.size(name) is not None:
            return store, [line for line in store.list_objects(name) if line.key == name]
    raise Refused(f"Nothing is at {address}. Check the bucket and the prefix.")


def _to_stored(key: str, line: Mapping[str, Any]) -> StoredObject:
    # S3 and GCS say LastModified and updated, Azure last_modified, folders mtime, fsspec's memory created.
    names = ("LastModified", "last_modified", "updated", "mtime", "created")
    written = next((line[name] for name in names if line.get(name)), 0.0)
    if isinstance(written, str):
        written = datetime.fromisoformat(written)
    modified = written.timestamp() if isinstance(written, datetime) else float(written)
    size = int(line["size"] or 0)
    tag = str(line.get("ETag") or line.get("etag") or line.get("md5Hash") or "").strip('"')
    return StoredObject(key, size, modified, tag or f"{modified:.6f}-{size}")


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")

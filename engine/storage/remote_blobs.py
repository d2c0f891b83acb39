"""Blobs in an object store, with local copies of those in use.

What is acknowledged is in the object store, whole: local copies may be deleted at any time while no process runs.
"""

import contextlib
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from db.blobs import PUT_SECONDS, BlobMissing, BlobStore, StoredBlob, key_of, sha256_of
from engine.storage.blob_cache import BlobCache, WrongContent
from engine.storage.object_store import ObjectStore

_HELD = 64  # paths that a process keeps at a time
_TRIES = 5  # to fetch a copy that another process deletes, or whose bytes were changed on the way


class RemoteBlobs(BlobStore):
    """Blobs in an object store. Each copy's SHA-256 is checked when it is fetched."""

    def __init__(self, objects: ObjectStore, cache: BlobCache) -> None:
        self._objects, self._cache = objects, cache
        self.folder, self.address = cache.folder, objects.address
        self._held: OrderedDict[str, BinaryIO] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, content: bytes) -> str:
        """Store bytes; storing the same content again changes nothing. Returns their SHA-256 (hex)."""
        sha256 = hashlib.sha256(content).hexdigest()
        key = key_of(sha256)
        if not self._put_lately(key, len(content)):
            self._objects.put(key, content)
            with contextlib.suppress(OSError):  # a full disk: the blob is stored, and fetched when it is read
                if (copy := self._cache.fill(sha256, iter((content,)))) is not None:
                    copy.close()
        return sha256

    def put_file(self, source: Path) -> str:
        """Store a copy of a file; it is uploaded from a local copy, which the source's writer cannot change."""
        known = sha256_of(source)
        if self._put_lately(key_of(known), source.stat().st_size):
            return known
        with self._cache.copied(source) as (copy, sha256):
            self._objects.put_file(key_of(sha256), copy)
        return sha256

    def open(self, sha256: str) -> BinaryIO:
        """Open the local copy of a blob, which is fetched if there is none; BlobMissing if there is no blob."""
        return self._copy(sha256, hold=False)

    def path(self, sha256: str) -> Path:
        """Return the path of the local copy of a blob, held while it is among the last 64 that were asked for."""
        place = self.folder / key_of(sha256)
        with self._lock:
            if sha256 in self._held and place.exists():
                self._held.move_to_end(sha256)
                return place
        file = self._copy(sha256, hold=True)
        with self._lock:
            former = [self._held.pop(sha256)] if sha256 in self._held else []
            self._held[sha256] = file
            if len(self._held) > _HELD:
                former.append(self._held.popitem(last=False)[1])
        for released in former:
            released.close()
        return place

    def chunks(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end` by range requests."""
        try:
            yield from self._objects.chunks(key_of(sha256), start, end)
        except FileNotFoundError:
            raise self._missing(sha256) from None

    def size(self, sha256: str) -> int | None:
        """Return the bytes of a blob in the object store; None if there is none."""
        return self._objects.size(key_of(sha256))

    def list_blobs(self) -> Iterator[StoredBlob]:
        """Yield all blobs of the object store, by name; a 256th part is held in memory."""
        for folder in self._objects.list_folders():
            for line in self._objects.list_objects(folder):
                sha256 = line.key.rpartition("/")[2]
                if len(sha256) == 64 and line.key == key_of(sha256):
                    yield StoredBlob(sha256, line.bytes, line.modified)

    def remove(self, sha256: str) -> None:
        """Delete a blob that nothing needs, and its local copy; copies on other machines go in time."""
        self._objects.remove(key_of(sha256))
        self._cache.remove(sha256)

    def remove_unless_put(self, sha256: str, since: float) -> bool:
        """Delete a blob that no row names, unless it was put since that moment; return whether it is gone."""
        stored = self._objects.find(key_of(sha256))
        if stored is not None and stored.modified >= since:
            return False
        self.remove(sha256)
        return True

    def clean_up(self) -> int:
        """Delete local copies that killed processes left incomplete. Returns their number."""
        return self._cache.clean_up()

    def check_writable(self) -> None:
        """Raise StoreUnavailable where the object store does not answer, OSError for the folder of the copies."""
        self._objects.check_writable()
        self._cache.check_writable()

    def _put_lately(self, key: str, size: int) -> bool:
        """Return whether a blob is there and stays (`remove_unless_put`) until rows name it.

        An older one is uploaded once more, so that the store notes when it was put.
        """
        stored = self._objects.find(key)
        return stored is not None and stored.bytes == size and stored.modified > time.time() - PUT_SECONDS / 2

    def _copy(self, sha256: str, *, hold: bool) -> BinaryIO:
        key = key_of(sha256)
        for _ in range(_TRIES):
            if (file := self._cache.find(sha256, hold=hold)) is not None:
                return file
            try:
                fetched = self._cache.fill(sha256, self._objects.chunks(key), hold=hold)
            except FileNotFoundError:
                raise self._missing(sha256) from None
            except WrongContent:  # once more: it may have been changed on the way
                continue
            if fetched is not None:
                return fetched
        raise BlobMissing(f"{self.address}/{key} was changed: its content is not that of its name. Restore it.")

    def _missing(self, sha256: str) -> BlobMissing:
        return BlobMissing(f"The file {sha256[:12]}... is missing from {self.address}.")

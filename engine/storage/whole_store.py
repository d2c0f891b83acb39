"""Work on all blobs of a store: copy them to another one, read their hashes, delete what nothing names."""

import hashlib
import heapq
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from db.blobs import BlobMissing, BlobStore, StoredBlob

_AT_ONCE = 8  # blobs; waits for the network overlap
OnBlob = Callable[[StoredBlob], None]
T = TypeVar("T")


@dataclass(slots=True)
class Moved:
    """What a move did: blobs copied now, their bytes, blobs that were there already, and damaged ones left behind."""

    copied: int = 0
    bytes: int = 0
    known: int = 0
    damaged: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Checked:
    """What a check saw: blobs, their bytes, names of damaged and missing ones, and those that no row names."""

    blobs: int = 0
    bytes: int = 0
    damaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unnamed: int = 0
    unnamed_bytes: int = 0


def move(source: BlobStore, target: BlobStore, on_blob: OnBlob = lambda _: None) -> Moved:
    """Copy the blobs that `target` lacks, or has with another size; the source stays as it is.

    Both are listed by name, so a move that was stopped goes on with the first blob that is not there.

    Args:
        source: where the blobs are.
        target: where they go.
        on_blob: called with each blob that is there now.
    """
    moved = Moved()
    with tempfile.TemporaryDirectory(prefix="glossator-") as folder:

        def copy(blob: StoredBlob) -> bool:
            return _copy(source, target, blob.sha256, Path(folder) / blob.sha256)

        for blob, whole in _overlapping(copy, _lacking(source, target, moved, on_blob)):
            if whole:
                moved.copied += 1
                moved.bytes += blob.bytes
            else:
                moved.damaged.append(blob.sha256)
            on_blob(blob)
    return moved


def check(
    blobs: BlobStore, named: Collection[bytes], needed: Iterable[bytes], *, read: bool, on_blob: OnBlob = lambda _: None
) -> Checked:
    """Compare a store with the names of the database, and each content with its name.

    Args:
        blobs: the store.
        named: names in the database.
        needed: those of them whose blobs must be there.
        read: read all contents; otherwise only names are compared.
        on_blob: called with each blob that was checked.
    """
    checked = Checked()
    missing = set(needed)

    def is_whole(blob: StoredBlob) -> bool:
        return not read or _sha256(blobs, blob.sha256) in (blob.sha256, None)

    for blob, whole in _overlapping(is_whole, blobs.list_blobs()):
        name = bytes.fromhex(blob.sha256)
        missing.discard(name)
        checked.blobs += 1
        checked.bytes += blob.bytes
        if not whole:
            checked.damaged.append(blob.sha256)
        if name not in named:
            checked.unnamed += 1
            checked.unnamed_bytes += blob.bytes
        on_blob(blob)
    checked.missing = sorted(name.hex() for name in missing)
    return checked


def unnamed(blobs: BlobStore, named: Collection[bytes], hours: float) -> Iterator[StoredBlob]:
    """Yield the blobs that no row names, and that were written more than so many hours ago: a row may follow."""
    latest = time.time() - hours * 3600
    for blob in blobs.list_blobs():
        if blob.modified < latest and bytes.fromhex(blob.sha256) not in named:
            yield blob


def _lacking(source: BlobStore, target: BlobStore, moved: Moved, on_blob: OnBlob) -> Iterator[StoredBlob]:
    """Yield the blobs of the source that the target lacks; both listings are in the order of the names."""
    there = ((blob.sha256, 0, blob) for blob in target.list_blobs())
    wanted = ((blob.sha256, 1, blob) for blob in source.list_blobs())
    for _, same in groupby(heapq.merge(there, wanted, key=lambda line: line[:2]), key=lambda line: line[0]):
        *known, (_, of_source, blob) = same
        if not of_source:
            continue
        if known and known[0][2].bytes == blob.bytes:
            moved.known += 1
            on_blob(blob)
        else:
            yield blob


def _copy(source: BlobStore, target: BlobStore, sha256: str, temporary: Path) -> bool:
    """Copy a blob; return whether its content is that of its name. Otherwise nothing is copied."""
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as file:
            for chunk in source.chunks(sha256):
                digest.update(chunk)
                file.write(chunk)
        return digest.hexdigest() == sha256 and target.put_file(temporary) == sha256
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(blobs: BlobStore, sha256: str) -> str | None:
    """Return the SHA-256 of a blob's content; None if it was removed meanwhile."""
    digest = hashlib.sha256()
    try:
        for chunk in blobs.chunks(sha256):
            digest.update(chunk)
    except BlobMissing:
        return None
    return digest.hexdigest()


def _overlapping(act: Callable[[StoredBlob], T], blobs: Iterable[StoredBlob]) -> Iterator[tuple[StoredBlob, T]]:
    """Yield each blob with the result of `act`, in order; several run at a time."""
    waiting: deque[tuple[StoredBlob, Future[T]]] = deque()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="blobs") as pool:
        try:
            for blob in blobs:
                waiting.append((blob, pool.submit(act, blob)))
                if len(waiting) >= 2 * _AT_ONCE:
                    earliest, result = waiting.popleft()
                    yield earliest, result.result()
            while waiting:
                earliest, result = waiting.popleft()
                yield earliest, result.result()
        finally:
            pool.shutdown(cancel_futures=True)

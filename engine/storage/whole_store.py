"""Work on all blobs of a store: copy them to another one, read their hashes, delete what nothing names."""

import hashlib
import heapq
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from db.blobs import BlobMissing, BlobStore, StoredBlob

_AT_ONCE = 8  # blobs; waits for the network overlap
OnBlob = Callable[[StoredBlob], None]
B = TypeVar("B")
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
    known = 0

    def pass_over(blob: StoredBlob) -> None:
        nonlocal known
        known += 1
        on_blob(blob)

    moved = copy(source, target, lacking(source, target, pass_over), on_blob)
    moved.known = known
    return moved


def copy(source: BlobStore, target: BlobStore, blobs: Iterable[StoredBlob], on_blob: OnBlob = lambda _: None) -> Moved:
    """Copy blobs from one store to another; damaged ones are left behind. `on_blob` is called with each."""
    moved = Moved()
    for blob, whole in _overlapping(lambda blob: target.put_chunks(blob.sha256, source.chunks(blob.sha256)), blobs):
        if whole:
            moved.copied += 1
            moved.bytes += blob.bytes
        else:
            moved.damaged.append(blob.sha256)
        on_blob(blob)
    return moved


def lacking(source: BlobStore, target: BlobStore, on_known: OnBlob = lambda _: None) -> Iterator[StoredBlob]:
    """Yield the blobs of the source that the target lacks, or has with another size, in the order of the names.

    `on_known` is called with each blob of the source that is in the target.
    """
    stored = ((blob.sha256, 0, blob) for blob in target.list_blobs())
    wanted = ((blob.sha256, 1, blob) for blob in source.list_blobs())
    for _, same in groupby(heapq.merge(stored, wanted, key=lambda line: line[:2]), key=lambda line: line[0]):
        *known, (_, of_source, blob) = same
        if not of_source:
            continue
        if known and known[0][2].bytes == blob.bytes:
            on_known(blob)
        else:
            yield blob


def find_damaged(blobs: BlobStore, names: Iterable[str], on_name: Callable[[str], None]) -> list[str]:
    """Return those of the names whose blobs are missing or have other content. `on_name` is called with each."""
    damaged = []
    for name, content in _overlapping(lambda name: _sha256(blobs, name), names):
        if content != name:
            damaged.append(name)
        on_name(name)
    return damaged


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


def _sha256(blobs: BlobStore, sha256: str) -> str | None:
    """Return the SHA-256 of a blob's content; None if it was removed meanwhile."""
    digest = hashlib.sha256()
    try:
        for chunk in blobs.chunks(sha256):
            digest.update(chunk)
    except BlobMissing:
        return None
    return digest.hexdigest()


def _overlapping(act: Callable[[B], T], items: Iterable[B]) -> Iterator[tuple[B, T]]:
    """Yield each item with the result of `act`, in order; several run at a time."""
    waiting: deque[tuple[B, Future[T]]] = deque()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="blobs") as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(act, item)))
                if len(waiting) >= 2 * _AT_ONCE:
                    earliest, result = waiting.popleft()
                    yield earliest, result.result()
            while waiting:
                earliest, result = waiting.popleft()
                yield earliest, result.result()
        finally:
            pool.shutdown(cancel_futures=True)

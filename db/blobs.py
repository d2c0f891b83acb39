"""Store content-addressed files: uploads, rendered pages, manifests, checkpoints.

`BlobStore` is what all stores offer, `BlobFolder` the local one. engine/storage holds the others. A blob is complete or
absent, and durable before the row that names it is written. In a folder, it is written to a temporary name, flushed to
disk, and renamed to its SHA-256.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from db import private

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
PUT_SECONDS = 3600.0  # after it is put: rows that name a blob follow within that time
_NEW = ".new-"  # prefix of files that have no final name yet


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file (hex), reading it in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(sha256: str) -> str:
    """Return the place of a blob below its store, the same in all stores; ValueError for a name that is no SHA-256."""
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal.")
    return f"{sha256[:2]}/{sha256}"


def _write(chunks: Iterable[bytes], file: IO[bytes]) -> str:
    """Write pieces to a file, and return their SHA-256 (hex)."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        file.write(chunk)
    return digest.hexdigest()


class BlobMissing(LookupError):
    """The file of a row is missing: the folder was changed by hand, or a backup was restored in part."""


class StoreUnavailable(Exception):
    """The store of the blobs does not answer, or refuses access; nothing was acknowledged."""


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """A blob of a listing: its name, its bytes, and when it was written (seconds since 1970)."""

    sha256: str
    bytes: int
    modified: float


class BlobStore(ABC):
    """A store of blobs, named by their SHA-256 (hex).

    All methods that take such a name raise ValueError for anything else, and those of a remote store raise
    StoreUnavailable.

    Attributes:
        folder: local folder of the blobs, or of the copies of a remote store's blobs.
        address: where the blobs are, for people.
    """

    folder: Path
    address: str

    @abstractmethod
    def put(self, content: bytes) -> str:
        """Store bytes; storing the same content again changes nothing.

        Returns:
            The SHA-256 of `content` (hex).
        """

    @abstractmethod
    def put_file(self, source: Path) -> str:
        """Store a copy of a file without reading it into memory.

        Returns:
            The SHA-256 of the file (hex).
        """

    def put_chunks(self, sha256: str, chunks: Iterable[bytes]) -> bool:
        """Store the pieces of a blob under its name; return False, and store nothing, if they are other content."""
        with tempfile.NamedTemporaryFile(prefix="glossator-") as file:
            digest = _write(chunks, file)
            file.flush()
            return digest == sha256 and self.put_file(Path(file.name)) == sha256

    @abstractmethod
    def open(self, sha256: str) -> BinaryIO:
        """Open a blob to read it; BlobMissing if there is none.

        It stays readable until it is closed, whatever becomes of the local copy.
        """

    @abstractmethod
    def path(self, sha256: str) -> Path:
        """Return the local path of a blob; BlobMissing if there is none.

        The copy of a remote blob stays there while it is among the last 64 paths that this process asked for. Code
        that reads many blobs uses `open`.
        """

    @abstractmethod
    def chunks(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end` in pieces, as they are stored, without making a local copy."""

    @abstractmethod
    def size(self, sha256: str) -> int | None:
        """Return the bytes of a blob; None if there is none."""

    @abstractmethod
    def list_blobs(self) -> Iterator[StoredBlob]:
        """Yield all blobs, by name."""

    @abstractmethod
    def remove(self, sha256: str) -> None:
        """Delete a blob that nothing needs; only an explicit, audited command may call this."""

    @abstractmethod
    def remove_unless_put(self, sha256: str, since: float) -> bool:
        """Delete a blob that no row names, unless it was put since that moment (seconds since 1970), also once more.

        Returns:
            Whether the blob is gone.
        """

    @abstractmethod
    def clean_up(self) -> int:
        """Delete local files that killed processes left incomplete; files being written stay. Return their number."""

    @abstractmethod
    def check_writable(self) -> None:
        """Raise OSError or StoreUnavailable where nothing can be written. Costs the same for any number of blobs."""

    def read(self, sha256: str) -> bytes:
        """Return the content of a blob; BlobMissing if there is none."""
        with self.open(sha256) as file:
            return file.read()

    def __contains__(self, sha256: str) -> bool:
        return self.size(sha256) is not None

    def free_bytes(self) -> int:
        """Return the free bytes of the local disk that holds the blobs, or the copies."""
        return shutil.disk_usage(self.folder).free


class BlobFolder(BlobStore):
    """A folder of blobs, named by content, in 256 subfolders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = str(folder)
        private.make_folder(folder)

    def put(self, content: bytes) -> str:
        """Store bytes; storing the same content again changes nothing.

        Returns:
            The SHA-256 of `content` (hex).
        """
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._put_again(sha256):
            with self._temporary() as (file, name):
                file.write(content)
                self._settle(file, name, sha256)
        return sha256

    def put_file(self, source: Path) -> str:
        """Store a copy of a file without reading it into memory.

        A file that is already stored is not copied, so that stored documents keep working on a full disk.

        Returns:
            The SHA-256 of the file (hex).
        """
        if self._put_again(known := sha256_of(source)):
            return known
        with self._copied(source) as (writing, name, sha256):
            if not self._put_again(sha256):
                self._settle(writing, name, sha256)
        return sha256

    def put_chunks(self, sha256: str, chunks: Iterable[bytes]) -> bool:
        """Store the pieces of a blob under its name; return False, and store nothing, if they are other content."""
        with self._temporary() as (file, name):
            if _write(chunks, file) != sha256:
                return False
            self._settle(file, name, sha256)
        return True

    def path(self, sha256: str) -> Path:
        """Return the path of a blob; BlobMissing if there is none."""
        place = self._place(sha256)
        if not place.exists():
            raise BlobMissing(f"The file {sha256[:12]}... is missing from {self.folder}.")
        return place

    def open(self, sha256: str) -> BinaryIO:
        """Open a blob to read it; BlobMissing if there is none."""
        return self.path(sha256).open("rb")

    def chunks(self, sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end` in pieces."""
        with self.open(sha256) as file:
            file.seek(start)
            while chunk := file.read(_CHUNK if end is None else max(0, min(_CHUNK, end - file.tell()))):
                yield chunk

    def list_blobs(self) -> Iterator[StoredBlob]:
        """Yield all blobs, by name."""
        for number in range(256):
            with contextlib.suppress(FileNotFoundError), os.scandir(self.folder / f"{number:02x}") as entries:
                for name in sorted(entry.name for entry in entries if _SHA256.fullmatch(entry.name)):
                    with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                        status = self._place(name).stat()
                        yield StoredBlob(name, status.st_size, status.st_mtime)

    def check_writable(self) -> None:
        """Raise OSError where nothing can be written."""
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=_NEW)
        try:
            os.write(descriptor, b"?")  # on a full disk a file can be created but not written
        finally:
            os.close(descriptor)
            Path(name).unlink(missing_ok=True)

    def size(self, sha256: str) -> int | None:
        """Return the bytes of a blob; None if there is none."""
        try:
            return self._place(sha256).stat().st_size
        except FileNotFoundError:
            return None

    def __contains__(self, sha256: str) -> bool:
        return self._place(sha256).exists()

    def remove(self, sha256: str) -> None:
        """Delete a blob that nothing needs; only an explicit, audited command may call this."""
        self._place(sha256).unlink(missing_ok=True)

    def remove_unless_put(self, sha256: str, since: float) -> bool:
        """Delete a blob that no row names, unless it was put since that moment; return whether it is gone."""
        place, aside = self._place(sha256), self.folder / f"{_NEW}{sha256}"
        with contextlib.suppress(FileNotFoundError), place.open("rb") as file:
            with contextlib.suppress(OSError):  # a file system without locks, where nothing is cleaned up
                fcntl.flock(file, fcntl.LOCK_EX)
            if place.stat().st_mtime >= since:
                return False
            place.rename(aside)  # who puts it from now on finds none, and copies it
            if aside.stat().st_mtime >= since:  # put at this moment
                aside.rename(place)
                return False
            aside.unlink()
        return True

    def clean_up(self) -> int:
        """Delete files that killed processes left incomplete; files being written stay.

        Returns:
            The number of deleted files.
        """
        deleted = 0
        for path in self.folder.glob(f"{_NEW}*"):
            with contextlib.suppress(OSError), path.open("r+b") as file:  # settled, or being written
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
                deleted += 1
        return deleted

    def _put_again(self, sha256: str) -> bool:
        """Note that a stored blob is put now, for `remove_unless_put`; return False if it must be copied."""
        try:
            os.utime(self._place(sha256))
        except OSError:  # there is none, or it is another user's
            return False
        return True

    def _place(self, sha256: str) -> Path:
        return self.folder / key_of(sha256)

    @contextmanager
    def _temporary(self) -> Iterator[tuple[BinaryIO, Path]]:
        """Yield a file that is deleted afterwards, unless it was settled under its hash."""
        descriptor, name = self._new_file()
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    @contextmanager
    def _copied(self, source: Path) -> Iterator[tuple[BinaryIO, Path, str]]:
        """Yield a temporary copy of a file with the SHA-256 of what was copied."""
        digest = hashlib.sha256()
        with source.open("rb") as reading, self._temporary() as (writing, name):
            while chunk := reading.read(_CHUNK):
                digest.update(chunk)
                writing.write(chunk)
            yield writing, name, digest.hexdigest()

    def _new_file(self) -> tuple[int, str]:
        """Create a file that `clean_up` of another process leaves alone while it is open."""
        while True:
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=_NEW)
            with contextlib.suppress(OSError):  # a file system without locks, where nothing is cleaned up
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor, name
            os.close(descriptor)  # cleaned up before it was locked

    def _settle(self, file: BinaryIO, name: Path, sha256: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        place = self._place(sha256)
        private.make_folder(place.parent)
        name.rename(place)
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name, too, must survive a power cut
        finally:
            os.close(folder)

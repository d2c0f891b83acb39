"""Store content-addressed files: uploads, rendered pages, manifests, checkpoints.

A blob is written to a temporary name, flushed to disk, and renamed to its SHA-256. It is complete or absent. The row
that names it is written afterwards.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from db import private

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
_NEW = ".new-"  # prefix of files that have no final name yet


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file (hex), reading it in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class BlobMissing(LookupError):
    """The file of a row is missing: the folder was changed by hand, or a backup was restored in part."""


class BlobStore:
    """A folder of blobs, named by content, in 256 subfolders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        private.make_folder(folder)

    def put(self, content: bytes) -> str:
        """Store bytes; storing the same content again changes nothing.

        Returns:
            The SHA-256 of `content` (hex).
        """
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._place(sha256).exists():
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
        if (known := sha256_of(source)) in self:
            return known
        digest = hashlib.sha256()
        with source.open("rb") as reading, self._temporary() as (writing, name):
            while chunk := reading.read(_CHUNK):
                digest.update(chunk)
                writing.write(chunk)
            sha256 = digest.hexdigest()
            if not self._place(sha256).exists():
                self._settle(writing, name, sha256)
        return sha256

    def path(self, sha256: str) -> Path:
        """Return the path of a blob; BlobMissing if there is none."""
        place = self._place(sha256)
        if not place.exists():
            raise BlobMissing(f"The file {sha256[:12]}... is missing from {self.folder}.")
        return place

    def read(self, sha256: str) -> bytes:
        """Return the content of a blob; BlobMissing if there is none."""
        return self.path(sha256).read_bytes()

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

    def free_bytes(self) -> int:
        """Return the free bytes of the disk that holds the blobs."""
        return shutil.disk_usage(self.folder).free

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

    def _place(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal.")
        return self.folder / sha256[:2] / sha256

    @contextmanager
    def _temporary(self) -> Iterator[tuple[BinaryIO, Path]]:
        """Yield a file that is deleted afterwards, unless it was settled under its hash."""
        descriptor, name = self._new_file()
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

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

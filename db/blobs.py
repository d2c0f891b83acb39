"""Content-addressed files: uploads, rendered pages, manifests, checkpoints.

A blob is written to a temporary name, flushed to disk, and renamed to its SHA-256. It is there whole or not at all, and the
row that names it comes after it.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, reading it in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class BlobMissing(LookupError):
    """The file of a row is gone: the folder was changed by hand, or only half restored from a backup."""


class BlobStore:
    """A folder of blobs, named by content in 256 subfolders."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, content: bytes) -> str:
        """Store `content` and return its SHA-256 in hexadecimal. Storing the same content again changes nothing."""
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._place(sha256).exists():
            with self._temporary() as (file, name):
                file.write(content)
                self._settle(file, name, sha256)
        return sha256

    def put_file(self, source: Path) -> str:
        """Store a copy of the file `source` without reading it into memory, and return its SHA-256.

        A file that is there already is not copied: on a full disk, what is stored must go on working.
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
        """Return where the blob lies. BlobMissing when it does not."""
        place = self._place(sha256)
        if not place.exists():
            raise BlobMissing(f"The file {sha256[:12]}... is missing from {self.folder}.")
        return place

    def read(self, sha256: str) -> bytes:
        """Return the whole content of a blob. BlobMissing when there is none."""
        return self.path(sha256).read_bytes()

    def __contains__(self, sha256: str) -> bool:
        return self._place(sha256).exists()

    def remove(self, sha256: str) -> None:
        """Delete a blob that no row names. Only an explicit, audited command may call this."""
        self._place(sha256).unlink(missing_ok=True)

    def free_bytes(self) -> int:
        """Return how many bytes are free where the blobs lie."""
        return shutil.disk_usage(self.folder).free

    def _place(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is not a SHA-256 in hexadecimal.")
        return self.folder / sha256[:2] / sha256

    @contextmanager
    def _temporary(self) -> Iterator[tuple[BinaryIO, Path]]:
        """Yield a file that is gone afterwards, unless it was settled under its hash."""
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def _settle(self, file: BinaryIO, name: Path, sha256: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        place = self._place(sha256)
        place.parent.mkdir(exist_ok=True)
        name.rename(place)
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the name, too, must survive a power cut
        finally:
            os.close(folder)

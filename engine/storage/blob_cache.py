"""Local copies of blobs, within a limit: those that were used longest ago go first, those in use stay.

All processes of a machine share the folder. A reader that opened a copy reads on after its deletion. A path is held by
a shared lock of its file (flock), without which no process deletes it.
"""

import contextlib
import fcntl
import hashlib
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from db import private
from db.blobs import BlobFolder

_TRIM_AT = 20  # a trim about each twentieth part of the limit that is added
_TRIM_TO = 0.9  # of the limit
_FRESH_SECONDS = 60.0  # the time of the last use is not written more often
_LOCK = ".trim"


class WrongContent(ValueError):
    """The content that was fetched is not that of the blob's name."""


class BlobCache(BlobFolder):
    """Copies of blobs in a folder.

    Args:
        folder: the folder.
        limit: bytes at most; exceeded by a twentieth part for each process, and by copies in use.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        super().__init__(folder)
        self._limit = limit

    def find(self, sha256: str, *, hold: bool = False) -> BinaryIO | None:
        """Return a copy, open, and note that it is used; None if there is none.

        Args:
            sha256: name of the blob.
            hold: keep its path until the file is closed.
        """
        place = self._place(sha256)
        try:
            file = place.open("rb")
        except FileNotFoundError:
            return None
        if hold:
            with contextlib.suppress(OSError):  # a file system without locks, where nothing is deleted
                fcntl.flock(file, fcntl.LOCK_SH)
            if not os.fstat(file.fileno()).st_nlink:  # deleted before it was locked
                file.close()
                return None
        if time.time() - os.fstat(file.fileno()).st_mtime > _FRESH_SECONDS:
            with contextlib.suppress(OSError):
                os.utime(file.fileno())
        return file

    @contextlib.contextmanager
    def copied(self, source: Path) -> Iterator[tuple[Path, str]]:
        """Copy a file; yield the copy's path and its SHA-256. When the context ends well, it becomes a blob."""
        with self._copied(source) as (writing, name, sha256):
            writing.flush()
            yield name, sha256
            if not self._place(sha256).exists():
                self._settle(writing, name, sha256)
        self.count(source.stat().st_size)

    def fill(self, sha256: str, chunks: Iterator[bytes], *, hold: bool = False) -> BinaryIO | None:
        """Store the pieces of a blob, and return it, open.

        Args:
            sha256: name of the blob.
            chunks: its pieces.
            hold: keep its path until the file is closed. None is returned when somebody else stored it meanwhile.

        Raises:
            WrongContent: The SHA-256 of the pieces is another; nothing is stored.
        """
        digest, size = hashlib.sha256(), 0
        with self._temporary() as (file, name):
            for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                file.write(chunk)
            if digest.hexdigest() != sha256:
                raise WrongContent(sha256)
            file.flush()
            reading = name.open("rb")  # now: once it has its name, it may be deleted
            with contextlib.suppress(OSError):  # a file system without locks, where nothing is deleted
                fcntl.flock(file, fcntl.LOCK_SH)
                if hold:
                    fcntl.flock(reading, fcntl.LOCK_SH)
            self._settle(file, name, sha256)
        self.count(size)
        if hold and not os.fstat(reading.fileno()).st_nlink:
            reading.close()
            return None
        return reading

    def count(self, size: int) -> None:
        """Note that bytes were added: by chance, so that no process reads the whole folder at each of them."""
        if random.random() * self._limit < size * _TRIM_AT:
            self.trim()

    def trim(self) -> int:
        """Delete the copies that were used longest ago, unless the folder is within its limit or another one trims.

        Returns:
            The number of deleted copies.
        """
        deleted = 0
        with (self.folder / _LOCK).open("w") as lock, contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            copies = sorted(self.list_blobs(), key=lambda copy: copy.modified)
            size = sum(copy.bytes for copy in copies)
            if size <= self._limit:
                return 0
            for copy in copies:
                if size <= self._limit * _TRIM_TO:
                    break
                if self._delete(copy.sha256):
                    size -= copy.bytes
                    deleted += 1
        return deleted

    def _settle(self, file: BinaryIO, name: Path, sha256: str) -> None:
        """Give a copy its name; a copy that has it stays, because its path may be held."""
        file.flush()
        os.fsync(file.fileno())
        place = self._place(sha256)
        private.make_folder(place.parent)
        try:
            place.hardlink_to(name)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links
            name.rename(place)

    def _delete(self, sha256: str) -> bool:
        place = self._place(sha256)
        with contextlib.suppress(OSError), place.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            place.unlink()
            return True
        return False

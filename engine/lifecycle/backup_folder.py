"""A folder of backups: each with its copy of the database, all with one set of blobs.

    FOLDER/glossator-backups.lock      says that the folder is one of backups; locked by the backup that writes
    FOLDER/files/ab/abcd...            the blobs that any backup names, by SHA-256
    FOLDER/20261129T101500Z/           a backup, named by its time in UTC
        database.sqlite, database.dump one of them
        manifest.json                  `Manifest`
        SHA256SUMS                     hashes of these two files and of all blobs, for `sha256sum --check`

A backup is written under another name and renamed when it is whole. So one that was killed leaves the earlier ones.
Files are deleted in a folder of backups alone: the store has another name than that of a data folder.
"""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from db import private
from db.blobs import BlobFolder, key_of, sha256_of
from engine.errors import Conflict, Refused
from engine.interchange import uploaded_sets
from engine.lifecycle.database_copies import FILES
from engine.settings import DATABASE_FILE

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
RESTORING = "restoring"  # file in a data folder: name of the backup that is being restored
BLOBS = "files"
_LOCK = "glossator-backups.lock"
_OF_DATA = (DATABASE_FILE, uploaded_sets.FOLDER, RESTORING)  # entries of a data folder alone
_NEW, _OLD = ".new-", ".old-"  # prefixes of a backup that is being written, or deleted
_NAME = re.compile(r"(\d{8}T\d{6}Z)(?:-(\d{1,6}))?")
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")


class Manifest(BaseModel):
    """What a backup holds.

    Attributes:
        format: version of this file.
        made_at: when the database was copied.
        version: version of Glossator.
        schema_revision: schema of the database.
        database: kind of the database.
        rows: number of rows by table.
        blobs, bytes: number and size of the blobs.
        uploads: those of the blobs that are datasets whose import has not ended.
        missing: blobs that the database names and that were missing or damaged when the backup was made.
        settings: names of the settings of that installation; their values are not in the backup.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    made_at: datetime
    version: str
    schema_revision: str
    database: Literal["sqlite", "postgresql"]
    rows: dict[str, int]
    blobs: int
    bytes: int
    uploads: list[str]
    missing: list[str]
    settings: list[str]

    @property
    def database_file(self) -> str:
        """Return the name of the copy of the database."""
        return FILES[self.database]


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that is whole.

    Attributes:
        folder: its folder.
        manifest: what it holds.
        sums: SHA-256 by file name, of manifest and database.
        blobs: SHA-256 of its blobs.
    """

    folder: Path
    manifest: Manifest
    sums: dict[str, str]
    blobs: list[str]

    @property
    def name(self) -> str:
        """Return its time, as in 20261129T101500Z."""
        return self.folder.name

    @property
    def store(self) -> BlobFolder:
        """Return the blobs of all backups of its folder."""
        return BlobFolder(self.folder.parent / BLOBS)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted in a folder of backups.

    Attributes:
        backups: names of the deleted backups.
        blobs: number of the deleted blobs.
        unreadable: names of damaged backups, and of those of a newer version; while there are any, all blobs stay.
    """

    backups: list[str]
    blobs: int
    unreadable: list[str]


class BackupFolder:
    """A folder of backups.

    Args:
        path: the folder; created by the first backup.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def check(self, data_dir: Path) -> None:
        """Check that backups may be written here. Raises Refused where files of others could be among them.

        Args:
            data_dir: data folder of the installation that is backed up.
        """
        place, data = self.path.resolve(), data_dir.resolve()
        if place.is_relative_to(data):
            raise Refused(f"{self.path} is in the data folder. Choose a folder elsewhere, best on another disk.")
        if data.is_relative_to(place):
            raise Refused(f"{self.path} contains the data folder. Choose a folder elsewhere, best on another disk.")
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise Refused(f"{self.path} is no folder. Choose a new folder.")
        entries = {entry.name for entry in self.path.iterdir()}
        if of_data := sorted(entries.intersection(_OF_DATA)):
            raise Refused(f"{self.path} holds {of_data[0]}, so it is a data folder. Choose an empty or new folder.")
        if entries and _LOCK not in entries:
            raise Refused(
                f"{self.path} is no folder of backups, and holds {sorted(entries)[0]}. Choose an empty or new folder."
            )

    def names(self) -> list[str]:
        """Return the names of the backups, oldest first."""
        if not self.path.is_dir():
            return []
        entries = (entry.name for entry in self.path.iterdir() if _NAME.fullmatch(entry.name) and entry.is_dir())
        return sorted(entries, key=_place)

    def blobs(self) -> BlobFolder:
        """Return the store of the blobs of all backups."""
        return BlobFolder(self.path / BLOBS)

    def read(self, name: str | None = None) -> Backup:
        """Return a backup, the newest by default; its blobs and its database are not read.

        Raises:
            Refused: There is no such backup, or it is damaged.
        """
        names = self.names()
        if not names:
            raise Refused(f"There is no backup in {self.path}.")
        chosen = name or names[-1]
        if chosen not in names:
            raise Refused(f"There is no backup {chosen} in {self.path}. There are: {', '.join(names)}.")
        folder = self.path / chosen
        try:
            lines = [_SUM.fullmatch(line) for line in (folder / SUMS).read_text().splitlines()]
            content = (folder / MANIFEST).read_bytes()
        except (OSError, UnicodeDecodeError) as error:
            raise damaged(folder, f"{SUMS} or {MANIFEST} cannot be read ({error})") from None
        sums = {line[2]: line[1] for line in lines if line is not None}
        if None in lines or sums.get(MANIFEST) != sha256_of(folder / MANIFEST):
            raise damaged(folder, f"{SUMS} and {MANIFEST} do not fit")
        try:
            manifest = Manifest.model_validate_json(content)
        except ValidationError:
            raise Refused(f"This version of Glossator cannot read {folder / MANIFEST}. Use a newer one.") from None
        own = {MANIFEST, manifest.database_file}
        blobs = sorted(sha256 for path, sha256 in sums.items() if path == _path(sha256))
        if len(blobs) != manifest.blobs or len(sums) != len(blobs) + len(own) or not own <= sums.keys():
            raise damaged(folder, f"{SUMS} and {MANIFEST} do not fit")
        return Backup(folder, manifest, {path: sums[path] for path in own}, blobs)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one backup at a time write to the folder; delete what a killed one left.

        Raises:
            Conflict: Another one writes to it.
        """
        private.make_folder(self.path)
        with (self.path / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(f"Another backup writes to {self.path}. Wait until it has ended.") from None
            for left in self.path.iterdir():
                prefix = next((prefix for prefix in (_NEW, _OLD) if left.name.startswith(prefix)), None)
                if prefix and _NAME.fullmatch(left.name.removeprefix(prefix)):
                    shutil.rmtree(left)
            self.blobs().clean_up()
            yield

    def begin(self, made_at: datetime) -> Path:
        """Create the folder of a new backup, which `finish` gives its name."""
        name = f"{made_at:%Y%m%dT%H%M%SZ}"
        newest, number = _place(self.names()[-1]) if self.names() else ("", 0)
        if newest >= name:  # of this second, or the clock was set back: the newest backup has the last name
            name = f"{newest}-{number + 1}"
        folder = self.path / f"{_NEW}{name}"
        private.make_folder(folder)
        return folder

    def finish(self, folder: Path, manifest: Manifest, blobs: list[str]) -> Backup:
        """Write manifest and hashes of a new backup, and give it its name, durably.

        Args:
            folder: from `begin`, with the copy of the database.
            manifest: what it holds.
            blobs: SHA-256 of its blobs, which are in `files` of this folder.
        """
        (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n")
        sums = {name: sha256_of(folder / name) for name in (manifest.database_file, MANIFEST)}
        lines = [f"{sha256}  {name}\n" for name, sha256 in sums.items()]
        (folder / SUMS).write_text("".join([*lines, *(f"{sha256}  {_path(sha256)}\n" for sha256 in blobs)]))
        for name in (*sums, SUMS, ""):
            flush(folder / name)
        whole = folder.with_name(folder.name.removeprefix(_NEW))
        folder.rename(whole)
        flush(self.path)
        return Backup(whole, manifest, sums, blobs)

    def forget(self, keep: int) -> Forgotten:
        """Delete all but the newest backups, and the blobs that none of those left names.

        No blob is deleted while a backup cannot be read: it may name any.
        """
        old = self.names()[:-keep]
        for name in old:
            gone = self.path / f"{_OLD}{name}"
            (self.path / name).rename(gone)
            shutil.rmtree(gone)
        named: set[str] = set()
        unreadable = []
        for name in self.names():
            try:
                named.update(self.read(name).blobs)
            except Refused:
                unreadable.append(name)
        store, deleted = self.blobs(), 0
        for blob in [] if unreadable else list(store.list_blobs()):
            if blob.sha256 not in named:
                store.remove(blob.sha256)
                deleted += 1
        return Forgotten(old, deleted, unreadable)


def flush(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that flushes no folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def damaged(folder: Path, reason: str) -> Refused:
    """Return the refusal of a damaged backup."""
    return Refused(f"The backup {folder} is damaged: {reason}. Nothing was restored. Restore an earlier one.")


def _place(name: str) -> tuple[str, int]:
    """Return the place of a backup in time: its second, and its number in it."""
    second, _, number = name.partition("-")
    return second, int(number or 1)


def _path(sha256: str) -> str:
    return f"../{BLOBS}/{key_of(sha256)}"

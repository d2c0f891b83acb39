"""Private files of a process: a temporary folder, and new files readable by their owner only.

Uploads are confidential, and a killed process deletes nothing. So temporary files lie in DATA_DIR/.glossator-tmp, in
one locked folder per process. The next process to start removes the unlocked folders.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from db import private
from db.ids import new_id

FOLDER = ".glossator-tmp"  # a unique name: the data folder may be a home folder
_PREFIX = "process-"
_LOCK = ".glossator-lock"  # folders without this file are never touched
_LEFT = "left-"  # prefix of an abandoned folder while it is deleted
_umask_before: int | None = None  # umask of the shell; None outside private_process_files


@contextmanager
def private_process_files(data_dir: Path) -> Iterator[Path]:
    """Give this process and its children a temporary folder, and make new files private.

    Call it at the start of a process: both settings apply to the whole process.

    Args:
        data_dir: data folder.

    Yields:
        The folder, which is deleted afterwards.
    """
    global _umask_before
    before = _umask_before
    umask = os.umask(private.OTHERS)
    if before is None:
        _umask_before = umask
    default, environment = tempfile.tempdir, os.environ.get("TMPDIR")
    try:
        folder, lock = claim_folder(data_dir.absolute() / FOLDER)
        with lock:
            # tempfile for Python, TMPDIR for SQLite and child processes.
            tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        tempfile.tempdir = default
        if environment is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = environment
        _umask_before = before
        os.umask(umask)


@contextmanager
def users_umask() -> Iterator[None]:
    """Use the umask of the user's shell inside the context, for files written to a place the user named."""
    if _umask_before is None:
        yield
        return
    umask = os.umask(_umask_before)
    try:
        yield
    finally:
        os.umask(umask)


def claim_folder(place: Path) -> tuple[Path, IO[str]]:
    """Create a locked folder, and delete the abandoned ones.

    The lock (flock) ends with the process, however it ends, so no process id has to be trusted.

    Args:
        place: parent folder.

    Returns:
        The folder and its open lock file.

    Raises:
        OSError: `place` is a link or cannot be written to.
    """
    private.make_folder(place)
    if place.is_symlink():
        raise OSError(errno.ENOTDIR, "it is a link and may lead to another user's folder", str(place))
    with (place / _LOCK).open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # held while a new folder has no lock yet
        _set_aside(place)
        folder = place / f"{_PREFIX}{new_id()[-12:]}"
        private.make_folder(folder)
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    for left in place.glob(f"{_LEFT}{_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    return folder, lock


def _set_aside(place: Path) -> None:
    """Rename the abandoned folders, which is fast; deleting them may take a while."""
    for folder in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / _LOCK).open("r+") as lock:  # OSError: no lock file, so not ours
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: locked by a running process
            folder.rename(place / f"{_LEFT}{folder.name}")

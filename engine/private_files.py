"""What a process of Glossator has for itself: a folder for temporary files, and new files that its owner alone can read.

Uploads are confidential, and a process that is killed deletes nothing. So temporary files lie in DATA_DIR/.glossator-tmp, in one folder a process, which
the process holds by a lock; the next process to begin removes the folders that nobody holds any more.
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

FOLDER = ".glossator-tmp"  # a name that nobody else gives: the data folder may be a person's home
_PREFIX = "process-"
_LOCK = ".glossator-lock"  # no folder without one is ever touched
_LEFT = "left-"  # how the folder of a process that is gone is called while it is deleted
_umask_before: int | None = None  # None while new files are anybody's


@contextmanager
def private_process_files(data_dir: Path) -> Iterator[Path]:
    """Give this process, and those that it starts, a folder of its own for temporary files, and keep its new files private.

    Meant for where a process begins, for both belong to the whole process. Yields the folder, which is gone afterwards.
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
            # Python's own, and what else asks: SQLite, and the programs that are started.
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
    """Give new files the rights that the person's shell gives them: what is written to a place that somebody named is theirs."""
    if _umask_before is None:
        yield
        return
    umask = os.umask(_umask_before)
    try:
        yield
    finally:
        os.umask(umask)


def claim_folder(place: Path) -> tuple[Path, IO[str]]:
    """Make a folder in `place` and return it with the lock that holds it; the folders that nobody holds are deleted.

    The lock is the file's (flock): it ends with the process, however that ends, and no number of a process has to be trusted.
    """
    private.make_folder(place)
    if place.is_symlink():
        raise OSError(errno.ENOTDIR, "it is a link, and what it leads to may be somebody else's", str(place))
    with (place / _LOCK).open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # a folder that is being made is not held yet
        _set_aside(place)
        folder = place / f"{_PREFIX}{new_id()[-12:]}"
        private.make_folder(folder)
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    for left in place.glob(f"{_LEFT}{_PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    return folder, lock


def _set_aside(place: Path) -> None:
    """Rename the folders that nobody holds: that is done at once, and deleting them may take a while."""
    for folder in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / _LOCK).open("r+") as lock:  # OSError without a lock: not ours
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError while somebody holds it
            folder.rename(place / f"{_LEFT}{folder.name}")

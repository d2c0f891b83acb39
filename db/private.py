"""Files and folders that their owner alone can read: what is stored here is confidential on a machine with other users too."""

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

FOLDER, FILE = 0o700, 0o600  # modes
OTHERS = 0o077  # the rights of everybody else; also the umask that keeps them from what is new


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone. One that is there stays as it is."""
    path.mkdir(mode=FOLDER, parents=True, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file for its owner alone. One that is there stays as it is, and unopened: see db.own_files."""
    with contextlib.suppress(OSError):  # whoever opens it next says what is wrong with the place
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, FILE))


def tighten(paths: Iterable[Path]) -> list[Path]:
    """Take the rights of everybody else from files and folders of this process's user; return those that had any.

    Links, and what belongs to somebody else, stay as they are.
    """
    changed = []
    for path in paths:
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or not found.st_mode & OTHERS:
                continue
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
        except OSError:  # it is not there, or its file system knows no modes
            continue
        changed.append(path)
    return changed

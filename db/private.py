"""Create files and folders that their owner alone can read.

Stored documents are confidential, also on a machine with other users.
"""

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

FOLDER, FILE = 0o700, 0o600  # modes
OTHERS = 0o077  # rights of all other users; also the umask for new files


def make_folder(path: Path) -> None:
    """Create a folder for its owner alone; an existing one stays as it is."""
    path.mkdir(mode=FOLDER, parents=True, exist_ok=True)


def make_file(path: Path) -> None:
    """Create an empty file for its owner alone.

    An existing file stays as it is and is not opened; see db.sqlite_file_guard.
    """
    with contextlib.suppress(OSError):  # the next open reports the problem
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, FILE))


def tighten(paths: Iterable[Path]) -> list[Path]:
    """Remove the rights of other users from files and folders of this process's user.

    Links and files of other users stay as they are.

    Returns:
        The paths whose rights changed.
    """
    changed = []
    for path in paths:
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid() or not status.st_mode & OTHERS:
                continue
            path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)
        except OSError:  # the file is missing, or its file system has no modes
            continue
        changed.append(path)
    return changed

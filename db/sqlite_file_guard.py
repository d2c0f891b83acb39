"""Refuse to open the files of an open SQLite database other than through SQLite.

POSIX drops all locks that a process holds on a file when the process closes any descriptor of it. Opening and closing
the database's file, to read or to copy it, would therefore remove the locks of this process. The next process that
closes the database would then remove the write-ahead log while this one still writes to it
(https://sqlite.org/howtocorrupt.html, section 2.2). Python reports every file that it is about to open (PEP 578), so
the attempt is refused, whatever name is used.
"""

import errno
import os
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SUFFIXES = ("", "-wal", "-shm")
_watched: Counter[str] = Counter()  # path of a database -> how often it is open in this process
_lock = threading.Lock()
_hooked = False


def watch(database: Path, owner: object) -> Callable[[], object]:
    """Refuse to open the files of a database other than through SQLite.

    An attempt raises PermissionError. The guard ends when the returned function is called, or `owner` is collected.

    Args:
        database: path of the database file.
        owner: object whose lifetime bounds the guard.

    Returns:
        A function that ends the guard.
    """
    global _hooked
    path = str(database.resolve())
    with _lock:
        _watched[path] += 1
        if not _hooked:
            _hooked = True
            sys.addaudithook(_refuse)
    return weakref.finalize(owner, _release, path)


def _release(path: str) -> None:
    with _lock:
        _watched[path] -= 1
        if _watched[path] <= 0:
            del _watched[path]


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watched or isinstance(arguments[0], int):
        return
    opened = _identity(arguments[0])
    if opened is None:
        return
    for database in list(_watched):
        if any(_identity(database + suffix) == opened for suffix in _SUFFIXES):
            raise PermissionError(errno.EACCES, "The database is open, and only SQLite may open its files", database)


def _identity(path: Any) -> tuple[int, int] | None:
    """Return device and inode of a file, equal for links and other names; None if it does not exist."""
    try:
        status = os.stat(path)  # noqa: PTH116  (the name may be bytes)
    except (OSError, ValueError, TypeError):
        return None
    return status.st_dev, status.st_ino

"""The files of an open SQLite database are SQLite's alone.

POSIX drops all locks that a process holds on a file when the process closes any descriptor of it. Whoever opened and closed the
database's file, to read or to copy it, would take the locks of this process away; the next process that closes the database
would then remove the log of writes while this one still writes to it (https://sqlite.org/howtocorrupt.html, section 2.2).
Python tells every file that it is about to open (PEP 578), so opening one of these is refused, by whatever name.
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
    """Refuse to open the files of a database but through SQLite: PermissionError where somebody tries.

    It lasts until what is returned is called, or `owner` is gone.
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
    asked = _identity(arguments[0])
    if asked is None:
        return
    for database in list(_watched):
        if any(_identity(database + suffix) == asked for suffix in _SUFFIXES):
            raise PermissionError(errno.EACCES, "The database is open, and only SQLite may open its files", database)


def _identity(path: Any) -> tuple[int, int] | None:
    """A file by device and number, so that links and other names lead to the same; None for what is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116  (what is opened may be named in bytes)
    except (OSError, ValueError, TypeError):
        return None
    return found.st_dev, found.st_ino

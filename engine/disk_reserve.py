"""Room on the disk that is kept for the next start.

SQLite makes two files beside the database whenever it is opened after a clean stop, and cannot be opened where the disk has no
room for them. A server that was stopped on a full disk would not start again, just when somebody wants to make room with it. So a
file of some megabytes waits beside the database, and is given up in that case.
"""

import contextlib
import logging
import os
import shutil
from pathlib import Path

from db import private

BYTES = 8_000_000
NAME = "reserve"
_log = logging.getLogger(__name__)


def keep(folder: Path) -> None:
    """Make the reserve in `folder` where it is missing and there is plenty of room."""
    file = folder / NAME
    if file.exists() or shutil.disk_usage(folder).free < 4 * BYTES:
        return
    making = folder / f"{NAME}.new-{os.getpid()}"
    try:
        private.make_file(making)
        making.write_bytes(bytes(BYTES))  # written, not only promised: a file with holes takes no room
        making.rename(file)
    except OSError as error:
        _log.warning("the reserve of %d MB could not be made: %s", BYTES // 1_000_000, error)
        with contextlib.suppress(OSError):
            making.unlink(missing_ok=True)


def give_up(folder: Path) -> bool:
    """Remove the reserve, which makes room for what must be written; return whether there was one."""
    try:
        (folder / NAME).unlink()
    except OSError:
        return False
    _log.warning(
        "The disk of %s is full. A reserve of %d MB was given up to start; make room.", folder, BYTES // 1_000_000
    )
    return True

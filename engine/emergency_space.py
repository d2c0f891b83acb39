"""Emergency disk space, reserved for the next start.

SQLite creates two files beside the database when it is opened after a clean stop, and fails without space for them. A
server stopped on a full disk could then not start again to free space. So a file of some megabytes lies beside the
database, and is removed in that case.
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


def reserve(folder: Path) -> None:
    """Create the emergency space in a folder if it is missing and the disk has enough space."""
    file = folder / NAME
    if file.exists() or shutil.disk_usage(folder).free < 4 * BYTES:
        return
    making = folder / f"{NAME}.new-{os.getpid()}"
    try:
        private.make_file(making)
        making.write_bytes(bytes(BYTES))  # written in full: a sparse file reserves no space
        making.rename(file)
    except OSError as error:
        _log.warning("the disk reserve of %d MB could not be created: %s", BYTES // 1_000_000, error)
        with contextlib.suppress(OSError):
            making.unlink(missing_ok=True)


def release(folder: Path) -> bool:
    """Remove the emergency space; return whether there was one."""
    try:
        (folder / NAME).unlink()
    except OSError:
        return False
    _log.warning(
        "The disk of %s is full. The reserve of %d MB was removed to start; free disk space.",
        folder,
        BYTES // 1_000_000,
    )
    return True

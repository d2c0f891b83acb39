"""Uploads on disk: what reads them wants a path."""

import contextlib
import os
import tempfile
from pathlib import Path

from fastapi import UploadFile

_CHUNK = 1 << 20


def copied(file: UploadFile) -> Path:
    """Return a copy of an upload on disk; the caller deletes it."""
    descriptor, name = tempfile.mkstemp(prefix="glossator-upload-")
    try:
        with os.fdopen(descriptor, "wb") as copy:
            while chunk := file.file.read(_CHUNK):
                copy.write(chunk)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)

"""Unpack imported zip files in a process of its own, into a temporary folder."""

import json
import logging
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from engine.documents.reading.open import environment
from engine.documents.reading.subprocess_guard import run_guarded
from engine.interchange import unpacking
from engine.interchange.bad_entries import bad

SPARE_BYTES = unpacking.SPARE_BYTES
_log = logging.getLogger(__name__)


@contextmanager
def open_archive(path: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> Iterator[Path]:
    """Yield the folder or file of a set; a zip file stays unpacked while the context lasts.

    Args:
        path: The folder, file or zip file.
        on_progress: Called with the entries unpacked and all entries; an error that it raises ends the unpacking.

    Raises:
        BadEntry: The zip file is damaged, leads out of its folder, holds links or too much, or is a bomb.
    """
    if not path.exists():
        bad(str(path), "there is no such file or folder")
    if not path.is_dir() and not path.is_file():
        bad(str(path), "it is neither a file nor a folder")  # a named pipe would be waited for without end
    if path.is_dir() or not zipfile.is_zipfile(path):
        if path.suffix.lower() == ".zip":
            bad(path.name, "it is damaged or not a zip file")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="glossator-import-") as temporary:
        folder = Path(temporary)
        _unpack(path, folder, on_progress)
        inner = list(islice(folder.iterdir(), 2))
        if not inner:
            bad(path.name, "it holds no file of a set")
        yield inner[0] if len(inner) == 1 and inner[0].is_dir() else folder


def _unpack(path: Path, folder: Path, on_progress: Callable[[int, int], None]) -> None:
    request = {"path": str(path.resolve()), "folder": str(folder.resolve()), "spare": SPARE_BYTES}
    last: dict[str, Any] = {}

    def hear(line: bytes) -> None:
        nonlocal last
        last = json.loads(line)
        if "done" in last:
            on_progress(last["done"], last["of"])

    ended = run_guarded(
        [sys.executable, "-P", "-m", "engine.interchange.unpacking", json.dumps(request)],
        environment=environment(),
        seconds=unpacking.SECONDS,
        on_line=hear,
    )
    if "why" in last:
        where = f"{path.name}, {last['entry'][:80]!r}" if last["entry"] else path.name
        bad(where, last["why"])
    if ended.late:
        bad(path.name, f"it could not be unpacked within {unpacking.SECONDS / 3600:.0f} hours")
    if "whole" not in last:
        _log.error("the unpacking process ended with status %d: %s", ended.code, ended.stderr.strip() or "no message")
        bad(path.name, "it could not be unpacked")

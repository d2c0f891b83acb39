"""Uploaded datasets on disk, named by their content, until the import that reads them has ended.

A file is flushed to disk before anybody is told that it was accepted. So an import survives the end of its server.
"""

import contextlib
import hashlib
import os
import time
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db import private
from db.base import now
from db.ids import new_id
from db.tables import Job
from engine import blob_turns
from engine.errors import Refused
from engine.jobs.queue import OPEN
from engine.workspace import Workspace

IMPORT = "import"  # kind of the jobs that read uploads
FOLDER = "uploads"  # in the data folder
KEPT_DAYS = 14  # an upload whose import was given up waits so long for somebody to try it again
_NEW = ".new-"
_NEW_SECONDS = 24 * 3600.0  # after which a file that has no name yet is nobody's any more
_UNCLAIMED_SECONDS = 600.0  # between an upload and the job that reads it
_CHUNK = 1 << 20


def receive(data_dir: Path, source: BinaryIO) -> str:
    """Copy an upload into the data folder and return its SHA-256; it is on disk, whole, when this returns."""
    folder = data_dir / FOLDER
    private.make_folder(folder)
    temporary = folder / f"{_NEW}{new_id()}"
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as copy:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        temporary.replace(folder / digest.hexdigest())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def path_of(workspace: Workspace, sha256: str) -> Path:
    """Return where an upload lies.

    Raises:
        Refused: It is not kept any more.
    """
    path = place_of(workspace, sha256)
    if not path.is_file():
        raise Refused("The uploaded file is not kept any more; upload it again.")
    return path


def place_of(workspace: Workspace, sha256: str) -> Path:
    """Return where an upload lies as long as it is kept."""
    return _folder(workspace) / sha256


def awaited(session: Session) -> set[str]:
    """Return the SHA-256 of the uploads whose import has not ended, in the state that a session sees."""
    return {sha256 for sha256, (needed, _) in _asked_for(session).items() if needed}


def forget(workspace: Workspace) -> None:
    """Delete the uploads that no import needs any more, unless a backup copies the files."""
    folder = _folder(workspace)
    if not folder.is_dir():
        return
    with workspace.database.read() as session:
        if blob_turns.is_taken(session):
            return
        asked_for = _asked_for(session)
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # somebody else deletes it at the same moment
            arrived = path.stat().st_mtime
            age = time.time() - arrived
            if path.name.startswith(_NEW):
                gone = age > _NEW_SECONDS
            else:
                needed, newest = asked_for.get(path.name, (False, 0.0))
                # The same file may have come again since its newest import was asked for: the next one needs it.
                gone = not needed and (arrived <= newest or age > _UNCLAIMED_SECONDS)
            if gone:
                path.unlink()


def _asked_for(session: Session) -> dict[str, tuple[bool, float]]:
    """Return for each upload, by SHA-256, whether an import needs it, and when one was last asked for.

    Times are seconds since 1970.
    """
    since = now() - timedelta(days=KEPT_DAYS)
    needs = or_(Job.status.in_(OPEN), (Job.status == "dead") & (Job.finished_at > since))
    recent = or_(needs, Job.created_at > since)  # of older ones no file is left
    wishes: dict[str, tuple[bool, float]] = {}
    rows = session.execute(select(Job.payload, Job.created_at, needs).where(Job.kind == IMPORT, recent))
    for payload, created_at, needed in rows:
        before = wishes.get(str(payload.get("sha256")), (False, 0.0))
        wishes[str(payload.get("sha256"))] = before[0] or bool(needed), max(before[1], created_at.timestamp())
    return wishes


def _folder(workspace: Workspace) -> Path:
    return workspace.settings.data_dir / FOLDER

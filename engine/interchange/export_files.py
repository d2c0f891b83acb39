"""Files of exports in the data folder: a zip for each export that ended, a folder for each that is being written."""

import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from db import changes
from db.base import now
from db.tables import Job
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.jobs.queue import FAILED, OPEN
from engine.workspace import Workspace

EXPORT = "export"  # kind of the jobs that write exports
FOLDER = "exports"  # in the data folder
KEPT = timedelta(days=1)  # after the end of an export, its file and its line in the list
MOST_LISTED = 50
_NONE = "There is no such export. Reload the list."
_UNSENT = timedelta(minutes=10)  # for a file that the one request which waits for it has not fetched
_TEXTS = (".json", ".jsonl", ".txt", ".xml", ".csv", ".md", ".yaml")
_CHUNK = 1 << 20
_FILE_MODE = 0o100644  # of every file in the zip, whatever the umask of the server


def path_of(workspace: Workspace, job_id: str) -> Path:
    """Return where the zip of an export lies, once it is whole."""
    return _folder(workspace) / f"{job_id}.zip"


def folder_of(workspace: Workspace, job_id: str) -> Path:
    """Return the folder in which an export is written."""
    return _folder(workspace) / job_id


def kept_until(job: Job) -> datetime | None:
    """Return until when the file of an export is kept; None for one that is not done."""
    if job.status != "done" or job.finished_at is None:
        return None
    return job.finished_at + (_UNSENT if job.payload["once"] else KEPT)


def is_kept(workspace: Workspace, job: Job) -> bool:
    """Return whether the file of an export can be fetched."""
    until = kept_until(job)
    return until is not None and now() < until and path_of(workspace, job.id).is_file()


def list_exports(workspace: Workspace, project_id: str) -> list[Job]:
    """Return the exports of a project that run, that failed lately, or whose file is kept; newest first."""
    lately = Job.status.in_(("done", *FAILED)) & (Job.finished_at > now() - KEPT)
    chosen = select(Job).where(Job.project_id == project_id, Job.kind == EXPORT)
    with workspace.database.read() as session:
        # Two statements, sorted here: each follows an index to the few that it shows, whatever has ended before.
        under_way = session.scalars(chosen.where(Job.status.in_(OPEN)))
        ended = session.scalars(chosen.where(lately, Job.payload["once"].as_boolean().is_(False)))
        listed = sorted([*under_way, *ended], key=lambda job: (job.created_at, job.id), reverse=True)[:MOST_LISTED]
    return [job for job in listed if job.status != "done" or is_kept(workspace, job)]


def export_job(workspace: Workspace, project_id: str, job_id: str) -> Job:
    """Return an export of a project. NotFound when the project has none with this id."""
    chosen = select(Job).where(Job.id == job_id, Job.project_id == project_id, Job.kind == EXPORT)
    with workspace.database.read() as session:
        job = session.scalar(chosen)
    if job is None:
        raise NotFound(_NONE)
    return job


def remove_export(workspace: Workspace, project_id: str, job_id: str, *, by: str | None) -> Job:
    """Delete the file of an export for good, so that it leaves the list; its job and its snapshot stay. Audited.

    Who downloads it at this moment gets it whole.

    Args:
        workspace: Open workspace.
        project_id: Project of the export.
        job_id: Id of the export.
        by: Id of the acting user.

    Raises:
        NotFound: The project has no such export, or its file is gone already.
        Conflict: It has not ended.
        OSError: The file cannot be deleted.
    """
    chosen = select(Job).where(Job.id == job_id, Job.project_id == project_id, Job.kind == EXPORT)
    with workspace.database.write() as session:
        job = session.scalar(chosen.with_for_update())
        if job is None or job.payload["once"]:
            raise NotFound(_NONE)
        if job.status in OPEN:
            raise Conflict("This export has not ended. Stop it instead.")
        if not is_kept(workspace, job):
            raise NotFound("This export has no file, or it is deleted already. Reload the list.")
        noted = {"answers": job.result.get("answers", 0), "format": job.payload["format"]}
        audit.record(session, by, "exports.remove", job.id, project_id, **noted)
        changes.publish(session, "jobs", project_id, job.id)
        session.flush()
        path_of(workspace, job.id).unlink(missing_ok=True)
        return job


def forget(workspace: Workspace) -> None:
    """Delete the files of exports that were stopped, failed, or ended long enough ago, and those of no export."""
    folder = _folder(workspace)
    if not folder.is_dir():
        return
    archives = {path: path.name.removesuffix(".zip") for path in folder.iterdir()}
    with workspace.database.read() as session:
        jobs = {job.id: job for job in session.scalars(select(Job).where(Job.id.in_(set(archives.values()))))}
    for path, job_id in archives.items():
        job = jobs.get(job_id)
        if job is not None and (job.status in OPEN or (path.suffix == ".zip" and is_kept(workspace, job))):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def pack_folder(folder: Path, target: Path, moment: datetime, tell: Callable[[int, int], None]) -> None:
    """Pack a folder into a zip file.

    Images are stored as they are: they are compressed already, and their bytes stay unchanged. The same files and
    moment give the same bytes.

    Args:
        folder: What to pack.
        target: The zip file, on disk when this returns.
        moment: The time that every file in it bears.
        tell: Called before each file, and in large ones after each megabyte, with the number of files packed, and of
            all. An exception from it ends the work.

    Raises:
        Refused: The zip file cannot be written.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    try:
        with target.open("wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for done, path in enumerate(paths):
                    tell(done, len(paths))
                    entry = zipfile.ZipInfo.from_file(path, path.relative_to(folder))
                    entry.date_time, entry.external_attr = moment.timetuple()[:6], _FILE_MODE << 16
                    entry.compress_type = zipfile.ZIP_DEFLATED if path.suffix in _TEXTS else zipfile.ZIP_STORED
                    with path.open("rb") as source, archive.open(entry, "w") as packed_file:
                        while chunk := source.read(_CHUNK):
                            packed_file.write(chunk)
                            tell(done, len(paths))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Refused(f"The export cannot be packed: {error.strerror or error}.") from None


def _folder(workspace: Workspace) -> Path:
    return workspace.settings.data_dir / FOLDER

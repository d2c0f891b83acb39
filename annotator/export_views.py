"""Exports as people see them: waiting, under way, ready to be downloaded, or failed."""

from datetime import datetime
from pathlib import Path
from typing import Literal

from fastapi import HTTPException
from pydantic import BaseModel, Field

from db.blobs import BlobMissing
from db.statuses import ACCEPTED
from db.tables import Job
from engine.datasets.filters import Filters
from engine.errors import NotFound, Refused
from engine.interchange import export_files, export_jobs
from engine.interchange.formats import FORMATS
from engine.plurals import count
from engine.workspace import Workspace

_STATES: dict[str, Literal["waiting", "running", "done", "failed", "stopped"]] = {
    "waiting": "waiting", "running": "running", "done": "done", "failed": "failed", "dead": "failed",
    "cancelled": "stopped",
}  # fmt: skip
GONE = "The file of this export is not kept any more. Start the export again."
_STOPPED = "The export was stopped by somebody else. Start it again to have its file."
_FAILED = "The export failed on the server. Try again; if it still fails, tell the administrator."
_WAITING = "Waiting for other exports."
_NAMES = {"fixed": "fixed by a reviewer", "draft": "drafts", "recent": "recent holdout", "frozen": "frozen holdout"}


class ExportView(BaseModel):
    """An export that runs, has failed within a day, or whose file is kept."""

    id: str = Field(description="The id of its job.")
    format: str
    title: str = Field(description="The format, for people.")
    chosen: str = Field(description="The filters, for people; empty: all accepted answers.")
    by: str = Field(description="User who started it.")
    asked_at: datetime
    state: Literal["waiting", "running", "done", "failed", "stopped"]
    stopping: bool = Field(description="Whether it was stopped; it ends at its next step.")
    progress: float = Field(description="Share done, 0..1.")
    message: str = Field(description="Its present step, its result, or why it failed.")
    answers: int | None = Field(description="Once they are written.")
    bytes: int | None = Field(description="Size of the zip file, once it is whole.")
    kept_until: datetime | None = Field(description="The file is deleted then.")


def export_view(job: Job, names: dict[str, str]) -> ExportView:
    """Return an export. `names`: of people, by id."""
    form = job.payload["format"]
    return ExportView(
        id=job.id,
        format=form,
        title=FORMATS[form].title if form in FORMATS else form,
        chosen=_describe_filters(job),
        by=names.get(job.payload["user_id"], ""),
        asked_at=job.created_at,
        state=_STATES[job.status],
        stopping=job.cancel_requested_at is not None and job.status == "running",
        progress=job.progress,
        message=_WAITING if job.status == "waiting" else job.message,
        answers=job.result.get("answers"),
        bytes=job.result.get("bytes"),
        kept_until=export_files.kept_until(job),
    )


def export_result(workspace: Workspace, job: Job) -> Path:
    """Return the file of an export that has ended.

    Raises:
        Refused: It failed or was stopped; the sentence says why.
        BlobMissing: A page image is missing from the disk.
        HTTPException: 500, it was given up.
    """
    if job.status == "done":
        path = export_files.path_of(workspace, job.id)
        if not path.is_file():
            raise NotFound(GONE)
        return path
    if job.status == "dead":
        raise HTTPException(500, _FAILED)
    if job.status == "cancelled":
        raise Refused(_STOPPED)
    if export_jobs.MISSING in job.result:
        raise BlobMissing(job.message)
    raise Refused(job.message)


def _describe_filters(job: Job) -> str:
    """Return what an export was narrowed to, in a few words."""
    if job.payload["snapshot_id"] is not None:
        return "an earlier snapshot"
    filters: Filters = export_jobs.filters_of(job)
    statuses = () if set(filters.statuses) == set(ACCEPTED) else filters.statuses
    parts = [
        ", ".join(_NAMES.get(value, value) for value in group) for group in (statuses, filters.splits or ()) if group
    ]
    if filters.questions:
        parts.append(filters.questions[0] if len(filters.questions) == 1 else count(len(filters.questions), "question"))
    parts += [f"from {filters.since}"] if filters.since else []
    parts += [f"before {filters.until}"] if filters.until else []
    parts += [f"versions {', '.join(version[:12] for version in filters.models)}"] if filters.models else []
    parts += [f"agreement at least {filters.agreement:g}"] if filters.agreement else []
    parts += ["fit for training"] if not filters.unfit else []
    return "; ".join(parts)

"""Routes for exports: each is a job; a GET follows its own to the end, and others are listed and fetched later."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from annotator.access import REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheWorkers, TheWorkspace
from annotator.export_views import GONE, ExportView, export_result, export_view
from annotator.followed_job import FollowedJob
from annotator.scopes import needs_scope
from annotator.work_queues import JobLine
from db.statuses import ACCEPTED
from engine.accounts.users import names_of
from engine.datasets.filters import Filters
from engine.datasets.snapshot_views import snapshot_named
from engine.errors import Conflict, NotFound, Refused
from engine.interchange import export_files, export_jobs
from engine.interchange.export_files import EXPORT
from engine.interchange.formats import DEFAULT, EXPORTED, FORMATS
from engine.jobs import queue
from engine.jobs.job_view import JobView, job_view
from engine.projects.projects import project_by_id
from engine.text import file_name, join_names
from engine.workspace import Workspace

ENDED = "This export is not running. It may have ended; reload the list."
_UNFINISHED = "This export has no file yet. Wait until it is done."
_DISCONNECTED = "The export was stopped: the client has disconnected."
EXPORTS = JobLine("exports", EXPORT, places=8, come_back=60)
router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])


class FormatView(BaseModel):
    """An export format."""

    name: str
    title: str
    lossy: str = Field(description="Content that the format cannot hold; empty: none.")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a request asks to export: a format, and filters or the beginning of a snapshot's SHA-256."""

    form: str
    filters: Filters
    snapshot: str | None


async def _read_choice(
    format: Annotated[str, Query(description=f"{join_names(EXPORTED, 'or')}.")] = DEFAULT,
    status: Annotated[
        list[str] | None,
        Query(
            max_length=10,
            description="Statuses of answers; default: accepted, fixed. automatic: unreviewed, auto-accepted ones.",
        ),
    ] = None,
    split: Annotated[
        list[str] | None, Query(max_length=10, description="train, recent or frozen; default: all.")
    ] = None,
    question: Annotated[
        list[str] | None, Query(max_length=200, description="Texts of questions; default: all.")
    ] = None,
    since: Annotated[str | None, Query(description="First day of the answers, UTC.")] = None,
    until: Annotated[str | None, Query(description="Day before which the answers were saved, UTC.")] = None,
    model: Annotated[
        list[str] | None,
        Query(
            max_length=100,
            description="Beginning of the SHA-256 of the versions that proposed the answers.",
        ),
    ] = None,
    agreement: Annotated[
        float | None, Query(ge=0, le=1, description="Minimum weight of an answer, or confidence of an automatic one.")
    ] = None,
    fit: Annotated[bool, Query(description="Exclude labels unfit for training.")] = False,
    snapshot: Annotated[str | None, Query(description="Beginning of a snapshot's SHA-256, instead of filters.")] = None,
) -> Chosen:
    filters = Filters(
        statuses=tuple(status or ACCEPTED),
        splits=tuple(split) if split else None,
        questions=tuple(question) if question else None,
        since=since or None,
        until=until or None,
        models=tuple(model) if model else None,
        agreement=agreement,
        quarantined=True,
        unfit=not fit,
    )
    return Chosen(format, filters, snapshot)


TheChoice = Annotated[Chosen, Depends(_read_choice)]


@router.get("/projects/{project_id}/export-formats")
@needs_scope("read")
def formats(project_id: str) -> list[FormatView]:
    """Return the export formats."""
    return [
        FormatView(name=export_format.name, title=export_format.title, lossy=export_format.lossy)
        for export_format in FORMATS.values()
    ]


@router.get(
    "/projects/{project_id}/export",
    response_class=FileResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
@needs_scope("read")
async def export(
    request: Request,
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    workers: TheWorkers,
    chosen: TheChoice,
) -> FileResponse:
    """Export answers as a zip file with page images, manifest and dataset card.

    The answer begins when the file is whole. The export ends when the client disconnects; one that is started with
    POST and fetched later does not. 429 when too many exports are waiting.
    """
    followed = FollowedJob(workspace, workers.exports)
    job = None
    try:
        await run_in_threadpool(_asked_for, workspace, project_id, chosen, user.id, followed.id)
        workers.exports.wake()
        job = await followed.ended_unless_gone(request)
    finally:
        followed.leave()
        if job is None:  # also when it was refused, or the server ends the request
            await run_in_threadpool(_give_up, workspace, followed.id, user.id)
    if job is None:
        raise Refused(_DISCONNECTED)
    packed = await run_in_threadpool(export_result, workspace, job)
    forget = BackgroundTask(partial(packed.unlink, missing_ok=True))
    name = await run_in_threadpool(_name, workspace, project_id, chosen.form)
    return FileResponse(packed, media_type="application/zip", filename=name, background=forget)


@router.post("/projects/{project_id}/exports", status_code=202)
@needs_scope("read")
def start(
    project_id: str, workspace: TheWorkspace, user: CurrentUser, workers: TheWorkers, chosen: TheChoice
) -> JobView:
    """Start an export as a job. Its file is kept for a day.

    It goes on when nobody listens, also after a restart of the server. 429 when too many exports are waiting.
    """
    asked = _asked_for(workspace, project_id, chosen, user.id)
    workers.exports.wake()
    return asked


@router.get("/projects/{project_id}/exports")
@needs_scope("read")
def list_exports(project_id: str, workspace: TheWorkspace) -> list[ExportView]:
    """Return the exports of a project that run, that failed within a day, or whose file is kept; newest 50 first."""
    jobs = export_files.list_exports(workspace, project_id)
    names = names_of(workspace, {job.payload["user_id"] for job in jobs})
    return [export_view(job, names) for job in jobs]


@router.post("/projects/{project_id}/exports/{export_id}/stop")
@while_archived
def stop(project_id: str, export_id: str, workspace: TheWorkspace, user: CurrentUser) -> ExportView:
    """Stop an export at its next step. Nothing of it is kept."""
    try:
        job = export_files.export_job(workspace, project_id, export_id)
        job = queue.cancel(workspace, job.id, by=user.id)
    except (NotFound, Conflict):
        raise NotFound(ENDED) from None
    export_files.forget(workspace)
    return export_view(job, names_of(workspace, {job.payload["user_id"]}))


@router.get(
    "/projects/{project_id}/exports/{export_id}/file",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/zip": {}}},
        206: {"content": {"application/zip": {}}, "description": "The part that the header Range asks for."},
    },
)
@needs_scope("read")
def fetch(project_id: str, export_id: str, workspace: TheWorkspace) -> FileResponse:
    """Return the zip file of an export that is done. Range requests resume a download."""
    job = export_files.export_job(workspace, project_id, export_id)
    if job.status in queue.OPEN:
        raise NotFound(_UNFINISHED)
    if not export_files.is_kept(workspace, job):
        raise NotFound(GONE)
    name = _name(workspace, project_id, job.payload["format"])
    return FileResponse(export_files.path_of(workspace, job.id), media_type="application/zip", filename=name)


@router.delete("/projects/{project_id}/exports/{export_id}", status_code=204, response_class=Response)
@while_archived
def remove(project_id: str, export_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Delete the file of an export for good. Audited. Downloads that have begun go on.

    Its snapshot stays; DELETE /api/projects/{project_id}/snapshots/{snapshot_id} removes it.
    """
    export_files.remove_export(workspace, project_id, export_id, by=user.id)


def _asked_for(
    workspace: Workspace, project_id: str, chosen: Chosen, user_id: str, once_as: str | None = None
) -> JobView:
    """Ask for an export. `once_as`: id of its job when one request waits for it and nobody else gets its file."""
    with EXPORTS.place(workspace):
        snapshot = snapshot_named(workspace, project_id, chosen.snapshot) if chosen.snapshot else None
        job = export_jobs.request(
            workspace, project_id,
            form=chosen.form, filters=chosen.filters, snapshot=snapshot, user_id=user_id,
            once=once_as is not None, job_id=once_as,
        )  # fmt: skip
    return job_view(job)


def _give_up(workspace: Workspace, job_id: str, user_id: str) -> None:
    """Stop an export that nobody waits for any more, and delete its file if it was made already."""
    try:
        queue.cancel(workspace, job_id, by=user_id)
    except NotFound:  # it was refused
        return
    except Conflict:  # it has ended
        export_files.path_of(workspace, job_id).unlink(missing_ok=True)


def _name(workspace: Workspace, project_id: str, form: str) -> str:
    """Return the name of an export's zip file, for people."""
    project = project_by_id(workspace, project_id).name
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in project)
    return file_name(f"{name}-{form}.zip", "export.zip")

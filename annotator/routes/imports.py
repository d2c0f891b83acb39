"""Routes for imports: an upload becomes a job, which the request follows to its end, or leaves."""

from typing import Annotated

from fastapi import APIRouter, File, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, StreamingResponse

from annotator.access import REVIEWERS, check_reviewer, while_archived
from annotator.deps import CurrentUser, TheWorkers, TheWorkspace, workspace_of
from annotator.followed_job import FollowedJob
from annotator.import_views import ImportedView, ImportUnderWay, import_lines, import_result, under_way
from annotator.scopes import needs_scope
from annotator.uploads import asked_early, place_of, sent_name
from annotator.work_queues import JobLine
from engine.accounts.users import names_of
from engine.errors import Conflict, NotFound
from engine.interchange import import_jobs, uploaded_sets
from engine.interchange.formats import IMPORTED
from engine.interchange.import_store import Status
from engine.interchange.imports import RECOGNISE
from engine.interchange.uploaded_sets import IMPORT
from engine.jobs import job_list, queue
from engine.jobs.job_view import JobView, job_view
from engine.projects.projects import project_by_id
from engine.text import file_name, join_names

MEDIA_TYPE = "application/x-ndjson"
ENDED = "This import is not running. It may have ended; reload the list."
IMPORTS = JobLine("imports", IMPORT, places=10, come_back=120)
router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])
sent = APIRouter(route_class=asked_early(check_reviewer, lambda request: IMPORTS.place(workspace_of(request))))


@router.get("/projects/{project_id}/imports")
@needs_scope("read")
def imports(project_id: str, workspace: TheWorkspace) -> list[ImportUnderWay]:
    """Return the running imports of a project, oldest first."""
    jobs = job_list.open_jobs(workspace, IMPORT, project_id)
    names = names_of(workspace, {job.payload["user_id"] for job in jobs})
    return [under_way(job, names) for job in jobs]


@router.post("/projects/{project_id}/imports/{import_id}/stop")
@while_archived
def stop(project_id: str, import_id: str, workspace: TheWorkspace, user: CurrentUser) -> ImportUnderWay:
    """Stop an import at its next step. Documents imported so far are kept."""
    if all(job.id != import_id for job in job_list.open_jobs(workspace, IMPORT, project_id)):
        raise NotFound(ENDED)
    try:
        job = queue.cancel(workspace, import_id, by=user.id)
    except Conflict:
        raise NotFound(ENDED) from None
    uploaded_sets.forget(workspace)
    return under_way(job, names_of(workspace, {job.payload["user_id"]}))


@sent.post(
    "/projects/{project_id}/import",
    response_model=ImportedView,
    responses={200: {"content": {MEDIA_TYPE: {}}}, 202: {"model": JobView}},
)
async def import_(
    request: Request,
    project_id: str,
    file: Annotated[UploadFile, File(description="Dataset as a zip file.")],
    workspace: TheWorkspace,
    workers: TheWorkers,
    user: CurrentUser,
    format: Annotated[str, Query(description=f"{join_names(IMPORTED, 'or')}; auto detects it.")] = RECOGNISE,
    status: Annotated[Status, Query(description="Status of the imported answers.")] = "accepted",
    ocr: Annotated[bool, Query(description="Read pages without words by OCR.")] = True,
    skip_bad: Annotated[bool, Query(description="Leave out entries with an error, and import the rest.")] = False,
    progress: Annotated[
        bool, Query(description="Respond with a JSON line for each step; the last holds the result or error.")
    ] = False,
    background: Annotated[
        bool, Query(description="Respond with 202 and the job as soon as the file is stored.")
    ] = False,
) -> ImportedView | Response:
    """Import pages and answers. A dataset with an error is refused as a whole (422, with file and entry).

    With `skip_bad`, entries with an error are left out, and counted and named in the result. A bad page leaves out its
    document, a bad mark its answer.

    The caller becomes the author of the answers. With `progress`, lines {"id", "doing", "done", "of"} follow each
    other, then {"result"} or {"status", "detail"}. The import continues when the client disconnects, and after
    a restart of the server, until it is stopped by its id. 429 when too many imports are waiting.
    """
    await run_in_threadpool(project_by_id, workspace, project_id)
    sha256 = await run_in_threadpool(uploaded_sets.receive, workspace.settings.data_dir, file.file)
    followed = FollowedJob(workspace, workers.imports)
    try:
        job = await run_in_threadpool(
            import_jobs.request, workspace, project_id, sha256,
            name=file_name(sent_name(file), "set.zip"), form=format, status=status, ocr=ocr, skip_bad=skip_bad,
            user_id=user.id, job_id=followed.id,
        )  # fmt: skip
        place_of(request).leave()  # the job itself is counted from here on
        workers.imports.wake()
        if progress and not background:
            return StreamingResponse(
                import_lines(followed), media_type=MEDIA_TYPE, headers={"cache-control": "no-store"}
            )
        if background:
            return JSONResponse(job_view(job).model_dump(mode="json"), 202)
        return import_result(await followed.wait_for_end())
    finally:
        if background or not progress:
            followed.leave()


router.include_router(sent)

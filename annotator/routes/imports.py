"""Routes for imports."""

import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Query, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from annotator import ndjson_stream, running_imports
from annotator.access import REVIEWERS, check_reviewer
from annotator.deps import CurrentUser, TheWorkspace
from annotator.uploads import asked_early, copied, place_of
from annotator.work_queues import end_of
from engine import audit
from engine.interchange.import_store import Imported, Status
from engine.interchange.imports import RECOGNISE, ImportStopped, import_set
from engine.text import file_name

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])
sent = APIRouter(route_class=asked_early(check_reviewer, ndjson_stream.IMPORTS))


class ImportedView(BaseModel):
    """Result of an import."""

    format: str
    documents: int
    known: int = Field(description="Documents that existed before.")
    pages: int
    read: int = Field(description="Pages without words, read by OCR.")
    answers: int
    no_answer: int = Field(description="Questions marked as not answered by the document.")
    lost: dict[str, int] = Field(description="Content of the dataset that was left out: count by name.")


class ImportUnderWay(BaseModel):
    """A running import."""

    id: str
    name: str = Field(description="Name of the file.")
    by: str = Field(description="Name of the user.")
    began_at: datetime
    doing: str
    done: int
    of: int = Field(description="Total of the current step; 0: unknown.")
    stopping: bool = Field(description="Whether it was stopped; it ends at its next step.")


@router.get("/projects/{project_id}/imports")
def imports(project_id: str) -> list[ImportUnderWay]:
    """Return the running imports of a project, oldest first."""
    return [_way(one) for one in running_imports.of_project(project_id)]


@router.post("/projects/{project_id}/imports/{import_id}/stop")
def stop(project_id: str, import_id: str, workspace: TheWorkspace, user: CurrentUser) -> ImportUnderWay:
    """Stop an import at its next step. Documents imported so far are kept."""
    stopped = running_imports.stop(project_id, import_id)
    audit.note(workspace, user.id, "imports.stop", stopped.name[:60], project_id)
    return _way(stopped)


@sent.post(
    "/projects/{project_id}/import",
    response_model=ImportedView,
    responses={200: {"content": {ndjson_stream.MEDIA_TYPE: {}}}},
)
async def import_(
    request: Request,
    project_id: str,
    file: Annotated[UploadFile, File(description="Dataset as a zip file.")],
    workspace: TheWorkspace,
    user: CurrentUser,
    format: Annotated[
        str, Query(description="auto, coco, parquet, png, grounded, label-studio, boundingdocs, funsd, page-xml.")
    ] = RECOGNISE,
    status: Annotated[Status, Query(description="Status of the imported answers.")] = "accepted",
    ocr: Annotated[bool, Query(description="Read pages without words by OCR.")] = True,
    progress: Annotated[
        bool, Query(description="Respond with a JSON line for each step; the last holds the result or error.")
    ] = False,
) -> ImportedView | StreamingResponse:
    """Import pages and answers. A dataset with an error is refused as a whole (422, with file and entry).

    The caller becomes the author of the answers. With `progress`, lines {"id", "doing", "done", "of"} follow each
    other, then {"result"} or {"status", "detail"}. The import continues when the client disconnects, until it is
    stopped by its id. 429 when too many imports are waiting.
    """
    name = file_name(file.filename, "set.zip")
    uploaded = await run_in_threadpool(copied, file)
    way = running_imports.UnderWay(project_id, name, user.name)

    def take_in(on_step: ndjson_stream.OnStep) -> ImportedView:
        try:
            with tempfile.TemporaryDirectory(prefix="glossator-import-") as folder:
                packed = Path(shutil.move(uploaded, Path(folder) / name))  # sentences name it
                found = import_set(
                    workspace, project_id, format, packed, user_id=user.id, status=status, ocr=ocr,
                    on_progress=on_step, should_stop=way.stopping.is_set,
                )  # fmt: skip
        except ImportStopped as stopped:
            if stopped.stored:
                note(stopped.found)
            raise
        note(found)
        return _view(found)

    def note(found: Imported) -> None:
        audit.note(workspace, user.id, "imports.make", name[:60], project_id, format=found.form, answers=found.answers)

    def clean_up() -> None:
        uploaded.unlink(missing_ok=True)

    if progress:
        return ndjson_stream.streamed(take_in, way, place_of(request), clean_up)
    return await end_of(ndjson_stream.begun(take_in, way, place_of(request), clean_up))


router.include_router(sent)


def _way(one: running_imports.UnderWay) -> ImportUnderWay:
    return ImportUnderWay(
        id=one.id,
        name=one.name,
        by=one.by,
        began_at=one.began_at,
        doing=one.doing,
        done=one.done,
        of=one.of,
        stopping=one.stopping.is_set(),
    )


def _view(found: Imported) -> ImportedView:
    return ImportedView(
        format=found.form,
        documents=found.documents,
        known=found.known,
        pages=found.pages,
        read=found.read,
        answers=found.answers,
        no_answer=found.no_answer,
        lost=found.lost,
    )

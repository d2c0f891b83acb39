"""Datasets in."""

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
from engine.interchange.imports import RECOGNISE, ImportStopped, import_set
from engine.interchange.storing import Imported, Status
from engine.text import file_name

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])
sent = APIRouter(route_class=asked_early(check_reviewer, ndjson_stream.IMPORTS))


class ImportedView(BaseModel):
    """What came in."""

    format: str
    documents: int
    known: int = Field(description="Documents that were there before.")
    pages: int
    read: int = Field(description="Pages that came without words and were read.")
    answers: int
    no_answer: int = Field(description="Questions that a document does not answer.")
    lost: dict[str, int] = Field(description="What the set says and has no place here, by name.")


class ImportUnderWay(BaseModel):
    """An import that has not ended."""

    id: str
    name: str = Field(description="The file.")
    by: str = Field(description="Who brought it in.")
    began_at: datetime
    doing: str
    done: int
    of: int = Field(description="0 while nobody knows how much there is.")
    stopping: bool = Field(description="Somebody has stopped it, and it ends at its next step.")


@router.get("/projects/{project_id}/imports")
def imports(project_id: str) -> list[ImportUnderWay]:
    """Return the imports of a project that are under way, oldest first."""
    return [_way(one) for one in running_imports.of_project(project_id)]


@router.post("/projects/{project_id}/imports/{import_id}/stop")
def stop(project_id: str, import_id: str, workspace: TheWorkspace, user: CurrentUser) -> ImportUnderWay:
    """Stop an import at its next step: what has come in stays, as whole documents."""
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
    file: Annotated[UploadFile, File(description="A zip file of the set.")],
    workspace: TheWorkspace,
    user: CurrentUser,
    format: Annotated[
        str, Query(description="auto, coco, parquet, png, grounded, label-studio, boundingdocs, funsd, page-xml.")
    ] = RECOGNISE,
    status: Annotated[Status, Query(description="What the answers are from now on.")] = "accepted",
    ocr: Annotated[bool, Query(description="Read the words of pages that come without.")] = True,
    progress: Annotated[
        bool, Query(description="Answer with a line of JSON for each step, the last with the result or what is wrong.")
    ] = False,
) -> ImportedView | StreamingResponse:
    """Take in pages and answers: all of a set that is right, nothing of one that is not (422, with the file and the entry).

    The answers become those of who asks. With `progress`, lines {"id", "doing", "done", "of"} come while it is at work, then {"result"} or
    {"status", "detail"}. It goes on when nobody listens, until it is stopped by its id. 429 when many are waiting.
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

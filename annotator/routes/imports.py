"""Datasets in."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Query, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from annotator import steps
from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.uploads import copied
from engine import audit
from engine.errors import TooMany
from engine.interchange.imports import RECOGNISE, import_set
from engine.interchange.storing import Imported, Status

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])


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


@router.post(
    "/projects/{project_id}/import",
    response_model=ImportedView,
    responses={200: {"content": {steps.MEDIA_TYPE: {}}}},
)
def import_(
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

    The answers become those of who asks. With `progress`, lines {"doing", "done", "of"} come while it is at work, then {"result"} or
    {"status", "detail"}; it goes on when nobody listens.
    """
    name = Path((file.filename or "set.zip").replace("\\", "/")).name or "set.zip"
    uploaded = copied(file)

    def take_in(on_step: steps.OnStep) -> ImportedView:
        try:
            with tempfile.TemporaryDirectory(prefix="glossator-import-") as folder:
                packed = Path(shutil.move(uploaded, Path(folder) / name))  # sentences name it
                found = import_set(
                    workspace, project_id, format, packed, user_id=user.id, status=status, ocr=ocr, on_progress=on_step
                )
        finally:
            uploaded.unlink(missing_ok=True)
        audit.note(workspace, user.id, "imports.make", name[:60], project_id, format=found.form, answers=found.answers)
        return _view(found)

    if not progress:
        return take_in(lambda *_: None)
    try:
        return steps.streamed(take_in)
    except (TooMany, RuntimeError):
        uploaded.unlink(missing_ok=True)
        raise


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

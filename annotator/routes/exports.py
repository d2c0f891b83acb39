"""Datasets out."""

import tempfile
import zipfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Query
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from engine import audit, projects
from engine.curation.filters import Filters
from engine.curation.labels import ACCEPTED
from engine.curation.snapshot_views import snapshot_named
from engine.interchange import exports

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])
_TEXTS = (".json", ".jsonl", ".txt", ".xml", ".csv", ".md", ".yaml")


class FormatView(BaseModel):
    """A format that answers can be exported in."""

    name: str
    title: str
    lossy: str = Field(description="What it cannot hold; empty where it holds everything.")


@router.get("/projects/{project_id}/export-formats")
def formats(project_id: str) -> list[FormatView]:
    """Return the formats that a project can be exported in."""
    return [FormatView(name=one.name, title=one.title, lossy=one.lossy) for one in exports.FORMATS.values()]


@router.get(
    "/projects/{project_id}/export",
    response_class=FileResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def export(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    later: BackgroundTasks,
    format: Annotated[str, Query(description="One of the export formats.")] = "coco",
    status: Annotated[
        list[str] | None,
        Query(
            description="Of the answers; accepted ones without it. automatic: of the model, no person has looked at them."
        ),
    ] = None,
    split: Annotated[list[str] | None, Query(description="train, recent, frozen; all without it.")] = None,
    question: Annotated[list[str] | None, Query(description="Texts of questions; all without it.")] = None,
    since: Annotated[str | None, Query(description="Answers given from this day on, UTC.")] = None,
    until: Annotated[str | None, Query(description="Answers given before this day, UTC.")] = None,
    model: Annotated[
        list[str] | None,
        Query(description="How the SHA-256 of the versions that proposed, or answered automatically, begins."),
    ] = None,
    agreement: Annotated[
        float | None, Query(ge=0, le=1, description="Least weight of an answer; of an automatic one its confidence.")
    ] = None,
    fit: Annotated[bool, Query(description="Leave out what is unfit to teach.")] = False,
    snapshot: Annotated[
        str | None, Query(description="How the SHA-256 of a snapshot begins, instead of filters.")
    ] = None,
) -> FileResponse:
    """Return the answers of a project as a zip file, with the pages, a manifest and a dataset card."""
    project = projects.project_by_id(workspace, project_id)
    chosen = Filters(
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
    folder = tempfile.TemporaryDirectory(prefix="glossator-export-")
    later.add_task(folder.cleanup)
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in project.name)
    out = Path(folder.name) / f"{name}-{format}"
    there = snapshot_named(workspace, project_id, snapshot) if snapshot else None
    written = exports.export(workspace, project_id, format, out, filters=chosen, snapshot=there)
    audit.note(
        workspace, user.id, "exports.make", written.snapshot_sha256, project_id, format=format, answers=written.answers
    )
    packed = _packed(out)
    return FileResponse(packed, media_type="application/zip", filename=packed.name, background=later)


def _packed(folder: Path) -> Path:
    """A zip file of a folder, beside it. Pictures are compressed already; storing them as they are never touches their bytes."""
    packed = folder.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                kind = zipfile.ZIP_DEFLATED if path.suffix in _TEXTS else zipfile.ZIP_STORED
                archive.write(path, path.relative_to(folder), compress_type=kind)
    return packed

"""Datasets out."""

import tempfile
import zipfile
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, BackgroundTasks
from fastapi.responses import FileResponse

from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from engine import audit, projects
from engine.interchange import coco

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])


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
    format: Literal["coco"] = "coco",
) -> FileResponse:
    """Return the accepted answers of a project as a zip file: COCO annotations with RLE masks, and the pages."""
    project = projects.project_by_id(workspace, project_id)
    folder = tempfile.TemporaryDirectory(prefix="glossator-export-")
    later.add_task(folder.cleanup)
    out = Path(folder.name) / "dataset"
    written = coco.export(workspace, project_id, out)
    answers = written.counts["annotations"]
    audit.note(workspace, user.id, "exports.make", written.snapshot_sha256, project_id, format=format, answers=answers)
    packed = Path(folder.name) / "dataset.zip"
    # Pictures are compressed already; storing them as they are is faster and never touches their bytes.
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(out.rglob("*")):
            if path.is_file():
                kind = zipfile.ZIP_DEFLATED if path.suffix == ".json" else zipfile.ZIP_STORED
                archive.write(path, path.relative_to(out), compress_type=kind)
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in project.name)
    return FileResponse(packed, media_type="application/zip", filename=f"{name}-{format}.zip", background=later)

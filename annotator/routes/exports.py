"""Routes for exports."""

import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.work_queues import WorkQueue, apart, end_unless_gone
from engine import audit
from engine.datasets.filters import Filters
from engine.datasets.snapshot_views import snapshot_named
from engine.errors import Refused
from engine.interchange import exports
from engine.projects import projects
from engine.settings import MEGABYTE
from engine.statuses import ACCEPTED
from engine.text import file_name

router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])
EXPORTS = WorkQueue(
    "exports", at_work=2, waiting=6, come_back=60
)  # in this process; a place is left when the file is sent
SPARE_BYTES = 200 * MEGABYTE  # that stay free on the disk: people save on the same one
_TEXTS = (".json", ".jsonl", ".txt", ".xml", ".csv", ".md", ".yaml")


class FormatView(BaseModel):
    """An export format."""

    name: str
    title: str
    lossy: str = Field(description="Content that the format cannot hold; empty: none.")


@router.get("/projects/{project_id}/export-formats")
def formats(project_id: str) -> list[FormatView]:
    """Return the export formats."""
    return [FormatView(name=one.name, title=one.title, lossy=one.lossy) for one in exports.FORMATS.values()]


@router.get(
    "/projects/{project_id}/export",
    response_class=FileResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
async def export(
    request: Request,
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    format: Annotated[str, Query(description="One of the export formats.")] = "coco",
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
) -> FileResponse:
    """Export answers as a zip file with page images, manifest and dataset card.

    429 when too many exports are waiting.
    """
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
    place = EXPORTS.place()
    folder = tempfile.TemporaryDirectory(prefix="glossator-export-")
    gone = threading.Event()

    def check(*_: object) -> None:
        if gone.is_set():
            raise Refused("The export was stopped: the client has disconnected.")
        if shutil.disk_usage(folder.name).free < SPARE_BYTES:
            raise Refused(
                "The server's disk is almost full, so exports are refused. Ask the administrator to free disk space."
            )

    def write() -> tuple[Path, str]:
        """Return the zip file and its name for people."""
        with place.turn(lambda: None, check):
            check()
            project = projects.project_by_id(workspace, project_id)
            there = snapshot_named(workspace, project_id, snapshot) if snapshot else None
            written = exports.export(
                workspace, project_id, format, Path(folder.name) / "set", filters=chosen, snapshot=there,
                on_progress=check,
            )  # fmt: skip
            packed = _packed(written.folder, check)
            audit.note(
                workspace, user.id, "exports.make", written.snapshot_sha256, project_id,
                format=format, answers=written.answers,
            )  # fmt: skip
            name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in project.name)
            return packed, file_name(f"{name}-{format}.zip", "export.zip")

    def clean_up() -> None:
        folder.cleanup()
        place.leave()

    try:
        outcome = apart(write, "export")
    except RuntimeError:  # no thread is to be had
        clean_up()
        raise
    try:
        packed, name = await end_unless_gone(outcome, request, gone)
    except BaseException:
        outcome.add_done_callback(lambda _: clean_up())
        raise
    return _Sent(packed, name, clean_up)


class _Sent(FileResponse):
    """A file that is deleted after it was sent, or when the client has disconnected."""

    def __init__(self, path: Path, name: str, clean_up: Callable[[], None]) -> None:
        super().__init__(path, media_type="application/zip", filename=name)
        self._clean_up = clean_up

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(self._clean_up)


def _packed(folder: Path, check: Callable[[], None]) -> Path:
    """Replace a folder by a zip file; an exception from `check` ends it.

    Images are stored as they are: they are compressed already, and their bytes stay unchanged.
    """
    packed = folder.with_suffix(".zip")
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for path in sorted(folder.rglob("*")):
                check()
                if path.is_file():
                    kind = zipfile.ZIP_DEFLATED if path.suffix in _TEXTS else zipfile.ZIP_STORED
                    archive.write(path, path.relative_to(folder), compress_type=kind)
    except OSError as error:
        raise Refused(f"The export cannot be packed: {error.strerror or error}.") from None
    shutil.rmtree(folder)
    return packed

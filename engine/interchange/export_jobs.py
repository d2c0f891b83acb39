"""Exports as jobs of the queue: asked for, written with progress, stopped, and gone on with after a crash.

The first attempt freezes the snapshot and notes it on the job. A later attempt writes the same snapshot and goes on
with the files that the earlier one left, so the zip has the same bytes, however often its server was killed.
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from db import private
from db.blobs import BlobMissing
from db.ids import new_id
from db.tables import Job, Snapshot
from engine import audit
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.errors import Conflict, Refused
from engine.interchange import exports
from engine.interchange.export_files import EXPORT, folder_of, pack_folder, path_of
from engine.interchange.import_jobs import Step
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.jobs.jobs_of_day import enqueue_of_day
from engine.plurals import count
from engine.settings import MEGABYTE
from engine.workspace import Workspace

SPARE_BYTES = 200 * MEGABYTE  # that stay free on the disk: people save on the same one
FULL = "The server's disk is almost full, so exports are refused. Ask the administrator to free disk space."
MISSING = "missing_file"  # in the result of a job that failed because a stored page image is missing
_BEGINS = {"Choosing answers": 0.0, "Writing": 0.35, "Packing": 0.85}  # share of the work before it
_LASTS = {"Choosing answers": 0.35, "Writing": 0.5, "Packing": 0.15}
_LOOK_SECONDS = 1.0  # between two looks whether an earlier attempt still writes


def request(
    workspace: Workspace,
    project_id: str,
    *,
    form: str,
    filters: Filters,
    snapshot: Snapshot | None,
    user_id: str,
    once: bool = False,
    job_id: str | None = None,
) -> Job:
    """Ask for an export.

    Args:
        workspace: Where the answers are.
        project_id: The project to export.
        form: One of `formats.EXPORTED`.
        filters: Of the answers to freeze.
        snapshot: Frozen before, to be exported instead.
        user_id: Who asks.
        once: Whether the file is sent to the one request that waits for it, and not kept for others.
        job_id: Of the new job, for a caller who follows it from its first step.

    Raises:
        Refused: There is no such format, it cannot tell automatic answers from others, or the disk is almost full.
        TooMany: The person has started as many exports as one may in 24 hours.
    """
    _check_room(workspace)
    exports.check_told(
        exports.format_named(form), filters.statuses if snapshot is None else snapshot.filters["statuses"]
    )
    payload = {
        "format": form,
        "filters": asdict(filters),
        "snapshot_id": None if snapshot is None else snapshot.id,
        "user_id": user_id,
        "once": once,
    }
    # The audit trail names an export once, when it is made.
    most = workspace.settings.exports_per_day
    return enqueue_of_day(workspace, EXPORT, project_id, payload, most=most, job_id=job_id)


def filters_of(job: Job) -> Filters:
    """Return the filters that an export was asked for with."""
    stored: dict[str, Any] = job.payload["filters"]
    wanted: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return Filters(**wanted)


def run_export(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    """Write an export; a handler of the queue.

    Returns the snapshot, the number of answers, and the bytes of the zip.
    """
    noted: dict[str, Any] = {name: value for name, value in job.result.items() if name != MISSING}

    def note(session: Session, **more: Any) -> None:
        noted.update(more)
        queue.keep(session, job.id, str(job.holder), dict(noted))

    def say(doing: str, done: int = 0, of: int = 0) -> None:
        check(should_stop)
        _check_room(workspace)
        step = Step(doing, done, of)
        share = _BEGINS.get(doing, 0.0) + _LASTS.get(doing, 0.0) * (done / of if of else 0.0)
        on_progress(share, step.sentence())

    say("Starting")
    try:
        _write(workspace, job, noted, note, say)
    except BlobMissing as missing:
        with workspace.database.write() as session:
            note(session, **{MISSING: True})
        raise Refused(str(missing)) from None
    shutil.rmtree(folder_of(workspace, job.id), ignore_errors=True)
    return {**noted, "sentence": f"Exported {count(noted['answers'], 'answer')} as {job.payload['format']}."}


def _write(
    workspace: Workspace, job: Job, noted: dict[str, Any], note: Callable[..., None], say: Callable[..., None]
) -> None:
    """Write what is missing of an export: its snapshot, its folder, its zip."""
    form, project_id = job.payload["format"], str(job.project_id)
    out, target = folder_of(workspace, job.id) / "set", path_of(workspace, job.id)
    snapshot = _snapshot(workspace, job, noted, note, say)
    if not target.is_file():
        private.make_folder(target.parent)
        private.make_folder(out.parent)
        if "answers" not in noted or not out.is_dir():
            filters, tell = _filters_of_job(job), partial(say, "Writing")

            def export() -> exports.Export:
                shutil.rmtree(out, ignore_errors=True)  # whole, but its attempt ended before it was noted
                return exports.export(
                    workspace, project_id, form, out, snapshot=snapshot, filters=filters, on_progress=tell
                )

            written = _when_free(export, say)
            with workspace.database.write() as session:
                note(session, answers=written.answers)
        for left in out.parent.glob("*.zip"):  # by an attempt that was killed while it packed
            left.unlink(missing_ok=True)
        temporary = out.with_name(f"{new_id()}.zip")
        pack_folder(out, temporary, snapshot.created_at, partial(say, "Packing"))
        temporary.replace(target)
    if "bytes" not in noted:
        with workspace.database.write() as session:
            note(session, bytes=target.stat().st_size)
            audit.record(
                session, job.payload["user_id"], "exports.make", snapshot.sha256, project_id,
                format=form, answers=noted["answers"],
            )  # fmt: skip


def _snapshot(
    workspace: Workspace, job: Job, noted: dict[str, Any], note: Callable[..., None], say: Callable[..., None]
) -> Snapshot:
    """Return the snapshot of an export, frozen by its first attempt."""
    snapshot_id = noted.get("snapshot_id") or job.payload["snapshot_id"]
    if snapshot_id is not None:
        with workspace.database.read() as session:
            frozen_before = session.get(Snapshot, snapshot_id)
        if frozen_before is None:
            raise Refused("The snapshot of this export was removed. Start the export again.")
        return frozen_before
    say("Choosing answers")
    tell = partial(say, "Choosing answers")
    frozen = snapshots.freeze_with(workspace, str(job.project_id), filters_of(job), on_progress=tell)
    with workspace.database.write() as session:
        note(session, snapshot_id=frozen.id)
    return frozen


def _filters_of_job(job: Job) -> Filters | None:
    return filters_of(job) if job.payload["snapshot_id"] is None else None


def _when_free(export: Callable[[], exports.Export], say: Callable[..., None]) -> exports.Export:
    """Return what `export` wrote, once no attempt that lost its lease writes there any more.

    Such an attempt ends at its next step.
    """
    while True:
        try:
            return export()
        except Conflict:
            say("Waiting for an earlier attempt to end")
            time.sleep(_LOOK_SECONDS)


def _check_room(workspace: Workspace) -> None:
    if shutil.disk_usage(workspace.settings.data_dir).free < SPARE_BYTES:
        raise Refused(FULL)

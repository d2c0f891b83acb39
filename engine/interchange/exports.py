"""Export curated datasets: a snapshot in one of the formats of the field, whole or not at all.

An export freezes a snapshot and reads it alone, so the same snapshot gives the same bytes. A later version of the code
may write more; the manifest names the version. Page images are the stored files, never compressed again. Every export
has a dataset card, and a manifest with the SHA-256 of every file.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.statuses import AUTOMATIC
from db.tables import Snapshot
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.errors import Refused
from engine.interchange import card, skipped_tasks
from engine.interchange.destination import Destination, check_free
from engine.interchange.format import Format
from engine.interchange.formats import EXPORTED, FORMATS
from engine.interchange.release import Release
from engine.projects.projects import project_by_id
from engine.version import code_version
from engine.workspace import Workspace

OnProgress = Callable[[int, int], None]  # answers written, answers in all
MANIFEST_FORMAT = "glossator-export/2"


@dataclass(frozen=True, slots=True)
class Export:
    """An export that was written.

    Attributes:
        folder: Where it lies.
        format: Name of the format.
        snapshot_sha256: The snapshot.
        answers: Number of answers.
        counts: Numbers of things written, by name.
        lossy: What the format cannot hold, as a sentence.
        loss: Figures of that, by name.
        manifest_sha256: SHA-256 of the manifest, which names every file with its own.
    """

    folder: Path
    format: str
    snapshot_sha256: str
    answers: int
    counts: dict[str, int]
    lossy: str
    loss: dict[str, float]
    manifest_sha256: str


def format_named(name: str) -> Format:
    """Return the format of that name.

    Raises:
        Refused: There is no such format; the message lists them.
    """
    if name not in FORMATS:
        raise Refused(f"There is no export format {name!r}; choose from {', '.join(EXPORTED)}.")
    return FORMATS[name]


def check_told(form: Format, statuses: Iterable[str]) -> None:
    """Check that a format can mark automatic answers, where answers of these statuses include some.

    Raises:
        Refused: It cannot; automatic answers would look like those of people.
    """
    if AUTOMATIC in statuses and not form.marks_automatic:
        raise Refused(
            f"{form.title} cannot mark an answer as automatic. Choose another format, or leave automatic answers out."
        )


def export(
    workspace: Workspace,
    project_id: str,
    form: str,
    out: Path,
    *,
    filters: Filters | None = None,
    snapshot: Snapshot | None = None,
    on_progress: OnProgress | None = None,
    on_freezing: OnProgress | None = None,
) -> Export:
    """Write a project's answers to the folder `out`, whole or not at all.

    An interrupted export goes on where it ended, if nothing was answered meanwhile.

    Args:
        workspace: Where the answers are stored.
        project_id: The project.
        form: Name of a format, a key of `formats.FORMATS`.
        out: A new or an empty folder.
        filters: Which answers to freeze; by default the accepted ones. With a `snapshot`, the filters that froze it.
        snapshot: A snapshot that was frozen before.
        on_progress: Called with the answers written and all answers; what it raises ends the export.
        on_freezing: Called with the answers looked at and all answers while a snapshot is made.

    Returns:
        What was written.

    Raises:
        Refused: The format cannot mark automatic answers, `out` holds files or cannot be written, or there is nothing
            to export.
        Conflict: The same is being exported there.
    """
    chosen = format_named(form)
    check_free(out)
    project = project_by_id(workspace, project_id)
    if snapshot is not None and filters is None:
        check_told(chosen, snapshot.filters["statuses"])
    else:  # another choice that took the same answers may have frozen the snapshot, and its filters stand there
        filters = filters or Filters(quarantined=True, unfit=True)
        check_told(chosen, filters.statuses)
        snapshot = snapshot or snapshots.freeze_with(workspace, project_id, filters, on_progress=on_freezing)
    total = int(snapshot.counts["annotations"])
    done = 0

    def look() -> None:
        if on_progress is not None:
            on_progress(done, total)

    def tick() -> None:
        nonlocal done
        done += 1
        look()

    release = Release(workspace, project.name, snapshot, look)
    with Destination(workspace, out, f"{chosen.name}-{snapshot.sha256[:16]}") as to:
        outcome = chosen.write(release, to, tick)
        card.write(release, to, chosen, outcome, skipped_tasks.write(release, to))
        manifest_sha256 = to.manifest(
            {
                "code_version": code_version(),
                "counts": outcome.counts,
                "filters": _plain(snapshot.filters),
                "format": MANIFEST_FORMAT,
                "kind": chosen.name,
                "lossy": chosen.lossy,
                "loss": outcome.loss,
                "project": project.name,
                "snapshot_sha256": snapshot.sha256,
            }
        )
        to.finish()
    return Export(
        to.out, chosen.name, snapshot.sha256, done, outcome.counts, chosen.lossy, outcome.loss, manifest_sha256
    )


def _plain(filters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if value not in (None, [], ())}

"""Curated datasets out: a snapshot written in one of the formats of the field, whole or not at all.

A snapshot is frozen first, and the export reads that alone: the same snapshot gives the same bytes, today and next year (the manifest names
the version of the code, for a later one may write more). Page images
are the stored files, never compressed again. Every export has a manifest with the SHA-256 of every file, and a dataset card.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.tables import Snapshot
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.errors import Refused
from engine.interchange import card
from engine.interchange.destination import Destination, check_free
from engine.interchange.formats import (
    boundingdocs,
    coco,
    funsd,
    grounded_set,
    label_studio,
    page_xml,
    parquet,
    png_masks,
    tables,
    yolo,
)
from engine.interchange.outcome import Writer
from engine.interchange.release import Release
from engine.projects.projects import project_by_id
from engine.statuses import AUTOMATIC
from engine.version import code_version
from engine.workspace import Workspace

OnProgress = Callable[[int, int], None]  # answers written, answers in all
_TEXTS = "Texts alone: no image, no place on the page."
MANIFEST_FORMAT = "glossator-export/2"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that answers can be written in. `lossy`: what it cannot hold, as a sentence; empty where it holds everything.

    `pages`: whether the images of pages come along. `tells`: whether it can say that an answer is automatic.
    """

    name: str
    title: str
    write: Writer
    lossy: str = ""
    pages: bool = True
    tells: bool = True


FORMATS = {
    one.name: one
    for one in (
        Format("coco", "COCO, masks as run lengths", coco.write),
        Format("parquet", "Hugging Face datasets, images inside", parquet.write),
        Format("png", "PNG masks", png_masks.write),
        Format("grounded", "Grounded JSONL, Glossator's own", grounded_set.write),
        Format("label-studio", "Label Studio JSON", label_studio.write),
        Format(
            "boundingdocs",
            "BoundingDocs-like JSON",
            boundingdocs.write,
            "An answer is the boxes of its words, or one box around its pixels.",
            tells=False,
        ),
        Format(
            "funsd",
            "FUNSD JSON",
            funsd.write,
            "An answer is the boxes of its words, or one box around its pixels; what a document does not answer is left out.",
            tells=False,
        ),
        Format(
            "page-xml",
            "PAGE XML",
            page_xml.write,
            "Pixels that no words make are outlines, whose holes are filled.",
        ),
        Format(
            "yolo",
            "YOLO segmentation",
            yolo.write,
            "Answers are outlines, whose holes are filled; words, people, and what a document does not answer are left out.",
            tells=False,
        ),
        Format("csv", "CSV of questions and answers", tables.write_csv, _TEXTS, pages=False),
        Format("xlsx", "XLSX of questions and answers", tables.write_xlsx, _TEXTS, pages=False),
    )
}


@dataclass(frozen=True, slots=True)
class Export:
    """What was written: how many of what, what the format lost, and the SHA-256 of the manifest, which names every file with its own."""

    folder: Path
    format: str
    snapshot_sha256: str
    answers: int
    counts: dict[str, int]
    lossy: str
    loss: dict[str, float]
    manifest_sha256: str


def format_named(name: str) -> Format:
    """Return a format. Refused with the names that there are."""
    if name not in FORMATS:
        raise Refused(f"There is no export format {name!r}; choose from {', '.join(FORMATS)}.")
    return FORMATS[name]


def check_told(form: Format, statuses: Iterable[str]) -> None:
    """Refused where answers of these statuses would look as if people had given them."""
    if AUTOMATIC in statuses and not form.tells:
        raise Refused(
            f"{form.title} has no place to say that an answer is automatic. Choose another format, or leave automatic answers out."
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
) -> Export:
    """Write a project's answers to the folder `out`, whole or not at all, and return what was written.

    `filters`: which answers to freeze, accepted ones unless they say otherwise; or a `snapshot` that was frozen before. With both, the
    snapshot is the one that these filters froze. An export that was interrupted goes on where it was, if nothing was answered meanwhile. Refused when the format cannot tell automatic answers from others, when `out` holds files already, when it
    cannot be written, or when there is nothing to export; Conflict when the same is being exported there.
    """
    chosen = format_named(form)
    check_free(out)
    project = project_by_id(workspace, project_id)
    if snapshot is not None and filters is None:
        check_told(chosen, snapshot.filters["statuses"])
    else:  # another choice that took the same answers may have frozen the snapshot, and its filters stand there
        filters = filters or Filters(quarantined=True, unfit=True)
        check_told(chosen, filters.statuses)
        snapshot = snapshot or snapshots.freeze_with(workspace, project_id, filters)
    release = Release(workspace, project.name, snapshot)
    total = int(snapshot.counts["annotations"])
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(done, total)

    with Destination(workspace, out, f"{chosen.name}-{snapshot.sha256[:16]}") as to:
        outcome = chosen.write(release, to, tick)
        card.write(release, to, chosen.name, chosen.title, chosen.lossy, outcome)
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

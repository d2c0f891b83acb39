"""COCO: pages as images, questions as categories, accepted answers as annotations with compressed run lengths.

One annotation is one answer on one page, in however many detached parts. What COCO has no place for stands beside it: who
answered, by which model's proposal, in which split, and the questions that a document does not answer.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from db.ids import new_id
from engine.curation import snapshots
from engine.curation.labels import ACCEPTED
from engine.curation.manifest import FrozenDocument, FrozenItem, FrozenPage, FrozenWord, words_of
from engine.errors import Refused
from engine.interchange.rle import encode_rle
from engine.projects import project_by_id
from engine.training.code_version import code_version
from engine.workspace import Workspace
from model.masks import decode_patch

ANNOTATIONS_FILE, IMAGES_FOLDER, MANIFEST_FILE = "annotations.json", "images", "manifest.json"
UNKNOWN_LICENCE = "unknown"
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}


@dataclass(frozen=True, slots=True)
class CocoExport:
    """What was written: how many of what, and the SHA-256 of every file by its path in the folder."""

    folder: Path
    snapshot_sha256: str
    counts: dict[str, int]
    sha256s: dict[str, str]


@dataclass(slots=True)
class _Sheet:
    """The lists of a COCO file while they grow."""

    images: dict[str, dict[str, Any]] = field(default_factory=dict)  # page id -> image
    blobs: dict[str, str] = field(default_factory=dict)  # file name -> SHA-256
    annotations: list[dict[str, Any]] = field(default_factory=list)
    no_answer: list[dict[str, Any]] = field(default_factory=list)


def export(
    workspace: Workspace,
    project_id: str,
    out: Path,
    *,
    statuses: Sequence[str] = ACCEPTED,
    on_progress: Callable[[int, int], None] | None = None,
) -> CocoExport:
    """Write a project's accepted answers to the folder `out`, whole or not at all, and return what was written.

    A snapshot is frozen first, and the export reads that alone: the same snapshot gives the same bytes. Page images are the
    stored files, never compressed again. `on_progress(done, all)` counts answers. Refused when `out` holds files already,
    when it cannot be written, or when there is nothing to export.
    """
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Refused(f"{out} is not empty; export into a new or an empty folder.")
    project = project_by_id(workspace, project_id)
    snapshot = snapshots.freeze(workspace, project_id, statuses=statuses, quarantined=True, unfit=True)
    items = list(snapshots.load(workspace, snapshot))
    categories = {text: number for number, text in enumerate(sorted({item.question for item in items}), 1)}
    licences = {name: number for number, name in enumerate(sorted({_licence(item.document) for item in items}), 1)}
    sheet = _Sheet()
    for done, item in enumerate(items, 1):
        _add(workspace, sheet, item, categories, licences)
        if on_progress is not None:
            on_progress(done, len(items))
    written = {
        "info": {
            "description": f"Answers of the project {project.name}, exported by Glossator.",
            "version": code_version(),
            "snapshot_sha256": snapshot.sha256,
        },
        "licenses": [{"id": number, "name": name, "url": ""} for name, number in licences.items()],
        "images": list(sheet.images.values()),
        "categories": [
            {"id": number, "name": text, "supercategory": "question"} for text, number in categories.items()
        ],
        "annotations": sheet.annotations,
        "no_answer": sheet.no_answer,
    }
    counts = {
        "documents": len({item.document.id for item in items}),
        "images": len(sheet.images),
        "questions": len(categories),
        "annotations": len(sheet.annotations),
        "no_answer": len(sheet.no_answer),
    }
    try:
        sha256s = _write(workspace, out, written, sheet.blobs, counts, snapshot.sha256, list(statuses))
    except OSError as error:
        raise Refused(f"The export cannot be written to {out}: {error.strerror or error}.") from None
    return CocoExport(out, snapshot.sha256, counts, sha256s)


def _add(
    workspace: Workspace, sheet: _Sheet, item: FrozenItem, categories: dict[str, int], licences: dict[str, int]
) -> None:
    attributes: dict[str, Any] = {
        "annotation_id": item.annotation_id,
        "revision": item.revision,
        "revision_id": item.revision_id,
        "status": item.status,
        "author": item.author,
        "source": item.source,
        "model_version": item.model_version,
        "split": item.document.split,
        "document_sha256": item.document.sha256,
        "image_licence": _licence(item.document),
    }
    marked = set(item.state.marked_pages())
    category = categories[item.question]
    if not marked:
        if not item.state.no_answer:
            return  # a draft that says nothing yet
        images = [_image(sheet, item.document, page, licences) for page in item.document.pages]
        sheet.no_answer.append({"image_ids": images, "category_id": category, "attributes": attributes})
        return
    for page in item.document.pages:
        if page.id not in marked:
            continue
        mark = item.state.pages[page.id]
        mask = decode_patch(mark.mask.model_dump(), (page.height, page.width))
        if not mask.any():
            continue
        columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
        x, y = int(columns[0]), int(rows[0])
        sheet.annotations.append(
            {
                "id": len(sheet.annotations) + 1,
                "image_id": _image(sheet, item.document, page, licences),
                "category_id": category,
                "segmentation": encode_rle(mask),
                "area": int(np.count_nonzero(mask)),
                "bbox": [x, y, int(columns[-1]) + 1 - x, int(rows[-1]) + 1 - y],
                "iscrowd": 0,
                "attributes": {"text": _text(words_of(workspace, page), mark.words), **attributes},
            }
        )


def _image(sheet: _Sheet, document: FrozenDocument, page: FrozenPage, licences: dict[str, int]) -> int:
    """The number of a page's image, entered at its first use."""
    if page.id not in sheet.images:
        name = f"{document.sha256[:16]}-{page.number:04d}{_SUFFIXES.get(page.image_media_type, '.png')}"
        sheet.blobs[f"{IMAGES_FOLDER}/{name}"] = page.image_sha256
        sheet.images[page.id] = {
            "id": len(sheet.images) + 1,
            "file_name": f"{IMAGES_FOLDER}/{name}",
            "width": page.width,
            "height": page.height,
            "license": licences[_licence(document)],
            "document_sha256": document.sha256,
            "document_name": document.name,
            "page_number": page.number,
            "split": document.split,
        }
    return int(sheet.images[page.id]["id"])


def _text(words: Sequence[FrozenWord], chosen: Sequence[int]) -> str:
    """The chosen words in reading order, joined."""
    wanted = set(chosen)
    return " ".join(word.text for word in words if word.number in wanted)


def _licence(document: FrozenDocument) -> str:
    return document.licence or UNKNOWN_LICENCE


def _write(
    workspace: Workspace,
    out: Path,
    written: dict[str, Any],
    blobs: dict[str, str],
    counts: dict[str, int],
    snapshot_sha256: str,
    statuses: list[str],
) -> dict[str, str]:
    """Write everything beside `out` and rename it there at the end, so that a half-written export never has its name."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = out.parent / f".{out.name}.part-{new_id()}"  # not mkdtemp: others may read an export
    folder.mkdir()
    try:
        (folder / IMAGES_FOLDER).mkdir()
        sha256s: dict[str, str] = {}
        for name, sha256 in sorted(blobs.items()):
            shutil.copyfile(workspace.blobs.path(sha256), folder / name)
            sha256s[name] = _digest(folder / name)
            if sha256s[name] != sha256:
                raise Refused(f"The stored page image {sha256[:12]} was changed on disk; restore it from a backup.")
        _dump(folder / ANNOTATIONS_FILE, written)
        sha256s[ANNOTATIONS_FILE] = _digest(folder / ANNOTATIONS_FILE)
        _dump(
            folder / MANIFEST_FILE,
            {
                "format": "glossator-export/1",
                "kind": "coco",
                "code_version": code_version(),
                "snapshot_sha256": snapshot_sha256,
                "statuses": statuses,
                "counts": counts,
                "files": [
                    {"path": name, "sha256": sha256, "bytes": (folder / name).stat().st_size}
                    for name, sha256 in sorted(sha256s.items())
                ],
            },
        )
        sha256s[MANIFEST_FILE] = _digest(folder / MANIFEST_FILE)
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return sha256s


def _dump(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

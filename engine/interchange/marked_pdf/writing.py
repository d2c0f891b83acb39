"""Writing of a marked PDF: a child process opens the original and draws, and this side supervises it."""

import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.blobs import BlobMissing
from engine.confinement import NotConfined
from engine.documents.ingest import limits_of
from engine.documents.kinds import PDF, media_type_of
from engine.documents.reading.open import environment
from engine.documents.reading.subprocess_guard import run_guarded
from engine.documents.refusal import Unreadable
from engine.errors import Refused
from engine.interchange.marked_pdf.plan import Mark, PlannedPage
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
NOTE = "The original {why} This file is made of the page images."
_SECONDS_A_PAGE = 1.0


@dataclass(frozen=True, slots=True)
class Written:
    """A marked PDF that was written.

    Attributes:
        from_images: Whether it is made of the page images, not of the original.
        note: Sentence that says why the original PDF was not marked; empty where nothing is wrong with it.
    """

    from_images: bool
    note: str


def write_marked_pdf(
    workspace: Workspace,
    sha256: str,
    pages: Sequence[PlannedPage],
    out: Path,
    on_look: Callable[[], None] = lambda: None,
) -> Written:
    """Write the marked PDF of a document.

    Args:
        workspace: Where the original and the page images are stored.
        sha256: The original.
        pages: All pages in order.
        out: The file to write.
        on_look: Called twice a second; an exception of it ends the work.

    Raises:
        Refused: The document is too large for the limits on time and memory of a file.
        BlobMissing: A page image is missing.
    """
    with tempfile.TemporaryDirectory(prefix="marked-") as name:
        folder = Path(name)
        why = ""
        source = _original(workspace, sha256, folder)
        if source is not None:
            failed = _run(workspace, source, pages, out, folder, "", on_look)
            if failed is None:
                return Written(False, "")
            why = NOTE.format(why=failed)
        failed = _run(workspace, None, pages, out, folder, why, on_look)
    if failed is not None:
        raise Refused(f"The marked PDF cannot be made: the document {failed}")
    return Written(True, why)


def _original(workspace: Workspace, sha256: str, folder: Path) -> Path | None:
    """Return a copy of the original; None where it is no PDF, or only its pages came in."""
    try:
        with workspace.blobs.open(sha256) as stored, (folder / "original").open("wb") as copy:
            shutil.copyfileobj(stored, copy)
        return folder / "original" if media_type_of(folder / "original") == PDF else None
    except (BlobMissing, Unreadable):
        return None


def _run(
    workspace: Workspace,
    source: Path | None,
    pages: Sequence[PlannedPage],
    out: Path,
    folder: Path,
    note: str,
    on_look: Callable[[], None],
) -> str | None:
    """Let the child draw; return why it failed, as the rest of a sentence, or None."""
    limits = limits_of(workspace.settings)
    seconds = limits.seconds + _SECONDS_A_PAGE * len(pages)
    drawn = folder / "marked.pdf"  # the child writes in this folder alone
    request = {
        "source": None if source is None else str(source),
        "out": str(drawn),
        "note": note,
        "memory_mb": limits.memory_mb,
        "seconds": seconds,
        "bytes": limits.bytes,
        "confinement": limits.confinement,
        "pages": [_page(workspace, page, source is None, folder) for page in pages],
    }
    (folder / "request.json").write_text(json.dumps(request), "utf-8")
    outcome: dict[str, Any] = {}
    # -P: never import from the working folder.
    command = [sys.executable, "-P", "-m", "engine.interchange.marked_pdf.child", str(folder / "request.json")]
    ended = run_guarded(
        command,
        environment=environment(),
        seconds=seconds,
        on_line=lambda line: outcome.update(json.loads(line)),
        on_look=on_look,
    )
    if "finished" in outcome:
        shutil.copyfile(drawn, out)
        return None
    if "not_confined" in outcome:
        raise NotConfined(outcome["not_confined"])
    if "refused" in outcome:
        return str(outcome["refused"])
    _log.warning("a marked PDF failed with status %d: %s", ended.code, ended.stderr.strip() or "no message")
    if ended.late:
        return f"takes longer than the {seconds:.0f} seconds allowed."
    return "cannot be opened."


def _page(workspace: Workspace, page: PlannedPage, only_images: bool, folder: Path) -> dict[str, Any]:
    image = None
    if only_images or page.rotation is None:
        path = folder / f"page-{page.number}"
        with workspace.blobs.open(page.image_sha256) as stored, path.open("wb") as copy:
            shutil.copyfileobj(stored, copy)
        image = str(path)
    words = page.words()
    if image is None and not any(word.read for word in words):
        words = ()  # they are the text of the file
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "rotation": page.rotation,
        "image": image,
        "words": [(word.text, word.box, word.read) for word in words],
        "marks": [_mark(mark) for mark in page.marks],
    }


def _mark(mark: Mark) -> dict[str, Any]:
    return {
        "question": mark.question,
        "text": mark.text,
        "about": mark.about,
        "colour": mark.colour,
        "boxes": mark.shape.boxes,
        "rings": mark.shape.rings,
    }

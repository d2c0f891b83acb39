"""Marked PDFs: one a document, the original with highlights and notes of its answers."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import select

from db.statuses import AUTOMATIC
from db.tables import Page
from engine.datasets.frozen_fields import FrozenFields
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.marked_pdf.plan import (
    Mark,
    PlannedPage,
    PlannedWord,
    Shape,
    file_name_of,
    note_text,
    shape_of,
)
from engine.interchange.marked_pdf.writing import write_marked_pdf
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.paper_values import context_of_paper, fields_of, item_values
from engine.interchange.release import Marked, Release
from engine.workspace import Workspace

FOLDER = "documents"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write documents/, a PDF for each document with answers."""
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0, "from_page_images": 0}
    likeness = Likeness()
    frozen = fields_of(release)
    colours = {question: number for number, question in enumerate(release.questions)}
    for document, items in release.documents():
        pages = _planned_pages(release, document)
        for marks in _marks(release, frozen, items, colours):
            for page_id, marked, mark in marks:
                pages[page_id].marks.append(mark)
                likeness.add(marked.edge_likeness(mark.shape.rings) if mark.shape.rings else 1.0)
            counts["answers" if marks else "no_answer"] += 1
            tick()
        with to.file(f"{FOLDER}/{file_name_of(document.name, document.sha256)}") as target:
            written = write_marked_pdf(release.workspace, document.sha256, list(pages.values()), target, release.look)
        counts["documents"] += 1
        counts["pages"] += len(pages)
        counts["from_page_images"] += written.from_images
    return Outcome(counts, {**likeness.figures(), "no_answer_left_out": counts["no_answer"]})


def _marks(
    release: Release, frozen: FrozenFields, items: Sequence[FrozenItem], colours: Mapping[str, int]
) -> Iterator[list[tuple[str, Marked, Mark]]]:
    """Yield the marks of each answer of a document, with the ids of their pages."""
    context = context_of_paper(release, frozen, items)
    for item in items:
        field = frozen.fields.get(item.question_id)
        if field is not None:
            read = item_values(release, context, field, item)
            values = [(note_text(value.text, value.value), value.marked) for value in read]
        else:
            values = [("\n".join(page.text for page in marked), marked) for _, marked in release.values_of(item)]
        about = "Automatic answer" if item.status == AUTOMATIC else f"Answer of {item.author}, {item.status}"
        yield [
            (marked.page.id, marked, Mark(item.question, text, about, colours[item.question], _shape(marked)))
            for text, pages in values
            for marked in pages
        ]


def _shape(marked: Marked) -> Shape:
    return shape_of(marked.patch.box, marked.patch.counts, [word.box for word in marked.words])


def _planned_pages(release: Release, document: FrozenDocument) -> dict[str, PlannedPage]:
    """Return the pages of a document by their ids."""
    rotations = _load_rotations(release.workspace, document.id)
    return {
        page.id: PlannedPage(
            page.number,
            page.width,
            page.height,
            page.image_sha256,
            # A page that was turned since is shown as it was frozen.
            rotations.get((page.id, page.image_sha256)),
            lambda page=page: _words(release, page),  # type: ignore[misc]
        )
        for page in document.pages
    }


def _words(release: Release, page: FrozenPage) -> list[PlannedWord]:
    return [PlannedWord(word.text, word.box, word.confidence is not None) for word in release.words(page)]


def _load_rotations(workspace: Workspace, document_id: str) -> dict[tuple[str, str], int]:
    """Return by page and image how far the page of the original was turned."""
    with workspace.database.read() as session:
        rows = session.execute(
            select(Page.id, Page.image_sha256, Page.rotation).where(Page.document_id == document_id)
        ).tuples()
        return {(page_id, image): rotation for page_id, image, rotation in rows}


FORMATS = (
    Format(
        "marked-pdf",
        "PDF with highlights and notes",
        write,
        lossy="For people: nothing reads it back. Holes in marks are filled, and unanswered questions are left out.",
        pages=False,
        words=False,
    ),
)

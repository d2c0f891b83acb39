"""Marked PDF of a document with the accepted answers that a person may see."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED
from db.tables import Annotation, Document, Page, Question, User
from engine.accounts.visibility import sees_all
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_texts
from engine.annotation.values import load_field, view_value
from engine.annotation.views import newest_heads
from engine.annotation.words import load_all_words
from engine.documents.reading.reading_state import state_of
from engine.errors import Refused
from engine.interchange.marked_pdf.plan import Mark, PlannedPage, PlannedWord, file_name_of, note_text, shape_of
from engine.interchange.marked_pdf.writing import Written, write_marked_pdf
from engine.queries import existing
from engine.workspace import Workspace

_READING = "The pages of this document are still being read. Try again when it is whole."


def name_of_marked_pdf(workspace: Workspace, document_id: str) -> str:
    """Return the file name of a document's marked PDF. Raises NotFound for an unknown document."""
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        return file_name_of(document.name, document.sha256)


def write_accepted(workspace: Workspace, document_id: str, user_id: str | None, out: Path) -> Written:
    """Write the marked PDF of a document: for reviewers with all accepted answers, for annotators with their own.

    Args:
        workspace: Where the document is.
        document_id: The document.
        user_id: Who asks; None: everything is shown.
        out: The file to write.

    Raises:
        NotFound: The document does not exist.
        Refused: Its pages are still being read, or it is too large.
    """
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        if state_of(session, document_id).pages is not None:
            raise Refused(_READING)
        rows = session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
        pages = {
            page.id: PlannedPage(
                page.number,
                page.width,
                page.height,
                page.image_sha256,
                page.rotation,
                partial(_words, workspace, page.id),
            )
            for page in rows
        }
        whole = user_id is None or sees_all(session, document.project_id, user_id)
        for page_id, mark in _marks(session, document_id, None if whole else user_id):
            pages[page_id].marks.append(mark)
    return write_marked_pdf(workspace, document.sha256, list(pages.values()), out)


def _marks(session: Session, document_id: str, author_id: str | None) -> list[tuple[str, Mark]]:
    """Return the marks of the accepted answers with their pages; of all people, or of one."""
    chosen = (Annotation.document_id == document_id) & Annotation.status.in_(ACCEPTED)
    if author_id is not None:
        chosen &= Annotation.author_id == author_id
    rows = session.execute(
        select(Annotation, Question.text, User.name)
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Annotation.author_id)
        .where(chosen)
        .order_by(Question.text, Annotation.id)
    ).all()
    heads = newest_heads(session, chosen)
    colours = {question: number for number, question in enumerate(sorted({question for _, question, _ in rows}))}
    boxes: dict[str, dict[int, tuple[int, int, int, int]]] = {}
    marks = []
    for annotation, question, author in rows:
        parts = AnnotationState.model_validate(heads[annotation.id].state).single_values()
        for part, text in zip(parts, _texts(session, annotation, parts), strict=True):
            for page_id in part.marked_pages():
                if page_id not in boxes:
                    boxes[page_id] = {word.number: word.box for word in load_all_words(session, page_id)}
                on_page = part.pages[page_id]
                shape = shape_of(
                    on_page.mask.box, on_page.mask.counts, [boxes[page_id][number] for number in on_page.words]
                )
                about = f"Answer of {author}, {annotation.status}"
                marks.append((page_id, Mark(question, text, about, colours[question], shape)))
    return marks


def _texts(session: Session, annotation: Annotation, parts: Sequence[AnnotationState]) -> list[str]:
    """Return the text of the note of each value of an answer."""
    printed = answer_texts(session, parts)
    known = load_field(session, annotation.question_id, annotation.document_id)
    if known is None:
        corrections = [part.correction.text if part.correction is not None else None for part in parts]
        return [text if corrected is None else corrected for corrected, text in zip(corrections, printed, strict=True)]
    views = [view_value(known[0], part, text, known[1]) for part, text in zip(parts, printed, strict=True)]
    return [note_text(view.text, view.value) for view in views]


def _words(workspace: Workspace, page_id: str) -> list[PlannedWord]:
    with workspace.database.read() as session:
        words = load_all_words(session, page_id)
    return [PlannedWord(word.text, word.box, word.confidence is not None) for word in words if not word.retired]

"""Store one document of an imported set, with its answers, in one commit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.ids import new_id
from db.tables import Annotation, Document, Page, PageWord, Question
from engine import quotas
from engine.annotation.automatic_checks import person_answered
from engine.annotation.change import state_of, unite
from engine.annotation.edits import Edit, EditAddValue, EditMask, EditNoAnswer
from engine.annotation.preparing import Ready
from engine.annotation.revisions import append
from engine.annotation.state import MOST_VALUES, AnnotationState, AnswerValue, PageMark, Patch, to_patch
from engine.datasets.manifest import canonical
from engine.documents.ingest import add_page, finish, limits_of, new_document, signature_of_page
from engine.documents.kinds import media_type_of
from engine.documents.reading.open import read_document
from engine.documents.reading.page import Beginning, ReadPage, ReadWord
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict
from engine.interchange.bad_entries import bad
from engine.interchange.import_entries import IncomingAnswer, IncomingPage, IncomingWord
from engine.interchange.import_proposals import read_proposals, store_proposals
from engine.queries import lock_question
from engine.tasks.opening.open_tasks import lock_project, open_missing
from engine.text import storable
from engine.workspace import Workspace
from model.examples import Word
from model.layout import read_layout
from model.masks import Mask, decode_patch, rasterise, words_under

AUTOMATIC_ANSWERS = "automatic answers"
ALTERNATIVES = "additional answers to the same question"
_TRIES = 5  # attempts to store a document that others store at the same time
Status = Literal["draft", "submitted", "accepted"]


@dataclass(slots=True)
class Imported:
    """What an import brought in.

    Attributes:
        form: Name of the format.
        documents: New documents.
        known: Documents that the project had before.
        pages: Pages.
        read: Pages that came without words and were read by OCR.
        answers: Answers that mark a place.
        no_answer: Answers that say "not answered".
        proposals: Answers of models, which people are shown.
        lost: Number of things left out, by name.
        bad: Number of bad entries left out.
        bad_entries: Sentences of the first of them, without full stops.
    """

    form: str
    documents: int = 0
    known: int = 0
    pages: int = 0
    read: int = 0
    answers: int = 0
    no_answer: int = 0
    proposals: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    bad: int = 0
    bad_entries: list[str] = field(default_factory=list)

    def add(self, more: "Imported") -> None:
        """Add the counts of another import."""
        for name in ("documents", "known", "pages", "read", "answers", "no_answer", "proposals"):
            setattr(self, name, getattr(self, name) + getattr(more, name))


OnStored = Callable[[Session, Imported], None]


def pixels_of(answer: IncomingAnswer, page: IncomingPage) -> Mask:
    """Return the pixels of an answer, bool [height, width] of its page.

    Raises:
        BadEntry: The mask is empty or of another size, or the answer names words that its page does not have.
    """
    size = (page.height, page.width)
    if answer.mask is not None:
        mask = answer.mask()
    else:
        if any(not 0 <= at < len(page.words) for at in answer.words):
            bad(answer.where, f"it names words that its page, of {len(page.words)} words, does not have")
        mask = rasterise([page.words[at].box for at in answer.words], size)
    if mask.shape != size:
        bad(
            answer.where,
            f"its mask has {mask.shape[1]} x {mask.shape[0]} pixels, but its page has {size[1]} x {size[0]}",
        )
    if not mask.any():
        bad(answer.where, "its mask is empty; an unanswered question has no mask")
    return mask


@dataclass(slots=True)
class _Coming:
    """A page on its way in.

    Attributes:
        page: The page of the set.
        read: The page as it will be stored.
        image: SHA-256 of its image.
        numbers: The stored number of each of its words.
    """

    page: IncomingPage
    read: ReadPage
    image: str  # SHA-256
    numbers: Sequence[int]


def store(
    workspace: Workspace,
    project_id: str,
    group: Iterator[IncomingPage],
    done: Imported,
    user_id: str,
    status: Status,
    *,
    ocr: bool,
    on_page: Callable[[int], None] = lambda _: None,
    on_stored: OnStored | None = None,
) -> None:
    """Store a document with its answers.

    A document is known by its images and by the words that the set gives. Words that OCR reads do not count, because a
    later OCR may read better. A document that the project has keeps its words, and the answers are marked on them.

    Args:
        workspace: Where it is stored.
        project_id: The project that it goes into.
        group: The pages of the document.
        done: What the import brought in before; the counts of this document are added.
        user_id: The author of the answers.
        status: Status of the answers.
        ocr: Whether to read the words of pages without any.
        on_page: Called with the number of each page that is ready.
        on_stored: Called with the new totals, in the transaction that stores the document; an error that it raises
            undoes the transaction.

    Raises:
        BadEntry: An image or a mask is wrong.
        Conflict: Somebody else keeps storing the same document.
    """
    incoming, images = list[IncomingPage](), list[str]()
    for page in group:  # a reader may delete a page's image once it yields the next
        images.append(workspace.blobs.put_file(page.image))
        of_people = tuple(answer for answer in page.answers if not answer.automatic)
        incoming.append(replace(page, answers=of_people))
        for name, count in ((AUTOMATIC_ANSWERS, len(page.answers) - len(of_people)), (ALTERNATIVES, page.alternatives)):
            if count:
                done.lost[name] = done.lost.get(name, 0) + count
    content = canonical(
        [[image, [[word.text, *word.box] for word in page.words]] for image, page in zip(images, incoming, strict=True)]
    )
    sha256 = workspace.blobs.put(content)
    for tries_left in reversed(range(_TRIES)):
        standing = _standing(workspace, project_id, sha256)
        pages = []
        for number, (page, image) in enumerate(zip(incoming, images, strict=True), 1):
            pages.append(_coming(workspace, page, image, number, standing, ocr))
            on_page(number)
        try:
            stored = _commit_document(
                workspace, project_id, sha256, len(content), pages, standing is None, done, user_id, status, on_stored
            )
        except IntegrityError:  # PostgreSQL: somebody stored the same document or question
            if not tries_left:
                raise
        else:
            if stored is not None:
                done.add(stored)
                return
    raise Conflict(
        f"Another import is storing {incoming[0].name}. Import the dataset again; only missing parts are added."
    )


def _commit_document(
    workspace: Workspace,
    project_id: str,
    sha256: str,
    byte_count: int,
    pages: Sequence[_Coming],
    new: bool,
    done: Imported,
    user_id: str,
    status: Status,
    on_stored: OnStored | None,
) -> Imported | None:
    """Commit a document with its answers and return its counts; None where it came or went meanwhile."""
    marks, unanswered = _collect_marks(pages)
    proposals = [
        proposal
        for number, stored in enumerate(pages, 1)
        for proposal in read_proposals(stored.page, number, stored.numbers)
    ]
    signatures = [signature_of_page(stored.read) for stored in pages] if new else []
    # Of the stored image: a reader may have deleted its own.
    kind = media_type_of(workspace.blobs.path(pages[0].image)) if new else ""
    came = Imported(done.form, pages=len(pages))
    with workspace.database.write() as session:
        document = session.scalar(select(Document).where(Document.project_id == project_id, Document.sha256 == sha256))
        if (document is None) != new:
            return None
        if document is None:
            first = pages[0].page
            quotas.check_space(session, workspace.settings, project_id, user_id, byte_count)
            document = new_document(
                session,
                project_id,
                sha256,
                Beginning(kind, None, len(pages)),
                name=first.name,
                byte_count=byte_count,
                user_id=user_id,
                origin=f"import:{done.form}",
                licence=storable(first.licence)[:60] if first.licence else None,
                signatures=signatures,
            )
            for stored, signature in zip(pages, signatures, strict=True):
                add_page(session, document, stored.read, stored.image, signature)
                came.read += stored.read.text_source == "ocr"
            finish(session, document, ())
            came.documents = 1
        else:
            came.known = 1
            # Project before automatic answers: whoever withdraws automatic answers locks in this order too.
            lock_project(session, project_id)
        _answer(session, document, marks, unanswered - marks.keys(), user_id, status, came)
        came.proposals = store_proposals(session, document, proposals)
        open_missing(session, project_id, document.id)
        if on_stored is not None:
            total = replace(done, lost=dict(done.lost))
            total.add(came)
            on_stored(session, total)
    return came


def _standing(workspace: Workspace, project_id: str, sha256: str) -> dict[int, list[tuple[int, IncomingWord]]] | None:
    """Return the words of a document that the project has, numbered, by page; None for a new document."""
    with workspace.database.read() as session:
        document = select(Document.id).where(Document.project_id == project_id, Document.sha256 == sha256)
        if session.scalar(document) is None:
            return None
        rows = session.execute(
            select(Page.number, PageWord)
            .join(PageWord, PageWord.page_id == Page.id)
            .where(Page.document_id == document.scalar_subquery(), PageWord.retired_at.is_(None))
            .order_by(Page.number, PageWord.position)
        )
        words: dict[int, list[tuple[int, IncomingWord]]] = {}
        for number, word in rows:
            entry = word.number, IncomingWord(word.text, (word.x0, word.y0, word.x1, word.y1))
            words.setdefault(number, []).append(entry)
        return words


def _coming(
    workspace: Workspace,
    page: IncomingPage,
    image: str,
    number: int,
    standing: dict[int, list[tuple[int, IncomingWord]]] | None,
    ocr: bool,
) -> _Coming:
    read = _as_read(page, workspace.blobs.path(image), number)
    if page.words:
        return _Coming(page, read, image, range(len(page.words)))
    if standing is not None:
        words = standing.get(number, [])
        page = replace(page, words=tuple(word for _, word in words))
        return _Coming(page, read, image, [at for at, _ in words])
    if ocr:
        read = _by_ocr(workspace, read, page.name)
        page = replace(page, words=tuple(IncomingWord(word.text, word.box) for word in read.words))
    return _Coming(page, read, image, range(len(page.words)))


def _collect_marks(pages: Sequence[_Coming]) -> tuple[dict[str, list[dict[int, PageMark]]], set[str]]:
    """Return the values of each question, each with its marks by the page's place (from 1); questions not answered."""
    marks: dict[str, dict[str, dict[int, PageMark]]] = {}
    unanswered: set[str] = set()
    for number, stored in enumerate(pages, 1):
        for answer in stored.page.answers:
            if answer.nothing:
                unanswered.add(answer.question)
            else:
                of_value = marks.setdefault(answer.question, {}).setdefault(answer.value, {})
                of_value[number] = _mark(answer, stored, of_value.get(number))
    return {question: list(values.values()) for question, values in marks.items()}, unanswered


def _answer(
    session: Session,
    document: Document,
    marks: dict[str, list[dict[int, PageMark]]],
    unanswered: set[str],
    user_id: str,
    status: Status,
    done: Imported,
) -> None:
    ids = {
        row.number: row.id
        for row in session.execute(select(Page.number, Page.id).where(Page.document_id == document.id))
    }
    for question in (*marks, *sorted(unanswered)):
        values = [
            AnswerValue(pages={ids[number]: mark for number, mark in value.items()})
            for value in marks.get(question, ())
        ]
        asked = session.scalar(
            select(Question).where(Question.project_id == document.project_id, Question.text == question)
        )
        if asked is None:
            asked = Question(project_id=document.project_id, text=question)
            session.add(asked)
            session.flush()
        lock_question(session, asked)
        # Removed answers too: the same set again must not bring back what a person removed.
        standing = select(Annotation.id).where(
            Annotation.document_id == document.id, Annotation.question_id == asked.id, Annotation.author_id == user_id
        )
        if session.scalar(standing.limit(1)) is not None:
            continue
        annotation = Annotation(
            project_id=document.project_id,
            document_id=document.id,
            question_id=asked.id,
            author_id=user_id,
            status=status,
            head=1,
            source=f"import:{done.form}",
        )
        session.add(annotation)
        session.flush()
        if len(values) > MOST_VALUES:  # they are kept, as one value of many parts
            values = [AnswerValue(pages=unite(values))]
        state = state_of(values)
        edits = _edits_to(state)
        if status in ("submitted", "accepted"):
            person_answered(session, document.project_id, document.id, asked.id, state, user_id, anew=False)
        append(
            session,
            Ready.of(state, "", edits),
            annotation_id=annotation.id,
            base=0,
            author_id=user_id,
            action="import",
            status=status,
            prediction_id=None,
            idempotency_key=new_id(),
            seconds=0.0,
            interactions={},
        )
        done.answers += max(1, len(state.values)) if values else 0
        done.no_answer += not values


def _edits_to(state: AnnotationState) -> Sequence[Edit]:
    """Return the edits that lead to an imported answer."""
    if state.no_answer:
        return [EditNoAnswer(op="no_answer", value=True)]
    values = state.values or [AnswerValue(pages=state.pages)]
    edits: list[Edit] = [EditAddValue(op="add_value", place=place) for place in range(1, len(values))]
    for place, value in enumerate(values):
        edits += [
            EditMask(op="mask", page=page, words=mark.words, mask=mark.mask, place=place)
            for page, mark in value.pages.items()
        ]
    return edits


def _mark(answer: IncomingAnswer, one: _Coming, before: PageMark | None) -> PageMark:
    """Return the mark of an answer, joined with the one before; by words where these make the pixels."""
    page = one.page
    size = (page.height, page.width)
    mask = pixels_of(answer, page)
    place = {number: at for at, number in enumerate(one.numbers)}
    words = list(answer.words)
    if before is not None:
        mask = mask | decode_patch(before.mask.model_dump(), size)
        words = sorted({*words, *(place[number] for number in before.words)})
    boxes = [word.box for word in page.words]
    if not words or answer.mask is not None:
        under = words_under(mask, boxes)
        words = under if under and np.array_equal(rasterise([boxes[at] for at in under], size), mask) else []
    return PageMark(words=[one.numbers[at] for at in words], mask=Patch.model_validate(to_patch(mask)))


def _as_read(page: IncomingPage, image: Path, number: int) -> ReadPage:
    lines = read_layout([Word(word.text, word.box) for word in page.words]).line.tolist()
    words = tuple(ReadWord(word.text, word.box, line) for word, line in zip(page.words, lines, strict=True))
    return ReadPage(number, page.width, page.height, image, 0, "given" if words else "none", words)


def _by_ocr(workspace: Workspace, page: ReadPage, name: str) -> ReadPage:
    """Return the page with the words that OCR reads; unchanged where OCR fails or turns the page."""
    with TemporaryDirectory(prefix="glossator-import-") as folder:
        try:
            [read] = read_document(
                page.image_path, name=name, limits=limits_of(workspace.settings), out_dir=Path(folder)
            ).pages
        except DocumentRefused:
            return page
    if (read.width, read.height, read.rotation) != (page.width, page.height, 0):
        return page
    return replace(page, words=read.words, text_source=read.text_source)

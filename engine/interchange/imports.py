"""Other people's datasets in: read twice, once to find what is wrong with them, once to store them.

Everything is looked at before anything is stored, so that a bad set ends in one sentence and leaves nothing. What is stored is stored document
by document; a process that is killed in between leaves whole documents, and the same command again brings the others. Splits of
the set are not taken over: groups of like documents decide, as for every document.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.ids import new_id
from db.tables import Annotation, Document, Page, Question
from engine.annotation.revisions import append
from engine.annotation.state import AnnotationState, Edit, EditMask, EditNoAnswer, PageMark, Patch, to_patch
from engine.curation.manifest import canonical
from engine.curation.tasks import open_missing
from engine.documents.ingest import add_page, finish, limits_of, new_document, signature_of_page, storable
from engine.documents.open import read_document
from engine.documents.page import Beginning, ReadPage, ReadWord
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.interchange.archives import opened
from engine.interchange.incoming import (
    MOST_LETTERS,
    MOST_QUESTIONS,
    MOST_WORDS,
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    bad,
)
from engine.interchange.pictures import checked
from engine.interchange.readers import (
    boundingdocs,
    coco,
    funsd,
    grounded_set,
    label_studio,
    page_xml,
    parquet,
    png_masks,
)
from engine.interchange.recognise import recognised
from engine.projects import project_by_id
from engine.workspace import Workspace
from model.examples import Word
from model.layout import read_layout
from model.masks import Mask, decode_patch, rasterise, words_under

OnProgress = Callable[[str, int, int], None]  # what is done, pages of it, pages in all
Status = Literal["draft", "submitted", "accepted"]
MOST_PAGES_OF_A_DOCUMENT = 5_000
RECOGNISE = "auto"
READERS: dict[str, Callable[[Path], Set]] = {
    "coco": coco.open_set,
    "parquet": parquet.open_set,
    "png": png_masks.open_set,
    "grounded": grounded_set.open_set,
    "label-studio": label_studio.open_set,
    "boundingdocs": boundingdocs.open_set,
    "funsd": funsd.open_set,
    "page-xml": page_xml.open_set,
}


@dataclass(slots=True)
class Imported:
    """What came in, from which format. `known`: documents that were there before; `read`: pages that came without words and were
    read; `lost`: what the set says and has no place here, by name."""

    form: str
    documents: int = 0
    known: int = 0
    pages: int = 0
    read: int = 0
    answers: int = 0
    no_answer: int = 0
    lost: dict[str, int] = field(default_factory=dict)


def import_set(
    workspace: Workspace,
    project: str | Callable[[], str],
    form: str,
    path: Path,
    *,
    user_id: str,
    status: Status = "accepted",
    ocr: bool = False,
    on_progress: OnProgress | None = None,
) -> Imported:
    """Read the set at `path`, a file, a folder or a zip file, and store its pages and answers, these as `user_id`'s.

    `form`: one of READERS, or RECOGNISE. `ocr`: read the words of pages that come without, a second or two each, as those of a
    document that is uploaded. `project`: its id, or what returns one; that is called once everything was looked at, and may make the project.

    The same set again adds what is missing, and changes nothing that is there. BadEntry, a Refused, with the file and the entry, for the first thing that is
    wrong: nothing is stored then. NotFound for an unknown project.
    """
    if form not in (RECOGNISE, *READERS):
        raise Refused(f"There is no import format {form!r}; choose from {', '.join(READERS)}.")
    if isinstance(project, str):
        project_by_id(workspace, project)
    say = on_progress or (lambda *_: None)
    with opened(path) as folder:
        pages = 0
        form = recognised(folder) if form == RECOGNISE else form
        try:
            found = READERS[form](folder)
            for pages, _ in enumerate(_checked(found), 1):
                say("Looking at the pages", pages, max(found.count, pages))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, MemoryError) as error:
            # What a reader did not think of, for the types in a file are anybody's.
            bad(f"{path.name}, after page {pages}", f"an entry cannot be read ({type(error).__name__}: {error})")
        if pages == 0:
            raise Refused(f"{path.name} holds no page. Nothing was imported.")
        project_id = project if isinstance(project, str) else project()
        done = Imported(form, lost=dict(found.lost))
        for _, group in groupby(found.pages(), key=lambda page: page.document):
            _store(workspace, project_id, group, done, user_id, status, ocr=ocr)
            say("Storing", done.pages, pages)
    return done


def _checked(found: Set) -> Iterator[None]:
    """Look at every page as it will be stored."""
    documents: set[bytes] = set()
    questions: set[str] = set()
    current, numbers = None, set[int]()
    for page in found.pages():
        if page.document != current:
            name = hashlib.sha256(page.document.encode("utf-8", "replace")).digest()[:12]
            if name in documents:
                bad(page.where, f"pages of the document {page.document[:60]!r} do not follow each other")
            documents.add(name)
            current, numbers = page.document, set()
        if page.number in numbers:
            bad(page.where, f"page {page.number} of its document came before")
        numbers.add(page.number)
        if len(numbers) > MOST_PAGES_OF_A_DOCUMENT:
            bad(page.where, f"its document has more than {MOST_PAGES_OF_A_DOCUMENT:,} pages")
        if len(page.words) > MOST_WORDS:
            bad(page.where, f"it has {len(page.words):,} words, and {MOST_WORDS:,} is the most")
        checked(page.image, (page.width, page.height), page.where)
        for answer in page.answers:
            questions.add(answer.question)
            if len(answer.question) > MOST_LETTERS or len(questions) > MOST_QUESTIONS:
                bad(answer.where, f"a set may ask {MOST_QUESTIONS:,} questions of {MOST_LETTERS:,} letters at most")
            if not answer.nothing:
                pixels_of(answer, page)
        yield


def pixels_of(answer: IncomingAnswer, page: IncomingPage) -> Mask:
    """Return the pixels of an answer, bool [height, width] of its page. BadEntry when they are none, or of another size."""
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
            f"its mask is of {mask.shape[1]} x {mask.shape[0]} pixels, and its page of {size[1]} x {size[0]}",
        )
    if not mask.any():
        bad(answer.where, "its mask is empty; a question that a document does not answer has none")
    return mask


def _store(
    workspace: Workspace,
    project_id: str,
    group: Iterator[IncomingPage],
    done: Imported,
    user_id: str,
    status: Status,
    *,
    ocr: bool,
) -> None:
    """Store a document with its answers, in one commit."""
    first, read, images, marks = None, list[ReadPage](), list[str](), dict[str, dict[int, PageMark]]()
    unanswered: set[str] = set()
    content: list[object] = []
    for page in group:
        first = first or page
        images.append(workspace.blobs.put_file(page.image))
        content.append(
            [images[-1], [[word.text, *word.box] for word in page.words]]
        )  # as given: OCR may read better one day
        read.append(_as_read(page, workspace.blobs.path(images[-1]), len(images)))
        if ocr and not page.words:
            read[-1] = _by_ocr(workspace, read[-1], first.name)
            done.read += bool(read[-1].words)
            page = replace(page, words=tuple(IncomingWord(word.text, word.box) for word in read[-1].words))
        for answer in page.answers:
            if answer.nothing:
                unanswered.add(answer.question)
            else:
                of_question = marks.setdefault(answer.question, {})
                of_question[len(images)] = _mark(answer, page, of_question.get(len(images)))
    assert first is not None, "groupby gives no empty group"
    sha256 = workspace.blobs.put(canonical(content))
    signatures = [signature_of_page(page) for page in read]
    kinds = [checked(page.image_path, (page.width, page.height), first.where) for page in read]
    with workspace.database.write() as session:
        document = session.scalar(select(Document).where(Document.project_id == project_id, Document.sha256 == sha256))
        if document is None:
            document = new_document(
                session,
                project_id,
                sha256,
                Beginning(kinds[0], None, len(read)),
                name=first.name,
                byte_count=len(canonical(content)),
                user_id=user_id,
                origin=f"import:{done.form}",
                licence=storable(first.licence)[:60] if first.licence else None,
                signatures=signatures,
            )
            for one, image, signature in zip(read, images, signatures, strict=True):
                add_page(session, document, one, image, signature)
            finish(session, document, ())
            done.documents += 1
        else:
            done.known += 1
        _answer(session, document, marks, unanswered - marks.keys(), user_id, status, done)
        open_missing(session, project_id, document.id)
    done.pages += len(read)


def _answer(
    session: Session,
    document: Document,
    marks: dict[str, dict[int, PageMark]],
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
        pages = {ids[number]: mark for number, mark in marks.get(question, {}).items()}
        asked = session.scalar(
            select(Question).where(Question.project_id == document.project_id, Question.text == question)
        )
        if asked is None:
            asked = Question(project_id=document.project_id, text=question)
            session.add(asked)
            session.flush()
        there = select(Annotation.id).where(
            Annotation.document_id == document.id, Annotation.question_id == asked.id, Annotation.author_id == user_id
        )
        if session.scalar(there) is not None:
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
        edits: Sequence[Edit] = [
            EditMask(op="mask", page=page, words=mark.words, mask=mark.mask) for page, mark in pages.items()
        ] or [EditNoAnswer(op="no_answer", value=True)]
        append(
            session,
            AnnotationState(no_answer=not pages, pages=pages),
            "",
            annotation_id=annotation.id,
            base=0,
            author_id=user_id,
            action="import",
            status=status,
            edits=edits,
            prediction_id=None,
            idempotency_key=new_id(),
            seconds=0.0,
            interactions={},
        )
        done.answers += bool(pages)
        done.no_answer += not pages


def _mark(answer: IncomingAnswer, page: IncomingPage, before: PageMark | None) -> PageMark:
    """What an answer marks on its page, together with what was marked before: by words where these make the pixels."""
    size = (page.height, page.width)
    mask = pixels_of(answer, page)
    words = list(answer.words)
    if before is not None:
        mask = mask | decode_patch(before.mask.model_dump(), size)
        words = sorted({*words, *before.words})
    boxes = [word.box for word in page.words]
    if not words or answer.mask is not None:
        under = words_under(mask, boxes)
        words = under if under and np.array_equal(rasterise([boxes[at] for at in under], size), mask) else []
    return PageMark(words=words, mask=Patch.model_validate(to_patch(mask)))


def _as_read(page: IncomingPage, image: Path, number: int) -> ReadPage:
    lines = read_layout([Word(word.text, word.box) for word in page.words]).line.tolist()
    words = tuple(ReadWord(word.text, word.box, line) for word, line in zip(page.words, lines, strict=True))
    return ReadPage(number, page.width, page.height, image, 0, "given" if words else "none", words)


def _by_ocr(workspace: Workspace, page: ReadPage, name: str) -> ReadPage:
    """The page with the words that are read from its image; as it is where that cannot be read, or not the way it lies."""
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

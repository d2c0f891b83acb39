"""Pages read again by OCR: asked for as a job, page by page; answers whose words are gone are put up for a look.

Each page is one unit of work. A job that was interrupted reads the pages again that it had finished, which changes
nothing on them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import ACCEPTED
from db.tables import Document, Job, LabelReview, Page
from engine import audit
from engine.documents.duplicates import signature_index
from engine.documents.duplicates.groups import home_of
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.documents.form_layer.stored_widgets import widgets_of_page
from engine.documents.form_layer.ticks import ticks_in_place
from engine.documents.ocr.unread import without_page
from engine.documents.reading.reading_state import READ_AGAIN, key_of_another
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Refused
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.jobs.failure_message import AttemptFailed
from engine.plurals import count
from engine.queries import existing
from engine.read_again.page_words import PageReadAgain, words_by_ocr
from engine.read_again.storing import WordsReadAgain, store_again
from engine.read_again.turning import check_unmarked, turn_image, turn_page
from engine.tasks.review.label_review_queue import WORDS
from engine.workspace import Workspace

BY_OCR = ("ocr", "layer+ocr", "none")  # sources of the words of a page that OCR reads anew once it was turned


def ask(workspace: Workspace, document_id: str, by: str, page_id: str | None = None) -> Job:
    """Ask for pages of a document to be read again; returns the job, the open one where there is one. Audited.

    Args:
        workspace: Open workspace.
        document_id: The document.
        by: Id of the person who asks.
        page_id: Only this page; None: every page.

    Raises:
        NotFound: There is no such document, or no such page.
        Conflict: Other pages of it are being read again.
    """
    with workspace.database.write() as session:
        document = existing(session, Document, document_id)
        pages = [existing(session, Page, page_id).id] if page_id is not None else _pages(session, document_id)
        payload = {"document_id": document_id, "name": document.name, "pages": pages, "by": by}
        job = queue.enqueue(
            session, READ_AGAIN, document.project_id, payload, key_of_another(document_id), created_by=by
        )
        if job.created_by is None and job.status == "waiting":  # it would begin by itself later
            job.payload, job.created_by, job.run_after = payload, by, now()
            audit.record(session, by, "jobs.ask", job.id, document.project_id, kind=READ_AGAIN)
        if job.payload["pages"] != pages:
            raise Conflict("Pages of this document are being read again. Wait until that is done.")
        return job


def ask_after_turn(workspace: Workspace, page_id: str, by: str) -> Job | None:
    """Ask for a page to be read again that a person has turned; None where its words are no OCR's.

    None, too, while other pages of its document are read again: then the words stay turned, until somebody asks.
    """
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
    if page.text_source not in BY_OCR:
        return None
    try:
        return ask(workspace, page.document_id, by, page_id)
    except Conflict:
        return None


def read_job_pages(
    workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop
) -> dict[str, Any]:
    """Read the pages of a job again; a handler of the queue."""
    by_itself = job.created_by is None
    pages: Sequence[str] = job.payload["pages"]
    if by_itself:
        pages = _without_words(workspace, pages)
    done: list[WordsReadAgain] = []
    refusals: list[str] = []

    def count_page(_: int, read: WordsReadAgain | str) -> None:
        """Count a page that was read, or that was not, with the reason."""
        if isinstance(read, str):
            refusals.append(read)
        else:
            done.append(read)
        finished = len(done) + len(refusals)
        on_progress(finished / len(pages), f"Read {finished} of {len(pages)} pages again.")

    run_parts(
        executor_of(workspace, should_stop),
        (Part(read_stored_page, (page_id, job.payload["by"], by_itself)) for page_id in pages),
        on_result=count_page,
        should_stop=should_stop,
    )
    if refusals and by_itself:
        raise AttemptFailed(refusals[0])
    if refusals and not done:
        raise Refused(refusals[0])
    if not pages:
        return {"pages": 0, "looks": 0, "sentence": "The pages have words already."}
    return {
        "pages": len(done),
        "looks": len({answer.annotation_id for words in done for answer in words.shaken}),
        "sentence": " ".join([sentence(done), *refusals[:3]]),
    }


def read_stored_page(
    workspace: Workspace, page_id: str, by: str, by_itself: bool, *, report: Report, should_stop: ShouldStop
) -> WordsReadAgain | str:
    """Read one page again, or return why not; see `read_page` and `engine.executors`."""
    check(should_stop)
    try:
        return read_page(workspace, page_id, by, by_itself=by_itself)
    except (Refused, DocumentRefused) as error:
        return str(error)


def read_page(workspace: Workspace, page_id: str, by: str, *, by_itself: bool = False) -> WordsReadAgain:
    """Read one page again by OCR, and store its words; a page that lies sideways is turned, as when read first.

    It stays as it is where answers mark it, or a person has turned it by hand.

    Args:
        workspace: Open workspace.
        page_id: The page.
        by: Id of the person who asked; of the one who uploaded the document, if nobody did.
        by_itself: Whether nobody asked.

    Raises:
        NotFound: There is no such page.
        Refused: OCR did not read it; its words stay.
        DocumentRefused: Its image cannot be read within the limits; its words stay.
    """
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
        stays = _why_not_turned(session, page)
    read = words_by_ocr(workspace, page)
    image = turn_image(workspace, page.image_sha256, read.turn) if read.turn and not stays else None
    signature = None
    if image is not None or not page.word_count:  # equal pages are found by how they look upright, and by their words
        signature = _sign(workspace, image.sha256 if image else page.image_sha256, read)
    with workspace.database.write() as session:
        stored = existing(session, Page, page_id, with_for_update=True, populate_existing=True)
        if stored.image_sha256 != page.image_sha256:
            raise Conflict(f"Page {page.number} was turned while it was read; read it again.")
        if image is not None:
            try:
                turn_page(session, page_id, image, by, by_hand=False)
            except Conflict as conflict:  # it was marked while it was read
                image, stays = None, str(conflict)
        words = read.upright if image else read.as_stored
        done = store_again(session, page_id, ticks_in_place(words, widgets_of_page(session, page_id)), by)
        if image is not None:
            done = replace(done, turned=image.degrees)
        elif read.turn and stays:
            done = replace(done, stays=stays)
        document = session.get_one(Document, page.document_id)
        if signature is not None:
            signature_index.replace(
                session, home_of(session, document), document.group_id, document.id, page_id, signature
            )
        _put_up(session, document.project_id, page_id, done)
        _end_warnings(session, document, page.number)
        audit.record(
            session,
            None if by_itself else by,
            "words.read_again",
            page_id,
            document.project_id,
            document=document.name,
            page=page.number,
            new=done.new,
            gone=done.gone,
        )
    return done


def sentence(done: Sequence[WordsReadAgain]) -> str:
    """Return what became of the pages, as a sentence or two."""
    new, gone = sum(words.new for words in done), sum(words.gone for words in done)
    looks = {answer.annotation_id for words in done for answer in words.shaken}
    summary = f"{count(len(done), 'page')} read again: {count(new, 'new word')}, {count(gone, 'word')} gone."
    if turned := sum(1 for words in done if words.turned):
        summary += f" {count(turned, 'page')} turned upright."
    summary += "".join(f" It seems to lie sideways: {words.stays}" for words in done[:3] if words.stays)
    if looks:
        summary += (
            f" {count(len(looks), 'answer')} named words that are gone: look at {'it' if len(looks) == 1 else 'them'}."
        )
    return summary


def _why_not_turned(session: Session, page: Page) -> str:
    """Return why a page stays as it lies; "" where it may be turned."""
    if page.turned_by is not None:
        return f"Page {page.number} stays as a person has turned it."
    try:
        check_unmarked(session, page)
    except Conflict as conflict:
        return str(conflict)
    return ""


def _sign(workspace: Workspace, sha256: str, read: PageReadAgain) -> Signature:
    with workspace.blobs.open(sha256) as file, Image.open(file) as image:
        return signature_of(image, (word.text for word in read.upright))


def _pages(session: Session, document_id: str) -> list[str]:
    return list(session.scalars(select(Page.id).where(Page.document_id == document_id).order_by(Page.number)))


def _without_words(workspace: Workspace, pages: Sequence[str]) -> list[str]:
    """Return those of some pages that have no words yet."""
    with workspace.database.read() as session:
        unread = set(session.scalars(select(Page.id).where(Page.id.in_(pages), Page.word_count == 0)))
    return [page_id for page_id in pages if page_id in unread]


def _end_warnings(session: Session, document: Document, number: int) -> None:
    """Take a page that OCR has read out of the warnings of its document."""
    session.flush()
    wordless = select(Page.id).where(Page.document_id == document.id, Page.word_count == 0).limit(1)
    last = session.scalar(wordless) is None
    document.warnings = "\n".join(without_page(document.warnings.splitlines(), number, last=last))


def _put_up(session: Session, project_id: str, page_id: str, done: WordsReadAgain) -> None:
    """Put the labels whose words are gone up for a review; drafts are with their authors, others in the queue."""
    for answer in done.shaken:
        if answer.status not in ACCEPTED:
            continue
        open_look = select(LabelReview.id).where(
            LabelReview.annotation_id == answer.annotation_id,
            LabelReview.revision_id == answer.revision_id,
            LabelReview.kind == WORDS,
            LabelReview.verdict.is_(None),
        )
        if session.scalar(open_look.limit(1)) is None:
            session.add(
                LabelReview(
                    project_id=project_id,
                    annotation_id=answer.annotation_id,
                    revision_id=answer.revision_id,
                    model_version_id=None,
                    kind=WORDS,
                    page_id=page_id,
                    answer={"text": answer.text},
                    score=0.0,
                    answered=0.0,
                    iou=0.0,
                )
            )

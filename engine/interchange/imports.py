"""Import datasets of other programs: a set is read twice, once to check it, once to store it.

Everything is checked before anything is stored, so a bad set ends in one sentence and leaves nothing. Documents are
stored one by one. A process that is killed in between leaves whole documents, and the same command again adds the rest.
The splits of the set are not taken over: groups of like documents decide, as for every document.
"""

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

from sqlalchemy.orm import Session

from engine.errors import Refused
from engine.interchange.archives import open_archive
from engine.interchange.bad_entries import UNTHOUGHT, BadEntries, BadEntry, bad
from engine.interchange.format_detection import detect_format
from engine.interchange.formats import FORMATS
from engine.interchange.import_entries import MOST_LETTERS, MOST_QUESTIONS, MOST_WORDS, IncomingPage, Set
from engine.interchange.import_store import Imported, Status, pixels_of, store
from engine.interchange.upright_pages import upright_pages
from engine.projects.projects import project_by_id
from engine.workspace import Workspace


class ImportStopped(Refused):
    """Raised when somebody stopped the import.

    Attributes:
        found: What had come in by then, which stays.
        stored: Whether that is anything.
    """

    def __init__(self, found: Imported) -> None:
        self.found = found
        self.stored = bool(found.documents or found.answers or found.no_answer)
        came = f"documents: {found.documents:,}, answers: {found.answers + found.no_answer:,}"
        super().__init__(
            f"Stopped. Everything stored so far is kept ({came}); import the file again to add the rest."
            if self.stored
            else "Stopped before anything was stored."
        )


OnProgress = Callable[[str, int, int], None]  # step, pages done, all pages
MOST_PAGES_OF_A_DOCUMENT = 5_000
RECOGNISE = "auto"
# Beside what a reader does not check in an entry: a disk without room, and memory.
_UNTHOUGHT = (*UNTHOUGHT, MemoryError, sqlite3.Error)
READERS = {name: form.open_set for name, form in FORMATS.items() if form.open_set is not None}


def import_set(
    workspace: Workspace,
    project: str | Callable[[], str],
    form: str,
    path: Path,
    *,
    user_id: str,
    status: Status = "accepted",
    ocr: bool = False,
    skip_bad: bool = False,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    done: Imported | None = None,
    documents_stored: int = 0,
    on_stored: Callable[[Session, Imported, int], None] | None = None,
) -> Imported:
    """Check the set at `path`, and store its pages and answers.

    The same set again adds what is missing, and changes nothing that is there.

    Args:
        workspace: Where the set is stored.
        project: Id of the project, or a function that returns one. The function is called once everything was checked,
            and may make the project.
        form: One of READERS, or RECOGNISE.
        path: A file, a folder or a zip file.
        user_id: The author of the answers.
        status: Status of the answers.
        ocr: Whether to read the words of pages in formats without words; a second or two a page.
        skip_bad: Whether to leave out what cannot be imported, and import the rest. A document is left out with a page,
            an answer with any of its marks.
        on_progress: Called with the step, the pages done and all pages.
        should_stop: Asked after each page, and now and then before the first.
        done: What an earlier attempt passed to `on_stored` last; None for the first attempt.
        documents_stored: The number of documents that this attempt passed with it.
        on_stored: Called in the transaction of each document, with the new totals and the number of documents stored.

    Returns:
        What came in, in this attempt and in earlier ones.

    Raises:
        BadEntry: What is wrong, with its file and entry; nothing is stored.
        Refused: The format is unknown, or the set holds no page.
        NotFound: The project does not exist.
        ImportStopped: `should_stop` said so; whole documents are stored, or none.
    """
    if form not in (RECOGNISE, *READERS):
        raise Refused(f"There is no import format {form!r}; choose from {', '.join(READERS)}.")
    if isinstance(project, str):
        project_by_id(workspace, project)
    done, fresh = done or Imported(form), done is None

    def say(doing: str, at: int, of: int) -> None:
        if on_progress is not None:
            on_progress(doing, at, of)
        if should_stop():
            raise ImportStopped(done)

    with open_archive(path, partial(say, "Unpacking")) as folder, tempfile.TemporaryDirectory() as changed:
        pages, bad_entries = 0, BadEntries()
        try:
            form = detect_format(folder, partial(say, "Recognising the format", 0, 0)) if form == RECOGNISE else form
            incoming = READERS[form](folder, bad_entries)
            incoming = replace(incoming, pages=partial(upright_pages, incoming.pages, Path(changed), bad_entries))
            for pages, _ in enumerate(_check_pages(incoming, bad_entries), 1):
                say("Checking the pages", pages, max(incoming.count, pages))
        except BadEntry as error:  # the message must not name the temporary folder of a zip file
            raise BadEntry(error.fault.replace(str(folder), path.name) if folder != path else error.fault) from None
        except _UNTHOUGHT as error:
            sentence = str(error).replace(str(folder), path.name)
            bad(f"{path.name}, after page {pages}", f"an entry cannot be read ({type(error).__name__}: {sentence})")
        pages = bad_entries.end_check()
        if not skip_bad or not pages:
            bad_entries.refuse(str(folder), path.name, rest=pages > 0)
        if pages == 0:
            raise Refused(f"{path.name} holds no page. Nothing was imported.")
        project_id = project if isinstance(project, str) else project()
        if fresh:
            done.form, done.lost = form, dict(incoming.lost)
            done.bad, done.bad_entries = bad_entries.count, bad_entries.sentences(str(folder), path.name)
        say("Storing", done.pages, pages)
        for number, (_, group) in enumerate(groupby(incoming.pages(), key=lambda page: page.document)):
            if number < documents_stored:
                continue
            before = done.pages
            store(
                workspace,
                project_id,
                _without_bad_answers(group, bad_entries),
                done,
                user_id,
                status,
                ocr=ocr and not FORMATS[form].words,
                on_stored=partial(_with_number, on_stored, number + 1) if on_stored is not None else None,
                on_page=lambda number, before=before: say("Storing", before + number, pages),  # type: ignore[misc]
            )
    return done


def _with_number(
    on_stored: Callable[[Session, Imported, int], None], number: int, session: Session, total: Imported
) -> None:
    on_stored(session, total, number)


def _without_bad_answers(pages: Iterator[IncomingPage], bad_entries: BadEntries) -> Iterator[IncomingPage]:
    for page in pages:
        answers = tuple(answer for answer in page.answers if not bad_entries.has_answer(page.document, answer.question))
        yield page if len(answers) == len(page.answers) else replace(page, answers=answers)


def _check_pages(found: Set, bad_entries: BadEntries) -> Iterator[None]:
    """Check every page as it will be stored, and yield after each."""
    documents: set[bytes] = set()
    questions: set[str] = set()
    current, numbers = None, set[int]()
    for page in found.pages():
        with bad_entries.leave_out(page.where, document=page.document):
            if page.document != current:
                current, numbers = page.document, set()
                name = hashlib.sha256(page.document.encode("utf-8", "replace")).digest()[:12]
                if name in documents:
                    bad(page.where, f"pages of the document {page.document[:60]!r} do not follow each other")
                documents.add(name)
            _check_page(page, numbers)
        bad_entries.add_page(page.document)
        for answer in page.answers:
            questions.add(answer.question)
            if len(answer.question) > MOST_LETTERS or len(questions) > MOST_QUESTIONS:
                bad(answer.where, f"a set may ask {MOST_QUESTIONS:,} questions of {MOST_LETTERS:,} letters at most")
            if not answer.nothing:
                with bad_entries.leave_out(answer.where, document=page.document, question=answer.question):
                    pixels_of(answer, page)
        for proposal in page.proposals:
            questions.add(proposal.question)
            if len(proposal.question) > MOST_LETTERS or len(questions) > MOST_QUESTIONS:
                bad(proposal.where, f"a set may ask {MOST_QUESTIONS:,} questions of {MOST_LETTERS:,} letters at most")
            with bad_entries.leave_out(proposal.where):
                proposal.mask()
        yield


def _check_page(page: IncomingPage, numbers: set[int]) -> None:
    """Check a page, and add its number to those of its document."""
    if page.number in numbers:
        bad(page.where, f"page {page.number} of its document occurs twice")
    numbers.add(page.number)
    if len(numbers) > MOST_PAGES_OF_A_DOCUMENT:
        bad(page.where, f"its document has more than {MOST_PAGES_OF_A_DOCUMENT:,} pages")
    if len(page.words) > MOST_WORDS:
        bad(page.where, f"it has {len(page.words):,} words; at most {MOST_WORDS:,} are allowed")

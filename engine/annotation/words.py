"""Words of a page and their edits: each save is logged and versioned; stale saves conflict."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field
from sqlalchemy import CursorResult, bindparam, insert, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, Page, PageWord, Project, WordEdit
from engine.accounts import visibility
from engine.annotation.word_list import ListedWord, WordChange, WordList, WordText
from engine.errors import Conflict, NotFound, Refused
from engine.queries import existing
from engine.workspace import Workspace
from model.boxes import Box

MOST_NAMED = 500  # words; above this the whole page is read: databases limit the parameters of a query
# Columns that are read of a word.
WORD = (
    PageWord.number,
    PageWord.line,
    PageWord.text,
    PageWord.x0,
    PageWord.y0,
    PageWord.x1,
    PageWord.y1,
    PageWord.retired_at,
    PageWord.confidence,
)


class RetiredWords(BaseModel):
    """Split, merged and removed words, kept for old revisions. `places`: live words before each."""

    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    doubtful: list[int]
    places: list[int]


class Words(BaseModel):
    """Words of a page in reading order, one list a property; boxes are pixels, x1 and y1 exclusive.

    `version` counts saves; `next` is the number of the next new word. `doubtful`: numbers of words that OCR read with
    low confidence and that nobody has written or confirmed since.
    """

    version: int
    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    doubtful: list[int]
    next: int
    retired: RetiredWords


class EditedWords(Words):
    """Words after a save; `saved_version` is the version of this save, also when it is repeated."""

    saved_version: int
    saved_at: datetime


class WordEditsRequest(BaseModel):
    """Request to edit words. Repeating the same `idempotency_key` returns the same save."""

    model_config = ConfigDict(extra="forbid")

    idempotency_key: str = Field(min_length=8, max_length=64)
    base: int = Field(ge=0, lt=2**31, description="Version of the words that the person saw.")
    edits: Annotated[list[WordChange], FailFast()] = Field(min_length=1, max_length=1000)


class WordsConflict(Conflict):
    """Raised when the words have a newer version than `base`; the caller shows both versions."""


def page_words(workspace: Workspace, page_id: str) -> Words:
    """Return the words of a page. Raises NotFound for an unknown page."""
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
        return Words.model_validate(as_lists(load_all_words(session, page_id), page.words_version))


def edit_words(workspace: Workspace, page_id: str, request: WordEditsRequest, user_id: str) -> EditedWords:
    """Apply edits to the words of a page and return the words after them.

    Raises:
        WordsConflict: The words are no longer at version `base`.
        NotFound: The page does not exist.
        Refused: An edit is invalid.
    """
    words = _apply_edits(workspace, page_id, request)
    with workspace.database.write() as session:
        page = existing(session, Page, page_id)
        # As in revisions: the conditional update lets one writer pass; the other waits for its commit.
        advanced = session.execute(
            update(Page)
            .where(Page.id == page_id, Page.words_version == request.base)
            .values(words_version=request.base + 1)
            .execution_options(synchronize_session=False)
        )
        assert isinstance(advanced, CursorResult)
        if (gone := session.scalar(_IN_BIN, {"page": page_id})) is not None:  # since this waited for its page
            raise NotFound(visibility.why_gone(session, gone, user_id))
        if advanced.rowcount != 1 or words is None:
            return _saved_before(session, page, request)
        if _with_key(session, page_id, request.idempotency_key) is not None:
            raise Refused("This idempotency key belongs to an earlier change of these words; make a new one.")
        _store(session, page_id, words)
        edit = WordEdit(
            page_id=page_id,
            version=request.base + 1,
            author_id=user_id,
            idempotency_key=request.idempotency_key,
            edits=[each.model_dump(mode="json", exclude_defaults=True) for each in request.edits],
            before=words.before,
        )
        session.add(edit)
        session.flush()
        return _saved_words(words.words, edit.version, edit)


_IN_BIN = (
    select(Document.id)
    .join(Page, Page.document_id == Document.id)
    .join(Project, Project.id == Document.project_id)
    .where(Page.id == bindparam("page"), Project.bin_of.is_not(None))
)


def load_all_words(session: Session, page_id: str) -> list[ListedWord]:
    """Return all words that a page has ever had, in reading order."""
    return listed_of(session, [page_id])[page_id]


def listed_of(
    session: Session, page_ids: Collection[str], numbers: Collection[int] | None = None
) -> dict[str, list[ListedWord]]:
    """Return all words that each page has ever had, in reading order; only `numbers` when given."""
    chosen = (
        select(PageWord.page_id, *WORD)
        .where(PageWord.page_id.in_(page_ids))
        .order_by(PageWord.page_id, PageWord.position, PageWord.number)
    )
    if numbers is not None:
        chosen = chosen.where(PageWord.number.in_(numbers))
    found: dict[str, list[ListedWord]] = {page_id: [] for page_id in page_ids}
    for page_id, number, line, text, x0, y0, x1, y1, retired_at, confidence in session.execute(chosen):
        found[page_id].append(ListedWord(number, line, text, (x0, y0, x1, y1), retired_at is not None, confidence))
    return found


def _apply_edits(workspace: Workspace, page_id: str, request: WordEditsRequest) -> WordList | None:
    """Return the words with the edits applied; None when their version is no longer `base`.

    Runs before the write transaction: a dense page takes long, and SQLite has one writer. The result stays valid while
    the version is `base`, because words never change without it.
    """
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
        if page.words_version != request.base:
            return None
        undone = {edit.number for edit in request.edits if isinstance(edit, WordText) and edit.doubtful}
        as_read = _as_read(session, page_id, undone)
        words = WordList(load_all_words(session, page_id), (page.width, page.height), as_read)
    words.apply(request.edits)
    return words


def _as_read(session: Session, page_id: str, numbers: Collection[int]) -> dict[int, float]:
    """Return the OCR's confidence in words that people have written since, as the earlier saves noted it."""
    if not numbers:
        return {}
    saves = select(WordEdit.before).where(WordEdit.page_id == page_id).order_by(WordEdit.version)
    found: dict[int, float] = {}
    for before in session.scalars(saves):
        for word in before:
            confidence = word.get("confidence")  # older saves did not note it
            if confidence is not None and word["number"] in numbers:
                found[word["number"]] = confidence
    return found


def _store(session: Session, page_id: str, words: WordList) -> None:
    """Store new words, new texts and retirements of changed words, and the page's number of words."""
    first_new = words.next_number - words.new
    moment = now()
    for first, end, shift in reversed(_shifts(words.words, first_new)):  # last ones first, to make room
        session.execute(
            update(PageWord)
            .where(PageWord.page_id == page_id, PageWord.position >= first, PageWord.position < end)
            .values(position=PageWord.position + shift)
            .execution_options(synchronize_session=False)
        )
    touched = {change["number"] for change in words.before}
    new = []
    for place, word in enumerate(words.words):
        retired_at = moment if word.retired else None
        if word.number >= first_new:
            x0, y0, x1, y1 = word.box
            new.append(
                {
                    "page_id": page_id,
                    "number": word.number,
                    "position": place,
                    "line": word.line,
                    "text": word.text,
                    "x0": x0,
                    "y0": y0,
                    "x1": x1,
                    "y1": y1,
                    "retired_at": retired_at,
                }
            )
        elif word.number in touched:
            session.execute(
                update(PageWord)
                .where(PageWord.page_id == page_id, PageWord.number == word.number)
                .values(text=word.text, retired_at=retired_at, confidence=word.confidence)
                .execution_options(synchronize_session=False)
            )
    if new:
        session.execute(insert(PageWord), new)
    session.execute(
        update(Page)
        .where(Page.id == page_id)
        .values(word_count=len(words.live))
        .execution_options(synchronize_session=False)
    )


def _shifts(words: list[ListedWord], first_new: int) -> list[tuple[int, int, int]]:
    """Return (first, end, shift): old words at positions first..end - 1 move by `shift` new words.

    Positions are indices of the list, retired words included.
    """
    shifts: list[tuple[int, int, int]] = []
    first = place = shift = 0
    for word in words:
        if word.number < first_new:
            place += 1
            continue
        if shift and first < place:
            shifts.append((first, place, shift))
        first, shift = place, shift + 1
    if shift and first < place:
        shifts.append((first, place, shift))
    return shifts


def _saved_before(session: Session, page: Page, request: WordEditsRequest) -> EditedWords:
    """Return the save that this request stored before; raises WordsConflict when it stored none."""
    edit = _with_key(session, page.id, request.idempotency_key)
    session.refresh(page)
    if edit is None:
        raise WordsConflict(
            f"The words of this page were changed meanwhile: your change starts from version {request.base}, and the "
            f"newest is version {page.words_version}."
        )
    return _saved_words(load_all_words(session, page.id), page.words_version, edit)


def _with_key(session: Session, page_id: str, key: str) -> WordEdit | None:
    return session.scalar(select(WordEdit).where(WordEdit.page_id == page_id, WordEdit.idempotency_key == key))


def _saved_words(words: list[ListedWord], version: int, edit: WordEdit) -> EditedWords:
    return EditedWords.model_validate(
        {**as_lists(words, version), "saved_version": edit.version, "saved_at": edit.created_at}
    )


def as_lists(words: list[ListedWord], version: int) -> dict[str, object]:
    """Return words as JSON: see Words."""
    live = [word for word in words if not word.retired]
    gone: list[ListedWord] = []
    places: list[int] = []
    before = 0
    for word in words:
        if word.retired:
            gone.append(word)
            places.append(before)
        else:
            before += 1

    def properties(chosen: list[ListedWord]) -> dict[str, object]:
        """Return the parallel lists of the chosen words."""
        return {
            "numbers": [word.number for word in chosen],
            "boxes": [word.box for word in chosen],
            "texts": [word.text for word in chosen],
            "lines": [word.line for word in chosen],
            "doubtful": [word.number for word in chosen if word.doubtful],
        }

    following = max((word.number for word in words), default=-1) + 1
    return {
        "version": version,
        **properties(live),
        "next": following,
        "retired": {**properties(gone), "places": places},
    }

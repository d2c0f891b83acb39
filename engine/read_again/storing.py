"""Storing of the words of a page that was read again, and the answers whose words no longer stand."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from db import document_texts
from db.base import now
from db.ids import new_id
from db.tables import Annotation, Page, PageWord, Revision, WordEdit
from engine.annotation.state import AnnotationState
from engine.annotation.word_list import ListedWord, living
from engine.annotation.words import load_all_words
from engine.documents.reading.page import ReadWord
from engine.queries import existing, is_newest
from engine.read_again.merged_words import READ_AGAIN, MergedWords, by_hand_of, merge
from engine.text import storable
from model.printed_text import printed_text

_ONE = update(PageWord.__table__).where(  # type: ignore[arg-type]
    PageWord.page_id == bindparam("of_page"), PageWord.number == bindparam("of_number")
)
_PLACED = _ONE.values(position=bindparam("place"), line=bindparam("in_line"), retired_at=bindparam("gone"))
_PUSHED = _ONE.values(position=bindparam("place"))  # retired before: nothing else changes


@dataclass(frozen=True, slots=True)
class Shaken:
    """Answer that named words of a page which no longer stand. `text`: what it said there before."""

    annotation_id: str
    revision_id: str
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class WordsReadAgain:
    """What became of a page's words: how many stand, are new, and are gone, and the answers that named those.

    `turned`: clockwise degrees by which the page was turned upright. `stays`: sentence that says why it was not.
    """

    kept: int
    new: int
    gone: int
    shaken: tuple[Shaken, ...]
    turned: int = 0
    stays: str = ""


def store_again(session: Session, page_id: str, read: Sequence[ReadWord], user_id: str) -> WordsReadAgain:
    """Store the words of a page as OCR reads them now, in the caller's unit of work.

    Revisions stay as they are: a word that still stands keeps its number, and a word that is gone is retired.

    Args:
        session: Of the unit of work.
        page_id: The page.
        read: Its words, in reading order.
        user_id: Who asked for it.

    Raises:
        NotFound: There is no such page.
        Refused: The page would have too many words.
    """
    # Locked: a correction that somebody saves meanwhile waits here, and then conflicts with these words.
    page = existing(session, Page, page_id, with_for_update=True, populate_existing=True)
    before = load_all_words(session, page_id)
    corrections = session.scalars(
        select(WordEdit.edits).where(WordEdit.page_id == page_id).order_by(WordEdit.version)
    ).all()
    merged = merge(before, by_hand_of(len(before), corrections), _storable(read), (page.width, page.height))
    live = sum(not word.retired for word in merged.words)
    page.text_source = "ocr" if live else "none"
    if not merged.retired and not merged.added:
        return WordsReadAgain(live, 0, 0, ())
    page.word_count = live
    page.words_version += 1
    _store(session, page_id, before, merged)
    session.add(
        WordEdit(
            page_id=page_id,
            version=page.words_version,
            author_id=user_id,
            idempotency_key=f"read-again-{new_id()}",
            edits=[{"op": READ_AGAIN, "added": len(merged.added)}],
            before=[asdict(word) for word in before if word.number in set(merged.retired)],
        )
    )
    session.flush()
    shaken = tuple(_shaken(session, page, before, merged.words)) if merged.retired else ()
    return WordsReadAgain(live - len(merged.added), len(merged.added), len(merged.retired), shaken)


def _storable(read: Sequence[ReadWord]) -> list[ReadWord]:
    return [ReadWord(storable(word.text), word.box, word.line, word.confidence) for word in read]


def _store(session: Session, page_id: str, before: Sequence[ListedWord], merged: MergedWords) -> None:
    stored_at = now()
    retired_before = {word.number for word in before if word.retired}
    moved, pushed, new = [], [], []
    for place, word in enumerate(merged.words):
        x0, y0, x1, y1 = word.box
        if word.number in merged.added:
            row = {"page_id": page_id, "number": word.number, "position": place, "line": word.line, "text": word.text}
            row |= {"x0": x0, "y0": y0, "x1": x1, "y1": y1, "confidence": merged.added[word.number]}
            new.append(row)
        elif word.number in retired_before:
            pushed.append({"of_page": page_id, "of_number": word.number, "place": place})
        else:
            gone = stored_at if word.retired else None
            at = {"of_page": page_id, "of_number": word.number, "place": place, "in_line": word.line, "gone": gone}
            moved.append(at)
    connection = session.connection()
    if moved:
        connection.execute(_PLACED, moved)
    if pushed:
        connection.execute(_PUSHED, pushed)
    if new:
        session.execute(insert(PageWord), new)
    document_texts.mark_pages_dirty(session, [page_id])


def _shaken(session: Session, page: Page, before: Sequence[ListedWord], after: Sequence[ListedWord]) -> list[Shaken]:
    """Return the answers of the page's document that say something else by its words now."""
    rows = session.execute(
        select(Annotation.id, Annotation.status, Revision.id, Revision.state)
        .join(Revision, is_newest())
        .where(Annotation.document_id == page.document_id)
        .order_by(Annotation.id)
    )
    shaken = []
    for annotation_id, status, revision_id, stored in rows:
        mark = AnnotationState.model_validate(stored).pages.get(page.id)
        if mark is None or not mark.words:
            continue
        then = living(mark.words, before)
        today = [word for word in living(mark.words, after) if not word.retired]
        if sorted(word.text for word in then) != sorted(word.text for word in today):
            shaken.append(Shaken(annotation_id, revision_id, status, printed_text(then)))
    return shaken

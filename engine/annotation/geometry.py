"""Size and words of the pages that a save names; other words of the page are not read."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db.int_array import in_array
from db.tables import Page, PageWord
from engine.annotation.edits import Edit, EditMask, EditWords, PageEdit
from engine.annotation.state import AnnotationState, PageGeometry
from engine.annotation.texts import answer_text, join_text, marked_words
from engine.annotation.word_list import ListedWord
from engine.annotation.words import WORD
from engine.documents.lists.thumbnails import image_version

LARGEST_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class NamedPages:
    """Pages in document order with the words that an answer and its edits name, in reading order.

    Includes retired words: an edit may come from a person who saw the page before its words were fixed.
    """

    geometry: dict[str, PageGeometry]
    words: dict[str, list[ListedWord]]
    numbers: dict[str, int]
    images: dict[str, str]  # versions, as PageLine.image
    version: int  # sum of the word versions of these pages; grows with each fix

    def text(self, session: Session, state: AnnotationState) -> str:
        """Return the text of an answer that marks named words only; see texts.answer_text."""
        marks = marked_words(state)
        retired = {page: {word.number for word in words if word.retired} for page, words in self.words.items()}
        if any(not retired[page].isdisjoint(numbers) for page, numbers in marks.items()):
            return answer_text(session, state)  # the replacements of retired words are not loaded here
        return join_text(list(self.words), marks, self.words)

    def texts(self, session: Session, state: AnnotationState) -> list[str]:
        """Return the text of each of the single values of an answer, as `text` does."""
        return [self.text(session, part) for part in state.single_values()]


_NAMED_WORDS = (
    select(
        Page.id,
        Page.height,
        Page.width,
        Page.words_version,
        Page.number,
        Page.image_sha256,
        *WORD,
    )
    .outerjoin(PageWord, (PageWord.page_id == Page.id) & in_array(PageWord.number, "numbers"))
    .where(Page.document_id == bindparam("document"), Page.id.in_(bindparam("pages", expanding=True)))
    .order_by(Page.number, PageWord.position, PageWord.number)
)


def named_pages(session: Session, document_id: str, state: AnnotationState, edits: Iterable[Edit]) -> NamedPages:
    """Return the pages of a document that `state` or `edits` name, in one query; other pages are skipped."""
    pages, numbers = _named_places(state, edits)
    if not pages:
        return NamedPages({}, {}, {}, {}, 0)
    chosen = {"document": document_id, "pages": pages, "numbers": numbers}
    sizes: dict[str, tuple[int, int]] = {}
    versions: dict[str, int] = {}
    words: dict[str, list[ListedWord]] = {}
    numbers_of: dict[str, int] = {}
    images: dict[str, str] = {}
    rows = session.connection().execute(_NAMED_WORDS, chosen).all()
    for page, height, width, version, page_number, image, *word in rows:
        number, line, text, x0, y0, x1, y1, retired_at, confidence = word
        sizes[page], versions[page] = (height, width), version
        numbers_of[page], images[page] = page_number, image_version(image)
        here = words.setdefault(page, [])
        if number is not None:
            here.append(ListedWord(number, line, text, (x0, y0, x1, y1), retired_at is not None, confidence))
    geometry = {page: PageGeometry(sizes[page], {word.number: word.box for word in words[page]}) for page in words}
    return NamedPages(geometry, words, numbers_of, images, sum(versions.values()))


def _named_places(state: AnnotationState, edits: Iterable[Edit]) -> tuple[list[str], list[int]]:
    """Return the pages and the word numbers that a state and its edits name."""
    pages = set(state.pages)
    numbers = {number for mark in state.pages.values() for number in mark.words}
    for edit in edits:
        if isinstance(edit, PageEdit):
            pages.add(edit.page)
        if isinstance(edit, EditMask):
            numbers.update(edit.words)
        elif isinstance(edit, EditWords):
            numbers.update(edit.add, edit.remove)
    return sorted(pages), sorted(number for number in numbers if 0 <= number < LARGEST_NUMBER)

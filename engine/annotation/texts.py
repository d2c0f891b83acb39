"""Text of answers: the marked words in reading order."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Page
from engine.annotation.state import AnnotationState
from engine.annotation.word_list import ListedWord, living
from engine.annotation.words import MOST_NAMED, listed_of
from engine.plurals import count
from model.printed_text import printed_text


def answer_text(session: Session, state: AnnotationState) -> str:
    """Return the words of an answer in reading order, page by page, joined as they are printed: with spaces mostly.

    Words that were split or merged since are replaced by their successors.
    """
    return answer_texts(session, [state])[0]


def answer_texts(session: Session, states: Sequence[AnnotationState]) -> list[str]:
    """Return the texts of many answers, as `answer_text` does, with the number of queries of one."""
    marked = [marked_words(state) for state in states]
    named: dict[str, set[int]] = {}
    for marks in marked:
        for page, numbers in marks.items():
            named.setdefault(page, set()).update(numbers)
    order: list[str] = []
    words: dict[str, list[ListedWord]] = {}
    for some in _batches(sorted(named), MOST_NAMED):
        order += session.scalars(select(Page.id).where(Page.id.in_(some)).order_by(Page.number))
        words |= _words(session, some, named)
    return [join_text(order, marks, words) for marks in marked]


def shown_texts(session: Session, states: Sequence[AnnotationState]) -> list[str]:
    """Return the texts of answers as people read them: of each value the words, or the text that a person corrected.

    Of a table, the number of its rows.
    """
    rows = [len({part.cell.row for part in state.single_values() if part.cell is not None}) for state in states]
    parts = [
        [] if table else state.single_values() if state.values or state.correction else [state]
        for table, state in zip(rows, states, strict=True)
    ]
    texts = iter(answer_texts(session, [part for of_answer in parts for part in of_answer]))
    shown = [[(part, next(texts)) for part in of_answer] for of_answer in parts]
    return [
        count(table, "row")
        if table
        else " · ".join(filter(None, (_corrected_text(part) or text for part, text in of_answer)))
        for table, of_answer in zip(rows, shown, strict=True)
    ]


def _corrected_text(part: AnnotationState) -> str | None:
    return part.correction.text if part.correction is not None else None


def marked_words(state: AnnotationState) -> dict[str, list[int]]:
    """Return the marked words by page; pages without marks are left out."""
    return {} if state.no_answer else {page: mark.words for page, mark in state.pages.items() if mark.words}


def join_text(
    order: Sequence[str], marks: Mapping[str, Sequence[int]], words: Mapping[str, Sequence[ListedWord]]
) -> str:
    """Return the text of `marks` (page -> words) from the pages' words, with pages in `order`."""
    return " ".join(printed_text(living(marks[page], words[page])) for page in order if page in marks)


def _batches(pages: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield batches of pages: databases limit the parameters of a query."""
    for start in range(0, len(pages), size):
        yield pages[start : start + size]


def _words(session: Session, pages: Sequence[str], named: Mapping[str, set[int]]) -> dict[str, list[ListedWord]]:
    """Return the named words of pages; all words of a page when a named one is retired."""
    numbers = set().union(*(named[page] for page in pages))
    if len(numbers) > MOST_NAMED:  # a dense page has thousands of words, most answers a handful
        return listed_of(session, pages)
    found = listed_of(session, pages, numbers)
    with_retired = [page for page in pages if any(word.retired and word.number in named[page] for word in found[page])]
    return found | (listed_of(session, with_retired) if with_retired else {})

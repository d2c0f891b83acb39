"""Store the answers of models that an imported set holds, as proposals (engine.annotation.outside_answers)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page
from engine.annotation.outside_answers import questions_answered, store_outside_answer
from engine.annotation.outside_models import load_outside_model
from engine.annotation.page_cache import PageWords
from engine.annotation.proposal import StoredAnswer
from engine.interchange.bad_entries import BadEntry
from engine.interchange.import_entries import IncomingPage
from engine.proposers.push import marked_candidate, outside_answer, question_id_of
from engine.text import storable
from model.examples import Word

_LONGEST_NAME = 100  # characters of a model's name


@dataclass(frozen=True, slots=True)
class ReadProposal:
    """A proposal as it will be stored; `page`: place of its page in the document, from 1."""

    question: str
    page: int
    model: str
    answer: StoredAnswer
    confidence: float


def read_proposals(page: IncomingPage, number: int, numbers: Sequence[int]) -> Iterator[ReadProposal]:
    """Yield the proposals of a page; those that the check has left out are passed over.

    Args:
        page: The page of the set.
        number: Its place in the document, from 1.
        numbers: The stored number of each of its words.
    """
    placed = PageWords([*numbers], [Word(word.text, word.box) for word in page.words], [])
    for proposal in page.proposals:
        try:
            mask = proposal.mask()
        except BadEntry:
            continue
        if not mask.any():
            continue
        model = storable(proposal.model)[:_LONGEST_NAME]
        marked = marked_candidate(mask, placed, proposal.confidence, by_words=proposal.by_words)
        yield ReadProposal(proposal.question, number, model, outside_answer([marked], model), proposal.confidence)


def store_proposals(session: Session, document: Document, proposals: Sequence[ReadProposal]) -> int:
    """Store proposals where no person has answered, and return their number; the caller has locked the project."""
    if not proposals:
        return 0
    pages = {page.number: page for page in session.scalars(select(Page).where(Page.document_id == document.id))}
    ids = {proposal.question: question_id_of(session, document, proposal.question) for proposal in proposals}
    answered = questions_answered(session, document.id, list(ids.values()))
    last = {(ids[proposal.question], proposal.model): proposal for proposal in proposals}
    stored = 0
    for (question_id, name), proposal in last.items():
        if question_id not in answered:
            page = pages[proposal.page]
            confidence = proposal.confidence
            model = load_outside_model(session, document.project_id, name, "")
            store_outside_answer(
                session, document, question_id, page, proposal.answer, model=model, confidence=confidence
            )
            stored += 1
    return stored

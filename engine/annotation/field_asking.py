"""Ask several fields of the pages of a paper: each page once, with all its questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from db.tables import Page
from engine.annotation.answer_service import AnswerService, answer_key
from engine.annotation.page_answers import PageAnswer, stored_answer
from engine.annotation.page_cache import CachedPage
from engine.annotation.page_prefilter import PAGES_ASKED, rank_pages
from engine.annotation.predictors import Loaded
from engine.annotation.proposal import RankedPage, StoredAnswer
from engine.annotation.survey_answers import Prepared
from model.kinds import Kind


@dataclass(frozen=True, slots=True)
class AskedField:
    """Field to ask."""

    question_id: str
    question: str
    kind: Kind | None


PlacedField = tuple[AskedField, Sequence[str]]  # with the pages that the model looks at


def ask_document(
    service: AnswerService, loaded: Loaded, pages: Sequence[Page], fields: Sequence[AskedField], most: int
) -> dict[AskedField, Prepared]:
    """Return the answers of a stored document: those that are held in memory, and the others asked now, then held.

    Args:
        service: Asks.
        loaded: Model that answers.
        pages: All pages of the document, in their order.
        fields: The fields.
        most: Pages to read at most; fields that need more of them are left out.
    """
    if not pages:
        return {}
    keys = {field: answer_key(loaded, pages, field.question, field.kind) for field in fields}
    held = {field: service.answers.peek(key) for field, key in keys.items()}
    answers = {field: prepared for field, prepared in held.items() if prepared is not None}
    left = [field for field in fields if field not in answers]
    ranked = rank_pages(service.workspace, pages, [field.question for field in left])
    placed = [(field, some[:PAGES_ASKED]) for field, some in zip(left, ranked, strict=True)]
    where = {page.id: None for page in pages}
    for field, prepared in ask_pages(service, loaded, where, list(within_pages(placed, most))).items():
        answers[field] = prepared
        service.answers.put(keys[field], prepared)
    return answers


def within_pages(placed: Sequence[PlacedField], most: int) -> Iterator[PlacedField]:
    """Yield the first fields that together look at `most` pages at most."""
    pages: set[str] = set()
    for field, looked_at in placed:
        pages.update(looked_at)
        if len(pages) > most:
            return
        yield field, looked_at


def ask_pages(
    service: AnswerService,
    loaded: Loaded,
    pages: Mapping[str, Callable[[], CachedPage] | None],
    placed: Sequence[PlacedField],
) -> dict[AskedField, Prepared]:
    """Ask the pages of a paper in turn, each all its fields.

    Args:
        service: Asks.
        loaded: Model that answers.
        pages: Ids of the pages in their order; of one that is not stored, what encodes it.
        placed: The fields.

    Returns:
        The best page's answer by field.
    """
    best: dict[AskedField, tuple[tuple[bool, float], Prepared]] = {}
    ranked: dict[AskedField, list[RankedPage]] = {field: [] for field, _ in placed}
    for page_id, encode in pages.items():
        here = [field for field, looked_at in placed if page_id in looked_at]
        texts, kinds = [field.question for field in here], [field.kind for field in here]
        if not here:
            continue
        cached = encode() if encode is not None else None
        answers = service.ask_together(loaded, page_id, texts, kinds, cached)
        for field, answer in zip(here, answers, strict=True):
            ranked[field].append(answer.to_ranked())
            worth = answer.marks, answer.worth
            if field not in best or worth > best[field][0]:
                best[field] = worth, _prepare(answer)
    for field, (_, prepared) in best.items():
        prepared.answer.ranked = sorted(ranked[field], key=lambda page: page.answered * page.score, reverse=True)
    return {field: prepared for field, (_, prepared) in best.items()}


def _prepare(page: PageAnswer) -> Prepared:
    """Return an answer without masks of the page's size."""
    stored: StoredAnswer = stored_answer(page.answer, page.cached.numbers)
    return Prepared(page.page_id, stored, float(page.answer.score), float(page.answer.answered), page.milliseconds)

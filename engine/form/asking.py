"""Let the model answer the fields of a document that a person has not asked yet, all in one pass.

What was computed in advance is used, and what is computed is held for the next person (`AnswerService.answers`).
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.tables import Annotation, Document, Page, ProjectField, Question
from engine.annotation.answer_service import AnswerService, answer_key
from engine.annotation.form_answers import DocumentForm
from engine.annotation.page_answers import PageAnswer, build_prediction, stored_answer
from engine.annotation.page_prefilter import PAGES_ASKED, rank_pages
from engine.annotation.predictors import Loaded
from engine.annotation.proposal import RankedPage, StoredAnswer
from engine.annotation.survey_answers import Prepared, load_prepared_answers
from engine.annotation.unaided import unaided_questions
from engine.fields.kinds import kind_of_type
from engine.fields.types import FieldType
from engine.projects import project_stage
from engine.queries import existing, not_removed
from model.kinds import Kind

FIELDS_ASKED = 40  # by one request, unless it says otherwise
PAGES_READ = 16  # by one request: reading a page takes about as long as asking it forty questions
_PREPARED_AT_ONCE = 4  # fields of one pass, about .15 s: somebody may be waiting for an answer


@dataclass(frozen=True, slots=True)
class _Field:
    """Field to ask."""

    question_id: str
    question: str
    kind: Kind | None


_Placed = tuple[_Field, Sequence[str]]  # with the pages that the model looks at


def ask_fields(service: AnswerService, document_id: str, user_id: str, most: int = FIELDS_ASKED) -> None:
    """Ask those fields of a document that a person has not asked yet, and record the proposals in one commit.

    Survey answers are used where they stand. Each page is encoded once and asked all its fields in batches. In a long
    document one request reads PAGES_READ pages at most, for which fewer fields may be asked; a further one goes on.

    Args:
        service: Answers with the model in use.
        document_id: Document to ask.
        user_id: Author of the new annotations.
        most: Number of fields to ask at most.

    Raises:
        NotFound: The document does not exist.
    """
    with service.workspace.database.read() as session:
        document = existing(session, Document, document_id)
        waiting = _unasked(session, document, user_id, most)
        if not waiting:
            return
        unaided = unaided_questions(session, document.project_id, document_id)
    answers: dict[str, Prepared | None] = {field.question_id: None for field in waiting if field.question_id in unaided}
    aided = [field for field in waiting if field.question_id not in unaided]
    loaded = service.predictors.of(document.project_id) if aided else None
    if loaded is not None:
        by_model = _answer(service, loaded, document, aided)
        printed = DocumentForm(service.workspace, document_id)  # of a PDF: what it says is certain
        answers |= {
            field.question_id: printed.prefer(field.question, by_model[field.question_id])
            for field in aided
            if field.question_id in by_model
        }
    _record(service, document, user_id, loaded, answers)


def prepare_fields(service: AnswerService, document_id: str, user_id: str) -> None:
    """Compute in advance what `ask_fields` would record for a person, FIELDS_ASKED fields at most; stores nothing.

    The fields are asked a few at a time, between which the questions of people who wait have their turn.

    Raises:
        NotFound: The document does not exist.
    """
    with service.workspace.database.read() as session:
        document = existing(session, Document, document_id)
        waiting = _unasked(session, document, user_id, FIELDS_ASKED)
        unaided = unaided_questions(session, document.project_id, document_id)
    aided = [field for field in waiting if field.question_id not in unaided]
    for start in range(0, len(aided), _PREPARED_AT_ONCE):
        loaded = service.predictors.of(document.project_id)
        some = aided[start : start + _PREPARED_AT_ONCE]
        if len(_answer(service, loaded, document, some)) < len(some):
            return  # a long document, which is read in portions


def _unasked(session: Session, document: Document, user_id: str, most: int) -> list[_Field]:
    """Return the first fields without an answer of this person, in their order."""
    asked = exists().where(
        Annotation.document_id == document.id,
        Annotation.question_id == ProjectField.question_id,
        Annotation.author_id == user_id,
        not_removed(),
    )
    waiting = (
        select(Question.id, Question.text, ProjectField.definition)
        .join(ProjectField, ProjectField.question_id == Question.id)
        .where(ProjectField.project_id == document.project_id, ProjectField.name.is_not(None), ~asked)
        .order_by(Question.position, Question.id)
        .limit(most)
    )
    return [
        _Field(key, text, kind_of_type(FieldType(definition["type"])))
        for key, text, definition in session.execute(waiting)
    ]


def _answer(
    service: AnswerService, loaded: Loaded, document: Document, fields: Sequence[_Field]
) -> dict[str, Prepared]:
    """Return the model's answers by question: the survey's, those that were computed before, or asked now.

    Fields for which this request would have to read too many pages are left out.
    """
    with service.workspace.database.read() as session:
        pages = session.scalars(select(Page).where(Page.document_id == document.id).order_by(Page.number)).all()
        answers: dict[str, Prepared] = {}
        if project_stage.stage_of(session, document.project_id) != "assisted":
            keys = [field.question_id for field in fields]
            answers = load_prepared_answers(session, document.id, keys, loaded.version.id)
    if not pages:
        return {}
    held = {field: answer_key(loaded, pages, field.question, field.kind) for field in fields}
    for field, key in held.items():
        known = service.answers.peek(key) if field.question_id not in answers else None
        if known is not None:
            answers[field.question_id] = known
    left = [field for field in fields if field.question_id not in answers]
    ranked = rank_pages(service.workspace, pages, [field.question for field in left])
    placed = list(_within([(field, some[:PAGES_ASKED]) for field, some in zip(left, ranked, strict=True)]))
    for field, prepared in _ask(service, loaded, [page.id for page in pages], placed).items():
        answers[field.question_id] = prepared
        service.answers.put(held[field], prepared)
    return answers


def _within(placed: Sequence[_Placed]) -> Iterator[_Placed]:
    """Yield the first fields that together look at PAGES_READ pages at most."""
    pages: set[str] = set()
    for field, looked_at in placed:
        pages.update(looked_at)
        if len(pages) > PAGES_READ:
            return
        yield field, looked_at


def _ask(
    service: AnswerService, loaded: Loaded, pages: Sequence[str], placed: Sequence[_Placed]
) -> dict[_Field, Prepared]:
    """Ask the pages of a document in turn, each all its fields; return the best page's answer by field."""
    best: dict[_Field, tuple[tuple[bool, float], Prepared]] = {}
    ranked: dict[_Field, list[RankedPage]] = {field: [] for field, _ in placed}
    for page_id in pages:
        here = [field for field, looked_at in placed if page_id in looked_at]
        texts, kinds = [field.question for field in here], [field.kind for field in here]
        answers = service.ask_together(loaded, page_id, texts, kinds) if here else ()
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


def _record(
    service: AnswerService,
    document: Document,
    user_id: str,
    loaded: Loaded | None,
    answers: Mapping[str, Prepared | None],
) -> None:
    """Store an annotation with its proposal for each question; None: answered without the model.

    What the person has asked meanwhile in another window stays as it is.
    """
    for tries in itertools.count(1):
        try:
            with service.workspace.database.write() as session:
                _add(session, document, user_id, loaded, answers)
            return
        except IntegrityError:  # PostgreSQL: the other window has committed between the search and the insert
            if tries == 3:
                raise


def _add(
    session: Session,
    document: Document,
    user_id: str,
    loaded: Loaded | None,
    answers: Mapping[str, Prepared | None],
) -> None:
    mine = Annotation.document_id == document.id, Annotation.author_id == user_id, not_removed()
    asked = select(Annotation.question_id).where(*mine, Annotation.question_id.in_(answers))
    present = set(session.scalars(asked))
    added = [
        Annotation(project_id=document.project_id, document_id=document.id, question_id=key, author_id=user_id)
        for key in answers
        if key not in present
    ]
    session.add_all(added)
    session.flush()
    for annotation in added:
        prepared = answers[annotation.question_id]
        if loaded is None or prepared is None:
            continue
        where = annotation.id, prepared.page_id, annotation.question_id
        session.add(build_prediction(*where, loaded, prepared.answer, prepared, prepared.milliseconds, {}))

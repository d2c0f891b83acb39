"""Let the model answer the fields of a document that a person has not asked yet, all in one pass.

What was computed in advance is used, and what is computed is held for the next person (`AnswerService.answers`).
"""

import itertools
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.tables import Annotation, Document, Page, ProjectField, Question
from engine.annotation.answer_service import AnswerService
from engine.annotation.field_asking import AskedField, ask_document
from engine.annotation.form_answers import DocumentForm
from engine.annotation.outside_answers import load_outside_answers
from engine.annotation.outside_models import asks_own_model
from engine.annotation.page_answers import build_prediction
from engine.annotation.predictors import Loaded
from engine.annotation.survey_answers import Prepared, load_prepared_answers
from engine.annotation.unaided import unaided_questions
from engine.fields.kinds import kind_of_type
from engine.fields.types import FieldType
from engine.projects import project_stage
from engine.queries import existing, lock_questions, not_removed

FIELDS_ASKED = 40  # by one request, unless it says otherwise
PAGES_READ = 16  # by one request: reading a page takes about as long as asking it forty questions
_PREPARED_AT_ONCE = 4  # fields of one pass, about .15 s: somebody may be waiting for an answer


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
        waiting = _fields_to_ask(session, document, user_id, most)
        if not waiting:
            return
        unaided = unaided_questions(session, document.project_id, document_id)
        outside = _load_outside(session, document_id, waiting, unaided)
        if not asks_own_model(session, document.project_id):
            unaided = {field.question_id for field in waiting}
    answers: dict[str, Prepared | None] = {
        **dict.fromkeys(unaided & {field.question_id for field in waiting}),
        **outside,
    }
    aided = [field for field in waiting if field.question_id not in answers]
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
        waiting = _fields_to_ask(session, document, user_id, FIELDS_ASKED)
        unaided = unaided_questions(session, document.project_id, document_id)
        outside = _load_outside(session, document_id, waiting, unaided)
        if not asks_own_model(session, document.project_id):
            return
    aided = [field for field in waiting if field.question_id not in unaided and field.question_id not in outside]
    for start in range(0, len(aided), _PREPARED_AT_ONCE):
        loaded = service.predictors.of(document.project_id)
        some = aided[start : start + _PREPARED_AT_ONCE]
        if len(_answer(service, loaded, document, some)) < len(some):
            return  # a long document, which is read in portions


def _fields_to_ask(session: Session, document: Document, user_id: str, most: int) -> list[AskedField]:
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
        AskedField(key, text, kind_of_type(FieldType(definition["type"])))
        for key, text, definition in session.execute(waiting)
    ]


def _load_outside(
    session: Session, document_id: str, fields: Sequence[AskedField], unaided: Collection[str]
) -> dict[str, Prepared]:
    """Return the proposals of models of others for some fields by question; they go before the own model's."""
    aided = [field.question_id for field in fields if field.question_id not in unaided]
    return load_outside_answers(session, document_id, aided)


def _answer(
    service: AnswerService, loaded: Loaded, document: Document, fields: Sequence[AskedField]
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
    left = [field for field in fields if field.question_id not in answers]
    asked = ask_document(service, loaded, pages, left, PAGES_READ)
    answers |= {field.question_id: prepared for field, prepared in asked.items()}
    return answers


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
    asks = lock_questions(session, answers.keys() - present)
    added = [
        Annotation(project_id=document.project_id, document_id=document.id, question_id=key, author_id=user_id)
        for key in answers
        if key in asks
    ]
    session.add_all(added)
    session.flush()
    for annotation in added:
        prepared = answers[annotation.question_id]
        if prepared is None:
            continue
        where = annotation.id, prepared.page_id, annotation.question_id
        by = loaded if prepared.answer.by_model else None
        session.add(build_prediction(*where, by, prepared.answer, prepared, prepared.milliseconds, {}))

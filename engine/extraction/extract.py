"""Extraction of values: from a file of which nothing is stored, or from a stored document."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Document, Page, Project, Question, User
from engine.accounts import permissions
from engine.annotation.answer_service import AnswerService
from engine.annotation.field_asking import AskedField, ask_document, ask_pages, within_pages
from engine.annotation.form_answers import TypedQuestion
from engine.annotation.issuers import load_context
from engine.annotation.predictors import Loaded
from engine.annotation.survey_answers import Prepared
from engine.annotation.table_answers import answer_table
from engine.annotation.texts import answer_texts
from engine.annotation.unaided import unaided_questions
from engine.documents.reading.reading_state import state_of
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.extraction.paper import Paper, load_paper, read_paper
from engine.extraction.values import FieldAnswer, answer_by_model, build_fields
from engine.extraction.view import Extraction, ExtractionBegun
from engine.fields.definition import FieldDefinition
from engine.fields.kinds import kind_of_type
from engine.fields.normalisation import LocaleContext
from engine.fields.project_fields import load_fields
from engine.fields.read_value import context_of
from engine.followers.counting_answers import CountingAnswer, load_counting_answers, load_fields_of
from engine.metrics import measure
from engine.metrics.counted import EXTRACT_SECONDS
from engine.models import registry
from engine.projects.project_stage import accepted_from
from engine.queries import existing

PAGES_READ = 64  # by the model, of one paper in one request
MOST_FIELDS = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an extraction asks for.

    Attributes:
        fields: Fields to ask, in their order.
        context: How the papers of the project print values.
        least: Confidence from which an automatic project accepts answers; None in other stages.
        of_project: Whether these are the fields of the project, so that stored answers to them count.
    """

    fields: Sequence[FieldDefinition]
    context: LocaleContext
    least: float | None
    of_project: bool


def load_wanted(session: Session, project_id: str, fields: Sequence[FieldDefinition] | None) -> Wanted:
    """Return what to ask the papers of a project: some fields, or those of the project.

    Raises:
        NotFound: The project does not exist.
        Refused: There are no fields, or too many.
    """
    project = existing(session, Project, project_id)
    known = [field.definition for field in load_fields(session, project_id)] if fields is None else list(fields)
    if not known:
        raise Refused("The project has no fields. Make some in the tab Questions, or send a JSON Schema as `schema`.")
    if len(known) > MOST_FIELDS:
        raise Refused(f"The JSON Schema has {len(known)} fields; {MOST_FIELDS} are allowed.")
    return Wanted(known, context_of(project.settings), accepted_from(session, project_id), fields is None)


@measure("extract", EXTRACT_SECONDS, "answered", refusals=(DocumentRefused,))
def extract_file(
    service: AnswerService,
    project_id: str,
    source: Path,
    name: str,
    *,
    fields: Sequence[FieldDefinition] | None = None,
    version: str | None = None,
) -> Extraction:
    """Return the values of a file. Nothing is stored: no document, no picture, no word, no answer.

    Args:
        service: Answers with the model in use.
        project_id: Project whose fields, locale and model count.
        source: The file.
        name: Its name, for the answer alone.
        fields: Fields in place of the project's.
        version: Id or name of the model version that answers; None: the one in use.

    Raises:
        NotFound: The project or the version does not exist.
        DocumentRefused: The file cannot be read.
        Refused: There are no fields, or the version cannot be loaded.
    """
    with service.workspace.database.read() as session:
        wanted = load_wanted(session, project_id, fields)
    loaded = service.predictors.pinned(project_id, version)
    with read_paper(service, loaded, source, name) as paper:
        answers = _ask(service, loaded, paper, wanted, wanted.fields)
    return _build(loaded, paper, wanted, {name: answer_by_model(prepared) for name, prepared in answers.items()})


@measure("extract", EXTRACT_SECONDS, "answered")
def extract_document(
    service: AnswerService,
    document_id: str,
    user_id: str,
    *,
    fields: Sequence[FieldDefinition] | None = None,
    version: str | None = None,
) -> Extraction | ExtractionBegun:
    """Return the values of a stored document; of one that is still being read, how far that is.

    What counts is a person's answer that was submitted or accepted, else an automatic answer, else a survey's; the
    model is asked for the rest, and for everything where a version or other fields are named. Stores nothing.

    An annotator gets no other people's answers, because answers are given blind; nor the model's to the questions
    that people answer without it, to measure agreement. Who sends the file itself gets them all the same.

    Args:
        service: Answers with the model in use.
        document_id: The document.
        user_id: The person who asks.
        fields: Fields in place of the project's.
        version: Id or name of the model version that answers; None: the one in use.

    Raises:
        NotFound: The document or the version does not exist.
        Refused: There are no fields, or the version cannot be loaded.
    """
    with service.workspace.database.read() as session:
        document = existing(session, Document, document_id)
        reading = state_of(session, document_id)
        read = session.scalar(select(func.count(Page.id)).where(Page.document_id == document_id)) or 0
        wanted = load_wanted(session, document.project_id, fields)
        questions = {field.name: field.id for field in load_fields(session, document.project_id)}
        stored = _load_stored(session, document_id) if wanted.of_project and version is None else {}
        role = permissions.role_in(session, session.get_one(User, user_id), document.project_id)
        with_people = role in ("reviewer", "admin")
        unaided = set() if with_people else unaided_questions(session, document.project_id, document_id)
        hidden = _asked_by(session, unaided)
        if with_people:
            settings = existing(session, Project, document.project_id).settings
            wanted = replace(wanted, context=load_context(session, settings, document_id))
    if reading.pages is not None:
        return ExtractionBegun(document_id=document_id, pages_read=read, pages=reading.pages)
    loaded = service.predictors.pinned(document.project_id, version)
    paper = load_paper(service.workspace, document_id)
    answers = {
        name: _answer(service, stored[question])
        for name, question in questions.items()
        if question in stored and (with_people or stored[question].annotation_id is None) and question not in unaided
    }
    unseen = {field.name for field in wanted.fields if field.question in hidden}
    left = [field for field in wanted.fields if field.name not in answers and field.name not in unseen]
    by_model = _ask(service, loaded, paper, wanted, left)
    answers |= {name: answer_by_model(prepared) for name, prepared in by_model.items()}
    return _build(loaded, paper, wanted, answers, unseen)


def _asked_by(session: Session, questions: Collection[str]) -> set[str]:
    """Return the texts of questions."""
    return set(session.scalars(select(Question.text).where(Question.id.in_(questions)))) if questions else set()


def _load_stored(session: Session, document_id: str) -> dict[str, CountingAnswer]:
    """Return the answers that count, by question; what a person has begun, or a reviewer has rejected, is none."""
    counting = load_counting_answers(session, load_fields_of(session, [document_id]))
    return {
        question: answer for (_, question), answer in counting.items() if answer.status not in ("draft", "rejected")
    }


def _answer(service: AnswerService, counting: CountingAnswer) -> FieldAnswer:
    parts = counting.state.single_values()
    with service.workspace.database.read() as session:
        texts = answer_texts(session, parts)
    return FieldAnswer(counting.status, list(zip(parts, texts, strict=True)), confidence=counting.confidence)


def _ask(
    service: AnswerService, loaded: Loaded, paper: Paper, wanted: Wanted, fields: Sequence[FieldDefinition]
) -> dict[str, Prepared]:
    """Let the model answer fields of a paper; those beyond PAGES_READ pages are left out."""
    asked = [AskedField(field.name, field.question, kind_of_type(field.type)) for field in fields]
    if paper.about.id is not None:
        with service.workspace.database.read() as session:
            of_document = Page.document_id == paper.about.id
            rows = session.scalars(select(Page).where(of_document).order_by(Page.number)).all()
        answers = ask_document(service, loaded, rows, asked, PAGES_READ)
    else:
        placed = list(zip(asked, paper.rank_pages([field.question for field in asked]), strict=True))
        pages = {key: page.encode for key, page in paper.pages.items()}
        answers = ask_pages(service, loaded, pages, list(within_pages(placed, PAGES_READ)))
    definitions = {field.name: field for field in fields}
    words = {key: page.words for key, page in paper.pages.items()}
    return {
        field.question_id: answer_table(definitions[field.question_id], words)
        if definitions[field.question_id].columns
        else paper.form.prefer(field.question, TypedQuestion(definitions[field.question_id], wanted.context), prepared)
        for field, prepared in answers.items()
    }


def _build(
    loaded: Loaded, paper: Paper, wanted: Wanted, answers: dict[str, FieldAnswer], unseen: Collection[str] = ()
) -> Extraction:
    fields = build_fields(wanted.fields, answers, paper.pages, wanted.context, wanted.least, unseen)
    return Extraction(
        document=paper.about,
        model_version=loaded.version.id,
        model=registry.label(loaded.version),
        locale=wanted.context.locale,
        fields=fields,
        warnings=list(paper.warnings),
        unsure=[name for name, field in fields.items() if field.unsure],
    )

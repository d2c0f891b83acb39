"""Standard questions: the wordings of a project's fields, for those who need no more than a list of questions."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Annotation, Document, Question
from engine.errors import Conflict, NotFound, Refused
from engine.fields.project_fields import definition_of, known_definitions, load_fields, store_fields
from engine.queries import is_asked, not_removed
from engine.tasks.opening import open_tasks, task_changes
from engine.text import is_blank, quote_file_name, storable
from engine.text import join_names as joined
from engine.workspace import Workspace

LONGEST = 1000  # characters of a question
MOST = 200  # standard questions of a project
MOST_RECENT = 20


@dataclass(frozen=True, slots=True)
class StandardQuestion:
    """Standard question with its position in the list, from 0."""

    id: str
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Askable:
    """Standard question, and this person's annotation of it in the document, if any."""

    id: str
    text: str
    annotation_id: str | None


@dataclass(frozen=True, slots=True)
class Recent:
    """Question that people asked in this project, and its number of documents."""

    id: str
    text: str
    times: int


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Suggested questions: standard ones in their order, then others by use."""

    standard: list[Askable]
    recent: list[Recent]


def standard_questions(workspace: Workspace, project_id: str) -> list[StandardQuestion]:
    """Return the standard questions of a project in their order."""
    with workspace.database.read() as session:
        return _load_standard(session, project_id)


def replace_standard_questions(
    workspace: Workspace, project_id: str, texts: Sequence[str], by: str, before: Sequence[str] | None = None
) -> list[StandardQuestion]:
    """Replace the standard questions of a project by `texts`; return them. Audited.

    Opens tasks for every document. Tasks of removed questions close, and reopen with their answers when the question
    returns. In a large project the tasks follow in batches (engine.tasks.opening.task_changes).

    Args:
        workspace: Open workspace.
        project_id: Project that asks.
        texts: New list, in order.
        by: Acting user's id.
        before: List that the person started from.

    Raises:
        Refused: A question is empty, too long or listed twice.
        Conflict: The list is no longer `before`; nothing is changed.
    """
    wanted = [" ".join(storable(text).split()) for text in texts]
    _check(wanted)
    with workspace.database.write() as session:
        project = open_tasks.lock_project(session, project_id)
        if before is not None:
            _check_unchanged(before, [each.text for each in _load_standard(session, project_id)])
        definitions = known_definitions(session, project_id, wanted)
        # A new question gets a name that no field has, also none of those that go: it is not one of them reworded.
        names = {definition.name for definition in definitions.values()}
        names |= {field.name for field in load_fields(session, project_id)}
        for text in wanted:
            if text not in definitions:
                definitions[text] = definition_of(text, names)
                names.add(definitions[text].name)
        store_fields(session, project, [definitions[text] for text in wanted], by)
        goes_on = task_changes.ask(session, project, task_changes.QUESTIONS, by)
        listed = _load_standard(session, project_id)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return listed


def suggestions(workspace: Workspace, project_id: str, user_id: str, document_id: str | None = None) -> Suggestions:
    """Return the questions that a person can ask in a project, of `document_id` if given.

    Recent questions are ordered by use, without those this person asked of the document and those of which every answer
    was removed. Raises NotFound for a document of another project.
    """
    with workspace.database.read() as session:
        asked: dict[str, str] = {}
        if document_id is not None:
            owner = session.scalar(select(Document.project_id).where(Document.id == document_id))
            if owner != project_id:
                raise NotFound("There is no such document in this project.")
            chosen = select(Annotation.question_id, Annotation.id).where(
                Annotation.document_id == document_id, Annotation.author_id == user_id, not_removed()
            )
            asked = dict(session.execute(chosen).tuples().all())
        used = session.execute(
            select(Question.id, Question.text, Question.documents)
            .where(Question.project_id == project_id, Question.documents > 0)
            .where(~Question.standard, Question.id.not_in(list(asked)), is_asked())
            .order_by(Question.documents.desc(), Question.last_asked.desc())
            .limit(MOST_RECENT)
        )
        recent = [Recent(key, text, count) for key, text, count in used]
        standard = [Askable(each.id, each.text, asked.get(each.id)) for each in _load_standard(session, project_id)]
    return Suggestions(standard, recent)


def _load_standard(session: Session, project_id: str) -> list[StandardQuestion]:
    chosen = (
        select(Question)
        .where(Question.project_id == project_id, Question.standard)
        .order_by(Question.position, Question.id)
    )
    return [StandardQuestion(each.id, each.text, each.position) for each in session.scalars(chosen)]


def _check_unchanged(before: Sequence[str], now: Sequence[str]) -> None:
    if list(before) == list(now):
        return
    added = [quote_file_name(text) for text in now if text not in before]
    dropped = [quote_file_name(text) for text in before if text not in now]
    parts = [f"added {joined(added)}"] if added else []
    parts += [f"took out {joined(dropped)}"] if dropped else []
    raise Conflict(
        f"Somebody else {joined(parts) or 'changed the order'} meanwhile, so nothing was saved. "
        "Make the same change in your list, then save again."
    )


def _check(texts: Sequence[str]) -> None:
    if len(texts) > MOST:
        raise Refused(f"There are {len(texts)} standard questions; {MOST} are allowed. Remove some.")
    for number, text in enumerate(texts, 1):
        if is_blank(text):
            raise Refused(f"Question {number} is empty; write or remove it.")
        if len(text) > LONGEST:
            raise Refused(f"Question {number} has {len(text):,} characters; shorten it to {LONGEST:,}.")
        if text in texts[: number - 1]:
            raise Refused(f"The question {quote_file_name(text)} is listed twice; remove one.")

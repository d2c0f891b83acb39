"""Standard questions: the list that a project asks of every document. The usual way to build a dataset."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Annotation, AuditEntry, Document, Question
from engine.errors import Conflict, NotFound, Refused
from engine.projects import open_tasks
from engine.text import check_question, is_blank, quoted, storable
from engine.text import listed as joined
from engine.workspace import Workspace

LONGEST = 1000  # characters of a question
MOST = 200  # standard questions of a project
MOST_RECENT = 20


@dataclass(frozen=True, slots=True)
class StandardQuestion:
    """A standard question with its place in the list, from 0."""

    id: str
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Askable:
    """A standard question and, where this person has asked it of the document already, the answer."""

    id: str
    text: str
    annotation_id: str | None


@dataclass(frozen=True, slots=True)
class Recent:
    """A question that people put to this project's documents, and to how many."""

    id: str
    text: str
    times: int


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What can be asked: the standard questions in their order, then others by use."""

    standard: list[Askable]
    recent: list[Recent]


def standard_questions(workspace: Workspace, project_id: str) -> list[StandardQuestion]:
    """Return the standard questions of a project in their order."""
    with workspace.database.read() as session:
        return _listed(session, project_id)


def replace_standard_questions(
    workspace: Workspace, project_id: str, texts: Sequence[str], by: str, before: Sequence[str] | None = None
) -> list[StandardQuestion]:
    """Make `texts` the standard questions of a project, in that order, and return them.

    Tasks are opened for every document; those of dropped questions close, and reopen with what was answered when a question
    comes back. Refused, with a sentence, for an empty, endless or doubled question. `before`: the list that the person
    started from; where it is another one by now, Conflict says what became of it, and nothing is changed. Audited.
    """
    wanted = [" ".join(storable(text).split()) for text in texts]
    _check(wanted)
    with workspace.database.write() as session:
        open_tasks.lock_project(session, project_id)
        if before is not None:
            _check_unchanged(before, [each.text for each in _listed(session, project_id)])
        known = {
            question.text: question
            for question in session.scalars(
                select(Question).where(Question.project_id == project_id, Question.standard | Question.text.in_(wanted))
            )
        }
        for text in wanted:
            if text not in known:  # one that is there already stays as it is
                check_question(text)
        for question in known.values():
            question.standard = False
        for position, text in enumerate(wanted):
            question = known.get(text) or Question(project_id=project_id, text=text, created_by=by)
            question.standard, question.position = True, position
            session.add(question)
        session.add(
            AuditEntry(
                actor_id=by,
                project_id=project_id,
                action="standard_questions",
                subject=f"project:{project_id}",
                details={"questions": wanted},
            )
        )
        session.flush()
        open_tasks.close_and_reopen(session, project_id)
        open_tasks.open_missing(session, project_id)
        return _listed(session, project_id)


def suggestions(workspace: Workspace, project_id: str, user_id: str, document_id: str | None = None) -> Suggestions:
    """Return what a person can ask in a project, of `document_id` if one is given.

    Recent questions come by use; those that this person has asked of the document already are left out. NotFound for a
    document of another project.
    """
    with workspace.database.read() as session:
        asked: dict[str, str] = {}
        if document_id is not None:
            owner = session.scalar(select(Document.project_id).where(Document.id == document_id))
            if owner != project_id:
                raise NotFound("There is no such document in this project.")
            chosen = select(Annotation.question_id, Annotation.id).where(
                Annotation.document_id == document_id, Annotation.author_id == user_id
            )
            asked = dict(session.execute(chosen).tuples().all())
        times = func.count(Annotation.document_id.distinct())
        used = session.execute(
            select(Question.id, Question.text, times)
            .join(Annotation, Annotation.question_id == Question.id)
            .where(Question.project_id == project_id, ~Question.standard, Question.id.not_in(list(asked)))
            .group_by(Question.id, Question.text)
            .order_by(times.desc(), func.max(Annotation.id).desc())
            .limit(MOST_RECENT)
        )
        recent = [Recent(key, text, count) for key, text, count in used]
        standard = [Askable(each.id, each.text, asked.get(each.id)) for each in _listed(session, project_id)]
    return Suggestions(standard, recent)


def _listed(session: Session, project_id: str) -> list[StandardQuestion]:
    chosen = (
        select(Question)
        .where(Question.project_id == project_id, Question.standard)
        .order_by(Question.position, Question.id)
    )
    return [StandardQuestion(each.id, each.text, each.position) for each in session.scalars(chosen)]


def _check_unchanged(before: Sequence[str], now: Sequence[str]) -> None:
    if list(before) == list(now):
        return
    added = [quoted(text) for text in now if text not in before]
    dropped = [quoted(text) for text in before if text not in now]
    parts = [f"added {joined(added)}"] if added else []
    parts += [f"took out {joined(dropped)}"] if dropped else []
    raise Conflict(
        f"Somebody else {joined(parts) or 'changed the order'} meanwhile, so nothing was saved. "
        "Put that into your list where it belongs, then save again."
    )


def _check(texts: Sequence[str]) -> None:
    if len(texts) > MOST:
        raise Refused(f"{len(texts)} standard questions are too many; {MOST} are allowed.")
    for number, text in enumerate(texts, 1):
        if is_blank(text):
            raise Refused(f"Question {number} is empty.")
        if len(text) > LONGEST:
            raise Refused(f"Question {number} has {len(text):,} characters; {LONGEST:,} are allowed.")
        if text in texts[: number - 1]:
            raise Refused(f"The question {quoted(text)} is there twice.")

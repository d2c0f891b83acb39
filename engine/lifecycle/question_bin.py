"""Questions in the bin: removed with their answers, values and tasks, they can be restored for some days.

A removed question is out of every list at once, and nobody answers it. Its tasks close and its answers are removed
document by document, in batches (engine.tasks.opening.task_changes), and they come back in the same way. Snapshots and
exports that were made before do not change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.lock_waits import wait_shortly, write_patiently
from db.tables import Annotation, FieldValue, Project, ProjectField, Question, RemovedQuestion, Task, User
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.fields.field_list import MOST, check_list
from engine.fields.project_fields import load_fields
from engine.lifecycle.bins import MOST_LISTED, count_removed, is_restorable, list_removed
from engine.paging import Page as ListPage
from engine.plurals import count
from engine.queries import not_removed
from engine.tasks.opening import open_tasks, task_changes
from engine.text import quote_file_name
from engine.workspace import Workspace

_ERASING = "The question {text} is being deleted and cannot be restored."
_NAMED = "Another field is named {name} by now. Rename it, then restore the question {text}."


@dataclass(frozen=True, slots=True)
class QuestionHoldings:
    """What goes to the bin with a question.

    Attributes:
        id: Id of the question.
        text: The question.
        answers: Answers of people, in any state; removed ones do not count.
        people: Their authors.
        values: Documents that have a value of the field.
        tasks: Tasks of the question.
    """

    id: str
    text: str
    answers: int
    people: int
    values: int
    tasks: int


@dataclass(frozen=True, slots=True)
class RemovedQuestionLine:
    """A question in the bin: its answers and tasks, who removed it and when, and when it will be deleted.

    `standard`: whether it was a standard question.
    """

    id: str
    text: str
    standard: bool
    answers: int
    tasks: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime


def question_holdings(workspace: Workspace, project_id: str, question_id: str) -> QuestionHoldings:
    """Return what goes to the bin with a question. Raises NotFound."""
    answers = select(func.count(), func.count(Annotation.author_id.distinct())).where(
        Annotation.question_id == question_id, not_removed()
    )
    values = select(func.count()).where(FieldValue.question_id == question_id, FieldValue.state == "value")
    with workspace.database.read() as session:
        [question] = _load(session, project_id, [question_id])
        number, people = session.execute(answers).one()
        tasks = session.scalar(select(func.count()).where(Task.question_id == question_id)) or 0
        return QuestionHoldings(question_id, question.text, number, people, session.scalar(values) or 0, tasks)


def remove_questions(workspace: Workspace, project_id: str, ids: Sequence[str], by: str | None) -> list[str]:
    """Remove questions of a project into its bin, with their answers. Audited; repeating it changes nothing.

    In a large project answers and tasks follow in batches, after the return.

    Args:
        workspace: Open workspace.
        project_id: Project of the questions.
        ids: Ids of questions, at most MOST.
        by: Id of the acting user.

    Returns:
        Ids of the questions that this removed; those that were in the bin already are left out.

    Raises:
        NotFound: A question is not in the project; nothing was removed.
        Refused: Too many questions, or a rule of another field names one.
    """

    def put_in(session: Session, project: Project, questions: Sequence[Question]) -> list[str]:
        in_bin = select(RemovedQuestion.question_id).where(RemovedQuestion.project_id == project_id)
        there = set(session.scalars(in_bin))
        going = [question for question in questions if question.id not in there]
        gone = {question.id for question in going}
        check_list([field.definition for field in load_fields(session, project_id) if field.id not in gone])
        for question in going:
            session.add(
                RemovedQuestion(
                    question_id=question.id,
                    project_id=project_id,
                    standard=question.standard,
                    removed_by=by,
                    removed_at=now(),
                )
            )
            question.standard = False
            if (field := session.get(ProjectField, question.id)) is not None:
                field.name = None
            audit.record(session, by, "questions.remove", question.id, project_id, question=question.text)
        return [question.id for question in going]

    return _change(workspace, project_id, ids, by, put_in)


def restore_questions(workspace: Workspace, project_id: str, ids: Sequence[str], by: str | None) -> list[str]:
    """Restore questions from the bin, with exactly the answers that went with them. Audited; repeating changes nothing.

    In a large project answers and tasks follow in batches, after the return.

    Args:
        workspace: Open workspace.
        project_id: Project from which they were removed.
        ids: Ids of questions, at most MOST.
        by: Id of the acting user.

    Returns:
        Ids of the questions that this restored.

    Raises:
        NotFound: A question is neither in the bin nor in the project; nothing was restored.
        Conflict: Another field has the name of one, or one is being deleted; nothing was restored.
        Refused: Too many questions, or fields.
    """

    def take_out(session: Session, project: Project, questions: Sequence[Question]) -> list[str]:
        names = {field.name for field in load_fields(session, project_id)}
        coming = []
        for question in questions:
            removed = session.get(RemovedQuestion, question.id, with_for_update=True)  # it may just be chosen
            if removed is None:
                continue
            text = quote_file_name(question.text)
            if removed.erasing:
                raise Conflict(_ERASING.format(text=text))
            field = session.get(ProjectField, question.id)
            if removed.standard and field is not None:
                name = str(field.definition["name"])
                if name in names:
                    raise Conflict(_NAMED.format(name=name, text=text))
                names.add(name)
                field.name = name
            question.standard = removed.standard
            session.delete(removed)
            audit.record(session, by, "questions.restore", question.id, project_id, question=question.text)
            coming.append(question.id)
        session.flush()
        check_list([field.definition for field in load_fields(session, project_id)])
        return coming

    return _change(workspace, project_id, ids, by, take_out)


def list_removed_questions(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> ListPage[RemovedQuestionLine]:
    """Return a page of the questions in the bin of a project, last removed first; see `bins.list_removed`."""
    gone = or_(Annotation.removed_with_question, not_removed())  # the others follow, or lie in the bin of documents
    answers = select(func.count()).where(Annotation.question_id == Question.id, gone)
    of_question = select(func.count()).where(Task.question_id == Question.id)
    chosen = (
        select(
            Question.id,
            Question.text,
            RemovedQuestion.standard,
            answers.correlate(Question).scalar_subquery(),
            of_question.correlate(Question).scalar_subquery(),
            User.name,
            RemovedQuestion.removed_at,
        )
        .join(Question, Question.id == RemovedQuestion.question_id)
        .outerjoin(User, User.id == RemovedQuestion.removed_by)
        .where(is_restorable(RemovedQuestion, project_id))
    )
    name = f"removed questions {project_id}"
    return list_removed(workspace, RemovedQuestion, name, chosen, RemovedQuestionLine, limit, cursor)


def count_removed_questions(workspace: Workspace, project_id: str) -> int:
    """Return the number of questions in the bin of a project."""
    return count_removed(workspace, RemovedQuestion, project_id)


def _change(
    workspace: Workspace,
    project_id: str,
    ids: Sequence[str],
    by: str | None,
    change: Callable[[Session, Project, Sequence[Question]], list[str]],
) -> list[str]:
    """Let a change of questions be followed by tasks and answers; return the ids of those that it changed."""
    wanted = list(dict.fromkeys(ids))
    if len(wanted) > MOST:
        raise Refused(f"The request names {count(len(wanted), 'question')}; {MOST} are allowed. Send several requests.")

    def act(session: Session) -> tuple[list[str], bool]:
        project = open_tasks.lock_project(session, project_id)
        wait_shortly(session)  # for those who are storing a new answer, and lock the project last
        changed = change(session, project, _load(session, project_id, wanted, locked=True))
        changes.publish(session, "questions", project_id)  # of a plain question, no row that screens follow has changed
        return changed, bool(changed) and task_changes.ask(session, project, task_changes.QUESTIONS, by)

    changed, goes_on = write_patiently(workspace.database, act)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return changed


def _load(session: Session, project_id: str, ids: Sequence[str], *, locked: bool = False) -> Sequence[Question]:
    chosen = select(Question).where(Question.project_id == project_id, Question.id.in_(ids)).order_by(Question.id)
    questions = session.scalars(chosen.with_for_update() if locked else chosen).all()
    if len(questions) < len(ids):
        missing = count(len(ids) - len(questions), "question")
        raise NotFound(f"{missing} of the request are not in this project. Reload the list.")
    return questions

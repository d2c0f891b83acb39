"""Check of the states that are kept with tasks (db.task_states) against the answers, and their repair.

Both go in pieces: a check reads some hundred tasks at once, and a repair commits after as many, so that people work on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, update
from sqlalchemy.orm import Session

from db import changes, statuses, task_states
from db.tables import Annotation, PartAnswer, Project, Revision, Task, TaskCount
from engine.batches import Throttle, in_batches
from engine.queries import is_head, is_project
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Drift:
    """Differences between what is kept and what the answers say.

    - `tasks`: ids of tasks whose state or numbers of answers differ.
    - `counts`: (project id, state, kept number, number found) where these differ.
    - `editors`: ids of answers whose newest revision is by another person than is kept.
    - `parts`: ids of tasks that need further people, where others are kept as those who have answered.
    """

    tasks: list[str]
    counts: list[tuple[str, str, int, int]]
    editors: list[str]
    parts: list[str]

    def __bool__(self) -> bool:
        return bool(self.tasks or self.counts or self.editors or self.parts)


def check(workspace: Workspace, project_id: str | None = None) -> Drift:
    """Compare what is kept of a project's tasks, or of all, with what the answers say."""
    tasks: list[str] = []
    counts: list[tuple[str, str, int, int]] = []
    editors: list[str] = []
    parts: list[str] = []
    for project in _projects(workspace, project_id):
        for ids in _tasks(workspace, project):
            with workspace.database.read() as session:
                tasks += [
                    pair.task_id for pair in task_states.compare_tasks(session, ids) if pair.kept != pair.computed
                ]
        with workspace.database.snapshot_read() as session:
            counts += _find_miscounted(session, project)
            editors += session.scalars(_select_misnamed(project))
            parts += sorted({task_id for task_id, _ in _parts_apart(session, project)})
    return Drift(tasks, counts, editors, parts)


def rebuild(workspace: Workspace, project_id: str | None = None) -> None:
    """Compute what is kept of a project's tasks, or of all, anew from the answers."""
    for project in _projects(workspace, project_id):
        throttle = Throttle()
        for ids in _tasks(workspace, project):
            in_batches(workspace, ids, task_states.mark_tasks_dirty, throttle=throttle)
        with workspace.database.snapshot_read() as session:
            miscounted = _find_miscounted(session, project)
            parts = sorted({task_id for task_id, _ in _parts_apart(session, project)})
        with workspace.database.write() as session:
            # Each unit of work moves kept and found numbers alike, so the differences are still right.
            task_states.count(
                session, {(project, state): computed - stored for _, state, stored, computed in miscounted}
            )
            changes.publish(session, "tasks", project)
        in_batches(workspace, parts, task_states.part_again)
        throttle = Throttle()
        while _rename(workspace, project, throttle):
            pass


def _projects(workspace: Workspace, project_id: str | None) -> list[str]:
    with workspace.database.read() as session:
        ids = select(Project.id).where(is_project()).order_by(Project.id)  # nobody reads the figures of a bin
        return list(session.scalars(ids if project_id is None else ids.where(Project.id == project_id)))


def _tasks(workspace: Workspace, project_id: str) -> Iterator[list[str]]:
    """Yield the ids of a project's tasks, some hundred at once."""
    last = ""
    while True:
        with workspace.database.read() as session:
            chosen = Task.project_id == project_id, Task.id > last
            ids = list(session.scalars(select(Task.id).where(*chosen).order_by(Task.id).limit(task_states.AT_ONCE)))
        if not ids:
            return
        yield ids
        last = ids[-1]


def _find_miscounted(session: Session, project_id: str) -> list[tuple[str, str, int, int]]:
    of_project = Task.project_id == project_id, Task.state != statuses.NEW
    computed = dict(
        session.execute(select(Task.state, func.count()).where(*of_project).group_by(Task.state)).tuples().all()
    )
    numbers = select(TaskCount.state, TaskCount.number).where(TaskCount.project_id == project_id)
    stored = dict(session.execute(numbers).tuples().all())
    states = sorted(computed.keys() | stored.keys())
    pairs = ((state, stored.get(state, 0), computed.get(state, 0)) for state in states)
    return [(project_id, *pair) for pair in pairs if pair[1] != pair[2]]


def _parts_apart(session: Session, project_id: str) -> set[tuple[str, str]]:
    """Return (task, author) that are kept but not so, or so but not kept."""
    so = session.execute(task_states.part_answers().where(Task.project_id == project_id)).tuples()
    stored = session.execute(
        select(PartAnswer.task_id, PartAnswer.author_id).where(PartAnswer.project_id == project_id)
    ).tuples()
    return {(task_id, author_id) for task_id, author_id, _ in so} ^ set(stored)


def _select_misnamed(project_id: str) -> Select[str]:
    return select(Annotation.id).join(Revision, is_head()).where(Annotation.project_id == project_id, _other_editor())


def _other_editor() -> ColumnElement[bool]:
    """Return the condition that another editor is kept than that of the newest revision."""
    foreign = Revision.author_id != Annotation.author_id
    editor = func.coalesce(Annotation.edited_by, "")
    return or_(and_(foreign, editor != Revision.author_id), and_(~foreign, Annotation.edited_by.is_not(None)))


def _rename(workspace: Workspace, project_id: str, throttle: Throttle) -> int:
    """Correct the editors of some answers; return their number."""
    with workspace.database.read() as session:  # looks at all answers
        ids = list(session.scalars(_select_misnamed(project_id).limit(throttle.size)))
    if not ids:
        return 0
    with throttle, workspace.database.write() as session:
        throttle.start_timing()
        ids = list(session.scalars(_select_misnamed(project_id).where(Annotation.id.in_(ids))))
        if ids:
            newest = select(Revision.author_id).where(is_head()).correlate(Annotation).scalar_subquery()
            editor = case((newest == Annotation.author_id, None), else_=newest)
            corrected = update(Annotation).where(Annotation.id.in_(ids)).values(edited_by=editor)
            session.execute(corrected.execution_options(synchronize_session=False))
            changes.publish(session, "answers", project_id)
    return len(ids)

"""Check of the figures that are kept as the work happens, and their repair.

They are those of db.finished_work, db.queue_days, db.document_figures, db.question_uses and db.waiting_looks. Finished
masks and documents are compared one by one, some hundred at once, and so are the numbers of documents. Of the depth of
the queue the sum is compared: the days tell what waited then, and an answer that is removed later has waited all the
same.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from math import isclose
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db import changes, document_figures, finished_work, question_uses, queue_days, waiting_looks
from db.tables import Annotation, Document, FinishedDocument, FinishedMask, MaskCount, ProjectFigures, Task
from engine.batches import Throttle, in_batches
from engine.projects.open_tasks import lock_project
from engine.tasks.queue_history import days
from engine.workspace import Workspace

_SECONDS_APART = 1e-6
_COUNTED = FinishedMask.day, FinishedMask.person_id, func.coalesce(FinishedMask.version_id, "")


def check(workspace: Workspace, project_id: str) -> list[tuple[str, str]]:
    """Return (kind, id) of the figures of a project that differ.

    The kind is "mask", "document", "count", "queue", "question", "numbers" of a document, "sums" of a project, "look"
    (an answer that waits for a label review) or "looks" of a project. The id is that of the answer, the document, the
    question, or the project.
    """
    found: list[tuple[str, str]] = []
    for ids in answers(workspace, project_id):
        with workspace.database.snapshot_read() as session:
            found += [("mask", each) for each in _masks_apart(session, ids)]
    with workspace.database.snapshot_read() as session:
        if _counted(session, project_id) != _counts(session, project_id):
            found.append(("count", project_id))
        found += [("document", each) for each in _documents_apart(session, project_id)]
        if any(queue_days.apart(session, project_id)):
            found.append(("queue", project_id))
        if _sums(session, project_id) != _kept_sums(session, project_id):
            found.append(("sums", project_id))
        found += [("question", each) for each in question_uses.apart(session, project_id)]
        found += [("look", each) for each in waiting_looks.apart(session, project_id)]
        if waiting_looks.miscounted(session, project_id):
            found.append(("looks", project_id))
    for ids in _documents(workspace, project_id):
        with workspace.database.snapshot_read() as session:
            found += [("numbers", each) for each in _numbers_apart(session, ids)]
    return found


def rebuild(workspace: Workspace, project_id: str) -> None:
    """Compute the figures of a project anew from its answers and tasks; its tasks were touched before."""

    def touch(session: Session, some: Sequence[str]) -> None:
        for each in some:
            finished_work.touch(session, each)
        changes.publish(session, "answers", project_id)

    throttle = Throttle()
    for ids in answers(workspace, project_id):
        in_batches(workspace, ids, touch, throttle=throttle)
    with workspace.database.snapshot_read() as session:
        history = days(session, project_id)
        apart = _documents_apart(session, project_id)
        so, kept = _counted(session, project_id), _counts(session, project_id)
        looks, looked = waiting_looks.apart(session, project_id), waiting_looks.miscounted(session, project_id)
    in_batches(workspace, apart, finished_work.touch_documents)
    in_batches(workspace, looks, waiting_looks.touch)
    for ids in _documents(workspace, project_id):
        in_batches(workspace, ids, document_figures.touch, throttle=throttle)
    nothing = (0, 0, 0)
    with workspace.database.write() as session:
        # Each unit of work moves masks and their numbers alike, so the differences are still right.
        for key in sorted(so.keys() | kept.keys()):
            pairs = zip(so.get(key, nothing), kept.get(key, nothing), strict=True)
            finished_work.add(session, project_id, key, [found - stored for found, stored in pairs])
        waiting_looks.add(session, looked)
    with workspace.database.write() as session:
        lock_project(session, project_id)
        # In the order of `Database.write`, so that no save waits for this and this for the save.
        queue_days.set_days(session, project_id, history)
        document_figures.count_again(session, project_id)
    for some in _questions_apart(workspace, project_id):
        with workspace.database.write() as session:
            lock_project(session, project_id)
            question_uses.count_again(session, some)
            changes.publish(session, "questions", project_id)


def answers(workspace: Workspace, project_id: str) -> Iterator[list[str]]:
    """Yield the ids of a project's answers, some hundred at once."""
    last = ""
    while True:
        with workspace.database.read() as session:
            here = Annotation.project_id == project_id, Annotation.id > last
            chosen = select(Annotation.id).where(*here).order_by(Annotation.id).limit(finished_work.AT_ONCE)
            ids = list(session.scalars(chosen))
        if not ids:
            return
        yield ids
        last = ids[-1]


def _documents(workspace: Workspace, project_id: str) -> Iterator[list[str]]:
    """Yield the ids of a project's documents, some hundred at once."""
    last = ""
    while True:
        with workspace.database.read() as session:
            here = Document.project_id == project_id, Document.id > last
            chosen = select(Document.id).where(*here).order_by(Document.id).limit(document_figures.AT_ONCE)
            ids = list(session.scalars(chosen))
        if not ids:
            return
        yield ids
        last = ids[-1]


def _numbers_apart(session: Session, ids: list[str]) -> list[str]:
    so, kept = document_figures.computed(session, ids), document_figures.kept(session, ids)
    return sorted({of[0] for of in so.keys() | kept.keys() if so.get(of) != kept.get(of)})


def _sums(session: Session, project_id: str) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in session.execute(document_figures.sums(project_id)) if any(row[2:])}


def _kept_sums(session: Session, project_id: str) -> set[tuple[Any, ...]]:
    columns = ProjectFigures.__table__.columns
    rows = session.execute(select(*columns).where(ProjectFigures.project_id == project_id))
    return {tuple(row) for row in rows if any(row[2:])}


def _questions_apart(workspace: Workspace, project_id: str) -> Iterator[list[str]]:
    with workspace.database.snapshot_read() as session:
        found = question_uses.apart(session, project_id)
    for begin in range(0, len(found), question_uses.AT_ONCE):
        yield found[begin : begin + question_uses.AT_ONCE]


def _masks_apart(session: Session, ids: list[str]) -> list[str]:
    computed = finished_work.masks(session.get_bind().dialect.name, Annotation.id.in_(ids))
    so = {row.annotation_id: tuple(row) for row in session.execute(computed)}
    columns = FinishedMask.__table__.columns
    kept = {
        row.annotation_id: tuple(row)
        for row in session.execute(select(*columns).where(FinishedMask.annotation_id.in_(ids)))
    }
    both = so.keys() & kept.keys()
    return sorted((so.keys() ^ kept.keys()) | {each for each in both if not _same(so[each], kept[each])})


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether two rows are equal; databases may add seconds in another order."""
    return all(
        isclose(a, b, abs_tol=_SECONDS_APART) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _documents_apart(session: Session, project_id: str) -> list[str]:
    so = {tuple(row) for row in session.execute(finished_work.documents(Task.project_id == project_id))}
    columns = FinishedDocument.__table__.columns
    kept = session.execute(select(*columns).where(FinishedDocument.project_id == project_id))
    return sorted({row[0] for row in so ^ {tuple(row) for row in kept}})


def _counted(session: Session, project_id: str) -> dict[tuple[date, str, str], tuple[int, int, int]]:
    """Return the numbers of masks, timed and unchanged ones, by day, person and version, as the masks say."""
    numbers = (
        func.count(),
        func.count().filter(FinishedMask.seconds > 0),
        func.count().filter(FinishedMask.unchanged),
    )
    rows = session.execute(
        select(*_COUNTED, *numbers).where(FinishedMask.project_id == project_id).group_by(*_COUNTED[:2], "version_id")
    )
    return {(row[0], row[1], row[2]): (row[3], row[4], row[5]) for row in rows}


def _counts(session: Session, project_id: str) -> dict[tuple[date, str, str], tuple[int, int, int]]:
    """Return the same numbers as they are kept."""
    rows = session.scalars(select(MaskCount).where(MaskCount.project_id == project_id, MaskCount.masks != 0))
    return {(row.day, row.person_id, row.version_id): (row.masks, row.timed, row.unchanged) for row in rows}

"""Ranking of documents in the queue, renewed after every survey.

Only documents of the train split are ranked. Holdout documents keep their order of arrival and are interleaved in
proportion: the model must not choose the documents that evaluate it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import TRAIN
from db.tables import Document, DocumentGroup, DocumentSignature, SurveyAnswer, Task
from engine import audit
from engine.annotation.survey_answers import unpack_signature
from engine.batches import in_batches
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.projects.projects import project_by_id
from engine.queries import existing
from engine.selection.ordering import order
from engine.tasks.opening import overlap, priority, task_changes
from engine.tasks.opening.open_tasks import lock_project
from engine.tasks.opening.priority import BY_HAND
from engine.workspace import Workspace

KNOWN = 1000  # answered documents that a choice avoids; more would add little and take about a second


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Document without any answer; `uncertainty` is the mean over its tasks, None when not surveyed."""

    document_id: str
    train: bool
    old: bool
    uncertainty: float | None


def rank(workspace: Workspace, project_id: str, version_id: str) -> dict[str, int]:
    """Rank the waiting documents by the project's settings; return how many each reason placed.

    The documents get their places in batches, the first ones first. A change of the settings meanwhile begins anew.

    version_id: model version whose survey counts. Does nothing when the project uses order of arrival.
    """
    while (placed := _rank_once(workspace, project_id, version_id)) is None:
        pass
    return placed


def _rank_once(workspace: Workspace, project_id: str, version_id: str) -> dict[str, int] | None:
    """Rank once; return None when the order was changed meanwhile."""
    task_changes.work_off(workspace, project_id, seconds=None)  # a reset of the order comes before the new one
    with workspace.database.read() as session:
        number = task_changes.number_of(session, project_id, task_changes.ORDER)
    chosen = settings_of(project_by_id(workspace, project_id))
    if chosen.selection == "arrival":
        return {}
    with workspace.database.read() as session:
        waiting = _waiting(session, project_id, version_id, chosen)
        train = [each for each in waiting if each.train]
        if chosen.selection == "random":
            drawn = sorted(train, key=lambda each: overlap.fraction(f"{project_id}:{each.document_id}"))
            ordered: list[tuple[str, str]] = [(each.document_id, "random") for each in drawn]
        else:
            ordered = _by_model(session, project_id, version_id, train, chosen)
        late = priority.begun_late(session, project_id)
    others = [each.document_id for each in waiting if not each.train]
    places = [(at, document, by) for at, (document, by) in enumerate(interleave(ordered, others))]

    def stands(session: Session) -> bool:
        lock_project(session, project_id)
        return task_changes.number_of(session, project_id, task_changes.ORDER) == number

    def finish(session: Session, some: Sequence[str]) -> None:
        priority.finish_first(session, project_id, some)

    def give(session: Session, some: Sequence[tuple[int, str, str | None]]) -> None:
        priority.give(session, project_id, some)

    if not (in_batches(workspace, late, finish, stands) and in_batches(workspace, places, give, stands)):
        return None
    return dict(Counter(by for _, by in ordered))


def interleave(ordered: list[tuple[str, str]], others: list[str]) -> list[tuple[str, str | None]]:
    """Interleave two lists in proportion; return (document, reason), None for the second list. Pure."""
    mixed: list[tuple[float, tuple[str, str | None]]] = [
        ((at + 0.5) / len(ordered), item) for at, item in enumerate(ordered)
    ]
    mixed += [((at + 0.5) / len(others), (document, None)) for at, document in enumerate(others)]
    return [item for _, item in sorted(mixed, key=lambda pair: pair[0])]


def put_first(workspace: Workspace, document_id: str, by: str) -> int:
    """Move a document's tasks to the front of the queue; return their number. Audited.

    Tasks that were begun keep their reason. Raises NotFound for an unknown document.
    """
    with workspace.database.write() as session:
        document = existing(session, Document, document_id)
        lock_project(session, document.project_id)
        mine = select(Task, priority.is_begun()).where(Task.document_id == document_id, Task.closed_at.is_(None))
        tasks = session.execute(mine).all()
        for task, begun in tasks:
            task.priority = BY_HAND
            if not begun:
                task.chosen_by = "hand"
        audit.record(session, by, "tasks.first", document_id, document.project_id, document=document.name)
        return len(tasks)


def _waiting(session: Session, project_id: str, version_id: str, chosen: ProjectSettings) -> list[_Waiting]:
    """Return the documents with open tasks that nobody has begun or moved to the front, oldest first."""
    same_question = (SurveyAnswer.document_id == Task.document_id) & (SurveyAnswer.question_id == Task.question_id)
    rows = session.execute(
        select(
            Task.document_id,
            DocumentGroup.split,
            DocumentGroup.quarantined_at,
            func.min(Task.created_at),
            func.avg(SurveyAnswer.uncertainty),
        )
        .join(Document, Document.id == Task.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .outerjoin(SurveyAnswer, same_question & (SurveyAnswer.model_version_id == version_id))
        .where(Task.project_id == project_id, Task.closed_at.is_(None))
        .group_by(Task.document_id, DocumentGroup.split, DocumentGroup.quarantined_at)
        .having(func.sum(case((priority.is_begun() | (Task.priority == BY_HAND), 1), else_=0)) == 0)
        .order_by(func.min(Task.created_at), Task.document_id)
    )
    limit = now() - timedelta(days=chosen.selection_patience_days)
    return [
        _Waiting(document, split == TRAIN and quarantined is None, since <= limit, unsure)
        for document, split, quarantined, since, unsure in rows
    ]


def _by_model(
    session: Session, project_id: str, version_id: str, train: list[_Waiting], chosen: ProjectSettings
) -> list[tuple[str, str]]:
    if not train:
        return []
    signatures = _signatures(session, project_id, version_id)
    known = [signatures[document] for document in _load_answered(session, project_id) if document in signatures]
    middle = np.mean(list(signatures.values()), axis=0) if signatures else np.zeros(1, np.float32)
    asked = [each.uncertainty for each in train if each.uncertainty is not None]
    usual = float(np.median(asked)) if asked else 0.5  # of a document without survey answers: neither first nor last
    picked = order(
        [usual if each.uncertainty is None else each.uncertainty for each in train],
        np.array([signatures.get(each.document_id, middle) for each in train]).reshape(len(train), -1),
        len(train),
        chosen.selection_random_share,
        seed=int(overlap.fraction(f"{project_id}:{len(train)}") * 2**32),
        waiting=[at for at, each in enumerate(train) if each.old],
        known=np.array(known) if known else None,
    )
    return [(train[each.index].document_id, each.reason) for each in picked]


def _signatures(session: Session, project_id: str, version_id: str) -> dict[str, NDArray[np.float32]]:
    rows = session.execute(
        select(DocumentSignature.document_id, DocumentSignature.vector)
        .join(Document, Document.id == DocumentSignature.document_id)
        .where(Document.project_id == project_id, DocumentSignature.model_version_id == version_id)
    )
    return {document: unpack_signature(vector) for document, vector in rows}


def _load_answered(session: Session, project_id: str) -> list[str]:
    """Return the documents of the train split that people have begun, newest first."""
    rows = select(Task.document_id).distinct().join(Document, Document.id == Task.document_id)
    rows = rows.join(DocumentGroup, DocumentGroup.id == Document.group_id)
    begun = rows.where(Task.project_id == project_id, DocumentGroup.split == TRAIN, priority.is_begun())
    return list(session.scalars(begun.order_by(Task.document_id.desc()).limit(KNOWN)))

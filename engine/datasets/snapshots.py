"""Snapshots: a choice of accepted answers, frozen, so that training and exports never read what people still change.

The choice is written down as a manifest (engine.datasets.manifest) and named by its SHA-256: the same choice is the same snapshot.

Where several people's answers to one question of one document are accepted (overlap, known answers), one of them is taken, so
that the question counts once in training and export: the known answer of a task, else one that a reviewer judged or mended, else
the weightiest (engine.datasets.weights), else the newest. Drafts and rejected answers are taken only where they are asked for, then
each of them; so are automatic answers. What is unfit to teach or to judge (engine.datasets.quality) is left out unless it is asked for, and the manifest says why.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Select, case, exists, func, or_, select, union_all
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    DocumentGroup,
    Lease,
    ModelVersion,
    Prediction,
    Question,
    Revision,
    Snapshot,
    Task,
    User,
)
from engine.annotation.automatic_checks import in_force
from engine.annotation.state import AnnotationState
from engine.datasets.automatic_labels import automatic_labels, chosen_automatic, trusted
from engine.datasets.filters import Filters
from engine.datasets.labels import KNOWN, OWN_WORD, REVIEWED, Chosen, Known, Label, choose, known_of
from engine.datasets.manifest import FrozenItem, items_of
from engine.datasets.manifest_rows import ManifestWriter
from engine.documents.page import READING
from engine.errors import Refused
from engine.queries import is_newest
from engine.statuses import ACCEPTED, AUTOMATIC
from engine.workspace import Workspace

_AT_ONCE = 400  # labels held, and as many more as the last group of documents has


class NothingToFreeze(Refused):
    """No answer is left to freeze; the sentence says why."""


def freeze(
    workspace: Workspace,
    project_id: str,
    *,
    split: str | Sequence[str] | None = None,
    statuses: Sequence[str] = ACCEPTED,
    quarantined: bool = False,
    unfit: bool = False,
    by: User | None = None,
) -> Snapshot:
    """Freeze a project's answers and return the snapshot; the same choice again returns the one there is.

    `split`: the splits to take, None for all. `statuses`: of the annotations' newest revisions. `quarantined`: also take
    documents that joined groups of different splits. `unfit`: also take answers that are unfit to teach or to judge.
    NothingToFreeze when none is left.
    """
    splits = (split,) if isinstance(split, str) else tuple(split) if split is not None else None
    filters = Filters(splits=splits, statuses=tuple(statuses), quarantined=quarantined, unfit=unfit)
    return freeze_with(workspace, project_id, filters, by=by)


def freeze_with(workspace: Workspace, project_id: str, filters: Filters, *, by: User | None = None) -> Snapshot:
    """Freeze the answers that `filters` let pass, as `freeze` does."""
    with workspace.database.moment() as session:
        known = known_of(session, project_id)
        manifest = ManifestWriter(session, workspace)
        for chosen in chosen_labels(session, known, filters):
            manifest.add(chosen)
        counts = manifest.counts
        if not counts["annotations"]:
            raise NothingToFreeze(_nothing(filters, manifest.unfit))
        sha256 = manifest.finish(project_id, known.people)
    try:
        with workspace.database.write() as session:
            there = _stored(session, project_id, sha256)
            if there is not None:
                return there
            snapshot = Snapshot(
                project_id=project_id,
                sha256=sha256,
                filters=filters.said(),
                counts=dict(counts),
                created_by=by.id if by else None,
            )
            session.add(snapshot)
            session.flush()
            return snapshot
    except IntegrityError:  # on PostgreSQL somebody froze the same at the same moment
        with workspace.database.read() as session:
            there = _stored(session, project_id, sha256)
        if there is None:
            raise
        return there


def _nothing(filters: Filters, unfit_ones: int) -> str:
    where = f" on a document of the split {' or '.join(filters.splits)}" if filters.splits else ""
    left = (
        f": {unfit_ones} of them {'is' if unfit_ones == 1 else 'are'} unfit, see the tab Quality" if unfit_ones else ""
    )
    what = (
        "accepted answer"
        if set(filters.statuses) <= set(ACCEPTED)
        else f"answer that is {' or '.join(filters.statuses)}"
    )
    kept_out = " Those of a version whose checks failed are left out." if AUTOMATIC in filters.statuses else ""
    return f"There is no {what}{where} to freeze yet{left}.{kept_out}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many answers a choice would take, on how many documents. Without `exact`, at most so many."""

    answers: int
    documents: int
    exact: bool


def would_take(workspace: Workspace, project_id: str, filters: Filters) -> Estimate:
    """Return how many answers `freeze_with` would take now: counted by the database, so what must be weighed or looked at is not left out."""
    chosen = _chosen(Annotation.project_id == project_id, filters).order_by(None)
    accepted = chosen.where(Revision.status.in_(ACCEPTED)).with_only_columns(
        Annotation.document_id, Annotation.question_id
    )
    others = chosen.where(Revision.status.not_in(ACCEPTED)).with_only_columns(
        Annotation.document_id, Annotation.question_id
    )
    parts = [accepted.distinct(), others]
    with workspace.database.read() as session:
        versions = trusted(session, project_id) if AUTOMATIC in filters.statuses else []
        if versions:
            automatic = chosen_automatic(AutomaticAnswer.project_id == project_id, versions, filters)
            parts.append(automatic.with_only_columns(Task.document_id, Task.question_id))
        taken = union_all(*parts).subquery()
        answers, documents = session.execute(
            select(func.count(), func.count(taken.c.document_id.distinct())).select_from(taken)
        ).one()
    return Estimate(answers, documents, exact=filters.agreement is None and filters.unfit and not versions)


def questions_answered(workspace: Workspace, project_id: str) -> list[str]:
    """Return the questions of a project that anybody has answered, or the model automatically, in the order of the alphabet."""
    with workspace.database.read() as session:
        asked = select(Question.text).where(Question.project_id == project_id)
        answered = exists().where(Annotation.question_id == Question.id, Annotation.head > 0)
        of_question = AutomaticAnswer.task_id == Task.id, Task.question_id == Question.id
        by_trusted = AutomaticAnswer.model_version_id.in_(trusted(session, project_id))
        automatic = exists().where(*of_question, in_force(), by_trusted)
        return list(session.scalars(asked.where(answered | automatic).order_by(Question.text)))


def load(workspace: Workspace, snapshot: Snapshot) -> Iterator[FrozenItem]:
    """Yield what a snapshot holds, by annotation. Refused when its manifest is not what it was."""
    return items_of(workspace, snapshot.sha256)


def accepted_revisions(session: Session, project_id: str, splits: tuple[str, ...] | None = None) -> dict[str, datetime]:
    """Return the ids of the accepted revisions of a project, one a question, and when each was made; unfit ones too."""
    chosen = _chosen(Annotation.project_id == project_id, Filters(splits=splits)).where(
        Annotation.id.in_(_one_a_question(project_id))
    )
    rows = session.execute(chosen.with_only_columns(Revision.id, Revision.created_at))
    return {row.id: row.created_at for row in rows}


def chosen_labels(session: Session, known: Known, filters: Filters) -> Iterator[Chosen]:
    """Yield the labels of a project as `freeze` would take them now, with their weights, and those that it would leave out.

    Some groups of documents at a time, by their ids: how many labels there are in all is never held. The session should see one moment.
    """
    versions = trusted(session, known.project_id) if AUTOMATIC in filters.statuses else []
    for documents in _batches(session, known.project_id, versions):
        rows = session.execute(_chosen(Annotation.document_id.in_(documents), filters))
        labels = [
            Label(
                annotation=annotation,
                revision=revision,
                question=question,
                author=author,
                document=document,
                group=group,
                model_version=model_version,
                trust=trust,
                seconds=float(seconds or 0.0),
                state=AnnotationState.model_validate(revision.state),
            )
            for annotation, revision, question, author, document, group, model_version, trust, seconds in rows
        ]
        chosen = choose(session, known, labels, fit=not filters.unfit)
        least = filters.agreement or 0.0
        automatic = automatic_labels(session, known, documents, versions, filters) if versions else []
        yield replace(
            chosen,
            taken=[one for one in chosen.taken if one.weight >= least],
            automatic=[one for one in automatic if one.weight >= least],
        )


def _batches(session: Session, project_id: str, versions: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ids of the documents of whole groups, by their groups' ids, some hundred answers' worth at a time.

    By document, because that is what the answers have an index on. Documents that have automatic answers alone, of these versions, too.
    """
    of_people = select(Annotation.document_id).where(Annotation.project_id == project_id)
    of_model = (
        select(Task.document_id)
        .join(AutomaticAnswer, AutomaticAnswer.task_id == Task.id)
        .where(AutomaticAnswer.project_id == project_id, AutomaticAnswer.model_version_id.in_(versions), in_force())
    )
    answers_on = (union_all(of_people, of_model) if versions else of_people).subquery()
    counted = (
        select(Document.group_id, Document.id, func.count())
        .join(answers_on, answers_on.c.document_id == Document.id)
        .where(Document.project_id == project_id)
        .group_by(Document.group_id, Document.id)
        .order_by(Document.group_id, Document.id)
    )
    batch: list[str] = []
    answers = 0
    rows = session.execute(counted).tuples().all()
    for _, group in groupby(rows, key=lambda row: row[0]):
        for _, document, count in group:
            batch.append(document)
            answers += count
        if answers >= _AT_ONCE:
            yield batch
            batch, answers = [], 0
    if batch:
        yield batch


def _chosen(of: ColumnElement[bool], filters: Filters) -> Select[Any, Any, Any, Any, Any, Any, Any, Any, Any]:
    # The proposal that was corrected may be named by an earlier revision than the head.
    earlier, worked = aliased(Revision), aliased(Revision)
    proposal = (
        select(earlier.prediction_id)
        .where(earlier.annotation_id == Annotation.id, earlier.prediction_id.is_not(None))
        .where(earlier.number <= Annotation.head)
        .order_by(earlier.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    seconds = select(func.sum(worked.seconds)).where(worked.annotation_id == Annotation.id).scalar_subquery()
    chosen = (
        select(
            Annotation,
            Revision,
            Question.text,
            User.name,
            Document,
            DocumentGroup,
            ModelVersion.checkpoint_sha256,
            _trust(Revision),
            seconds,
        )
        .join(Revision, is_newest())
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Annotation.author_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .outerjoin(Prediction, Prediction.id == proposal)
        .outerjoin(ModelVersion, ModelVersion.id == Prediction.model_version_id)
        # A document whose pages are still coming in may yet move to another group, and so to another split.
        .where(~exists().where(Lease.subject == READING + Document.id))
        .where(of, Revision.status.in_(filters.statuses))
        .order_by(Annotation.id)
    )
    return filters.narrowed(chosen, Revision.created_at)


def _trust(head: Any) -> ColumnElement[int]:
    """How far the head of the row's annotation is trusted; see engine.datasets.labels."""
    known = aliased(Revision)
    gold = select(Task.id).join(known, known.id == Task.gold_revision_id).where(known.annotation_id == Annotation.id)
    judged = or_(head.status == "fixed", head.author_id != Annotation.author_id)
    return case((gold.exists(), KNOWN), (judged, REVIEWED), else_=OWN_WORD)


def _one_a_question(project_id: str) -> Select[tuple[str]]:
    """Return the statement for one accepted answer to each question of each document: the most trusted, then the newest."""
    head = aliased(Revision)
    place = func.row_number().over(
        partition_by=(Annotation.document_id, Annotation.question_id),
        order_by=(_trust(head), head.created_at.desc(), Annotation.id.desc()),
    )
    ranked = (
        select(Annotation.id, place.label("place"))
        .join(head, is_newest(head))
        .where(Annotation.project_id == project_id, head.status.in_(ACCEPTED))
        .subquery()
    )
    return select(ranked.c.id).where(ranked.c.place == 1)


def _stored(session: Session, project_id: str, sha256: str) -> Snapshot | None:
    return session.scalar(select(Snapshot).where(Snapshot.project_id == project_id, Snapshot.sha256 == sha256))

"""Snapshots: frozen choices of accepted answers, so that training and exports read fixed data.

The choice is stored as a manifest (engine.datasets.manifest) and named by its SHA-256: equal choices are one snapshot.

When several accepted answers to one question of a document exist (overlap, gold), one is taken, so that the question
counts once. Order of preference: gold, reviewed or fixed by a reviewer, highest weight (engine.datasets.weights),
newest. Drafts, rejected and automatic answers are taken on request only, each of them. Unfit answers
(engine.datasets.quality) are left out unless requested; the manifest names the failed checks.
"""

from collections.abc import Collection, Iterator, Sequence
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
    ModelVersion,
    Prediction,
    Question,
    Revision,
    Snapshot,
    Task,
    User,
)
from engine.annotation.state import AnnotationState
from engine.datasets.automatic_labels import automatic_labels, chosen_automatic, trusted
from engine.datasets.filters import Filters
from engine.datasets.labels import GOLD_ANSWER, REVIEWED, UNREVIEWED, Chosen, Label, ProjectFacts, choose, project_facts
from engine.datasets.manifest import FrozenItem, items_of
from engine.datasets.manifest_rows import ManifestWriter
from engine.documents.reading_state import is_being_read
from engine.errors import Refused
from engine.plurals import word
from engine.queries import in_force, is_newest, standing
from engine.statuses import ACCEPTED, AUTOMATIC
from engine.workspace import Workspace

_AT_ONCE = 400  # labels held in memory, plus those of the last group of documents


class NothingToFreeze(Refused):
    """Raised when no answer is left to freeze; the sentence explains why."""


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
    """Freeze a project's answers and return the snapshot; an equal choice returns the existing one.

    Args:
        workspace: Open workspace.
        project_id: Project to freeze.
        split: Splits to take; None for all.
        statuses: Statuses of the annotations' newest revisions.
        quarantined: Also take documents whose duplicates lie in different splits.
        unfit: Also take answers that fail a quality check.
        by: Acting user; None for the system.

    Raises:
        NothingToFreeze: No answer is left.
    """
    splits = (split,) if isinstance(split, str) else tuple(split) if split is not None else None
    filters = Filters(splits=splits, statuses=tuple(statuses), quarantined=quarantined, unfit=unfit)
    return freeze_with(workspace, project_id, filters, by=by)


def freeze_with(workspace: Workspace, project_id: str, filters: Filters, *, by: User | None = None) -> Snapshot:
    """Freeze the answers that pass `filters`, as `freeze` does."""
    with workspace.database.moment() as session:
        known = project_facts(session, project_id)
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
    except IntegrityError:  # PostgreSQL: another process froze the same choice at the same time
        with workspace.database.read() as session:
            there = _stored(session, project_id, sha256)
        if there is None:
            raise
        return there


def _nothing(filters: Filters, unfit_ones: int) -> str:
    where = f" on a document of the split {' or '.join(filters.splits)}" if filters.splits else ""
    left = (
        f"; {unfit_ones} unfit {word(unfit_ones, 'answer is', 'answers are')} left out, see the tab Quality"
        if unfit_ones
        else ""
    )
    what = (
        "accepted answer"
        if set(filters.statuses) <= set(ACCEPTED)
        else f"answer that is {' or '.join(filters.statuses)}"
    )
    kept_out = " Those of a version whose checks failed are left out." if AUTOMATIC in filters.statuses else ""
    return f"There is no {what}{where} for a snapshot yet{left}.{kept_out}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated number of answers and documents of a choice; an upper bound unless `exact`."""

    answers: int
    documents: int
    exact: bool


def would_take(workspace: Workspace, project_id: str, filters: Filters) -> Estimate:
    """Return an estimate of the answers that `freeze_with` would take now.

    Counted by the database: weights and quality checks are not applied.
    """
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
    """Return the answered questions of a project, automatically answered ones included, alphabetically."""
    with workspace.database.read() as session:
        asked = select(Question.text).where(Question.project_id == project_id)
        answered = exists().where(Annotation.question_id == Question.id, Annotation.head > 0, standing())
        of_question = AutomaticAnswer.task_id == Task.id, Task.question_id == Question.id
        by_trusted = AutomaticAnswer.model_version_id.in_(trusted(session, project_id))
        automatic = exists().where(*of_question, in_force(), by_trusted)
        return list(session.scalars(asked.where(answered | automatic).order_by(Question.text)))


def load(workspace: Workspace, snapshot: Snapshot) -> Iterator[FrozenItem]:
    """Yield the answers of a snapshot, by annotation. Raises Refused when its manifest was changed."""
    return items_of(workspace, snapshot.sha256)


def accepted_revisions(session: Session, project_id: str, splits: tuple[str, ...] | None = None) -> dict[str, datetime]:
    """Return the accepted revisions of a project with their times, one a question; unfit ones too."""
    found: dict[str, datetime] = {}
    for of_document in accepted_by_document(session, project_id, splits).values():
        found |= of_document
    return found


def accepted_by_document(
    session: Session,
    project_id: str,
    splits: tuple[str, ...] | None = None,
    documents: Collection[str] | None = None,
) -> dict[str, dict[str, datetime]]:
    """Return what `accepted_revisions` returns, by document; only of `documents`, where they are given."""
    place = _place_in_question(Revision).label("place")
    # Splits and reading are facts of a document, so they leave out whole questions, never one answer of several.
    ranked = (
        select(Revision.id, Annotation.document_id, Revision.created_at, place)
        .join_from(Annotation, Revision, is_newest())
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(Annotation.project_id == project_id, Revision.status.in_(ACCEPTED), ~is_being_read())
    )
    if splits is not None:
        ranked = ranked.where(DocumentGroup.split.in_(splits))
    if documents is not None:
        ranked = ranked.where(Annotation.document_id.in_(documents))
    found = ranked.where(DocumentGroup.quarantined_at.is_(None)).subquery()
    rows = session.execute(select(found.c.document_id, found.c.id, found.c.created_at).where(found.c.place == 1))
    accepted: dict[str, dict[str, datetime]] = {}
    for document_id, revision_id, created_at in rows:
        accepted.setdefault(document_id, {})[revision_id] = created_at
    return accepted


def chosen_labels(session: Session, known: ProjectFacts, filters: Filters) -> Iterator[Chosen]:
    """Yield the labels of a project that `freeze` would take now, and those it would leave out.

    Yields some groups of documents at a time, by id, so memory is bounded. The session should read one consistent
    state.
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
    """Yield the document ids of whole groups, by group id, several hundred answers at a time.

    By document, because answers are indexed by document. Includes documents with automatic answers of these versions
    only.
    """
    of_people = select(Annotation.document_id).where(Annotation.project_id == project_id, standing())
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
    # An earlier revision than the head may name the corrected proposal.
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
        # A document whose pages still arrive may move to another group, and so to another split.
        .where(~is_being_read())
        .where(of, Revision.status.in_(filters.statuses))
        .order_by(Annotation.id)
    )
    return filters.narrowed(chosen, Revision.created_at)


def _trust(head: Any) -> ColumnElement[int]:
    """Return the trust in the head of the row's annotation; see engine.datasets.labels."""
    known = aliased(Revision)
    gold = select(Task.id).join(known, known.id == Task.gold_revision_id).where(known.annotation_id == Annotation.id)
    judged = or_(head.status == "fixed", head.author_id != Annotation.author_id)
    return case((gold.exists(), GOLD_ANSWER), (judged, REVIEWED), else_=UNREVIEWED)


def _place_in_question(head: Any) -> ColumnElement[int]:
    """Return the place of an answer among those to its question on its document; 1 is the one that counts."""
    return func.row_number().over(
        partition_by=(Annotation.document_id, Annotation.question_id),
        order_by=(_trust(head), head.created_at.desc(), Annotation.id.desc()),
    )


def _stored(session: Session, project_id: str, sha256: str) -> Snapshot | None:
    return session.scalar(select(Snapshot).where(Snapshot.project_id == project_id, Snapshot.sha256 == sha256))

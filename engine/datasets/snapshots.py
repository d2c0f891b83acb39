"""Snapshots: frozen choices of accepted answers, so that training and exports read fixed data.

The choice is stored as a manifest (engine.datasets.manifest) and named by its SHA-256: equal choices are one snapshot.

When several accepted answers to one question of a document exist (overlap, gold), one is taken, so that the question
counts once. Order of preference: gold, reviewed or fixed by a reviewer, highest weight (engine.datasets.weights),
newest. Drafts, rejected and automatic answers are taken on request only, each of them. Unfit answers
(engine.datasets.quality) are left out unless requested; the manifest names the failed checks.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, Select, case, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased, load_only

from db.statuses import ACCEPTED, AUTOMATIC
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    DocumentGroup,
    ModelVersion,
    Prediction,
    Question,
    Review,
    Revision,
    Snapshot,
    Task,
    User,
)
from engine.annotation.state import AnnotationState
from engine.datasets.async_blob_writer import AsyncBlobWriter
from engine.datasets.automatic_labels import automatic_labels, find_trusted_versions
from engine.datasets.filters import Filters
from engine.datasets.freezes import freezing
from engine.datasets.frozen_fields import freeze_fields
from engine.datasets.frozen_skips import freeze_skips
from engine.datasets.labels import (
    CHOSEN,
    GOLD_ANSWER,
    REVIEWED,
    UNREVIEWED,
    Chosen,
    Label,
    ProjectFacts,
    choose,
    project_facts,
)
from engine.datasets.manifest import FrozenItem, items_of
from engine.datasets.manifest_rows import ManifestWriter
from engine.documents.reading.reading_state import is_being_read
from engine.errors import Refused
from engine.plurals import word
from engine.queries import in_force, is_newest, not_removed
from engine.workspace import Workspace

_AT_ONCE = 400  # labels held in memory, plus those of the last group of documents
_READ = (  # the edits of a revision may be long
    load_only(
        Revision.annotation_id,
        Revision.number,
        Revision.status,
        Revision.author_id,
        Revision.state,
        Revision.created_at,
    ),
)


OnProgress = Callable[[int, int], None]  # answers looked at, and of all; 0 of 0 while that is not known


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
    on_progress: OnProgress | None = None,
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
        on_progress: Called some times a second with the answers looked at, and of all; what it raises ends the work.
            No snapshot is stored then; its files that were written serve the next one.

    Raises:
        NothingToFreeze: No answer is left.
    """
    splits = (split,) if isinstance(split, str) else tuple(split) if split is not None else None
    filters = Filters(splits=splits, statuses=tuple(statuses), quarantined=quarantined, unfit=unfit)
    return freeze_with(workspace, project_id, filters, by=by, on_progress=on_progress)


def freeze_with(
    workspace: Workspace,
    project_id: str,
    filters: Filters,
    *,
    by: User | None = None,
    on_progress: OnProgress | None = None,
) -> Snapshot:
    """Freeze the answers that pass `filters`, as `freeze` does."""
    with freezing(workspace.database, project_id):
        return _freeze(workspace, project_id, filters, by, on_progress)


def _freeze(
    workspace: Workspace, project_id: str, filters: Filters, by: User | None, on_progress: OnProgress | None
) -> Snapshot:
    say = on_progress or (lambda done, of: None)
    with workspace.database.snapshot_read() as session, closing(AsyncBlobWriter(workspace)) as blob_writer:
        known = project_facts(session, project_id, lambda: say(0, 0))
        manifest = ManifestWriter(session, blob_writer)
        for chosen in chosen_labels(session, known, filters, say):
            manifest.add(chosen)
        counts = manifest.counts
        if not counts["annotations"]:
            raise NothingToFreeze(_explain_nothing(filters, manifest.unfit))
        skips = freeze_skips(session, blob_writer, project_id, filters)
        sha256 = manifest.finish(project_id, known.people, skips, freeze_fields(session, project_id))
    try:
        with workspace.database.write() as session:
            existing = session.scalar(_named(project_id, sha256).with_for_update(key_share=True))  # none that goes now
            if existing is not None:
                return existing
            snapshot = Snapshot(
                project_id=project_id,
                sha256=sha256,
                filters=filters.to_json(),
                counts=dict(counts),
                created_by=by.id if by else None,
            )
            session.add(snapshot)
            session.flush()
            return snapshot
    except IntegrityError:  # PostgreSQL: another process froze the same choice at the same time
        with workspace.database.read() as session:
            existing = session.scalar(_named(project_id, sha256))
        if existing is None:
            raise
        return existing


def _explain_nothing(filters: Filters, unfit_ones: int) -> str:
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
    if filters.is_narrow:
        return f"Nothing is chosen: no {what}{where} matches the filter{left}."
    kept_out = " Those of a version whose checks failed are left out." if AUTOMATIC in filters.statuses else ""
    return f"There is no {what}{where} for a snapshot yet{left}.{kept_out}"


def load(workspace: Workspace, snapshot: Snapshot) -> Iterator[FrozenItem]:
    """Yield the answers of a snapshot, by annotation. Raises Refused when its manifest was changed."""
    return items_of(workspace, snapshot.sha256)


def accepted_revisions(session: Session, project_id: str, splits: tuple[str, ...] | None = None) -> dict[str, datetime]:
    """Return the accepted revisions of a project with their times, one a question; unfit ones too."""
    accepted: dict[str, datetime] = {}
    for of_document in accepted_by_document(session, project_id, splits).values():
        accepted |= of_document
    return accepted


def accepted_by_document(
    session: Session,
    project_id: str,
    splits: tuple[str, ...] | None = None,
    documents: Collection[str] | None = None,
) -> dict[str, dict[str, datetime]]:
    """Return the revisions of `accepted_revisions` by document; of `documents` only, unless None."""
    place = _place_in_question(Revision, project_id).label("place")
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
    ranked_revisions = ranked.where(DocumentGroup.quarantined_at.is_(None)).subquery()
    rows = session.execute(
        select(ranked_revisions.c.document_id, ranked_revisions.c.id, ranked_revisions.c.created_at).where(
            ranked_revisions.c.place == 1
        )
    )
    accepted: dict[str, dict[str, datetime]] = {}
    for document_id, revision_id, created_at in rows:
        accepted.setdefault(document_id, {})[revision_id] = created_at
    return accepted


def chosen_labels(
    session: Session, known: ProjectFacts, filters: Filters, say: OnProgress = lambda done, of: None
) -> Iterator[Chosen]:
    """Yield the labels of a project that `freeze` would take now, and those it would leave out.

    Yields some groups of documents at a time, by id, so memory is bounded. The session should read one consistent
    state. `say` hears of progress as in `freeze`.
    """
    versions = find_trusted_versions(session, known.project_id) if AUTOMATIC in filters.statuses else []
    rows = _list_answered_documents(session, known.project_id, filters, versions)
    done, of = 0, sum(row.answers for row in rows)
    for batch in _batches(rows):
        say(done, of)
        documents = [row.document_id for row in batch]
        chosen = choose(session, known, _labels(session, known.project_id, documents, filters), fit=not filters.unfit)
        least = filters.agreement or 0.0
        automatic = automatic_labels(session, known, documents, versions, filters) if versions else []
        yield replace(
            chosen,
            taken=[label for label in chosen.taken if label.weight >= least],
            automatic=[label for label in automatic if label.weight >= least],
        )
        done += sum(row.answers for row in batch)
    say(done, of)


def _labels(session: Session, project_id: str, documents: Sequence[str], filters: Filters) -> list[Label]:
    rows = session.execute(_select_answers(project_id, documents, filters).options(*_READ))
    return [
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
            score=score,
            answered=answered,
        )
        for (
            annotation, revision, question, author, document, group, model_version, trust, seconds, score, answered,
        ) in rows
    ]  # fmt: skip


class _AnsweredDocument(NamedTuple):
    """A document with answers."""

    group_id: str
    document_id: str
    answers: int


def _list_answered_documents(
    session: Session, project_id: str, filters: Filters, versions: Sequence[str]
) -> list[_AnsweredDocument]:
    """Return the documents that may have answers which pass `filters`, by group id.

    Includes documents with automatic answers of these versions only.
    """
    statuses = [status for status in filters.statuses if status != AUTOMATIC]
    of_people = select(Annotation.document_id, func.count()).where(
        Annotation.project_id == project_id, Annotation.status.in_(statuses), not_removed()
    )
    of_model = (
        select(Task.document_id, func.count())
        .join(AutomaticAnswer, AutomaticAnswer.task_id == Task.id)
        .where(AutomaticAnswer.project_id == project_id, AutomaticAnswer.model_version_id.in_(versions), in_force())
    )
    answers = Counter(dict(session.execute(of_people.group_by(Annotation.document_id)).tuples().all()))
    if versions:
        answers.update(dict(session.execute(of_model.group_by(Task.document_id)).tuples().all()))
    documents = (
        select(Document.group_id, Document.id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(Document.project_id == project_id)
    )
    if filters.splits is not None:  # facts of the group: its other documents are left out too
        documents = documents.where(DocumentGroup.split.in_(filters.splits))
    if not filters.quarantined:
        documents = documents.where(DocumentGroup.quarantined_at.is_(None))
    rows = session.execute(documents).tuples()
    return sorted(
        _AnsweredDocument(group, document, answers[document]) for group, document in rows if document in answers
    )


def _batches(rows: Sequence[_AnsweredDocument]) -> Iterator[list[_AnsweredDocument]]:
    """Yield whole groups, several hundred answers at a time.

    By document, because answers are indexed by document.
    """
    batch: list[_AnsweredDocument] = []
    answers = 0
    for _, group in groupby(rows, key=lambda row: row.group_id):
        for row in group:
            batch.append(row)
            answers += row.answers
        if answers >= _AT_ONCE:
            yield batch
            batch, answers = [], 0
    if batch:
        yield batch


def _select_answers(project_id: str, documents: Sequence[str], filters: Filters) -> Select[*tuple[Any, ...]]:
    """Return the statement for people's answers on some documents of a project that pass `filters`."""
    worked = aliased(Revision)
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
            _trust(Revision, project_id),
            seconds,
            Prediction.score,
            Prediction.answered,
        )
        .join(Revision, is_newest())
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Annotation.author_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .outerjoin(Prediction, (Prediction.id == proposal_of()) & Prediction.model_version_id.is_not(None))
        .outerjoin(ModelVersion, ModelVersion.id == Prediction.model_version_id)
        # A document whose pages still arrive may move to another group, and so to another split.
        .where(~is_being_read())
        .where(Annotation.document_id.in_(documents), Revision.status.in_(filters.statuses))
        .order_by(Annotation.id)
    )
    return filters.narrow(chosen, Revision.created_at)


def proposal_of() -> ScalarSelect[str | None]:
    """Return the id of the proposal that the row's annotation corrected; an earlier revision may name it."""
    earlier = aliased(Revision)
    return (
        select(earlier.prediction_id)
        .where(earlier.annotation_id == Annotation.id, earlier.prediction_id.is_not(None))
        .where(earlier.number <= Annotation.head)
        .order_by(earlier.number.desc())
        .limit(1)
        .scalar_subquery()
    )


def _trust(head: Any, project_id: str) -> ColumnElement[int]:
    """Return the trust in the head of the row's annotation; see engine.datasets.labels."""
    known = aliased(Revision)
    # Not correlated: few answers are gold, and both databases find them once a statement.
    gold = (
        select(known.annotation_id)
        .join(Task, known.id == Task.gold_revision_id)
        .where(Task.project_id == project_id, Task.gold_revision_id.is_not(None))
    )
    judged = or_(head.status == "fixed", head.author_id != Annotation.author_id)
    before = aliased(Revision)
    chosen = exists().where(
        Review.annotation_id == Annotation.id,
        Review.becomes_label,
        Review.revision_id == before.id,
        before.number == head.number - 1,
    )
    ranks = (Annotation.id.in_(gold), GOLD_ANSWER), (judged & chosen, CHOSEN), (judged, REVIEWED)
    return case(*ranks, else_=UNREVIEWED)


def _place_in_question(head: Any, project_id: str) -> ColumnElement[int]:
    """Return the place of an answer among those to its question on its document; 1 is the one that counts."""
    return func.row_number().over(
        partition_by=(Annotation.document_id, Annotation.question_id),
        order_by=(_trust(head, project_id), head.created_at.desc(), Annotation.id.desc()),
    )


def _named(project_id: str, sha256: str) -> Select[Snapshot]:
    return select(Snapshot).where(Snapshot.project_id == project_id, Snapshot.sha256 == sha256)

"""Finished masks and documents, and the numbers of masks by day, person and model version.

A finished mask is computed from the revisions of its answer, a finished document from its tasks and masks.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    cast,
    exists,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import Session, aliased

from db.statuses import REMOVED
from db.tables import (
    COMPARED_CHOICES,
    Annotation,
    FinishedDocument,
    FinishedMask,
    MaskCount,
    Page,
    Prediction,
    Review,
    Revision,
    Task,
)
from engine.followers.derived_table import DerivedTable, Row, Sums
from engine.followers.follower import Follower
from engine.followers.sql_days import day_of

FINISHING = ("accept", "submit")  # actions of a person that finish a mask


def compute_masks(session: Session, ids: Collection[str]) -> Iterable[Row]:
    """Return the rows of FinishedMask of some documents, as the revisions of their answers say."""
    connection = session.connection()
    return [tuple(row) for row in connection.execute(_MASKS[connection.dialect.name], {"ids": list(ids)})]


def compute_documents(session: Session, ids: Collection[str]) -> Iterable[Row]:
    """Return the rows of FinishedDocument of some documents, as their tasks and the revisions of their answers say."""
    connection = session.connection()
    return [tuple(row) for row in connection.execute(_DOCUMENTS[connection.dialect.name], {"ids": list(ids)})]


def select_masks(dialect: str, *conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for the finished masks, in the order of the columns of FinishedMask.

    Args:
        dialect: "sqlite" or "postgresql".
        conditions: On Annotation.
    """
    first = (
        select(Revision.annotation_id, func.min(Revision.number).label("number"))
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .where(Revision.action.in_(FINISHING), Annotation.status != REMOVED, *conditions)
        .group_by(Revision.annotation_id)
        .subquery()
    )
    opened, last, named, worked = aliased(Revision), aliased(Revision), aliased(Prediction), aliased(Revision)
    seconds = (
        select(func.sum(worked.seconds))
        .where(worked.annotation_id == first.c.annotation_id, worked.number <= first.c.number)
        .scalar_subquery()
    )

    def proposed_by(column: str) -> ColumnElement[Any]:
        """Return a column of the proposal that the person started from: the named one, else the newest."""
        newest = (
            select(getattr(Prediction, column))
            .where(Prediction.annotation_id == opened.annotation_id, Prediction.created_at <= opened.created_at)
            .order_by(Prediction.created_at.desc(), Prediction.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        return case((named.id.is_not(None), getattr(named, column)), else_=newest)

    objected = exists().where(Review.annotation_id == opened.annotation_id, Review.verdict.in_(("rejected", "fixed")))
    return (
        select(
            last.annotation_id,
            Annotation.project_id,
            Annotation.document_id,
            Annotation.question_id,
            proposed_by("model_version_id").label("version_id"),
            proposed_by("outside_model_id").label("outside_model_id"),
            last.author_id.label("person_id"),
            last.created_at.label("at"),
            day_of(dialect, last.created_at).label("day"),
            seconds.label("seconds"),
            and_(last.number == 1, ~_changes(dialect, last.edits), ~objected).label("unchanged"),
        )
        .select_from(first)
        .join(Annotation, Annotation.id == first.c.annotation_id)
        .join(last, and_(last.annotation_id == first.c.annotation_id, last.number == first.c.number))
        .join(opened, and_(opened.annotation_id == first.c.annotation_id, opened.number == 1))
        .outerjoin(named, named.id == opened.prediction_id)
    )


def _select_documents(dialect: str) -> Select[Any]:
    """Return the statement for the finished documents, in the order of the columns of FinishedDocument."""
    masks = select_masks(dialect, Annotation.document_id.in_(_IDS)).subquery()
    # Joined, not looked up for each task: PostgreSQL would look for all masks again at every one.
    mask = (
        select(masks.c.document_id, masks.c.question_id, func.min(cast(masks.c.unchanged, Integer)).label("unchanged"))
        .group_by(masks.c.document_id, masks.c.question_id)
        .subquery()
    )
    same = and_(mask.c.document_id == Task.document_id, mask.c.question_id == Task.question_id)
    task = (
        select(Task.document_id, Task.project_id, Task.chosen_by, mask.c.unchanged)
        .outerjoin(mask, same)
        .where(Task.closed_at.is_(None), Task.document_id.in_(_IDS))
        .subquery()
    )
    pages = select(func.count(Page.id)).where(Page.document_id == task.c.document_id).scalar_subquery()
    return (
        select(
            task.c.document_id,
            task.c.project_id,
            func.min(task.c.chosen_by).label("chosen_by"),
            pages.label("pages"),
            (func.count() - func.sum(task.c.unchanged)).label("corrections"),
        )
        .group_by(task.c.document_id, task.c.project_id)
        .having(
            func.count() == func.count(task.c.unchanged),
            func.count() == func.count(task.c.chosen_by),
            func.min(task.c.chosen_by) == func.max(task.c.chosen_by),
            func.min(task.c.chosen_by).in_(COMPARED_CHOICES),
        )
    )


def _changes(dialect: str, edits: Any) -> ColumnElement[bool]:
    """Return whether edits change words or pixels; placing a prompt does not."""
    if dialect == "postgresql":
        return func.jsonb_path_exists(edits, cast('$[*] ? (@.op != "prompts")', JSONPATH))
    edit = func.json_each(edits).table_valued("value")
    return exists(select(1).select_from(edit).where(func.json_extract(edit.c.value, "$.op") != "prompts"))


def _count(row: Any) -> Iterable[tuple[tuple[Any, ...], Mapping[str, int]]]:
    key = row.project_id, row.day, row.person_id, row.version_id or row.outside_model_id or ""
    yield key, {"masks": 1, "timed": int((row.seconds or 0) > 0), "unchanged": int(bool(row.unchanged))}


_IDS: Any = bindparam("ids", expanding=True)
_MASKS = {dialect: select_masks(dialect, Annotation.document_id.in_(_IDS)) for dialect in ("sqlite", "postgresql")}
_DOCUMENTS = {dialect: _select_documents(dialect) for dialect in ("sqlite", "postgresql")}
FOLLOWER = Follower(
    "finished_work",
    (
        DerivedTable(FinishedMask, compute_masks, Sums(MaskCount, _count)),
        DerivedTable(FinishedDocument, compute_documents),
    ),
)

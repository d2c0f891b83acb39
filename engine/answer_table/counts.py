"""How many documents each filter of the table of values finds, from sums that the follower keeps."""

from collections.abc import Sequence

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import ANY_FIELD, EVERYBODY, ProjectFigures, ValueCount
from engine.answer_table.selection import Filter, Flag
from engine.fields.project_fields import load_fields
from engine.workspace import Workspace


class FlagCount(BaseModel):
    """Number of documents that a filter finds."""

    field: str | None = Field(description="Name of the field; null: any field.")
    flag: Flag
    documents: int


class TableCounts(BaseModel):
    """Numbers of documents: of the project, and by filter; filters that find none are left out."""

    documents: int
    counts: list[FlagCount]


def count_values(workspace: Workspace, project_id: str) -> TableCounts:
    """Return how many documents each filter finds."""
    with workspace.database.read() as session:
        names: dict[str, str | None] = {field.id: field.name for field in load_fields(session, project_id)}
        rows = session.scalars(
            select(ValueCount)
            .where(ValueCount.project_id == project_id, ValueCount.documents > 0)
            .order_by(ValueCount.question_id, ValueCount.flag)
        )
        counts = [
            FlagCount.model_validate(
                {"field": names.get(row.question_id), "flag": row.flag, "documents": row.documents}
            )
            for row in rows
            if row.question_id == ANY_FIELD or row.question_id in names
        ]
        return TableCounts(documents=count_documents(session, project_id), counts=counts)


def count_documents(session: Session, project_id: str) -> int:
    """Return the number of a project's documents."""
    figures = session.get(ProjectFigures, (project_id, EVERYBODY))
    return figures.documents if figures is not None else 0


def count_found(session: Session, project_id: str, filters: Sequence[Filter]) -> dict[Filter, int]:
    """Return how many documents each of some filters finds."""
    if not filters:
        return {}
    wanted = (
        select(ValueCount.question_id, ValueCount.flag, func.sum(ValueCount.documents))
        .where(ValueCount.project_id == project_id, ValueCount.question_id.in_({each.question_id for each in filters}))
        .group_by(ValueCount.question_id, ValueCount.flag)
    )
    numbers = {(question, flag): int(number) for question, flag, number in session.execute(wanted)}
    return {each: numbers.get((each.question_id, each.flag), 0) for each in filters}

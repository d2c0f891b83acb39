"""Throughput of a project: masks per day, seconds per mask by model version, depth of the queue.

Reads only. The database counts and ranks; no mask is loaded. Days are in UTC.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import CTE, ColumnElement, and_, cast, exists, func, or_, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import Session, aliased

from db.base import now
from db.tables import Annotation, ModelVersion, Prediction, Project, Review, Revision, User
from engine.accounts.permissions import RANK, role_in
from engine.errors import NotFound
from engine.models.registry import label
from engine.queries import existing, standing
from engine.statistics.intervals import median_ranks, middle_ranks, share_interval
from engine.statistics.queue_depth import QueueDepth, as_date, day_of, midnight, queue_depth
from engine.statistics.selection_gain import Choices, choices
from engine.workspace import Workspace

OTHERS = "others"
FINISHING = ("accept", "submit")  # actions of a person that finish a mask
LONGEST = 3650  # days


class MasksADay(BaseModel):
    """Masks that one person finished on one day; zero rows are left out."""

    day: date
    person: str
    masks: int


class Pace(BaseModel):
    """Pace of finished masks, and the share that was accepted unchanged.

    `seconds_median`: active seconds until the first accept or submit, summed over the mask's revisions, for the `timed`
    masks. `unchanged`: finished by the first revision, without an edit of words or pixels, and neither rejected nor
    fixed by a reviewer. Intervals hold 95 %; None with too few masks.
    """

    masks: int
    timed: int
    seconds_median: float | None
    seconds_low: float | None
    seconds_high: float | None
    unchanged: int
    unchanged_share: float
    unchanged_low: float
    unchanged_high: float


class ModelFigures(Pace):
    """Pace of people to whom this model version proposed the answer."""

    model: str = Field(description="Id of the model version.")
    label: str


class PersonFigures(Pace):
    """Pace of one person."""

    person: str


class Figures(BaseModel):
    """Figures of a project over a period. Annotators see other people's work as "others"."""

    first_day: date
    last_day: date
    masks_a_day: list[MasksADay]
    by_model: list[ModelFigures] = Field(description="Over the project's whole life, oldest version first.")
    people: list[PersonFigures] = Field(description="Over the period, by name.")
    queue: list[QueueDepth] = Field(description="Every day of the period, from the first on which there was a queue.")
    choices: Choices = Field(
        default_factory=lambda: Choices(by=[]),
        description="Over the project's whole life: gain of the model's choice.",
    )


def figures(
    workspace: Workspace, project_id: str, *, days: int = 90, viewer: User | None = None, today: date | None = None
) -> Figures:
    """Return the figures of a project over `days` days up to `today` (UTC).

    `viewer`: its role decides whether people are named; None, the owner of the machine, sees everybody. Raises NotFound
    when there is no such project for the viewer.
    """
    last = today or now().date()
    first = last - timedelta(days=min(max(days, 1), LONGEST) - 1)
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        masks, begin = _masks(session, project_id), midnight(first)
        names = _names(session, project_id, viewer)
        counted = session.execute(
            select(day_of(session, masks.c.at), masks.c.person, func.count())
            .where(masks.c.at >= begin, masks.c.at < midnight(last + timedelta(days=1)))
            .group_by(day_of(session, masks.c.at), masks.c.person)
        ).all()
        by_person = _paces(session, masks, masks.c.person, masks.c.at >= begin)
        by_model = _paces(session, masks, masks.c.version, masks.c.version.is_not(None))
        versions = session.scalars(
            select(ModelVersion).where(ModelVersion.id.in_(by_model)).order_by(ModelVersion.created_at, ModelVersion.id)
        ).all()
        return Figures(
            first_day=first,
            last_day=last,
            masks_a_day=_merged((as_date(day), names.get(person, OTHERS), masks) for day, person, masks in counted),
            by_model=[
                ModelFigures(model=version.id, label=label(version), **by_model[version.id]) for version in versions
            ],
            people=sorted(
                (PersonFigures(person=names[key], **pace) for key, pace in by_person.items() if key in names),
                key=lambda row: row.person,
            ),
            queue=queue_depth(session, project_id, first, last),
            choices=choices(session, project_id, masks),
        )


def _masks(session: Session, project_id: str) -> CTE:
    """Return one row for each finished mask: annotation, version, person, at, seconds, unchanged."""
    first = (
        select(Revision.annotation_id, func.min(Revision.number).label("number"))
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .where(Annotation.project_id == project_id, Revision.action.in_(FINISHING), standing())
        .group_by(Revision.annotation_id)
        .subquery()
    )
    worked = (
        select(Revision.annotation_id, func.sum(Revision.seconds).label("seconds"))
        .join(first, (first.c.annotation_id == Revision.annotation_id) & (Revision.number <= first.c.number))
        .group_by(Revision.annotation_id)
        .subquery()
    )
    opened, last, named = aliased(Revision), aliased(Revision), aliased(Prediction)
    newest = (
        select(Prediction.model_version_id)
        .where(Prediction.annotation_id == opened.annotation_id, Prediction.created_at <= opened.created_at)
        .order_by(Prediction.created_at.desc(), Prediction.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    objected = exists().where(Review.annotation_id == opened.annotation_id, Review.verdict.in_(("rejected", "fixed")))
    return (
        select(
            last.annotation_id.label("annotation"),
            func.coalesce(named.model_version_id, newest).label("version"),
            last.author_id.label("person"),
            last.created_at.label("at"),
            worked.c.seconds,
            and_(last.number == 1, ~_changes(session, last.edits), ~objected).label("unchanged"),
        )
        .join_from(first, last, (last.annotation_id == first.c.annotation_id) & (last.number == first.c.number))
        .join(worked, worked.c.annotation_id == first.c.annotation_id)
        .join(opened, (opened.annotation_id == first.c.annotation_id) & (opened.number == 1))
        .outerjoin(named, named.id == opened.prediction_id)
        .cte("masks")
    )


def _changes(session: Session, edits: Any) -> ColumnElement[bool]:
    """Return whether edits change words or pixels; placing a prompt does not."""
    if session.get_bind().dialect.name == "postgresql":
        return func.jsonb_path_exists(edits, cast('$[*] ? (@.op != "prompts")', JSONPATH))
    each = func.json_each(edits).table_valued("value")
    return exists(select(1).select_from(each).where(func.json_extract(each.c.value, "$.op") != "prompts"))


def _paces(session: Session, masks: CTE, key: Any, wanted: ColumnElement[bool]) -> dict[str, dict[str, Any]]:
    """Return the fields of Pace by the values of a column; the database ranks for median and interval."""
    timed = masks.c.seconds > 0
    counts = session.execute(
        select(key, func.count(), func.count().filter(timed), func.count().filter(masks.c.unchanged))
        .where(wanted)
        .group_by(key)
    ).all()
    ranked = (
        select(
            key.label("key"),
            masks.c.seconds,
            func.row_number().over(partition_by=key, order_by=masks.c.seconds).label("rank"),
        )
        .where(wanted, timed)
        .subquery()
    )
    ranks = {name: {*middle_ranks(count), *(median_ranks(count) or ())} for name, _, count, _ in counts if count}
    found: dict[tuple[str, int], float] = {}
    if ranks:
        chosen = or_(*(and_(ranked.c.key == name, ranked.c.rank.in_(sorted(some))) for name, some in ranks.items()))
        rows = session.execute(select(ranked.c.key, ranked.c.rank, ranked.c.seconds).where(chosen))
        found = {(name, rank): float(seconds) for name, rank, seconds in rows}
    return {name: _pace(name, total, count, unchanged, found) for name, total, count, unchanged in counts}


def _pace(name: str, total: int, timed: int, unchanged: int, found: dict[tuple[str, int], float]) -> dict[str, Any]:
    middle = [found[name, rank] for rank in middle_ranks(timed)] if timed else []
    ends = median_ranks(timed)
    low, high = share_interval(unchanged, total)
    return {
        "masks": total,
        "timed": timed,
        "seconds_median": sum(middle) / 2 if middle else None,
        "seconds_low": found[name, ends[0]] if ends else None,
        "seconds_high": found[name, ends[1]] if ends else None,
        "unchanged": unchanged,
        "unchanged_share": unchanged / total,
        "unchanged_low": low,
        "unchanged_high": high,
    }


def _names(session: Session, project_id: str, viewer: User | None) -> dict[str, str]:
    """Return the names that the viewer may see, by id."""
    if viewer is not None:
        role = role_in(session, viewer, project_id)
        if role is None:
            raise NotFound("There is no such project.")
        if RANK[role] < RANK["reviewer"]:
            return {viewer.id: viewer.name}
    return {user.id: user.name for user in session.scalars(select(User))}


def _merged(rows: Iterable[tuple[date, str, int]]) -> list[MasksADay]:
    sums: dict[tuple[date, str], int] = {}
    for day, person, masks in rows:
        sums[day, person] = sums.get((day, person), 0) + masks
    return [MasksADay(day=day, person=person, masks=masks) for (day, person), masks in sorted(sums.items())]


def people_of(masks_a_day: Sequence[MasksADay]) -> list[str]:
    """Return the people who finished masks, most first; "others" last."""
    totals: dict[str, int] = {}
    for row in masks_a_day:
        totals[row.person] = totals.get(row.person, 0) + row.masks
    return sorted(totals, key=lambda person: (person == OTHERS, -totals[person], person))

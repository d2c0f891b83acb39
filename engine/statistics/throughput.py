"""Throughput of a project: masks per day, seconds per mask by model version, depth of the queue.

Reads only figures that are derived after each change (engine.followers), by days in UTC; masks of the days of another
zone are counted from their times.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Integer, String, column, select, true, values
from sqlalchemy.orm import Session

from db.base import now
from db.tables import FinishedMask, MaskCount, ModelVersion, OutsideModel, Project, User
from engine.accounts import visibility
from engine.accounts.permissions import RANK, role_in
from engine.annotation.outside_models import outside_label
from engine.errors import NotFound
from engine.followers import freshness
from engine.models.registry import label
from engine.queries import existing
from engine.statistics.intervals import median_ranks, middle_ranks, share_interval
from engine.statistics.local_days import masks_by_local_day
from engine.statistics.queue_depth import QueueDepth, queue_depth
from engine.statistics.selection_gain import Choices, choices
from engine.workspace import Workspace

OTHERS = "others"
LONGEST = 3650  # days
_UTC = ZoneInfo("UTC")


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
    outside: bool = Field(False, description="Whether it is a model of others.")


class PersonFigures(Pace):
    """Pace of one person."""

    person: str


class Figures(BaseModel):
    """Figures of a project over a period. Annotators see other people's work as "others", or their own alone."""

    own_alone: bool = Field(
        default=False,
        description="Whether these are the caller's own figures: answers of others are hidden from them.",
    )

    time_zone: str = Field(default="UTC", description="Whose days the masks are counted on.")
    first_day: date
    last_day: date
    as_of: datetime = Field(description="All work until then is counted; the present time when nothing lags.")
    masks_a_day: list[MasksADay]
    by_model: list[ModelFigures] = Field(
        description="Over the project's whole life, oldest version first; then models of others."
    )
    people: list[PersonFigures] = Field(description="Over the period, by name.")
    queue: list[QueueDepth] = Field(description="Every day of the period, from the first on which there was a queue.")
    choices: Choices = Field(
        default_factory=lambda: Choices(by=[]),
        description="Over the project's whole life: gain of the model's choice.",
    )


class _Counts(NamedTuple):
    """Numbers of finished masks, of those with active seconds, and of unchanged ones."""

    masks: int
    timed: int
    unchanged: int

    def and_(self, more: "_Counts") -> "_Counts":
        return _Counts(self.masks + more.masks, self.timed + more.timed, self.unchanged + more.unchanged)


_NONE = _Counts(0, 0, 0)


def figures(
    workspace: Workspace,
    project_id: str,
    *,
    days: int = 90,
    viewer: User | None = None,
    today: date | None = None,
    zone: ZoneInfo = _UTC,
) -> Figures:
    """Return the figures of a project over `days` days up to `today`.

    `zone`: whose days the masks are counted on; those of the queue are in UTC. `today`: the last day, by default the
    present one of the zone.

    `viewer`: its role decides whether people are named; None, the owner of the machine, sees everybody. Somebody from
    whom answers are hidden gets their own figures alone: sums would tell of each hidden answer. Raises NotFound
    when there is no such project for the viewer.
    """
    last = today or now().astimezone(zone).date()
    first = last - timedelta(days=min(max(days, 1), LONGEST) - 1)
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        names = _names(session, project_id, viewer)
        only = viewer.id if viewer is not None and visibility.works_blind(session, project_id, viewer.id) else None
        counted, by_person, by_model = _counts(session, project_id, first, last, only)
        if zone.key != _UTC.key:
            counted = masks_by_local_day(session, project_id, first, last, zone, only)
        mine = (FinishedMask.project_id == project_id, *([FinishedMask.person_id == only] if only else ()))
        people = _paces(session, FinishedMask.person_id, by_person, *mine, FinishedMask.day >= first)
        return Figures(
            own_alone=only is not None,
            time_zone=zone.key,
            first_day=first,
            last_day=last,
            as_of=freshness(session).as_of,
            masks_a_day=_merge_rows(
                (day, names.get(person, OTHERS), masks) for (day, person), masks in counted.items()
            ),
            by_model=_model_figures(session, by_model, *mine),
            people=sorted(
                (PersonFigures(person=names[key], **pace) for key, pace in people.items() if key in names),
                key=lambda row: row.person,
            ),
            queue=[] if only else queue_depth(session, project_id, first, today or now().date()),
            choices=Choices(by=[]) if only else choices(session, project_id),
        )


def _counts(
    session: Session, project_id: str, first: date, last: date, only: str | None
) -> tuple[dict[tuple[date, str], int], dict[str, _Counts], dict[str, _Counts]]:
    """Return masks by day and person of the period, counts by person from its first day on, and by version for ever.

    `only`: id of the person whose masks alone are counted; None: everybody's.
    """
    by_day: dict[tuple[date, str], int] = {}
    by_person: dict[str, _Counts] = {}
    by_model: dict[str, _Counts] = {}
    totals = MaskCount.masks, MaskCount.timed, MaskCount.unchanged
    chosen = select(MaskCount.day, MaskCount.person_id, MaskCount.version_id, *totals)
    if only is not None:
        chosen = chosen.where(MaskCount.person_id == only)
    for day, person, version, *numbers in session.execute(
        chosen.where(MaskCount.project_id == project_id, MaskCount.masks > 0)
    ):
        more = _Counts(*numbers)
        if first <= day <= last:
            by_day[day, person] = by_day.get((day, person), 0) + more.masks
        if day >= first:
            by_person[person] = by_person.get(person, _NONE).and_(more)
        if version:
            by_model[version] = by_model.get(version, _NONE).and_(more)
    return by_day, by_person, by_model


def _model_figures(session: Session, counts: Mapping[str, _Counts], *which: ColumnElement[bool]) -> list[ModelFigures]:
    """Return the figures of own versions, the oldest first, then those of models of others."""
    figures = []
    for table, key, name in (
        (ModelVersion, FinishedMask.version_id, label),
        (OutsideModel, FinishedMask.outside_model_id, outside_label),
    ):
        chosen = select(table).where(table.id.in_(counts)).order_by(table.created_at, table.id)
        rows: Any = session.scalars(chosen).all()
        paces = _paces(session, key, {row.id: counts[row.id] for row in rows}, *which)
        outside = table is OutsideModel
        figures += [ModelFigures(model=row.id, label=name(row), outside=outside, **paces[row.id]) for row in rows]
    return figures


def _paces(
    session: Session, key: Any, counts: Mapping[str, _Counts], *which: ColumnElement[bool]
) -> dict[str, dict[str, Any]]:
    """Return the fields of Pace by the values of a column of FinishedMask.

    Seconds are read by rank from an index, the middle ones and those of the interval, and not all.
    """
    spans = {}
    for name, (_, timed, _) in counts.items():
        if timed:
            ranks = (*middle_ranks(timed), *(median_ranks(timed) or ()))
            spans[name] = min(ranks), max(ranks)
    seconds = _seconds_by_rank(session, key, spans, *which)
    return {name: _pace(*numbers, seconds.get(name, {})) for name, numbers in counts.items()}


def _seconds_by_rank(
    session: Session, key: Any, spans: Mapping[str, tuple[int, int]], *which: ColumnElement[bool]
) -> dict[str, dict[int, float]]:
    """Return seconds of masks by their rank, from the first to the last rank of each value of a column.

    PostgreSQL gets one statement, because hundreds of people are as many round trips. SQLite has no round trips, and no
    LATERAL.
    """
    ranked = select(FinishedMask.seconds).where(FinishedMask.seconds > 0, *which).order_by(FinishedMask.seconds)
    seconds: dict[str, dict[int, float]] = {}
    if session.get_bind().dialect.name != "postgresql":
        for name, (first, last) in spans.items():
            chosen = ranked.where(key == name).offset(first - 1).limit(last - first + 1)
            seconds[name] = dict(enumerate(map(float, session.scalars(chosen)), start=first))
        return seconds
    if not spans:
        return seconds
    wanted = values(column("name", String), column("before", Integer), column("number", Integer), name="wanted").data(
        [(name, first - 1, last - first + 1) for name, (first, last) in spans.items()]
    )
    span = ranked.where(key == wanted.c.name).offset(wanted.c.before).limit(wanted.c.number).lateral()
    by_rank = select(wanted.c.name, span.c.seconds).select_from(wanted.join(span, true()))
    rows: Any = session.execute(by_rank.order_by(wanted.c.name, span.c.seconds))
    for name, value in rows:
        of_name = seconds.setdefault(name, {})
        of_name[spans[name][0] + len(of_name)] = float(value)
    return seconds


def _pace(total: int, timed: int, unchanged: int, seconds_by_rank: Mapping[int, float]) -> dict[str, Any]:
    middle = [seconds_by_rank[rank] for rank in middle_ranks(timed)] if timed else []
    ends = median_ranks(timed)
    low, high = share_interval(unchanged, total)
    return {
        "masks": total,
        "timed": timed,
        "seconds_median": sum(middle) / 2 if middle else None,
        "seconds_low": seconds_by_rank[ends[0]] if ends else None,
        "seconds_high": seconds_by_rank[ends[1]] if ends else None,
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


def _merge_rows(rows: Iterable[tuple[date, str, int]]) -> list[MasksADay]:
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

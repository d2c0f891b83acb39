"""Retention: rows that nobody names any more, deleted once they are older than the settings allow.

Each kind of row has its setting `keep_*_days`. A worker looks once an hour at rows that came of age lately; the command
`glossator cleanup` looks at all. What somebody still names stays: a proposal that a revision built on or that a page
still shows, a job of a run.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Delete, Select, and_, delete, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from db import changes
from db.base import now
from db.changes import Topic
from db.ids import first_id
from db.tables import (
    Firing,
    Invitation,
    Job,
    LoginSession,
    Prediction,
    Revision,
    Run,
)
from engine import audit
from engine.annotation.proposal import alone
from engine.batches import Throttle
from engine.documents.reading.reading_state import CUT_OFF, READ, READ_AGAIN
from engine.interchange.export_files import EXPORT
from engine.interchange.uploaded_sets import IMPORT
from engine.lifecycle.bins import is_due
from engine.settings import Settings
from engine.workspace import Workspace

RECENT = timedelta(days=7)  # for which a worker looks back behind the limit: what came of age while none ran
_AT_ONCE = 500  # rows of one look
_FOREVER = timedelta(days=36500)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of one table that may go.

    Attributes:
        name: what they are, for people: a plural.
        setting: name of the setting of their days.
        key: column by which they are walked through and deleted.
        topic: what changes for open screens: topic, and column of the project (of the user, for "users"); None: nothing
            that a screen shows.
        chosen: returns the condition that a row is older than a moment, but no older than another, and is not named.
    """

    name: str
    setting: str
    key: Any
    topic: tuple[Topic, Any] | None
    chosen: Callable[[datetime, datetime], ColumnElement[bool]]

    def days(self, settings: Settings) -> float:
        """Return for how many days rows are kept; 0: for good."""
        days: float = getattr(settings, self.setting)
        return days


@dataclass(frozen=True, slots=True)
class Outcome:
    """Number of rows of a rule that were deleted, or that may be; days None: they are kept for good."""

    name: str
    setting: str
    days: float | None
    rows: int


def clean_up(workspace: Workspace, *, delete_rows: bool, by: str | None = None) -> list[Outcome]:
    """Count or delete all rows that are older than their settings allow.

    Deletes in short batches, so that others write in between; stopped, it goes on at its next call. Audited.

    Args:
        workspace: Open workspace.
        delete_rows: Delete them; without it they are counted alone.
        by: Id of the acting user; None: the worker.
    """
    outcomes = []
    for rule in RULES:
        days = rule.days(workspace.settings)
        rows = _sweep(workspace, rule, days, _FOREVER, delete_rows=delete_rows) if days else 0
        outcomes.append(Outcome(rule.name, rule.setting, days or None, rows))
    _note(workspace, outcomes if delete_rows else [], by)
    return outcomes


def look_after(workspace: Workspace) -> None:
    """Delete rows that came of age lately; a chore of the worker, once an hour."""
    if not is_due(f"retention {workspace.database.url}"):
        return
    outcomes = []
    for rule in RULES:
        if days := rule.days(workspace.settings):
            rows = _sweep(workspace, rule, days, RECENT, delete_rows=True)
            outcomes.append(Outcome(rule.name, rule.setting, days, rows))
    _note(workspace, outcomes, None)


def _sweep(workspace: Workspace, rule: Rule, days: float, back: timedelta, *, delete_rows: bool) -> int:
    """Delete or count rows that are older than some days, by at most `back`; return how many."""
    before = now() - timedelta(days=days)
    condition = rule.chosen(before, before - back)
    throttle, total = Throttle(), 0
    for ids in _keys(workspace, rule, condition):
        if not delete_rows:
            total += len(ids)
            continue
        done = 0
        while done < len(ids):
            with throttle, workspace.database.write() as session:
                throttle.start_timing()
                some = ids[done : done + throttle.size]
                # The condition again: a person may have built on a proposal meanwhile.
                deletion = delete(rule.key.class_).where(rule.key.in_(some), condition)
                total += _delete(session, rule, deletion)
            done += len(some)
    return total


def _delete(session: Session, rule: Rule, deletion: Delete) -> int:
    """Delete rows, and publish the change; return how many they were."""
    deletion = deletion.execution_options(synchronize_session=False)
    if rule.topic is None:
        gone: Any = session.execute(deletion)
        return int(gone.rowcount)
    topic, owner = rule.topic
    owners = session.scalars(deletion.returning(owner)).all()
    for owner_id in dict.fromkeys(owners):
        if topic == "users":
            changes.publish(session, topic, None, owner_id)
        else:
            changes.publish(session, topic, owner_id)
    return len(owners)


def _keys(workspace: Workspace, rule: Rule, condition: ColumnElement[bool]) -> Iterator[list[str]]:
    last = ""
    while True:
        chosen: Select[Any] = select(rule.key).where(condition, rule.key > last).order_by(rule.key).limit(_AT_ONCE)
        with workspace.database.autocommit_read() as session:
            ids = list(session.scalars(chosen))
        if not ids:
            return
        yield ids
        last = ids[-1]


def _note(workspace: Workspace, outcomes: list[Outcome], by: str | None) -> None:
    rows = {outcome.name: outcome.rows for outcome in outcomes if outcome.rows}
    if rows:
        _log.info("deleted what is older than the settings allow: %s", rows)
        audit.note(workspace, by, "cleanup", "rows", rows=rows)


def _unused_predictions(before: datetime, after: datetime) -> ColumnElement[bool]:
    """Return the condition on proposals: no revision builds on them, and a later one of the same answer is shown."""
    later = aliased(Prediction)
    replaced = exists().where(
        later.annotation_id == Prediction.annotation_id,
        or_(
            later.created_at > Prediction.created_at,
            and_(later.created_at == Prediction.created_at, later.id > Prediction.id),
        ),
        # The newest without prompts is what an answer begins with; the newest of all says which page is shown.
        or_(alone(later), ~alone()),
    )
    built_on = exists().where(
        Revision.annotation_id == Prediction.annotation_id, Revision.prediction_id == Prediction.id
    )
    of_age = Prediction.id < first_id(before), Prediction.id >= first_id(after)
    return and_(*of_age, or_(Prediction.annotation_id.is_(None), and_(replaced, ~built_on)))


def _ended_sessions(before: datetime, after: datetime) -> ColumnElement[bool]:
    return or_(LoginSession.expires_at < before, LoginSession.revoked_at < before)


def _ended_invitations(before: datetime, after: datetime) -> ColumnElement[bool]:
    return Invitation.expires_at < before


def _done_jobs(before: datetime, after: datetime) -> ColumnElement[bool]:
    """Return the condition on jobs: done, named by no run or trigger, and not the reading of a cut-off document."""
    return and_(
        Job.kind.in_((READ, READ_AGAIN, IMPORT, EXPORT)),
        Job.status == "done",
        Job.id < first_id(before),
        Job.id >= first_id(after),
        Job.finished_at < before,
        func.coalesce(Job.result[CUT_OFF].as_boolean(), False).is_(False),
        ~exists().where(Run.job_id == Job.id),
        ~exists().where(Firing.job_id == Job.id),
    )


RULES = (
    Rule("unused proposals", "keep_predictions_days", Prediction.id, None, _unused_predictions),
    Rule(
        "ended logins",
        "keep_sessions_days",
        LoginSession.token_sha256,
        ("users", LoginSession.user_id),
        _ended_sessions,
    ),
    Rule(
        "expired invitations",
        "keep_sessions_days",
        Invitation.id,
        ("members", Invitation.project_id),
        _ended_invitations,
    ),
    Rule("finished jobs", "keep_jobs_days", Job.id, ("jobs", Job.project_id), _done_jobs),
)

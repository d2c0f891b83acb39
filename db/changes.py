"""Changes: each unit of work stores what it changed, in its own transaction, for open screens and followers.

Objects of the ORM are seen by events of their session. A statement on many rows does not say whose rows they are; the
code that runs it calls `publish`. A forgotten call is logged.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from sqlalchemy import Result, insert, inspect
from sqlalchemy import event as orm_events
from sqlalchemy.orm import ORMExecuteState, Session

from db.base import now
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Change,
    Document,
    DocumentGroup,
    Firing,
    Invitation,
    Job,
    LabelReview,
    LoginSession,
    Member,
    ModelVersion,
    Page,
    Project,
    ProjectField,
    Promotion,
    Proposer,
    Question,
    Revision,
    Run,
    RunMetric,
    StageChange,
    Task,
    User,
    WordEdit,
)

Topic = Literal[
    "documents",
    "questions",
    "tasks",
    "answers",
    "figures",
    "values",
    "jobs",
    "runs",
    "models",
    "projects",
    "members",
    "users",
]
"""What changed, and the subject of the change.

figures: a document whose numbers were derived anew (engine.followers). values: a document whose row of the table of
values was. documents: a document; it arrived, was
renamed, read further, its words fixed. answers: the document of the answer. tasks (queue, leases,
automatic answers): that of a lease or answer, which is not told; else none. questions (fields too), projects (name,
settings, stage): none. jobs: the job. runs: the run. models: the version.
members: the user, none for an invitation. users: the user, also when a session or token of theirs was ended; without
a project.
"""

MOST_SUBJECTS = 50  # of one topic and project in one unit of work; more become one change without a subject
CURVE_SECONDS = 1.0  # between two changes that announce new points of a run's curves
DIRTY = "dirty"  # topic of the changes that name dirty documents, for followers and not for screens
DIRTY_VALUES = "dirty values"  # the same, where only the values of the documents can be others
HIDDEN = (DIRTY, DIRTY_VALUES)
OF_EVENTS: tuple[Topic, ...] = ("jobs", "runs", "models")  # topics from which events follow, beside DIRTY
EVENT_FOLLOWER = "webhooks"  # the follower that reads them (engine.followers.webhook_messages)
_LEDGER = "changes"  # in the info of a session
_log = logging.getLogger(__name__)


class Event(NamedTuple):
    """A change as it is stored."""

    project_id: str | None
    topic: Topic
    subject_id: str | None = None
    question_id: str | None = None
    author_id: str | None = None


class _OwnedRow(NamedTuple):
    """A change of a row whose owner must be looked up."""

    table: type[Any]
    id: str


class Throttle:
    """Lets changes that come many times a second pass once in a while; one for each process."""

    def __init__(self) -> None:
        self._last: dict[object, float] = {}

    def passes(self, key: object, seconds: float) -> bool:
        """Return whether nothing with this key has passed in the last `seconds`."""
        seconds_now = time.monotonic()
        if seconds_now - self._last.get(key, -seconds) < seconds:
            return False
        if len(self._last) > 1000:
            self._last = {key_passed: at for key_passed, at in self._last.items() if seconds_now - at < seconds}
        self._last[key] = seconds_now
        return True


class _Ledger:
    """What one unit of work has changed so far."""

    def __init__(self, throttle: Throttle) -> None:
        self.throttle = throttle
        self.events: dict[Event, None] = {}  # in order
        self.owned_rows: dict[_OwnedRow, None] = {}
        self.in_bulk: set[type[Any]] = set()  # tables with a statement on many rows

    def take(self, changes: Iterable[Event | _OwnedRow]) -> None:
        for change in changes:
            if isinstance(change, Event):
                self.events[change] = None
            elif change.table is not Run or self.throttle.passes(change, CURVE_SECONDS):
                self.owned_rows[change] = None


class ObservedSession(Session):
    """A session whose changes are noted, for `store`."""

    def __init__(self, throttle: Throttle, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, info={_LEDGER: _Ledger(throttle)}, **options)


def publish(
    session: Session,
    topic: Topic,
    project_id: str | None,
    subject_id: str | None = None,
    *,
    question_id: str | None = None,
    author_id: str | None = None,
) -> None:
    """Add a change that the session cannot see: of a statement on many rows, or of a lease.

    Args:
        session: Of the unit of work.
        topic: What changed.
        project_id: Where; None: in the whole installation.
        subject_id: See `Topic`.
        question_id: Of a changed answer.
        author_id: Of a changed answer.
    """
    ledger = session.info.get(_LEDGER)
    if ledger is not None:
        ledger.take([Event(project_id, topic, subject_id, question_id, author_id)])


def store(session: Session, dirty: Mapping[tuple[str, str], list[str]]) -> None:
    """Store what the unit of work has changed, in one statement; called once, before its commit.

    Args:
        session: Of the unit of work.
        dirty: From db.dirty_documents: ids of documents by project and topic.
    """
    session.flush()
    ledger: _Ledger = session.info[_LEDGER]
    for row in ledger.owned_rows:
        if (event := _event_of_owner(session, row)) is not None:
            ledger.events[event] = None
    topics = {event.topic for event in ledger.events}
    if unpublished := [table for table in ledger.in_bulk if topics.isdisjoint(_IN_BULK[table])]:
        report_unpublished([table.__tablename__ for table in unpublished])
    if ledger.events or dirty:
        created_at = now()
        rows = [{**event._asdict(), "documents": None, "created_at": created_at} for event in _fold(ledger.events)]
        for (project_id, topic), documents in dirty.items():
            change = {**_NO_SUBJECT, "project_id": project_id, "topic": topic}
            rows.append({**change, "documents": documents, "created_at": created_at})
        session.connection().execute(_INSERT, rows)


def report_unpublished(tables: list[str]) -> None:
    """Report a unit of work that changed rows of these tables by a statement, and published no event of it."""
    _log.error("a statement changed rows of %s without db.changes.publish; open screens do not hear of it", tables)


_NO_SUBJECT = dict.fromkeys(("subject_id", "question_id", "author_id"))
_INSERT = insert(Change.__table__)  # type: ignore[arg-type]


def _fold(events: Iterable[Event]) -> list[Event]:
    """Replace the subjects of a project's topic by one change without, where they are many or include one without."""
    groups: dict[tuple[str | None, Topic], list[Event]] = {}
    for event in events:
        groups.setdefault((event.project_id, event.topic), []).append(event)
    folded = []
    for (project_id, topic), group in groups.items():
        whole = len(group) > MOST_SUBJECTS or any(event.subject_id is None for event in group)
        folded += [Event(project_id, topic)] if whole else group
    return folded


def _event_of_owner(session: Session, owned: _OwnedRow) -> Event | None:
    """Return the change of a row through its owner, which the session mostly has at hand."""
    if owned.table is Page:
        page = session.get(Page, owned.id)
        return _event_of_owner(session, _OwnedRow(Document, page.document_id)) if page is not None else None
    row = session.get(owned.table, owned.id)
    if row is None:
        return None
    return Event(row.project_id, "runs" if owned.table is Run else "documents", row.id)


def _events_of_job(job: Job) -> list[Event]:
    """Return the events of a job and of the document that it reads: its line shows how far it is."""
    if job.project_id is None:
        return []
    document_id = job.payload.get("document_id")
    events = [Event(job.project_id, "jobs", job.id)]
    return [*events, Event(job.project_id, "documents", document_id)] if document_id is not None else events


_RULES: Mapping[type[Any], Callable[[Any], Iterable[Event | _OwnedRow]]] = {
    Document: lambda document: [Event(document.project_id, "documents", document.id)],
    DocumentGroup: lambda group: [Event(group.project_id, "documents")] if group.quarantined_at is not None else [],
    Page: lambda page: [_OwnedRow(Document, page.document_id)],
    WordEdit: lambda edit: [_OwnedRow(Page, edit.page_id)],
    Question: lambda question: [Event(question.project_id, "questions")],
    ProjectField: lambda field: [Event(field.project_id, "questions")],
    Annotation: lambda answer: [
        Event(answer.project_id, "answers", answer.document_id, answer.question_id, answer.author_id)
    ],
    Task: lambda task: [Event(task.project_id, "tasks")],
    LabelReview: lambda look: [Event(look.project_id, "tasks")],
    AutomaticAnswer: lambda answer: [Event(answer.project_id, "tasks")],
    Job: _events_of_job,
    Firing: lambda firing: [Event(firing.project_id, "jobs")],
    Run: lambda run: [Event(run.project_id, "runs", run.id)],
    RunMetric: lambda metric: [_OwnedRow(Run, metric.run_id)],
    ModelVersion: lambda version: [Event(version.project_id, "models", version.id)],
    Promotion: lambda promotion: [Event(promotion.project_id, "models", promotion.version_id)],
    Project: lambda project: [Event(project.id, "projects")],
    StageChange: lambda change: [Event(change.project_id, "projects")],
    Proposer: lambda proposer: [Event(proposer.project_id, "projects")],
    Member: lambda member: [Event(member.project_id, "members", member.user_id)],
    Invitation: lambda invitation: [Event(invitation.project_id, "members")],
    User: lambda user: [Event(None, "users", user.id)],
    LoginSession: lambda login: [Event(None, "users", login.user_id)] if login.revoked_at is not None else [],
}
# Attributes whose change alone no screen shows: heartbeats, and what belongs to one person.
_QUIET: Mapping[type[Any], frozenset[str]] = {
    Job: frozenset({"lease_until", "heartbeat_at"}),
    LoginSession: frozenset({"last_used_at"}),
    User: frozenset({"preferences", "password_hash"}),
}
# Tables whose rows a statement must not change without an event of one of these topics. Of the others, no screen shows
# what statements change.
_IN_BULK: Mapping[type[Any], frozenset[Topic]] = {
    Annotation: frozenset({"answers"}),
    Revision: frozenset({"answers"}),
    Document: frozenset({"documents"}),
    Page: frozenset({"documents"}),
    Question: frozenset({"questions"}),
    ProjectField: frozenset({"questions"}),
    Task: frozenset({"tasks"}),
    LabelReview: frozenset({"tasks"}),
    AutomaticAnswer: frozenset({"tasks"}),
    Job: frozenset({"jobs"}),
    Run: frozenset({"runs"}),
    RunMetric: frozenset({"runs"}),
    ModelVersion: frozenset({"models"}),
    Promotion: frozenset({"models"}),
    Project: frozenset({"projects"}),
    Proposer: frozenset({"projects"}),
    Member: frozenset({"members"}),
    Invitation: frozenset({"members"}),
    User: frozenset({"users"}),
}


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    # After the flush and not before: one that failed inside a savepoint has changed nothing.
    ledger: _Ledger = session.info[_LEDGER]
    for row in (*session.new, *session.deleted):
        if (rule := _RULES.get(type(row))) is not None:
            ledger.take(rule(row))
    for row in session.dirty:
        kind = type(row)
        if kind in _RULES and _is_seen(row, _QUIET.get(kind, frozenset())):
            ledger.take(_RULES[kind](row))


def _is_seen(row: Any, quiet: frozenset[str]) -> bool:
    return any(attribute.history.has_changes() for attribute in inspect(row).attrs if attribute.key not in quiet)


def _see_statement(state: ORMExecuteState) -> Result[Any] | None:
    table = state.bind_mapper.class_ if state.bind_mapper is not None else None
    if table is None or table not in _IN_BULK or not (state.is_insert or state.is_update or state.is_delete):
        return None
    result = state.invoke_statement()
    if getattr(result, "rowcount", -1) != 0:  # a conditional update may find nothing to change
        ledger: _Ledger = state.session.info[_LEDGER]
        ledger.in_bulk.add(table)
    return result


orm_events.listen(ObservedSession, "after_flush", _see_flushed)
orm_events.listen(ObservedSession, "do_orm_execute", _see_statement)

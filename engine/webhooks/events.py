"""Events of projects, as the tables say that they happened.

Each has a key and a time. The rows are looked up around a change, so an event may be found several times; its key lets
a webhook hear of it once.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, String, cast, func, literal, select
from sqlalchemy.orm import Session, aliased

from db.statuses import ACCEPTED, SUBMITTED
from db.tables import Annotation, Document, Job, ModelVersion, Page, Project, Promotion, Question, Revision, Run, User
from engine.documents.reading.reading_state import CUT_OFF, READ, READ_AGAIN
from engine.jobs.queue import ENDED
from engine.models.registry import label

EventType = Literal[
    "document.ready", "answer.submitted", "answer.accepted", "answer.rejected", "run.judged", "model.promoted",
    "export.ready",
]  # fmt: skip
EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
_EXPORT = "export"  # kind of the jobs that write exports (engine.interchange)
_DECISIONS = ("submit", "accept", "fix", "reject")  # actions of revisions; an import decides nothing
_OF_STATUS: Mapping[str, EventType] = {
    SUBMITTED: "answer.submitted",
    **dict.fromkeys(ACCEPTED, "answer.accepted"),
    "rejected": "answer.rejected",
}
_AT_ONCE = 500  # rows of one statement: databases limit its parameters


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a project.

    Attributes:
        type: Its kind.
        key: Unique in the project.
        at: When it happened.
        project_id: Where.
        data: Ids and names for the message, without words of documents.
    """

    type: EventType
    key: str
    at: datetime
    project_id: str
    data: Mapping[str, Any]


def find_events(
    session: Session,
    projects: Collection[str],
    documents: Collection[str],
    since: datetime,
    wanted: Collection[str] = EVENT_TYPES,
) -> list[Event]:
    """Return the events of some projects since a time, in their order.

    Args:
        session: For reading.
        projects: Ids of the projects.
        documents: Ids of documents whose answers, and whose arrival, are looked at; of other projects too.
        since: Earliest time.
        wanted: Kinds of events.
    """
    names = dict(session.execute(select(Project.id, Project.name).where(Project.id.in_(projects))).tuples().all())
    events: list[Event] = []
    ids = list(documents)
    for start in range(0, len(ids), _AT_ONCE):
        batch = ids[start : start + _AT_ONCE]
        if any(kind.startswith("answer.") for kind in wanted):
            events += _answers(session, projects, batch, since)
        if "document.ready" in wanted:
            events += _documents(session, Document.id.in_(batch), since)
    if "document.ready" in wanted:
        events += _read_documents(session, projects, since)
    if "run.judged" in wanted:
        events += _runs(session, projects, since)
    if "model.promoted" in wanted:
        events += _promotions(session, projects, since)
    if "export.ready" in wanted:
        events += _exports(session, projects, since)
    once = {event.key: event for event in events if event.project_id in names and event.type in wanted}
    return [
        replace(event, data={"project": _identity(event.project_id, names), **event.data})
        for event in sorted(once.values(), key=lambda event: (event.at, event.key))
    ]


def _identity(key: str, names: Mapping[str, str]) -> dict[str, str]:
    return {"id": key, "name": names[key]}


def _person(key: str | None, name: str | None) -> dict[str, Any] | None:
    return None if key is None else {"id": key, "name": name}


def _answers(
    session: Session, projects: Collection[str], documents: Collection[str], since: datetime
) -> Iterator[Event]:
    columns = (
        Revision.id, Revision.number, Revision.status, Revision.created_at, Annotation.id.label("annotation_id"),
        Annotation.project_id, Annotation.document_id, Document.name.label("document"), Annotation.question_id,
        Question.text.label("question"), Revision.author_id, User.name.label("author"),
    )  # fmt: skip
    chosen = (
        select(*columns)
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Revision.author_id)
        .where(
            Annotation.document_id.in_(documents),
            Annotation.project_id.in_(projects),
            Revision.created_at >= since,
            Revision.action.in_(_DECISIONS),
        )
    )
    for row in session.execute(chosen):
        kind = _OF_STATUS[row.status]
        place = f"/app/#project={row.project_id}&document={row.document_id}&annotation={row.annotation_id}"
        data = {
            "document": {"id": row.document_id, "name": row.document},
            "question": {"id": row.question_id, "text": row.question},
            "answer": {"id": row.annotation_id, "revision": row.number, "status": row.status},
            "by": _person(row.author_id, row.author),
            "link": place,
        }
        yield Event(kind, f"{kind}:{row.id}", row.created_at, row.project_id, data)


def _documents(session: Session, which: ColumnElement[bool], since: datetime) -> Iterator[Event]:
    """Yield the arrivals of documents that were read at once: no job has read pages of them."""
    later = select(Job.id).where(
        Job.asked_as.in_((literal(f"{READ}:") + Document.id, literal(f"{READ_AGAIN}:") + Document.id)),
        Job.kind.in_((READ, READ_AGAIN)),
    )
    of_reading = later.where((Job.kind == READ) | Job.created_by.is_(None)).exists()
    for row in session.execute(_ready().where(which, Document.created_at >= since, ~of_reading)):
        yield _ready_event(row, row.created_at)


def _read_documents(session: Session, projects: Collection[str], since: datetime) -> Iterator[Event]:
    """Yield the documents of which a job has read the last pages, or the last words."""
    ended = select(Job.kind, Job.status, Job.result, Job.payload, Job.finished_at).where(
        Job.project_id.in_(projects),
        Job.kind.in_((READ, READ_AGAIN)),
        Job.status.in_(ENDED),
        Job.finished_at >= since,
        (Job.kind == READ) | Job.created_by.is_(None),
    )
    times: dict[str, datetime] = {}
    for job in session.execute(ended):
        document_id = str(job.payload["document_id"])
        times[document_id] = max(times.get(document_id, job.finished_at), job.finished_at)
    ids = list(times)
    for start in range(0, len(ids), _AT_ONCE):
        batch = ids[start : start + _AT_ONCE]
        missing = _lacking(session, batch)
        for row in session.execute(_ready().where(Document.id.in_(batch))):
            if row.id not in missing:
                yield _ready_event(row, times[row.id])


def _lacking(session: Session, documents: Collection[str]) -> set[str]:
    """Return the documents of which pages or words are still to be read, or were never read."""
    keys = [f"{kind}:{document}" for document in documents for kind in (READ, READ_AGAIN)]
    jobs = select(Job.kind, Job.status, Job.result, Job.payload, Job.created_by).where(Job.asked_as.in_(keys))
    lacking = set()
    for job in session.execute(jobs.order_by(Job.id)):
        document_id = str(job.payload["document_id"])
        asked_by_hand = job.kind == READ_AGAIN and job.created_by is not None
        cut_off = job.kind == READ and (job.status != "done" or bool(job.result.get(CUT_OFF)))
        if not asked_by_hand and (job.status not in ENDED or cut_off):
            lacking.add(document_id)
    return lacking


def _ready() -> Any:
    pages = select(func.count(Page.id)).where(Page.document_id == Document.id).scalar_subquery()
    columns = Document.id, Document.project_id, Document.name, Document.created_at, Document.created_by
    return select(*columns, pages.label("pages"), User.name.label("author")).outerjoin(
        User, User.id == Document.created_by
    )


def _ready_event(row: Any, at: datetime) -> Event:
    data = {
        "document": {"id": row.id, "name": row.name, "pages": row.pages},
        "by": _person(row.created_by, row.author),
        "link": f"/app/#project={row.project_id}&document={row.id}",
    }
    return Event("document.ready", f"document.ready:{row.id}", at, row.project_id, data)


def _runs(session: Session, projects: Collection[str], since: datetime) -> Iterator[Event]:
    chosen = (
        select(Run.id, Run.project_id, Run.finished_at, Run.verdict, ModelVersion)
        .outerjoin(ModelVersion, ModelVersion.id == Run.challenger_id)
        .where(Run.project_id.in_(projects), Run.status == "judged", Run.finished_at >= since)
    )
    for row in session.execute(chosen):
        data = {
            "run": {"id": row.id, "passed": bool(row.verdict.get("passed"))},
            "model": _model(row.ModelVersion),
            "link": f"/app/#project={row.project_id}",
        }
        yield Event("run.judged", f"run.judged:{row.id}", row.finished_at, row.project_id, data)


def _promotions(session: Session, projects: Collection[str], since: datetime) -> Iterator[Event]:
    before = aliased(ModelVersion)
    chosen = (
        select(Promotion, ModelVersion, before, User.name)
        .join(ModelVersion, ModelVersion.id == Promotion.version_id)
        .outerjoin(before, before.id == Promotion.previous_id)
        .outerjoin(User, User.id == Promotion.promoted_by)
        .where(Promotion.project_id.in_(projects), Promotion.created_at >= since)
    )
    for promotion, version, previous, author in session.execute(chosen):
        data = {
            "model": _model(version),
            "previous": _model(previous),
            "kind": promotion.kind,
            "by": _person(promotion.promoted_by, author),
            "link": f"/app/#project={promotion.project_id}",
        }
        yield Event(
            "model.promoted", f"model.promoted:{promotion.id}", promotion.created_at, promotion.project_id, data
        )


def _model(version: ModelVersion | None) -> dict[str, str] | None:
    return None if version is None else {"id": version.id, "name": label(version)}


def _exports(session: Session, projects: Collection[str], since: datetime) -> Iterator[Event]:
    asked_by = cast(Job.payload["user_id"].as_string(), String)
    chosen = (
        select(Job.id, Job.project_id, Job.finished_at, Job.payload, Job.result, User.id.label("author_id"), User.name)
        .outerjoin(User, User.id == asked_by)
        .where(Job.project_id.in_(projects), Job.kind == _EXPORT, Job.status == "done", Job.finished_at >= since)
    )
    for row in session.execute(chosen):
        if row.payload["once"]:  # its file went to the one request that waited for it
            continue
        data = {
            "export": {"id": row.id, "format": row.payload["format"], "answers": row.result.get("answers")},
            "by": _person(row.author_id, row.name),
            "link": f"/api/projects/{row.project_id}/exports/{row.id}/file",
        }
        yield Event("export.ready", f"export.ready:{row.id}", row.finished_at, row.project_id, data)

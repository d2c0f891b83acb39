"""Documents from which figures are to be derived anew: each unit of work collects them, for its changes (db.changes).

Objects of the ORM, and statements that update answers or add documents, are seen by events of their session. The code
that runs other statements calls `mark_dirty`. Followers (engine.followers) derive the figures after the commit.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, bindparam, event, inspect, select, true
from sqlalchemy.orm import ORMExecuteState, Session

from db.changes import DIRTY, DIRTY_VALUES, ObservedSession
from db.tables import Annotation, AutomaticAnswer, Document, LabelReview, Page, Review, SurveyAnswer, Task

AT_ONCE = 500  # rows of one statement: databases limit its parameters
_DIRTY = "dirty_documents"  # in the info of a session


@dataclass(slots=True)
class _Dirty:
    """Documents that one unit of work has made dirty; some are known by an answer, or without their project."""

    documents: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))  # by project
    of_any_project: dict[str, None] = field(default_factory=dict)
    annotations: dict[str, None] = field(default_factory=dict)
    values: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))  # by project
    tasks: dict[str, None] = field(default_factory=dict)  # whose automatic answers have changed


def mark_dirty(session: Session, project_id: str, document_ids: Iterable[str]) -> None:
    """Note documents of a project whose pages, tasks, answers or reviews have changed."""
    _dirty(session).documents[project_id].update(dict.fromkeys(document_ids))


def mark_values_dirty(session: Session, project_id: str, document_ids: Iterable[str]) -> None:
    """Note documents of a project whose values may be others, and nothing else (engine.followers.field_values)."""
    _dirty(session).values[project_id].update(dict.fromkeys(document_ids))


def take_dirty(session: Session) -> dict[tuple[str, str], list[str]]:
    """Return the dirty documents of the unit of work, by project and topic; called once, before its commit."""
    session.flush()
    dirty: _Dirty | None = session.info.pop(_DIRTY, None)
    if dirty is None:
        return {}
    for chosen, ids, into in (
        (_OF_ANSWERS, dirty.annotations, dirty.documents),
        (_OF_DOCUMENTS, dirty.of_any_project, dirty.documents),
        (_OF_TASKS, dirty.tasks, dirty.values),
    ):
        ordered = list(ids)
        for start in range(0, len(ordered), AT_ONCE):
            rows = session.connection().execute(chosen, {"ids": ordered[start : start + AT_ONCE]})
            for project_id, document_id in rows.tuples():
                into[project_id][document_id] = None
    waiting = {(project_id, DIRTY): list(documents) for project_id, documents in dirty.documents.items()}
    for project_id, documents in dirty.values.items():
        waiting[project_id, DIRTY_VALUES] = [
            document for document in documents if document not in dirty.documents[project_id]
        ]
    return {key: documents for key, documents in waiting.items() if documents}


def _dirty(session: Session) -> _Dirty:
    dirty: _Dirty = session.info.setdefault(_DIRTY, _Dirty())
    return dirty


_IDS: Any = bindparam("ids", expanding=True)
_OF_ANSWERS = select(Annotation.project_id, Annotation.document_id).where(Annotation.id.in_(_IDS)).distinct()
_OF_TASKS = select(Task.project_id, Task.document_id).where(Task.id.in_(_IDS)).distinct()
_OF_DOCUMENTS = select(Document.project_id, Document.id).where(Document.id.in_(_IDS))


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in (*session.new, *session.deleted):
        if isinstance(row, Document):
            mark_dirty(session, row.project_id, [row.id])
        elif isinstance(row, Annotation | Task):
            mark_dirty(session, row.project_id, [row.document_id])
        elif isinstance(row, Page):
            _dirty(session).of_any_project[row.document_id] = None
        elif isinstance(row, Review | LabelReview):
            _dirty(session).annotations[row.annotation_id] = None
        elif isinstance(row, SurveyAnswer):
            mark_values_dirty(session, row.project_id, [row.document_id])
        elif isinstance(row, AutomaticAnswer):
            _dirty(session).tasks[row.task_id] = None
    for row in session.dirty:
        if isinstance(row, LabelReview):
            _dirty(session).annotations[row.annotation_id] = None
        elif isinstance(row, AutomaticAnswer):
            _dirty(session).tasks[row.task_id] = None
        elif (isinstance(row, Annotation) and _has_changed(row, "status", "edited_by")) or (
            isinstance(row, Task) and _has_changed(row, "wanted", "closed_at", "gold_revision_id")
        ):
            mark_dirty(session, row.project_id, [row.document_id])


def _has_changed(row: Any, *names: str) -> bool:
    attributes = inspect(row).attrs
    return any(attributes[name].history.has_changes() for name in names)


def _see_statement(state: ORMExecuteState) -> None:
    table = state.bind_mapper.class_ if state.bind_mapper is not None else None
    if state.is_update and table is Annotation:
        condition: ColumnElement[bool] | None = getattr(state.statement, "whereclause", None)
        changed = select(Annotation.project_id, Annotation.document_id).where(
            true() if condition is None else condition
        )
        parameters = state.parameters if isinstance(state.parameters, Mapping) else {}
        for project_id, document_id in state.session.connection().execute(changed.distinct(), parameters).tuples():
            mark_dirty(state.session, project_id, [document_id])
    elif state.is_insert and table is Document:
        rows: Any = state.parameters if isinstance(state.parameters, list) else [state.parameters or {}]
        _dirty(state.session).of_any_project.update(dict.fromkeys(row["id"] for row in rows if "id" in row))


event.listen(ObservedSession, "after_flush", _see_flushed)
event.listen(ObservedSession, "do_orm_execute", _see_statement)

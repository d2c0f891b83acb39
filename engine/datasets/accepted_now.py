"""Accepted revisions of a project, of which only those of changed documents are read again.

Workers look every few seconds whether a retraining is due. In a large project each look would read every answer.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from engine import changes
from engine.datasets import snapshots
from engine.workspace import Workspace

_PROJECTS = 20  # kept in memory; one with 50,000 answers takes about 20 MB
_AT_ONCE = 500  # documents of one statement: databases limit its parameters

_Key = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Known:
    """Accepted revisions up to a change, by document and together."""

    cursor: int
    by_document: dict[str, dict[str, datetime]]
    together: dict[str, datetime]


_remembered: OrderedDict[_Key, _Known] = OrderedDict()
_lock = threading.Lock()


def accepted_now(workspace: Workspace, project_id: str, splits: tuple[str, ...]) -> dict[str, datetime]:
    """Return `snapshots.accepted_revisions` of a project; do not change what is returned.

    Args:
        workspace: open workspace.
        project_id: project.
        splits: splits of the documents.
    """
    key = (str(workspace.database.url), project_id, splits)
    with _lock:
        known = _remembered.get(key)
    with workspace.database.read() as session:
        # The place among the changes is read first: what is committed after it only makes the answers newer.
        cursor, touched = changes.newest(session), None
        if known is not None:
            cursor, touched = changes.touched_documents(session, project_id, known.cursor)
        if known is None or touched is None or len(touched) > _AT_ONCE:
            by_document = snapshots.accepted_by_document(session, project_id, splits)
            known = _Known(cursor, by_document, _together(by_document))
        elif touched:
            newer = snapshots.accepted_by_document(session, project_id, splits, touched)
            known = _updated(known, cursor, touched, newer)
        elif cursor != known.cursor:
            known = _Known(cursor, known.by_document, known.together)
    with _lock:
        _remembered[key] = known
        _remembered.move_to_end(key)
        while len(_remembered) > _PROJECTS:
            _remembered.popitem(last=False)
    return known.together


def _together(by_document: dict[str, dict[str, datetime]]) -> dict[str, datetime]:
    return {revision: made for some in by_document.values() for revision, made in some.items()}


def _updated(known: _Known, cursor: int, touched: set[str], newer: dict[str, dict[str, datetime]]) -> _Known:
    """Return what is known with the touched documents read again; readers may still hold the old one."""
    by_document, together = dict(known.by_document), dict(known.together)
    for document_id in touched:
        for revision in by_document.pop(document_id, {}):
            del together[revision]
    by_document |= newer
    return _Known(cursor, by_document, together | _together(newer))

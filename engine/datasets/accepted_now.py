"""Accepted revisions of a project, counted again only after something has changed.

Workers look every few seconds whether a retraining is due. In a large project each look would read every answer.
"""

import threading
from collections import OrderedDict
from datetime import datetime
from time import monotonic

from engine import changes
from engine.datasets import snapshots
from engine.workspace import Workspace

_PROJECTS = 20  # kept in memory; one with 50,000 answers takes about 10 MB
_LASTS = changes.KEPT.total_seconds() / 4  # changes are deleted later than that, so none can come and go unseen

_Key = tuple[str, str, tuple[str, ...]]
_remembered: OrderedDict[_Key, tuple[changes.Mark, float, dict[str, datetime]]] = OrderedDict()
_lock = threading.Lock()


def accepted_now(workspace: Workspace, project_id: str, splits: tuple[str, ...]) -> dict[str, datetime]:
    """Return `snapshots.accepted_revisions` of a project; do not change what is returned.

    Args:
        workspace: open workspace.
        project_id: project.
        splits: splits of the documents.
    """
    key = (str(workspace.database.url), project_id, splits)
    with workspace.database.read() as session:
        mark = changes.mark(session)  # read first: what is committed after it only makes the answers newer
        with _lock:
            known = _remembered.get(key)
        if known is not None and known[0] == mark and monotonic() - known[1] < _LASTS:
            return known[2]
        began = monotonic()
        accepted = snapshots.accepted_revisions(session, project_id, splits)
    with _lock:
        _remembered[key] = mark, began, accepted
        _remembered.move_to_end(key)
        while len(_remembered) > _PROJECTS:
            _remembered.popitem(last=False)
    return accepted

"""Accepted revisions of a project, of which only those of changed documents are read and summed again.

Workers look every few seconds whether a retraining is due. In a large project each look would read every answer.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engine import changes
from engine.datasets import snapshots
from engine.workspace import Workspace

_PROJECTS = 20  # kept in memory; one with 50,000 answers takes about 20 MB
_AT_ONCE = 500  # documents of one statement: databases limit its parameters

_Key = tuple[str, str, tuple[str, ...]]
_Shards = dict[int, "_Shard"]


@dataclass(frozen=True, slots=True)
class Remaining:
    """Number of accepted revisions that a training has not seen, and the time of the oldest; None without any."""

    count: int
    oldest: datetime | None

    def __bool__(self) -> bool:
        return self.count > 0


@dataclass(frozen=True, slots=True)
class AcceptedNow:
    """Accepted revisions of a project; readers may hold one while a newer one is made.

    Attributes:
        count: Their number.
        newest: Time of the newest, in UTC; None without any.
    """

    count: int
    newest: datetime | None
    _shards: _Shards = field(repr=False)

    def revisions(self) -> dict[str, datetime]:
        """Return all revisions with their times, in UTC. Costs as much as there are."""
        several = (shard.by_document.values() for shard in self._shards.values())
        return {revision: made for shard in several for some in shard for revision, made in some.items()}

    def without(self, sha256: str, seen: Collection[str]) -> Remaining:
        """Return what remains without some revisions.

        Args:
            sha256: Names the revisions: what it named once is not compared again.
            seen: The revisions.
        """
        parts = [shard.without(sha256, seen) for shard in self._shards.values()]
        oldest = min((part.oldest for part in parts if part.oldest is not None), default=None)
        return Remaining(sum(part.count for part in parts), oldest)


@dataclass(frozen=True, slots=True)
class _Shard:
    """The revisions of one of 256 parts of the documents: a change copies and sums a part, not all."""

    by_document: Mapping[str, Mapping[str, datetime]]
    count: int
    newest: datetime | None
    compared: dict[str, Remaining] = field(default_factory=dict)  # with the newest manifest

    def without(self, sha256: str, seen: Collection[str]) -> Remaining:
        known = self.compared.get(sha256)
        if known is None:
            several = self.by_document.values()
            left = [made for some in several for revision, made in some.items() if revision not in seen]
            known = Remaining(len(left), min(left, default=None))
            self.compared.clear()
            self.compared[sha256] = known
        return known


@dataclass(frozen=True, slots=True)
class _Known:
    """Accepted revisions up to a change."""

    cursor: int
    accepted: AcceptedNow


_remembered: OrderedDict[_Key, _Known] = OrderedDict()
_lock = threading.Lock()


def accepted_now(workspace: Workspace, project_id: str, splits: tuple[str, ...]) -> AcceptedNow:
    """Return the revisions of `snapshots.accepted_revisions` of a project.

    Args:
        workspace: Open workspace.
        project_id: Project.
        splits: Splits of the documents.
    """
    key = (str(workspace.database.url), project_id, splits)
    with _lock:
        known = _remembered.get(key)
    with workspace.database.read() as session:
        # The place among the changes is read first: what is committed after it only makes the answers newer.
        if known is None:
            cursor, touched = changes.newest(session), None
        else:
            cursor, touched = changes.touched_documents(session, project_id, known.cursor)
        if known is None or touched is None or len(touched) > _AT_ONCE:
            by_document = snapshots.accepted_by_document(session, project_id, splits)
            known = _Known(cursor, _join_shards(_make_shards(by_document)))
        elif touched:
            newer = snapshots.accepted_by_document(session, project_id, splits, touched)
            known = _Known(cursor, _replace_documents(known.accepted, touched, newer))
        elif cursor != known.cursor:
            known = _Known(cursor, known.accepted)
    with _lock:
        _remembered[key] = known
        _remembered.move_to_end(key)
        while len(_remembered) > _PROJECTS:
            _remembered.popitem(last=False)
    return known.accepted


def _replace_documents(
    accepted: AcceptedNow, touched: Iterable[str], newer: Mapping[str, Mapping[str, datetime]]
) -> AcceptedNow:
    """Return the revisions with those of the touched documents replaced."""
    by_shard: dict[int, list[str]] = defaultdict(list)
    for document_id in touched:
        by_shard[_shard_number(document_id)].append(document_id)
    shards = dict(accepted._shards)
    for place, documents in by_shard.items():
        revisions_by_document = dict(shards[place].by_document) if place in shards else {}
        for document_id in documents:
            revisions_by_document.pop(document_id, None)
            if document_id in newer:
                revisions_by_document[document_id] = newer[document_id]
        shards[place] = _make_shard(revisions_by_document)
    return _join_shards(shards)


def _make_shards(by_document: Mapping[str, Mapping[str, datetime]]) -> _Shards:
    parts: dict[int, dict[str, Mapping[str, datetime]]] = defaultdict(dict)
    for document_id, revisions in by_document.items():
        parts[_shard_number(document_id)][document_id] = revisions
    return {place: _make_shard(part) for place, part in parts.items()}


def _make_shard(by_document: Mapping[str, Mapping[str, datetime]]) -> _Shard:
    newest = max((made for some in by_document.values() for made in some.values()), default=None)
    return _Shard(by_document, sum(map(len, by_document.values())), newest)


def _join_shards(shards: _Shards) -> AcceptedNow:
    newest = max((shard.newest for shard in shards.values() if shard.newest is not None), default=None)
    return AcceptedNow(sum(shard.count for shard in shards.values()), newest, shards)


def _shard_number(document_id: str) -> int:
    # The end of an id is random; its beginning is a time, so documents of one day would share a part.
    return int(document_id[-2:], 16)

"""Counts of a snapshot's answers, for dataset cards and the heads of files.

The rows of the manifest are counted as they are stored: making the states of answers takes longer than counting them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import select

from db.statuses import AUTOMATIC
from db.tables import Revision
from engine.datasets.manifest import parts_of
from engine.datasets.manifest_rows import QUARANTINED
from engine.workspace import Workspace

UNKNOWN_LICENCE = "unknown"
SPLITS = {"train": "train", "recent": "validation", "frozen": "test", QUARANTINED: QUARANTINED}
_AT_ONCE = 400  # answers whose effort is read by one statement

_Row = dict[str, Any]


@dataclass(slots=True)
class Figures:
    """Counts of answers and documents, and the active work behind them."""

    documents: Counter[str] = field(default_factory=Counter)  # split -> documents
    answers: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)  # documents
    authors: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)  # whose proposals people began with
    automatic: Counter[str] = field(default_factory=Counter)  # who answered without a person
    statuses: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    weights: float = 0.0
    reduced: int = 0
    seconds: float = 0.0
    timed: int = 0


def count_answers(workspace: Workspace, sha256: str, look: Callable[[], None]) -> Figures:
    """Count the answers of a snapshot that are exported: empty drafts are left out.

    Args:
        workspace: Where the snapshot and the revisions are stored.
        sha256: The snapshot.
        look: Called before each some hundred answers; what it raises ends the count.
    """
    figures = Figures()
    waiting: list[_Row] = []
    for document, items in _documents(workspace, sha256):
        split = SPLITS[document["split"]]
        figures.documents[split] += 1
        figures.licences[document["licence"] or UNKNOWN_LICENCE] += 1
        for item in items:
            (figures.unanswered if item["state"]["no_answer"] else figures.answers)[split] += 1
            figures.statuses[item["status"]] += 1
            figures.questions[item["question"]] += 1
            if item["status"] == AUTOMATIC:
                figures.automatic[item["model_version"] or ""] += 1
                continue
            figures.authors[item["author"]] += 1
            figures.models[item["model_version"] or ""] += 1
            figures.weights += item.get("weight", 1.0)
            figures.reduced += item.get("weight", 1.0) < 1
        waiting += items
        if len(waiting) >= _AT_ONCE:
            look()
            _add_effort(workspace, waiting, figures)
            waiting = []
    _add_effort(workspace, waiting, figures)
    return figures


def _documents(workspace: Workspace, sha256: str) -> Iterator[tuple[_Row, list[_Row]]]:
    """Yield each document with its answers that are exported, as the manifest holds them."""
    for part in parts_of(workspace, sha256):
        documents = {row["id"]: row for row in part["documents"]}
        place = {document: at for at, document in enumerate(documents)}
        rows = sorted(part["items"], key=lambda one: (place[one["document_id"]], one["annotation_id"]))
        for document_id, of_document in groupby(rows, key=lambda one: one["document_id"]):
            items = [row for row in of_document if _says_something(row["state"])]
            if items:
                yield documents[document_id], items


def _says_something(state: _Row) -> bool:
    return bool(state["no_answer"]) or any(mark["mask"]["counts"] for mark in state["pages"].values())


def _add_effort(workspace: Workspace, items: list[_Row], found: Figures) -> None:
    """Add the seconds of active work up to each frozen revision: revisions never change."""
    frozen = {item["annotation_id"]: item["revision"] for item in items}
    statement = (
        select(Revision.annotation_id, Revision.number, Revision.seconds)
        .where(Revision.annotation_id.in_(frozen))
        .order_by(Revision.annotation_id, Revision.number)
    )
    spent: dict[str, float] = dict.fromkeys(frozen, 0.0)
    with workspace.database.read() as session:
        for annotation, number, seconds in session.execute(statement):
            if number <= frozen[annotation]:
                spent[annotation] += seconds or 0.0
    for annotation in sorted(spent):
        if spent[annotation] > 0:
            found.seconds += spent[annotation]
            found.timed += 1

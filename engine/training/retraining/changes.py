"""Changes between champion and challenger, question by question.

A run stores them as a blob beside its verdict, so that they can be inspected as long as the run exists.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from db.tables import Document, Page, Run
from engine.datasets.manifest import canonical
from engine.errors import NotFound
from engine.grounded import GroundedPage
from engine.queries import existing
from engine.training.evaluation.metrics import HIT, Scored
from engine.training.retraining.gate import GENERATED, OWN, TAUGHT, Holdout
from engine.workspace import Workspace

Kind = Literal["gained", "lost", "better", "worse", "same"]
SLIGHT = 0.01  # of IoU: smaller differences count as unchanged
_SHOWN = (OWN, "recent", "frozen", TAUGHT, GENERATED)  # "recent" and "frozen": of runs of earlier versions


class Change(BaseModel):
    """Change of one question: score of the champion ("before") and of the challenger ("after").

    - gained, lost: found (IoU above one half) now or before only; for an unanswerable question, declined.
    - better, worse: found or missed both times, with another IoU.

    Ids and names are None for generated pages.
    """

    holdout: str
    kind: Kind
    question: str
    answerable: bool
    before: float  # IoU; for an unanswerable question the probability of "not in the document"
    after: float
    page_id: str
    page_number: int | None = None
    document_id: str | None = None
    document: str | None = None


class Changes(BaseModel):
    """Changes of a run: counts by kind, and the requested ones, largest first."""

    counts: dict[str, dict[str, int]]  # holdout -> kind -> questions
    changes: list[Change]


def keep(workspace: Workspace, holdouts: Sequence[Holdout], pages: Mapping[str, GroundedPage]) -> str:
    """Store the changes on all holdouts; return the SHA-256 of the blob."""
    rows = [row for holdout in holdouts for row in _rows(holdout, pages)]
    return workspace.blobs.put(canonical(rows))


def changes_of(workspace: Workspace, run_id: str, *, kinds: Sequence[Kind] | None = None, limit: int = 200) -> Changes:
    """Return the changes of a run: at most `limit` questions of some kinds, largest first.

    `kinds` None: all except "same". Empty before a verdict, or for versions without stored changes. Raises NotFound
    when there is no such run.
    """
    with workspace.database.read() as session:
        run = existing(session, Run, run_id)
    sha256 = run.verdict.get("changes_sha256")
    if sha256 is None:
        return Changes(counts={}, changes=[])
    try:
        rows: list[dict[str, Any]] = json.loads(workspace.blobs.read(sha256))
    except LookupError as error:
        raise NotFound(f"The list of changes is missing; restore it from a backup: {error}") from None
    changes = [Change(**row) for row in rows]
    counts: dict[str, dict[str, int]] = {}
    for change in changes:
        of = counts.setdefault(change.holdout, {})
        of[change.kind] = of.get(change.kind, 0) + 1
    chosen = [change for change in changes if (change.kind != "same" if kinds is None else change.kind in kinds)]
    chosen.sort(
        key=lambda change: (
            _SHOWN.index(change.holdout),
            -abs(change.after - change.before),
            change.page_id,
            change.question,
        )
    )
    return Changes(counts=counts, changes=_name_documents(workspace, chosen[:limit]))


def _rows(holdout: Holdout, pages: Mapping[str, GroundedPage]) -> list[dict[str, Any]]:
    texts = {
        (page_id, question.question_id): question.question
        for page_id in {score.page_id for score in holdout.champion}
        for question in pages[page_id].questions
    }
    rows = []
    for before_score, after_score in zip(holdout.champion, holdout.challenger, strict=True):
        before, after = _figure(before_score), _figure(after_score)
        rows.append(
            {
                "holdout": holdout.name,
                "kind": _kind(before, after),
                "question": texts[before_score.page_id, before_score.question_id],
                "answerable": before_score.answerable,
                "before": round(before, 4),
                "after": round(after, 4),
                "page_id": before_score.page_id,
            }
        )
    return rows


def _figure(scored: Scored) -> float:
    return scored.iou if scored.answerable else 1 - scored.answered


def _kind(before: float, after: float) -> Kind:
    if (before > HIT) != (after > HIT):
        return "gained" if after > HIT else "lost"
    if abs(after - before) < SLIGHT:
        return "same"
    return "better" if after > before else "worse"


def _name_documents(workspace: Workspace, chosen: list[Change]) -> list[Change]:
    """Return the changes with the documents of pages that still exist."""
    with workspace.database.read() as session:
        for change in chosen:
            page = session.get(Page, change.page_id) if change.holdout != GENERATED else None
            document = session.get(Document, page.document_id) if page is not None else None
            if page is not None and document is not None:
                change.page_number, change.document_id, change.document = page.number, document.id, document.name
    return chosen

"""Views of snapshots: number of answers, weights, and answers left out with reasons. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED
from db.tables import ModelVersion, Project, Run, Snapshot
from engine.datasets.manifest import LeftOut, left_out_count, left_out_of, people_of, weights_of
from engine.datasets.quality import SENTENCES
from engine.errors import NotFound, Refused
from engine.paging import Order, Page
from engine.queries import existing
from engine.workspace import Workspace

MOST_LISTED = 1000  # snapshots of one page
_MOST_SEARCHED = 200  # newest snapshots among which that of a retraining is looked for


class SnapshotLine(BaseModel):
    """Snapshot in a list."""

    id: str
    sha256: str
    splits: list[str] = Field(description="Splits that it took; empty for all.")
    annotations: int
    documents: int
    left_out: dict[str, int] = Field(description="Name of a check: how many answers failed it.")
    reduced: int = Field(description="Answers of people that weigh less than 1.")
    weightless: int = Field(description="Answers of weight 0.")
    created_at: datetime
    needed: str = Field(description="Sentence that names the run or model that needs it; empty: it can be removed.")


class LeftOutLine(BaseModel):
    """Accepted answer that was left out, and why."""

    annotation_id: str
    document_id: str
    document: str
    question: str
    author: str
    sentences: list[str]


class PersonWeight(BaseModel):
    """Weight of one person's answers in a snapshot, and its basis."""

    person: str
    labels: int
    mean_weight: float | None = Field(description="Of the labels, 0..1; None without any.")
    reliability: float | None = Field(description="From agreement and gold answers, 0..1; None when never compared.")
    comparisons: int
    gold_questions: int


class SnapshotView(SnapshotLine):
    """Snapshot with the answers left out and with people's weights, the lightest first."""

    left_out_answers: int = Field(description="Accepted answers that were left out; the list may be shorter.")
    left_out_labels: list[LeftOutLine]
    people: list[PersonWeight]


def snapshot_lines(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> Page[SnapshotLine]:
    """Return a page of the snapshots of a project, newest first; `limit`: at most MOST_LISTED.

    Raises NotFound when there is no such project, Refused for the cursor of another list.
    """
    order = Order(f"snapshots {project_id}", (Snapshot.created_at, Snapshot.id), falls=True)
    chosen = select(Snapshot).where(Snapshot.project_id == project_id)
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        needs = needs_of(session, project_id, [row for (row,) in rows])
    return Page((_line(row, needs) for (row,) in rows), following)


def needs_of(session: Session, project_id: str, snapshots: Sequence[Snapshot]) -> dict[str, str]:
    """Return by id, for those snapshots of a project that a run or a model needs, the sentence that says so."""
    names = {snapshot.id: snapshot.sha256[:12] for snapshot in snapshots}
    versions = select(ModelVersion.snapshot_id, ModelVersion.number).where(
        ModelVersion.project_id == project_id, ModelVersion.snapshot_id.in_(names)
    )
    runs = select(Run.snapshot_id, Run.created_at).where(Run.project_id == project_id, Run.snapshot_id.in_(names))
    needs = {
        str(key): f"The model v{number} learned from the snapshot {names[str(key)]}; it cannot be removed."
        for key, number in session.execute(versions.order_by(ModelVersion.number.desc()))
    }
    for key, moment in session.execute(runs.order_by(Run.id.desc())):  # the first run says more than its model
        needs[key] = f"The run of {moment:%Y-%m-%d} learned from the snapshot {names[key]}; it cannot be removed."
    return needs


def snapshot_view(workspace: Workspace, project_id: str, begins: str, most: int | None = None) -> SnapshotView:
    """Return a snapshot by the first digits of its SHA-256 or id. Raises as `snapshot_named`.

    Args:
        workspace: Open workspace.
        project_id: Project of the snapshot.
        begins: First digits of its SHA-256 or id.
        most: Most answers left out that are listed; None for all.
    """
    snapshot = snapshot_named(workspace, project_id, begins)
    with workspace.database.read() as session:
        line = _line(snapshot, needs_of(session, project_id, [snapshot]))
    facts = _facts(_Manifest(line.sha256, workspace), most)
    weights, known = facts.weights, facts.people
    people = [
        PersonWeight(
            person=name,
            labels=weights[name][0] if name in weights else 0,
            mean_weight=round(weights[name][1] / weights[name][0], 4) if name in weights else None,
            reliability=known.get(name, {}).get("reliability"),
            comparisons=known.get(name, {}).get("comparisons", 0),
            gold_questions=known.get(name, {}).get("gold_questions", 0),
        )
        for name in weights.keys() | known.keys()
    ]
    left_out = [
        LeftOutLine(
            annotation_id=row.annotation_id,
            document_id=row.document_id,
            document=row.document,
            question=row.question,
            author=row.author,
            sentences=[SENTENCES.get(reason, reason) for reason in row.reasons],
        )
        for row in facts.left_out
    ]

    def lightest(row: PersonWeight) -> tuple[float, str]:
        """Return the sort key: mean weight, then name."""
        return (row.reliability if row.reliability is not None else 1.0, row.person)

    return SnapshotView(
        **line.model_dump(),
        left_out_answers=facts.left_out_answers,
        left_out_labels=left_out,
        people=sorted(people, key=lightest),
    )


@dataclass(frozen=True, slots=True)
class _Manifest:
    sha256: str  # of its content: equal manifests are equal keys
    workspace: Workspace = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Facts:
    weights: dict[str, tuple[int, float]]
    people: dict[str, dict[str, Any]]
    left_out: tuple[LeftOut, ...]
    left_out_answers: int


@lru_cache(8)  # a tab asks at each change, and formats up to 3 tell it only when all their answers are read
def _facts(manifest: _Manifest, most: int | None) -> _Facts:
    where = manifest.workspace, manifest.sha256
    left_out = tuple(islice(left_out_of(*where), most))
    return _Facts(weights_of(*where), people_of(*where), left_out, left_out_count(*where))


def snapshot_named(workspace: Workspace, project_id: str, begins: str) -> Snapshot:
    """Return the row of a snapshot by the first digits of its SHA-256 or id.

    Raises NotFound for none, Refused for several.
    """
    named = or_(Snapshot.sha256.startswith(begins, autoescape=True), Snapshot.id.startswith(begins, autoescape=True))
    with workspace.database.read() as session:
        snapshots = session.scalars(select(Snapshot).where(Snapshot.project_id == project_id, named).limit(2)).all()
    if not snapshots:
        raise NotFound(f"There is no snapshot {begins!r} in this project; glossator snapshots list shows them.")
    if len(snapshots) > 1:
        raise Refused(f"Several snapshots begin with {begins!r}; give more of its SHA-256.")
    return snapshots[0]


def newest_view(workspace: Workspace, project_id: str, most: int | None = None) -> SnapshotView | None:
    """Return the newest snapshot of a retraining, or frozen with the filters of one; `most` as in `snapshot_view`.

    None without any, or when its file is missing.
    """
    to_teach = {"splits": ["train"], "statuses": list(ACCEPTED), "quarantined": False, "unfit": False}
    with workspace.database.read() as session:
        newest = select(Snapshot.id, Snapshot.filters).where(Snapshot.project_id == project_id)
        rows = session.execute(
            newest.order_by(Snapshot.created_at.desc(), Snapshot.id.desc()).limit(_MOST_SEARCHED)
        ).all()
        taught = set(session.scalars(select(Run.snapshot_id).where(Run.project_id == project_id)))
    # The same choice is the same snapshot: one that an export froze first keeps the export's filters.
    newest_id = next((row.id for row in rows if row.id in taught or row.filters == to_teach), None)
    if newest_id is None:
        return None
    try:
        return snapshot_view(workspace, project_id, newest_id, most)
    except Refused:
        return None


def _line(row: Snapshot, needs: Mapping[str, str]) -> SnapshotLine:
    counts = row.counts
    return SnapshotLine(
        id=row.id,
        sha256=row.sha256,
        splits=list(row.filters.get("splits") or []),
        annotations=int(counts.get("annotations", 0)),
        documents=int(counts.get("documents", 0)),
        left_out=dict(counts.get("left_out", {})),
        reduced=int(counts.get("reduced", 0)),
        weightless=int(counts.get("weightless", 0)),
        created_at=row.created_at,
        needed=needs.get(row.id, ""),
    )

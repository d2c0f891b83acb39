"""Agreement in a project: between people, with gold answers, and of the model with accepted answers.

A person's own answer is the first one they submitted: afterwards they see other answers and reviews, so later fixes are
not independent. People and model are measured alike, so agreement between people is the ceiling of the model's. Both
start from the same proposal, which raises both.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Prediction, Review, Revision, Task
from engine.annotation.agreement import Agreement, Mean, compare, mean
from engine.annotation.proposal import newest_alone, shown_state
from engine.annotation.state import AnnotationState
from engine.datasets.comparisons import Comparisons, batches, compare_people, compare_with_gold, states_of
from engine.datasets.weights import Reliability, reliabilities
from engine.projects.projects import project_by_id
from engine.queries import is_newest
from engine.statuses import ACCEPTED, REMOVED
from engine.workspace import Workspace

_AT_ONCE = 200  # states in memory
NEWEST = 5000  # newest accepted answers that the model is compared with; older ones describe older models
_KEPT = 50  # projects with cached figures


@dataclass(frozen=True, slots=True)
class Pair:
    """Agreement of two people over the questions that both answered."""

    people: tuple[str, str]
    questions: int
    iou: float | None
    word_f1: float | None


@dataclass(frozen=True, slots=True)
class PersonAgreement:
    """Agreement of a person with all others, and with unannounced gold answers."""

    person: str
    questions: int
    iou: float | None
    word_f1: float | None
    gold_questions: int
    gold_iou: float | None


@dataclass(frozen=True, slots=True)
class ProjectAgreement:
    """Agreement figures of a project; `model` compares proposals with at most NEWEST accepted answers.

    `reliability`: of everybody who was compared with others or with gold answers, the least reliable first.
    """

    pairs: list[Pair]
    people: list[PersonAgreement]
    between_people: Mean
    model: Mean
    reliability: list[Reliability] = field(default_factory=list)


# Project -> (basis, figures). Comparing thousands of masks takes seconds, so results are cached.
_Basis = tuple[object, ...]
_remembered: OrderedDict[str, tuple[_Basis, ProjectAgreement]] = OrderedDict()
_lock = threading.Lock()


def project_agreement(workspace: Workspace, project_id: str) -> ProjectAgreement:
    """Return the agreement figures of a project; cached until its answers change.

    Raises NotFound when there is no such project.
    """
    project_by_id(workspace, project_id)
    with workspace.database.read() as session:
        basis = _basis(session, project_id)
    with _lock:
        before, figures = _remembered.get(project_id, ((), None))
    if figures is None or before != basis:
        figures = _computed(workspace, project_id)
    with _lock:
        _remembered[project_id] = basis, figures
        _remembered.move_to_end(project_id)
        while len(_remembered) > _KEPT:
            _remembered.popitem(last=False)
    return figures


def _basis(session: Session, project_id: str) -> _Basis:
    """Return a value that changes with the figures: revisions, verdicts and proposals are append-only.

    Answers are removed and restored: these are told one by one.
    """
    basis: list[object] = []
    for table in (Revision, Review, Prediction):
        added = select(func.count(table.id), func.max(table.id))
        mine = added.join(Annotation, Annotation.id == table.annotation_id).where(Annotation.project_id == project_id)
        basis += session.execute(mine).one()
    known = select(Task.gold_revision_id).where(Task.project_id == project_id, Task.gold_revision_id.is_not(None))
    removed = select(Annotation.id).where(Annotation.project_id == project_id, Annotation.status == REMOVED)
    return *basis, frozenset(session.scalars(known)), frozenset(session.scalars(removed))


def _computed(workspace: Workspace, project_id: str) -> ProjectAgreement:
    tally = Comparisons()
    with workspace.database.read() as session:
        compare_people(session, project_id, tally)
        compare_with_gold(session, project_id, tally)
        model = mean(_of_model(session, project_id))
    pairs = [
        Pair(people, each.questions, each.iou, each.word_f1)
        for people, each in sorted((people, mean(given)) for people, given in tally.pairs.items())
    ]
    people = []
    for name in sorted(tally.people.keys() | tally.gold.keys()):
        with_others, with_gold = mean(tally.people[name]), mean(tally.gold[name])
        people.append(
            PersonAgreement(
                name,
                with_others.questions,
                with_others.iou,
                with_others.word_f1,
                with_gold.questions,
                with_gold.iou,
            )
        )
    between = mean(each for given in tally.pairs.values() for each in given)
    return ProjectAgreement(pairs, people, between, model, reliabilities(tally.pairs, tally.gold))


def _of_model(session: Session, project_id: str) -> Iterator[Agreement]:
    """Yield the agreement of the model's proposal with each accepted answer, newest first."""
    accepted = session.execute(
        select(Annotation.id, Revision.id)
        .join(Revision, is_newest())
        .where(Annotation.project_id == project_id, Revision.status.in_(ACCEPTED))
        .order_by(Revision.created_at.desc(), Revision.id.desc())
        .limit(NEWEST)
    ).all()
    for batch in batches(accepted, _AT_ONCE):
        proposals = _proposals(session, [annotation_id for annotation_id, _ in batch])
        states = states_of(session, [revision_id for _, revision_id in batch])
        for annotation_id, revision_id in batch:
            if annotation_id in proposals:
                yield compare(proposals[annotation_id], states[revision_id])


def _proposals(session: Session, annotation_ids: Sequence[str]) -> dict[str, AnnotationState]:
    """Return the newest proposals to the questions alone, as the page showed them."""
    chosen = newest_alone(Prediction.annotation_id.in_(annotation_ids))
    return {str(each.annotation_id): shown_state(each) for each in session.scalars(chosen)}

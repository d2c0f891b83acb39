"""Agreement of a project: between people, of people with known answers, and of the model with what was accepted.

What counts as somebody's own answer is what they handed in first: from then on they see the others' answers and may get a
reviewer's reason, so what they mend afterwards says nothing about them. People and model are compared alike, so the figure between people stands beside the model's as its ceiling.
Both start from the same proposal, which lifts both.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from sqlalchemy import ScalarSelect, func, select
from sqlalchemy.orm import Session, aliased

from db.tables import Annotation, Prediction, Review, Revision, Task, User
from engine.annotation.agreement import Agreement, Mean, compare, mean
from engine.annotation.proposal import newest_alone, shown_state
from engine.annotation.state import AnnotationState
from engine.datasets.weights import Reliability, reliabilities
from engine.projects.overlap import ANSWERED
from engine.projects.projects import project_by_id
from engine.workspace import Workspace

NEWEST = 5000  # accepted answers that the model is compared with: what it did long ago says little about it
_AT_ONCE = 200  # states in memory
_KEPT = 50  # projects whose figures are remembered
_Judged = aliased(Revision)
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Pair:
    """How two people agree over the questions that both have answered."""

    people: tuple[str, str]
    questions: int
    iou: float | None
    word_f1: float | None


@dataclass(frozen=True, slots=True)
class PersonAgreement:
    """How one person agrees with all others, and with known answers that they were asked for without knowing."""

    person: str
    questions: int
    iou: float | None
    word_f1: float | None
    gold_questions: int
    gold_iou: float | None


@dataclass(frozen=True, slots=True)
class ProjectAgreement:
    """All of it. `model`: its proposals against the accepted answers, newest first, at most NEWEST of them.

    `reliability`: of everybody who was compared with others or with known answers, the least reliable first.
    """

    pairs: list[Pair]
    people: list[PersonAgreement]
    between_people: Mean
    model: Mean
    reliability: list[Reliability] = field(default_factory=list)


@dataclass(slots=True)
class _Tally:
    """Agreements while they are counted."""

    pairs: dict[tuple[str, str], list[Agreement]] = field(default_factory=lambda: defaultdict(list))
    people: dict[str, list[Agreement]] = field(default_factory=lambda: defaultdict(list))
    gold: dict[str, list[Agreement]] = field(default_factory=lambda: defaultdict(list))


# Project -> what its figures were made of, and the figures. Thousands of masks take seconds to compare.
_Basis = tuple[object, ...]
_remembered: OrderedDict[str, tuple[_Basis, ProjectAgreement]] = OrderedDict()
_lock = threading.Lock()


def project_agreement(workspace: Workspace, project_id: str) -> ProjectAgreement:
    """Return how people and model agree in a project: remembered as long as nothing is added to what it is made of.

    NotFound when there is no such project.
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
    """Return what changes whenever the figures may: revisions, verdicts and proposals are only ever added."""
    basis: list[object] = []
    for table in (Revision, Review, Prediction):
        added = select(func.count(table.id), func.max(table.id))
        mine = added.join(Annotation, Annotation.id == table.annotation_id).where(Annotation.project_id == project_id)
        basis += session.execute(mine).one()
    known = select(Task.gold_revision_id).where(Task.project_id == project_id, Task.gold_revision_id.is_not(None))
    return *basis, frozenset(session.scalars(known))


def _computed(workspace: Workspace, project_id: str) -> ProjectAgreement:
    tally = _Tally()
    with workspace.database.read() as session:
        _between_people(session, project_id, tally)
        _with_gold(session, project_id, tally)
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


def people_reliability(session: Session, project_id: str) -> list[Reliability]:
    """Return how far each person's answers can be relied on, the least reliable first."""
    tally = _Tally()
    _between_people(session, project_id, tally)
    _with_gold(session, project_id, tally)
    return reliabilities(tally.pairs, tally.gold)


def _between_people(session: Session, project_id: str, tally: _Tally) -> None:
    several = (
        select(Annotation.document_id, Annotation.question_id)
        .where(Annotation.project_id == project_id, Annotation.head > 0)
        .group_by(Annotation.document_id, Annotation.question_id)
        .having(func.count() > 1)
        .order_by(Annotation.document_id, Annotation.question_id)
    )
    for keys in _batches(session.execute(several).tuples().all(), _AT_ONCE // 4):
        answers = own_answers(session, project_id, keys)
        for given in answers.values():
            for (one, (_, state)), (other, (_, second)) in combinations(sorted(given.items()), 2):
                agreement = compare(state, second)
                tally.pairs[one, other].append(agreement)
                tally.people[one].append(agreement)
                tally.people[other].append(agreement)


def _with_gold(session: Session, project_id: str, tally: _Tally) -> None:
    known = session.execute(
        select(Task.document_id, Task.question_id, Revision.annotation_id, Revision.id)
        .join(Revision, Revision.id == Task.gold_revision_id)
        .where(Task.project_id == project_id)
        .order_by(Task.document_id, Task.question_id)
    ).all()
    for batch in _batches(known, _AT_ONCE // 4):
        answers = own_answers(session, project_id, [(row[0], row[1]) for row in batch])
        states = _states(session, [row[3] for row in batch])
        for document_id, question_id, annotation_id, revision_id in batch:
            for name, (answer_id, state) in answers.get((document_id, question_id), {}).items():
                if answer_id != annotation_id:
                    tally.gold[name].append(compare(state, states[revision_id]))


def _of_model(session: Session, project_id: str) -> Iterator[Agreement]:
    """Yield how the model's proposal agrees with each accepted answer, newest first."""
    accepted = session.execute(
        select(Annotation.id, Revision.id)
        .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
        .where(Annotation.project_id == project_id, Revision.status.in_(["accepted", "fixed"]))
        .order_by(Revision.created_at.desc(), Revision.id.desc())
        .limit(NEWEST)
    ).all()
    for batch in _batches(accepted, _AT_ONCE):
        proposals = _proposals(session, [annotation_id for annotation_id, _ in batch])
        states = _states(session, [revision_id for _, revision_id in batch])
        for annotation_id, revision_id in batch:
            if annotation_id in proposals:
                yield compare(proposals[annotation_id], states[revision_id])


def own_answers(
    session: Session, project_id: str, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, tuple[str, AnnotationState]]]:
    """Return (document, question) -> person -> (annotation, what they handed in first, unless somebody had judged it before)."""
    documents, questions = {document for document, _ in keys}, {question for _, question in keys}
    rows = session.execute(
        select(Annotation.document_id, Annotation.question_id, Annotation.id, User.name, Revision.id)
        .join(User, User.id == Annotation.author_id)
        .join(Revision, Revision.annotation_id == Annotation.id)
        .where(
            Annotation.project_id == project_id,
            Annotation.document_id.in_(documents),
            Annotation.question_id.in_(questions),
            Revision.author_id == Annotation.author_id,
            Revision.status.in_(ANSWERED),
            Revision.number <= func.coalesce(_first_judged(), Revision.number),
        )
        .order_by(Annotation.id, Revision.number)
    )
    wanted = set(keys)
    first: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for document, question, annotation, name, revision in rows:
        if (document, question) in wanted:
            first[document, question].setdefault(name, (annotation, revision))
    states = _states(session, [revision for given in first.values() for _, revision in given.values()])
    return {
        key: {name: (annotation, states[revision]) for name, (annotation, revision) in given.items()}
        for key, given in first.items()
    }


def _first_judged() -> ScalarSelect[int]:
    """The number of the first revision of the row's annotation that a reviewer judged."""
    judged = select(func.min(_Judged.number)).join(Review, Review.revision_id == _Judged.id)
    return judged.where(_Judged.annotation_id == Annotation.id).scalar_subquery()


def _proposals(session: Session, annotation_ids: Sequence[str]) -> dict[str, AnnotationState]:
    """Return the newest answers that the model gave to the questions alone, as the page showed them."""
    chosen = newest_alone(Prediction.annotation_id.in_(annotation_ids))
    return {str(each.annotation_id): shown_state(each) for each in session.scalars(chosen)}


def _states(session: Session, revision_ids: Sequence[str]) -> dict[str, AnnotationState]:
    rows = session.execute(select(Revision.id, Revision.state).where(Revision.id.in_(revision_ids)))
    return {revision_id: AnnotationState.model_validate(state) for revision_id, state in rows}


def _batches(rows: Sequence[_Row], size: int) -> Iterator[Sequence[_Row]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]

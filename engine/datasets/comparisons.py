"""Comparisons of people's answers with each other and with gold answers, the basis of reliability."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple, TypeVar

from sqlalchemy import ColumnElement, ScalarSelect, func, select
from sqlalchemy.orm import Session, aliased

from db.statuses import ANSWERED
from db.tables import Annotation, Document, FinishedMask, MaskCount, Prediction, Review, Revision, Task, User
from engine.annotation.agreement import Agreement, compare
from engine.annotation.state import AnnotationState
from engine.annotation.typed_values import TypedValues, load_typed_values
from engine.datasets.weights import HASTY_SECONDS, FinishedAnswers, Reliability, reliabilities
from engine.queries import not_removed

_AT_ONCE = 200  # states in memory
_Judged = aliased(Revision)
_Row = TypeVar("_Row")


class BetweenPeople(NamedTuple):
    """Agreement of two people over a question of a document. `unaided`: neither was shown a proposal of the model."""

    document_id: str
    question_id: str
    people: tuple[str, str]
    agreement: Agreement
    unaided: bool = False


class WithGold(NamedTuple):
    """Agreement of a person with a gold answer on a document."""

    document_id: str
    person: str
    agreement: Agreement


@dataclass(slots=True)
class Comparisons:
    """Agreements by pair, by person, and of persons with gold answers."""

    pairs: dict[tuple[str, str], list[Agreement]] = field(default_factory=lambda: defaultdict(list))
    people: dict[str, list[Agreement]] = field(default_factory=lambda: defaultdict(list))
    gold: dict[str, list[Agreement]] = field(default_factory=lambda: defaultdict(list))


def tally_agreements(between: Iterable[BetweenPeople], gold: Iterable[WithGold]) -> Comparisons:
    """Return the agreements by pair and by person."""
    comparisons = Comparisons()
    for comparison in between:
        comparisons.pairs[comparison.people].append(comparison.agreement)
        for person in comparison.people:
            comparisons.people[person].append(comparison.agreement)
    for _, person, agreement in gold:
        comparisons.gold[person].append(agreement)
    return comparisons


def people_reliability(session: Session, project_id: str, tick: Callable[[], None] = lambda: None) -> list[Reliability]:
    """Return the reliability of each person's answers, the least reliable first; `tick` is called at each answer."""

    def ticking(compared: Iterable[_Row]) -> Iterator[_Row]:
        for comparison in compared:
            tick()
            yield comparison

    agreements = tally_agreements(
        ticking(compare_people(session, project_id)), ticking(compare_with_gold(session, project_id))
    )
    return reliabilities(agreements.pairs, agreements.gold, finished_answers(session, project_id))


def finished_answers(session: Session, project_id: str) -> dict[str, FinishedAnswers]:
    """Return how many answers each person has finished, and how many of these in haste, by name."""
    hasty = FinishedMask.project_id == project_id, FinishedMask.seconds > 0, FinishedMask.seconds < HASTY_SECONDS
    quick = select(FinishedMask.person_id, func.count()).where(*hasty).group_by(FinishedMask.person_id)
    # Sums by day, in place of all masks.
    timed = (
        select(User.id, User.name, func.sum(MaskCount.timed))
        .join(User, User.id == MaskCount.person_id)
        .where(MaskCount.project_id == project_id, MaskCount.timed > 0)
        .group_by(User.id, User.name)
    )
    quick_of = dict(session.execute(quick).tuples().all())
    return {
        name: FinishedAnswers(int(number), quick_of.get(person, 0)) for person, name, number in session.execute(timed)
    }


def compare_people(
    session: Session, project_id: str, documents: Collection[str] | None = None
) -> Iterator[BetweenPeople]:
    """Yield the agreement of every two people who answered the same question of a document.

    Args:
        session: an open session.
        project_id: project.
        documents: the only ones to look at; None: all of the project.
    """
    several = select(Annotation.document_id, Annotation.question_id).where(Annotation.head > 0, not_removed())
    several = several.where(of_documents(project_id, documents))
    of_question = Annotation.document_id, Annotation.question_id
    several = several.group_by(*of_question).having(func.count() > 1).order_by(*of_question)
    for keys in batches(session.execute(several).tuples().all(), _AT_ONCE // 4):
        answers = own_answers(session, keys)
        ids = [annotation for by_person in answers.values() for annotation, _ in by_person.values()]
        shown = select(Prediction.annotation_id).where(Prediction.annotation_id.in_(ids)).distinct()
        aided = set(session.scalars(shown))
        typed = values_by_annotation(session, answers)
        for (document_id, question_id), by_person in answers.items():
            for (person, (first, state)), (other_person, (second, other_state)) in combinations(
                sorted(by_person.items()), 2
            ):
                unaided = aided.isdisjoint((first, second))
                agreement = compare(state, other_state, (typed[first], typed[second]))
                yield BetweenPeople(document_id, question_id, (person, other_person), agreement, unaided)


def compare_with_gold(
    session: Session, project_id: str, documents: Collection[str] | None = None
) -> Iterator[WithGold]:
    """Yield the agreement of people's answers with the gold answers of their tasks; arguments as `compare_people`."""
    chosen = (
        select(Task.document_id, Task.question_id, Revision.annotation_id, Revision.id)
        .join(Revision, Revision.id == Task.gold_revision_id)
        .where(Task.project_id == project_id, Task.gold_revision_id.is_not(None))
        .order_by(Task.document_id, Task.question_id)
    )
    if documents is not None:
        chosen = chosen.where(Task.document_id.in_(documents))
    for batch in batches(session.execute(chosen).all(), _AT_ONCE // 4):
        answers = own_answers(session, [(row[0], row[1]) for row in batch])
        states = states_of(session, [row[3] for row in batch])
        typed = values_by_annotation(session, answers)
        golden = load_typed_values(session, [(row[1], states[row[3]]) for row in batch])
        for (document_id, question_id, annotation_id, revision_id), of_gold in zip(batch, golden, strict=True):
            for name, (answer_id, state) in answers.get((document_id, question_id), {}).items():
                if answer_id != annotation_id:
                    agreement = compare(state, states[revision_id], (typed[answer_id], of_gold))
                    yield WithGold(document_id, name, agreement)


def values_by_annotation(
    session: Session, answers: Mapping[tuple[str, str], Mapping[str, tuple[str, AnnotationState]]]
) -> dict[str, TypedValues]:
    """Return what people's own answers say, by annotation; `answers` as `own_answers` returns them."""
    given = [
        (question_id, annotation_id, state)
        for (_, question_id), by_person in answers.items()
        for annotation_id, state in by_person.values()
    ]
    typed = load_typed_values(session, [(question_id, state) for question_id, _, state in given])
    return {annotation_id: of_answer for (_, annotation_id, _), of_answer in zip(given, typed, strict=True)}


def of_documents(project_id: str, documents: Collection[str] | None) -> ColumnElement[bool]:
    """Return the condition of annotations of these documents of a project; None: of all."""
    # Not by their project too: SQLite would take its index, and read all answers of the project.
    if documents is None:
        return Annotation.project_id == project_id
    there = select(Document.id).where(Document.id.in_(documents), Document.project_id == project_id)  # not in the bin
    return Annotation.document_id.in_(there)


def own_answers(
    session: Session, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, tuple[str, AnnotationState]]]:
    """Return (document, question) -> person -> (annotation, first submitted answer before any review)."""
    documents, questions = {document for document, _ in keys}, {question for _, question in keys}
    rows = session.execute(
        select(Annotation.document_id, Annotation.question_id, Annotation.id, User.name, Revision.id)
        .join(User, User.id == Annotation.author_id)
        .join(Revision, Revision.annotation_id == Annotation.id)
        .where(
            Annotation.document_id.in_(documents),
            Annotation.question_id.in_(questions),
            not_removed(),
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
    states = states_of(
        session, [revision for answers_by_person in first.values() for _, revision in answers_by_person.values()]
    )
    return {
        key: {name: (annotation, states[revision]) for name, (annotation, revision) in answers_by_person.items()}
        for key, answers_by_person in first.items()
    }


def _first_judged() -> ScalarSelect[int]:
    """Return the number of the first revision that a reviewer judged, of the row's annotation."""
    judged = select(func.min(_Judged.number)).join(Review, Review.revision_id == _Judged.id)
    # Reviews are indexed by their annotation.
    return judged.where(Review.annotation_id == Annotation.id).scalar_subquery()


def states_of(session: Session, revision_ids: Sequence[str]) -> dict[str, AnnotationState]:
    """Return the states of revisions, by revision id."""
    rows = session.execute(select(Revision.id, Revision.state).where(Revision.id.in_(revision_ids)))
    return {revision_id: AnnotationState.model_validate(state) for revision_id, state in rows}


def batches(rows: Sequence[_Row], size: int) -> Iterator[Sequence[_Row]]:
    """Yield consecutive slices of `rows` of `size` rows each; the last one may be shorter."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]

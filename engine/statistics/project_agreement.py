"""Agreement in a project: between people, with gold answers, and of the model with accepted answers.

A person's own answer is the first one they submitted: afterwards they see other answers and reviews, so later fixes are
not independent. People and model are measured alike, so agreement between people is the ceiling of the model's. Both
start from the same proposal, which raises both. Values are compared beside marks, as the types of their fields.
"""

import json
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED
from db.tables import Annotation, Prediction, Project, ProjectField, Question, Revision, Task
from engine import changes
from engine.annotation.agreement import Agreement, Mean, compare, mean
from engine.annotation.proposal import newest_alone, shown_state
from engine.annotation.state import AnnotationState
from engine.annotation.typed_values import load_typed_values
from engine.datasets.comparisons import (
    BetweenPeople,
    WithGold,
    batches,
    compare_people,
    compare_with_gold,
    finished_answers,
    of_documents,
    states_of,
    tally_agreements,
)
from engine.datasets.weights import FinishedAnswers, Reliability, reliabilities
from engine.fields.definition import FieldDefinition
from engine.fields.types import FieldType
from engine.projects.projects import project_by_id
from engine.queries import is_newest
from engine.workspace import Workspace

_AT_ONCE = 200  # states in memory, or documents of one statement
NEWEST = 5000  # newest accepted answers that the model is compared with; older ones describe older models
MOST_QUESTIONS = 50  # of the agreement by question
_KEPT = 50  # projects whose comparisons are in memory; one with 10,000 takes some MB


@dataclass(frozen=True, slots=True)
class Pair:
    """Agreement of two people over the questions that both answered; `value_equal` as of `Mean`."""

    people: tuple[str, str]
    questions: int
    iou: float | None
    word_f1: float | None
    value_equal: float | None = None


@dataclass(frozen=True, slots=True)
class PersonAgreement:
    """Agreement of a person with all others, and with unannounced gold answers.

    Attributes:
        person: Name.
        questions: Number of comparisons with others.
        iou: With others.
        word_f1: With others.
        gold_questions: Number of gold questions answered.
        gold_iou: With the gold answers.
        value_equal: Share of values equal to those of others, over typed fields.
        gold_right: Share of gold questions answered right: by value in a typed field, else by mark.
    """

    person: str
    questions: int
    iou: float | None
    word_f1: float | None
    gold_questions: int
    gold_iou: float | None
    value_equal: float | None = None
    gold_right: float | None = None


@dataclass(frozen=True, slots=True)
class QuestionAgreement:
    """Agreement between people over one question; `type` of its field, None where it is none."""

    question_id: str
    question: str
    type: FieldType | None
    between_people: Mean


@dataclass(frozen=True, slots=True)
class ProjectAgreement:
    """Agreement figures of a project; `model` compares proposals with at most NEWEST accepted answers.

    `between_people`, apart: `without_proposal`, where neither of two people was shown one, which is the sounder figure,
    and `with_proposal`. `reliability`: of everybody who was compared with others or with gold answers, or answers in
    haste, the least reliable first. `by_question`: at most MOST_QUESTIONS, those with the least agreement first.
    """

    pairs: list[Pair]
    people: list[PersonAgreement]
    between_people: Mean
    model: Mean
    reliability: list[Reliability] = field(default_factory=list)
    with_proposal: Mean = field(default_factory=lambda: mean(()))
    without_proposal: Mean = field(default_factory=lambda: mean(()))
    by_question: list[QuestionAgreement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _OfModel:
    """Agreement of the model with an accepted answer of a document; None where it has proposed nothing."""

    document_id: str
    accepted: tuple[datetime, str]  # time and id of the revision
    agreement: Agreement | None


@dataclass(frozen=True, slots=True)
class _Known:
    """Comparisons of a project up to a change.

    `predicted`: id of the newest proposal. `whole`: `model` holds every accepted answer, and not the newest alone.
    `fields`: versions of the fields and conventions by which values were read.
    """

    cursor: int
    predicted: str
    fields: str
    golden: frozenset[str]
    between: list[BetweenPeople]
    gold: list[WithGold]
    model: list[_OfModel]
    whole: bool


# Comparing thousands of masks takes seconds, so comparisons are kept, and made anew for changed documents only.
_remembered: OrderedDict[tuple[str, str], _Known] = OrderedDict()
_lock = threading.Lock()


def project_agreement(workspace: Workspace, project_id: str) -> ProjectAgreement:
    """Return the agreement figures of a project.

    Raises NotFound when there is no such project.
    """
    project_by_id(workspace, project_id)
    key = (str(workspace.database.url), project_id)
    with _lock:
        known = _remembered.get(key)
    with workspace.database.read() as session:
        known = _refresh_comparisons(session, project_id, known)
        finished = finished_answers(session, project_id)
        by_question = _by_question(session, known.between)
    with _lock:
        _remembered[key] = known
        _remembered.move_to_end(key)
        while len(_remembered) > _KEPT:
            _remembered.popitem(last=False)
    return replace(_figures(known, finished), by_question=by_question)


def _refresh_comparisons(session: Session, project_id: str, known: _Known | None) -> _Known:
    """Return the present comparisons: all computed, or only those of changed documents computed again."""
    # The place among the changes is read first: what is committed after it only makes the comparisons newer.
    cursor, touched = changes.newest(session), None
    if known is not None:
        cursor, touched = changes.touched_documents(session, project_id, known.cursor, whole=("users", "members"))
    predicted = session.scalar(select(func.max(Prediction.id))) or ""
    if known is not None and touched is not None and predicted != known.predicted:
        touched |= _proposed_since(session, project_id, known.predicted)
    chosen = select(Task.gold_revision_id).where(Task.project_id == project_id, Task.gold_revision_id.is_not(None))
    golden = frozenset(revision_id for revision_id in session.scalars(chosen) if revision_id is not None)
    fields = _fields_mark(session, project_id)
    if known is None or touched is None or len(touched) > _AT_ONCE or fields != known.fields:
        between, gold = list(compare_people(session, project_id)), list(compare_with_gold(session, project_id))
        model = list(_of_model(session, project_id))
        return _Known(cursor, predicted, fields, golden, between, gold, model, len(model) < NEWEST)
    if not touched and golden == known.golden:
        return replace(known, cursor=cursor, predicted=predicted)
    between = [comparison for comparison in known.between if comparison.document_id not in touched]
    between += compare_people(session, project_id, touched)
    if golden == known.golden:
        gold = [comparison for comparison in known.gold if comparison.document_id not in touched]
        gold += compare_with_gold(session, project_id, touched)
    else:
        gold = list(compare_with_gold(session, project_id))
    model = [comparison for comparison in known.model if comparison.document_id not in touched]
    model += _of_model(session, project_id, touched)
    model = nlargest(NEWEST, model, key=lambda comparison: comparison.accepted)
    if len(model) < NEWEST and not known.whole:
        model = list(_of_model(session, project_id))
    return _Known(cursor, predicted, fields, golden, between, gold, model, known.whole and len(model) < NEWEST)


def _fields_mark(session: Session, project_id: str) -> str:
    """Return a text that changes with the fields of a project, its locale and its conventions."""
    chosen = select(ProjectField.question_id, ProjectField.version).where(
        ProjectField.project_id == project_id, ProjectField.name.is_not(None)
    )
    fields = sorted((question_id, version) for question_id, version in session.execute(chosen))
    settings = session.scalars(select(Project.settings).where(Project.id == project_id)).one()
    return json.dumps([fields, settings.get("locale"), settings.get("conventions")], sort_keys=True)


def _by_question(session: Session, between: Sequence[BetweenPeople]) -> list[QuestionAgreement]:
    """Return the agreement between people by question, the least first."""
    agreements: dict[str, list[Agreement]] = defaultdict(list)
    for comparison in between:
        agreements[comparison.question_id].append(comparison.agreement)
    means = {question_id: mean(of_question) for question_id, of_question in agreements.items()}

    def share(question_id: str) -> tuple[float, str]:
        """Return how far people agree: by value in a typed field, else by their marks."""
        of_question = means[question_id]
        agreed = of_question.iou if of_question.value_equal is None else of_question.value_equal
        return agreed or 0.0, question_id

    least = sorted(means, key=share)[:MOST_QUESTIONS]
    chosen = (
        select(Question.id, Question.text, ProjectField.definition)
        .outerjoin(ProjectField, (ProjectField.question_id == Question.id) & ProjectField.name.is_not(None))
        .where(Question.id.in_(least))
    )
    known = {question_id: (text, definition) for question_id, text, definition in session.execute(chosen)}
    return [
        QuestionAgreement(
            question_id,
            known[question_id][0],
            FieldDefinition.model_validate(known[question_id][1]).type if known[question_id][1] else None,
            means[question_id],
        )
        for question_id in least
    ]


def _proposed_since(session: Session, project_id: str, newest: str) -> set[str]:
    """Return the documents for which the model proposed something after a proposal; no change tells of proposals."""
    chosen = select(Annotation.document_id).join(Prediction, Prediction.annotation_id == Annotation.id)
    return set(session.scalars(chosen.where(Prediction.id > newest, Annotation.project_id == project_id)))


def _figures(known: _Known, finished: Mapping[str, FinishedAnswers]) -> ProjectAgreement:
    tally = tally_agreements(known.between, known.gold)
    model = mean(comparison.agreement for comparison in known.model if comparison.agreement is not None)
    pairs = [
        Pair(people, agreement.questions, agreement.iou, agreement.word_f1, agreement.value_equal)
        for people, agreement in sorted((people, mean(agreements)) for people, agreements in tally.pairs.items())
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
                with_others.value_equal,
                _right(tally.gold[name]),
            )
        )
    between = mean(agreement for agreements in tally.pairs.values() for agreement in agreements)
    aided, unaided = (
        mean(pair.agreement for pair in known.between if pair.unaided is apart) for apart in (False, True)
    )
    relied = reliabilities(tally.pairs, tally.gold, finished)
    return ProjectAgreement(pairs, people, between, model, relied, aided, unaided)


def _right(agreements: Sequence[Agreement]) -> float | None:
    """Return the share of right answers; None without any."""
    return sum(agreement.right for agreement in agreements) / len(agreements) if agreements else None


def _of_model(session: Session, project_id: str, documents: Collection[str] | None = None) -> Iterator[_OfModel]:
    """Yield the agreement of the model's proposal with each accepted answer, newest first; NEWEST of them."""
    chosen = (
        select(Annotation.id, Annotation.document_id, Revision.id, Revision.created_at, Annotation.question_id)
        .join(Revision, is_newest())
        .where(of_documents(project_id, documents), Revision.status.in_(ACCEPTED))
        .order_by(Revision.created_at.desc(), Revision.id.desc())
        .limit(NEWEST)
    )
    for batch in batches(session.execute(chosen).all(), _AT_ONCE):
        proposals = _proposals(session, [row[0] for row in batch])
        compared = [row for row in batch if row[0] in proposals]
        states = states_of(session, [row[2] for row in compared])
        accepted = load_typed_values(session, [(row[4], states[row[2]]) for row in compared])
        proposed = load_typed_values(session, [(row[4], proposals[row[0]]) for row in compared])
        values = {row[0]: both for row, *both in zip(compared, proposed, accepted, strict=True)}
        for annotation_id, document_id, revision_id, made, _ in batch:
            agreement = None
            if annotation_id in proposals:
                first, second = values[annotation_id]
                agreement = compare(proposals[annotation_id], states[revision_id], (first, second))
            yield _OfModel(document_id, (made, revision_id), agreement)


def _proposals(session: Session, annotation_ids: Sequence[str]) -> dict[str, AnnotationState]:
    """Return the newest proposals of the own model to the questions alone, as the page showed them."""
    of_own = Prediction.model_version_id.is_not(None)
    chosen = newest_alone(Prediction.annotation_id.in_(annotation_ids) & of_own)
    return {str(proposal.annotation_id): shown_state(proposal) for proposal in session.scalars(chosen)}

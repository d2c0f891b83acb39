"""Review queue: leases each submitted answer to one reviewer; disputed answers first, then the oldest.

The submitted answers to one question of one document are leased together, and come one after the other.

Each step of a reviewer runs this, and thousands of answers may wait. It reads the oldest of them from an index.

Label reviews follow: accepted labels that the model contradicts (engine.selection.label_review).
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from db import changes
from db.statuses import ANSWERED
from db.tables import Annotation, LabelReview, ModelVersion, Project, Question, Revision, User
from engine import leases
from engine.annotation.proposal import StoredAnswer
from engine.annotation.revisions import state_at
from engine.annotation.state import AnnotationState, Patch
from engine.annotation.typed_values import load_typed_values
from engine.errors import Conflict
from engine.models.registry import label
from engine.projects.project_settings import settings_of
from engine.projects.projects import project_by_id
from engine.queries import existing, is_newest
from engine.tasks.queue.next_task import page_of
from engine.tasks.queue.queue_view import clock, judgeable, to_review
from engine.tasks.review import label_review_queue
from engine.tasks.review.same_question import OtherAnswer, is_disputed, other_answers, submitted_beside
from engine.text import join_names as joined
from engine.workspace import Workspace


class Contradiction(BaseModel):
    """Contradiction of an accepted label by the model, with the model's own mark.

    `kind`: "elsewhere" (the model marks another place), "here" (it marks one, the label none), "not_here" (it is
    confident that the document does not answer; without words and mask), "words" (no model: the page was read again,
    and words that the label names are gone; without words and mask).
    """

    kind: str
    sentence: str
    model: str
    page_id: str
    words: list[int]
    mask: Patch


_CANDIDATES = 20  # answers of one search; other reviewers may lease some of them first
_OLDEST = 400  # submitted answers among which the disputed ones come first
_COMPARED = 200  # overlap answers of these that are compared; more would delay the reviewer


@dataclass(frozen=True, slots=True)
class NextReview:
    """Answer to judge, leased until `lease_until`; without one, `reason` explains why.

    `to_review`: number of waiting answers. `others`: other people's answers to the same question, which the reviewer
    sees beside this one. `label_review`: why an accepted label is reviewed; `second_look`: the same,
    by the name before.
    """

    annotation_id: str | None
    document_id: str | None
    page_id: str | None
    lease_until: datetime | None
    reason: str | None
    to_review: int
    label_review: Contradiction | None = None
    others: list[OtherAnswer] = field(default_factory=list)
    second_look: Contradiction | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "second_look", self.label_review)


@dataclass(frozen=True, slots=True)
class WaitingAnswer:
    """Answer in the list of waiting answers. `second_look`: the `label_review`, by the name before."""

    annotation_id: str
    document_id: str
    question: str
    author: str
    submitted_at: datetime
    disputed: bool
    label_review: str | None = None
    second_look: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "second_look", self.label_review)


def next_review(workspace: Workspace, project_id: str, reviewer_id: str, after: str | None = None) -> NextReview:
    """Lease the next answer of another person to a reviewer. Raises NotFound for an unknown project.

    An answer the reviewer holds comes first. `after`: the annotation the reviewer leaves; it is released and comes
    again last.
    """
    project_by_id(workspace, project_id)
    with workspace.database.read() as session:
        order = _order(session, project_id, reviewer_id, after)
        waiting = to_review(session, project_id, reviewer_id)
    if order or after is not None:
        with workspace.database.write() as session:
            leases.forget_expired(session, "annotation:")
            changes.publish(session, "tasks", project_id)
            if after is not None:
                _release_question(session, after, reviewer_id)
            for annotation_id in order:
                until = leases.acquire(session, leases.annotation_subject(annotation_id), reviewer_id)
                if until is None:
                    continue
                annotation = session.get(Annotation, annotation_id)
                look = label_review_queue.newest(session, annotation_id)
                submitted = annotation is not None and annotation.status == "submitted"
                if annotation is None or not (submitted or look):  # judged or withdrawn since the search
                    leases.release(session, leases.annotation_subject(annotation_id), reviewer_id)
                    continue
                page = page_of(session, annotation)
                seen = contradiction_of(session, look) if look is not None and not submitted else None
                if seen is not None and (page is None or seen.kind == "here"):
                    page = seen.page_id
                _lease_question(session, annotation, reviewer_id)
                others = other_answers(session, annotation, state_at(session, annotation_id, annotation.head))
                return NextReview(annotation_id, annotation.document_id, page, until, None, waiting, seen, others)
    with workspace.database.read() as session:
        return NextReview(None, None, None, None, _reason(session, project_id, reviewer_id), waiting)


def waiting_answers(workspace: Workspace, project_id: str, reviewer_id: str, limit: int = 100) -> list[WaitingAnswer]:
    """Return the waiting answers that a reviewer may judge, in queue order."""
    project_by_id(workspace, project_id)
    with workspace.database.read() as session:
        rows = session.execute(
            _select_submitted(project_id, reviewer_id)
            .join(Question, Question.id == Annotation.question_id)
            .join(User, User.id == Annotation.author_id)
            .with_only_columns(Annotation, Question.text, User.name, Revision.created_at)
            .limit(limit)
        ).all()
        disputed = _find_disputed(session, project_id, reviewer_id)
        answers = [
            WaitingAnswer(
                annotation.id, annotation.document_id, question, author, submitted_at, annotation.id in disputed
            )
            for annotation, question, author, submitted_at in rows
        ]
        again = session.execute(
            label_review_queue.waiting(project_id, reviewer_id)
            .join(Question, Question.id == Annotation.question_id)
            .join(User, User.id == Annotation.author_id)
            .outerjoin(ModelVersion, ModelVersion.id == LabelReview.model_version_id)
            .with_only_columns(LabelReview, Annotation, Question.text, User.name, Revision.created_at, ModelVersion)
            .limit(limit)
        ).all()
        looked = {
            annotation.id: WaitingAnswer(
                annotation.id,
                annotation.document_id,
                question,
                author,
                submitted_at,
                False,
                label_review_queue.sentence(look, label(version) if version is not None else ""),
            )
            for look, annotation, question, author, submitted_at, version in again
        }
    return [*sorted(answers, key=lambda each: not each.disputed), *looked.values()][:limit]


def contradiction_of(session: Session, look: LabelReview) -> Contradiction:
    """Return the contradiction of a label review, as the page shows it."""
    version = session.get_one(ModelVersion, look.model_version_id) if look.model_version_id is not None else None
    model = label(version) if version is not None else ""
    answer = StoredAnswer.model_validate(look.answer) if look.kind in ("elsewhere", "here") else None
    return Contradiction(
        kind=look.kind,
        sentence=label_review_queue.sentence(look, model),
        model=model,
        page_id=look.page_id,
        words=answer.words if answer is not None else [],
        mask=answer.mask if answer is not None else Patch(),
    )


def heartbeat(workspace: Workspace, annotation_id: str, reviewer_id: str) -> datetime:
    """Renew a reviewer's lease of an answer; return its new end. Raises Conflict, naming the holder."""
    with workspace.database.write() as session:
        annotation, subject = existing(session, Annotation, annotation_id), leases.annotation_subject(annotation_id)
        if not leases.live(session, subject, [subject]):  # taken again after its end
            changes.publish(session, "tasks", annotation.project_id)
        until = leases.acquire(session, subject, reviewer_id)
        if until is None:
            held = leases.live(session, subject, [subject])
            who = f"{held[0].name}, until {clock(held[0].until)}" if held else "somebody else"
            raise Conflict(f"This answer is being reviewed by {who}.")
        _lease_question(session, annotation, reviewer_id)
        return until


def release(workspace: Workspace, annotation_id: str, reviewer_id: str) -> None:
    """Release an answer; does nothing when the reviewer does not hold it."""
    with workspace.database.write() as session:
        _release_question(session, annotation_id, reviewer_id)
        annotation = session.get(Annotation, annotation_id)
        if annotation is not None:
            changes.publish(session, "tasks", annotation.project_id)


def _lease_question(session: Session, annotation: Annotation, reviewer_id: str) -> None:
    """Lease the other submitted answers to the same question, too, as far as nobody else reviews them."""
    for annotation_id in submitted_beside(session, annotation):
        leases.acquire(session, leases.annotation_subject(annotation_id), reviewer_id)


def _release_question(session: Session, annotation_id: str, reviewer_id: str) -> None:
    """Release an answer, and the other answers to its question."""
    annotation = session.get(Annotation, annotation_id)
    beside = submitted_beside(session, annotation) if annotation is not None else []
    for held in (annotation_id, *beside):
        leases.release(session, leases.annotation_subject(held), reviewer_id)


def _order(session: Session, project_id: str, reviewer_id: str, after: str | None) -> list[str]:
    """Return the answers that the reviewer may judge now, in queue order."""
    held = leases.live(session, "annotation:")
    others = {_subject_of(lease) for lease in held if lease.holder != reviewer_id}
    own = {_subject_of(lease) for lease in held if lease.holder == reviewer_id}
    submitted = _select_submitted(project_id, reviewer_id).with_only_columns(Annotation.id)

    def first(chosen: Select[str]) -> list[str]:
        """Return the first answers that no other reviewer holds."""
        ids = session.scalars(chosen.limit(_CANDIDATES + len(others)))
        return [answer for answer in ids if answer not in others][:_CANDIDATES]

    def first_looks(behind: LabelReview | None = None, before: LabelReview | None = None) -> list[str]:
        """Return the first labels to review that no other reviewer holds."""
        most = _CANDIDATES + len(others)
        ids = label_review_queue.first(session, project_id, reviewer_id, most, behind=behind, before=before)
        return [label_id for label_id in ids if label_id not in others][:_CANDIDATES]

    # After a skipped answer: go round in plain order, otherwise two would alternate.
    if after is not None and _judgeable_of(session, [after], project_id, reviewer_id):
        later, earlier = first(submitted.where(Annotation.id > after)), first(submitted.where(Annotation.id < after))
        return [*later, *first_looks(), *earlier, after]
    left = label_review_queue.find(session, project_id, reviewer_id, after) if after is not None else None
    if after is not None and left is not None and after not in others:
        return list(dict.fromkeys([*first_looks(behind=left), *first(submitted), *first_looks(before=left), after]))
    disputed = _find_disputed(session, project_id, reviewer_id)
    held_here = _judgeable_of(session, own, project_id, reviewer_id)
    ordered = dict.fromkeys([*held_here, *sorted(disputed - others), *first(submitted), *first_looks()])
    # Sorting is stable: the oldest stays first within each kind.
    return sorted(ordered, key=lambda answer: (answer not in own, answer not in disputed))


def _judgeable_of(session: Session, ids: Collection[str], project_id: str, reviewer_id: str) -> list[str]:
    """Return those of a few answers that are submitted without this reviewer's part, as `judgeable` does for many."""
    annotations = (
        session.scalars(select(Annotation).where(Annotation.id.in_(ids)).order_by(Annotation.id)) if ids else ()
    )
    return [
        annotation.id
        for annotation in annotations
        if (annotation.project_id, annotation.status) == (project_id, "submitted")
        and reviewer_id not in (annotation.author_id, annotation.edited_by)
    ]


def _subject_of(held: leases.Held) -> str:
    """Return the id of the answer that a lease is for."""
    return held.subject.split(":")[1]


def _select_submitted(project_id: str, reviewer_id: str) -> Select[*tuple[Any, ...]]:
    """Return the statement for submitted answers without this reviewer's part, those begun first at the front."""
    return (
        select(Annotation, Revision)
        .join(Revision, is_newest())
        .where(judgeable(project_id, reviewer_id))
        .order_by(Annotation.id)
    )


def _find_disputed(session: Session, project_id: str, reviewer_id: str) -> set[str]:
    """Return those of the oldest submitted answers that differ from somebody else's answer."""
    other, others_head = aliased(Annotation), aliased(Revision)
    same = (other.document_id == Annotation.document_id) & (other.question_id == Annotation.question_id)
    oldest = _select_submitted(project_id, reviewer_id).with_only_columns(Annotation.id).limit(_OLDEST)
    rows = session.execute(
        _select_submitted(project_id, reviewer_id)
        .where(Annotation.id.in_(oldest))
        .join(other, same & (other.id != Annotation.id) & other.status.in_(ANSWERED))
        .join(others_head, (others_head.annotation_id == other.id) & (others_head.number == other.head))
        .with_only_columns(Annotation.id, Annotation.question_id, Revision.state, others_head.state)
        .limit(_COMPARED)
    )
    pairs = [
        (annotation_id, question_id, AnnotationState.model_validate(first), AnnotationState.model_validate(second))
        for annotation_id, question_id, first, second in rows
    ]
    typed = load_typed_values(session, [(question_id, first) for _, question_id, first, _ in pairs])
    others = load_typed_values(session, [(question_id, second) for _, question_id, _, second in pairs])
    return {
        annotation_id
        for (annotation_id, _, first, second), ours, theirs in zip(pairs, typed, others, strict=True)
        if is_disputed(first, ours, second, theirs)
    }


def _reason(session: Session, project_id: str, reviewer_id: str) -> str:
    """Return why this person has nothing to review, in one sentence."""
    others = [lease for lease in leases.live(session, "annotation:") if lease.holder != reviewer_id]
    leased = Annotation.id.in_([_subject_of(lease) for lease in others])
    statements = _select_submitted(project_id, reviewer_id), label_review_queue.waiting(project_id, reviewer_id)
    waiting = {
        answer
        for statement in statements
        for answer in session.scalars(statement.with_only_columns(Annotation.id).where(leased))
    }
    held = [lease for lease in others if _subject_of(lease) in waiting]
    if held:
        what = "the last answer" if len(held) == 1 else f"the last {len(held)} answers"
        names = joined(sorted({lease.name for lease in held}))
        verb = "is" if len({lease.name for lease in held}) == 1 else "are"
        return f"{names} {verb} reviewing {what}, until {clock(held[-1].until)}."
    own = session.scalar(
        select(func.count()).where(
            Annotation.project_id == project_id, Annotation.status == "submitted", Annotation.author_id == reviewer_id
        )
    )
    if own:
        return "Only your own answers wait for review: another reviewer must judge them."
    if label_review_queue.own(session, project_id, reviewer_id):
        return "Only labels that you worked on wait for review: another reviewer must judge them."
    if settings_of(session.get_one(Project, project_id)).review_required:
        return "Every submitted answer has been judged."
    return "Nothing waits for review: accepted answers of this project need none."

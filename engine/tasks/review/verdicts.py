"""Reviews: a reviewer's verdict on another person's answer; verdict and new revision are one commit.

Quality of the mask and completeness are judged separately, as in SAM 3's data engine. The reviewer's seconds are stored
with the review; the revision has none, so that seconds per mask measure its author.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from db import changes
from db.tables import Annotation, ModelVersion, Prediction, Review, Revision, User
from engine import leases
from engine.accounts import permissions
from engine.accounts.visibility import load_visible
from engine.annotation import automatic_checks
from engine.annotation.edits import Edits
from engine.annotation.preparing import Base, Ready, prepare, prepare_in
from engine.annotation.revisions import Saved, advance, append, publish_answer, state_at
from engine.annotation.state import AnnotationState
from engine.annotation.values import load_values
from engine.errors import Forbidden, Refused
from engine.models.registry import label
from engine.paging import Order, Page
from engine.queries import is_newest
from engine.tasks.review import label_review_queue
from engine.tasks.review.same_question import (
    Beside,
    answers_beside,
    equal_submitted,
    lock_answers,
    refuse_contradiction,
)
from engine.text import storable
from engine.workspace import Workspace

MOST_LISTED = 1000  # revisions, or verdicts, of one page

Verdict = Literal["accepted", "rejected", "fixed"]
ACTION_OF: dict[Verdict, str] = {"accepted": "accept", "rejected": "reject", "fixed": "fix"}


class ReviewRequest(BaseModel):
    """Verdict on revision `base`. Repeating the same `idempotency_key` returns the same verdict."""

    model_config = ConfigDict(extra="forbid")

    idempotency_key: str = Field(min_length=8, max_length=64)
    base: int = Field(ge=1, lt=2**31, description="Judged revision.")
    verdict: Verdict
    quality: bool | None = Field(None, description="Are the pixels right?")
    completeness: bool | None = Field(None, description="Is nothing missing?")
    reason: str = Field("", max_length=5000, description="What to fix; required for a rejection.")
    edits: Edits = Field(default=[], description="The reviewer's edits; only with the verdict `fixed`.")
    images: dict[str, str] = Field(
        default_factory=dict,
        max_length=1000,
        description="Images of the marked pages as the reviewer saw them (`image` of a page); refused where one is "
        "another now, because the page was turned.",
    )
    seconds: float = Field(0, ge=0, le=86_400, description="The reviewer's active work.")
    becomes_label: bool = Field(
        False,
        description="With `accepted` or `fixed`: becomes the label over accepted answers that contradict it.",
    )


class Judged(Saved):
    """Revision that a verdict made. `also_accepted`: equal answers that the same verdict accepted."""

    also_accepted: list[str] = Field(default_factory=list, description="Ids of these answers.")


class ReviewLine(BaseModel):
    """Verdict that was given; `revision` is the judged revision."""

    reviewer: str
    verdict: str
    quality: bool | None
    completeness: bool | None
    reason: str
    revision: int
    becomes_label: bool
    created_at: datetime


class RevisionLine(BaseModel):
    """Revision in the history of an annotation; `model` is the version whose proposal it corrects."""

    number: int
    action: str
    status: str
    author: str
    seconds: float
    interactions: dict[str, int]
    created_at: datetime
    model: str | None


def review(workspace: Workspace, annotation_id: str, request: ReviewRequest, reviewer_id: str) -> Judged:
    """Judge an answer; return the revision that the verdict made.

    A rejected answer returns to its author's queue. An accepted one takes the equal answers of others with it, as far
    as they wait for a verdict that this reviewer may give.

    Raises:
        NotFound: The annotation does not exist, or the user is no member of its project.
        Forbidden: The user is the author, or no reviewer.
        RevisionConflict: The annotation has a newer revision than `base`.
        Refused: The answer is a draft, a rejection lacks a reason, edits do not match the verdict, or an accepted
            answer contradicts this one and the request does not say which becomes the label.
    """
    stands = request.verdict != "rejected"
    base = _base(workspace, annotation_id, request.base)
    # The right to judge is checked inside the write transaction, before any result is returned.
    prepared = (
        prepare(workspace, base, request.edits, finished=stands, images=request.images) if base is not None else None
    )
    with workspace.database.write() as session:
        reviewer = session.get_one(User, reviewer_id)
        permissions.check(session, reviewer, {"annotation_id": annotation_id}, "reviewer")
        annotation = session.get_one(Annotation, annotation_id)
        if reviewer_id in (annotation.author_id, _answered_by(session, annotation_id, request.base)):
            raise Forbidden("You cannot review your own answer: leave it to another reviewer.")
        reason = storable(request.reason).strip()
        _check(request, reason)
        if stands:
            lock_answers(session, annotation)
        before = advance(
            session,
            annotation_id,
            request.base,
            request.idempotency_key,
            request.verdict,
            reviewer_id,
            annotation.project_id,
        )
        if before is not None:
            return Judged(**before.model_dump())
        judged_id, status = _load_judged(session, annotation_id, request.base)
        if status == "draft":
            raise Refused("This answer is still a draft: its author has not submitted it.")
        if prepared is None or not prepared.stands(session):
            state = state_at(session, annotation_id, request.base)
            base = Base(annotation_id, annotation.document_id, annotation.question_id, state)
            prepared = prepare_in(session, base, request.edits, finished=stands, images=request.images)
        ready = prepared.ready()
        beside = answers_beside(session, annotation, ready.state) if stands else []
        if not request.becomes_label:
            refuse_contradiction(beside)
        changes.publish(session, "tasks", annotation.project_id)  # a rejected answer is its author's next task
        verdict = Review(
            annotation_id=annotation_id,
            revision_id=judged_id,
            reviewer_id=reviewer_id,
            verdict=request.verdict,
            quality=request.quality,
            completeness=request.completeness,
            reason=reason,
            seconds=request.seconds,
            becomes_label=request.becomes_label,
        )
        made = _store(session, annotation, request.base, ready, verdict, request.idempotency_key)
        also = [
            equal.annotation.id
            for equal in equal_submitted(beside)
            if _accept_equal(session, equal, request, reviewer_id)
        ]
        session.flush()
        values = load_values(session, annotation.question_id, annotation.document_id, ready.state)
        return Judged(**made.model_copy(update={"values": values}).model_dump(), also_accepted=also)


def reviews_of(
    workspace: Workspace,
    annotation_id: str,
    viewer_id: str | None = None,
    *,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
    newest_first: bool = False,
) -> Page[ReviewLine]:
    """Return a page of the verdicts on an annotation, oldest first.

    Args:
        workspace: Open workspace.
        annotation_id: Judged answer.
        viewer_id: The user; None sees all answers.
        limit: Maximum number, at most MOST_LISTED.
        cursor: Of the page; None: the first page.
        newest_first: The other way round.

    Raises:
        NotFound: The annotation is absent or hidden.
        Refused: The cursor is not one of this list.
    """
    chosen = (
        select(Review, Revision.number, User.name)
        .join(Revision, Revision.id == Review.revision_id)
        .join(User, User.id == Review.reviewer_id)
        .where(Review.annotation_id == annotation_id)
    )
    name = f"reviews {annotation_id} {newest_first}"
    order = Order(name, (Revision.number, Review.id), falls=newest_first)
    with workspace.database.read() as session:
        load_visible(session, annotation_id, viewer_id)
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        lines = [
            ReviewLine(
                reviewer=name,
                verdict=review.verdict,
                quality=review.quality,
                completeness=review.completeness,
                reason=review.reason,
                revision=number,
                becomes_label=review.becomes_label,
                created_at=review.created_at,
            )
            for review, number, name in rows
        ]
    return Page(lines, following)


def revisions_of(
    workspace: Workspace,
    annotation_id: str,
    viewer_id: str | None = None,
    *,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
    newest_first: bool = False,
) -> Page[RevisionLine]:
    """Return a page of the history of an annotation, oldest first, without states. As `reviews_of`."""
    columns = (Revision.number, Revision.action, Revision.status, Revision.seconds, Revision.interactions)
    chosen = (
        select(*columns, Revision.created_at, User.name, ModelVersion)
        .join(User, User.id == Revision.author_id)
        .outerjoin(Prediction, Prediction.id == Revision.prediction_id)
        .outerjoin(ModelVersion, ModelVersion.id == Prediction.model_version_id)
        .where(Revision.annotation_id == annotation_id)
    )
    order = Order(f"revisions {annotation_id} {newest_first}", (Revision.number,), falls=newest_first)
    with workspace.database.read() as session:
        load_visible(session, annotation_id, viewer_id)
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        lines = [
            RevisionLine(
                number=number,
                action=action,
                status=status,
                author=name,
                seconds=seconds,
                interactions=interactions,
                created_at=created_at,
                model=label(version) if version is not None else None,
            )
            for number, action, status, seconds, interactions, created_at, name, version in rows
        ]
    return Page(lines, following)


def _store(session: Session, annotation: Annotation, base: int, ready: Ready, verdict: Review, key: str) -> Saved:
    """Store a verdict and its revision on top of `base`; `advance` has moved the head."""
    publish_answer(session, annotation.project_id, annotation.document_id, annotation.question_id, annotation.author_id)
    made = append(
        session,
        ready,
        annotation_id=annotation.id,
        base=base,
        author_id=verdict.reviewer_id,
        action=ACTION_OF[verdict.verdict],  # type: ignore[index]
        status=verdict.verdict,
        idempotency_key=key,
    )
    session.add(verdict)
    leases.release(session, leases.annotation_subject(annotation.id))
    label_review_queue.decide(session, annotation.id, verdict.revision_id, verdict.verdict, verdict.reviewer_id)
    if verdict.verdict != "rejected":
        automatic_checks.person_answered(
            session,
            annotation.project_id,
            annotation.document_id,
            annotation.question_id,
            ready.state,
            verdict.reviewer_id,
            opinion=ready.opinion,
        )
    return made


def _accept_equal(session: Session, equal: Beside, request: ReviewRequest, reviewer_id: str) -> bool:
    """Accept an answer that equals the one just accepted; return whether it was.

    It stays where it is when the reviewer has a part in it, when somebody else reviews it at the moment, or when its
    words are gone meanwhile.
    """
    answer = equal.annotation
    subject = leases.annotation_subject(answer.id)
    if any(held.holder != reviewer_id for held in leases.live(session, subject, [subject])):
        return False
    if reviewer_id in (answer.author_id, _answered_by(session, answer.id, answer.head)):
        return False
    base = Base(answer.id, answer.document_id, answer.question_id, equal.state)
    prepared = prepare_in(session, base, [], finished=True)
    if isinstance(prepared.outcome, Refused):
        return False
    head = answer.head
    advanced = advance(session, answer.id, head, request.idempotency_key, "accepted", reviewer_id, answer.project_id)
    if advanced is not None:
        return False
    judged_id, _ = _load_judged(session, answer.id, head)
    verdict = Review(
        annotation_id=answer.id, revision_id=judged_id, reviewer_id=reviewer_id, verdict="accepted", quality=True,
        completeness=True, reason="", seconds=0.0, becomes_label=request.becomes_label,
    )  # fmt: skip
    _store(session, answer, head, prepared.ready(), verdict, request.idempotency_key)
    return True


def _check(request: ReviewRequest, reason: str) -> None:
    if request.verdict == "rejected" and request.becomes_label:
        raise Refused("A rejected answer cannot become the label: accept it, or leave out 'becomes_label'.")
    if request.verdict == "rejected" and not reason:
        raise Refused("Give a reason for the rejection: the author fixes what it names.")
    if request.verdict == "fixed" and not request.edits:
        raise Refused("Nothing was changed: accept the answer, or fix it first.")
    if request.verdict != "fixed" and request.edits:
        raise Refused("Edits are allowed with the verdict 'fixed' only: remove them, or choose that verdict.")


def _answered_by(session: Session, annotation_id: str, base: int) -> str | None:
    """Return the author of the judged answer: of the newest revision up to `base` that no verdict made."""
    before = aliased(Revision)
    # The revision after a judged one is the verdict's own.
    by_verdict = (
        select(Review.id)
        .join(before, before.id == Review.revision_id)
        .where(Review.annotation_id == annotation_id, before.number == Revision.number - 1)
        .exists()
    )
    return session.scalar(
        select(Revision.author_id)
        .where(Revision.annotation_id == annotation_id, Revision.number <= base, ~by_verdict)
        .order_by(Revision.number.desc())
        .limit(1)
    )


def _base(workspace: Workspace, annotation_id: str, number: int) -> Base | None:
    """Return the judged revision; None unless it is the newest one."""
    with workspace.database.autocommit_read() as session:
        row = session.execute(
            select(Annotation.document_id, Annotation.question_id, Revision.state)
            .join(Revision, is_newest())
            .where(Annotation.id == annotation_id, Annotation.head == number)
        ).one_or_none()
    if row is None:
        return None
    return Base(annotation_id, row.document_id, row.question_id, AnnotationState.model_validate(row.state))


def _load_judged(session: Session, annotation_id: str, number: int) -> tuple[str, str]:
    """Return id and status of a revision; `advance` has just moved the head away from it."""
    chosen = select(Revision.id, Revision.status)
    mine = Revision.annotation_id == annotation_id, Revision.number == number
    return session.execute(chosen.where(*mine)).tuples().one()

"""Automatic answers: conditions on their state, and their audit by people's answers.

Reads only, except `store_verdict` and `person_answered`, which store the verdict that a person's answer implies, and
`check_anew`.
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session, defer

from db.base import now
from db.statuses import ANSWERED
from db.tables import Annotation, AutomaticAnswer, Revision, Task
from engine.annotation.agreement import agrees
from engine.annotation.state import AnnotationState
from engine.plurals import count
from engine.projects import project_stage
from engine.projects.project_settings import settings_of
from engine.queries import not_removed, replaces_person
from engine.tasks.opening.open_tasks import lock_project

LEAST = 20  # least number of checks: with fewer, as many wrong answers are tolerated as with this number


def needs_no_person() -> ColumnElement[bool]:
    """Return the condition that the row's task is answered automatically and not drawn for a check."""
    return exists().where(AutomaticAnswer.task_id == Task.id, replaces_person())


@dataclass(frozen=True, slots=True)
class Audit:
    """Audit counts of automatic answers: drawn for a check, checked, and right."""

    drawn: int
    checked: int
    right: int


def audit_of(session: Session, project_id: str, version_id: str) -> Audit:
    """Return the audit of a version's automatic answers, without those withdrawn before a check."""
    mine = (
        AutomaticAnswer.project_id == project_id,
        AutomaticAnswer.model_version_id == version_id,
        AutomaticAnswer.audit,
        AutomaticAnswer.withdrawn_at.is_(None) | AutomaticAnswer.verdict.is_not(None),
    )
    right = func.count().filter(AutomaticAnswer.verdict == "right")
    row = session.execute(select(func.count(), func.count(AutomaticAnswer.verdict), right).where(*mine)).one()
    return Audit(*row)


def failed_audit_sentence(session: Session, project_id: str, version_id: str, target: float) -> str | None:
    """Return a sentence when the audit of a version misses the target precision, else None.

    The first LEAST checks tolerate as many wrong answers as LEAST checks do: one with a target of 95 %.
    """
    return missed_target_sentence(audit_of(session, project_id, version_id), target)


def missed_target_sentence(found: Audit, target: float) -> str | None:
    """Return the sentence of `failed_audit_sentence` about an audit. Pure."""
    wrong = found.checked - found.right
    if wrong <= (1 - target) * max(found.checked, LEAST) + 1e-9:
        return None
    return (
        f"People checked {count(found.checked, 'automatic answer')} and found {wrong} wrong: "
        f"precision is below the target of {target:.1%}."
    )


@dataclass(frozen=True, slots=True)
class Opinion:
    """Verdict of a person's answer on an automatic answer."""

    automatic_id: str
    right: bool


@dataclass(frozen=True, slots=True)
class ToCheck:
    """Immutable part of an automatic answer, for the comparison with a person's answer."""

    id: str
    answer: dict[str, object]
    page_id: str


def to_check(session: Session, document_id: str, question_id: str) -> ToCheck | None:
    """Return the automatic answer to a question, or None; read before the write transaction."""
    columns = AutomaticAnswer.id, AutomaticAnswer.answer, AutomaticAnswer.page_id
    row = session.execute(_of_question(document_id, question_id).with_only_columns(*columns)).one_or_none()
    return None if row is None else ToCheck(*row)


def opinion_of(automatic: ToCheck, state: AnnotationState) -> Opinion:
    """Compare a person's answer with an automatic one, pixel by pixel; slow for large masks."""
    return Opinion(automatic.id, agrees(state, automatic.answer, automatic.page_id))


def store_verdict(
    session: Session,
    document_id: str,
    question_id: str,
    state: AnnotationState,
    person_id: str,
    *,
    anew: bool,
    opinion: Opinion | None = None,
) -> AutomaticAnswer | None:
    """Store and return the verdict of a person's answer on the automatic answer, if there is one.

    Every person's answer counts, whether the answer was drawn for a check or not.

    Args:
        session: Session of the caller's transaction.
        document_id: Document of the answer.
        question_id: Question of the answer.
        state: Answer of the person.
        person_id: Author of that answer.
        anew: Replace an earlier verdict; otherwise an earlier verdict stays and None is returned.
        opinion: Verdict computed before the transaction, if any.
    """
    # Masks are large: the answer column is loaded only when it must be compared here.
    automatic = session.scalar(_of_question(document_id, question_id).options(defer(AutomaticAnswer.answer)))
    if automatic is None or (automatic.verdict is not None and not anew):
        return None
    if opinion is None or opinion.automatic_id != automatic.id:
        opinion = opinion_of(ToCheck(automatic.id, automatic.answer, automatic.page_id), state)
    lock_project(session, automatic.project_id)  # before its row, as in engine.tasks.opening.task_changes
    automatic.verdict = "right" if opinion.right else "wrong"
    automatic.checked_by, automatic.checked_at = person_id, now()
    session.flush()
    return automatic


def check_anew(session: Session, document_id: str, question_id: str) -> None:
    """Store the verdict of the newest answer of a person that is not removed; without one, the verdict is withdrawn.

    For the removal and the restoring of answers. The project's stage stays: it changed by a decision of its own.
    """
    automatic = session.scalar(_of_question(document_id, question_id))
    if automatic is None:
        return
    lock_project(session, automatic.project_id)  # as in `store_verdict`
    newest = session.scalar(
        select(Revision)
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .where(Annotation.document_id == document_id, Annotation.question_id == question_id, not_removed())
        .where(Revision.status.in_(ANSWERED))
        .order_by(Revision.created_at.desc(), Revision.id.desc())
        .limit(1)
    )
    if newest is None:
        automatic.verdict = automatic.checked_by = automatic.checked_at = None
    else:
        state = AnnotationState.model_validate(newest.state)
        right = opinion_of(ToCheck(automatic.id, automatic.answer, automatic.page_id), state).right
        automatic.verdict = "right" if right else "wrong"
        automatic.checked_by, automatic.checked_at = newest.author_id, newest.created_at
    session.flush()


def _of_question(document_id: str, question_id: str) -> Select[AutomaticAnswer]:
    return (
        select(AutomaticAnswer)
        .join(Task, Task.id == AutomaticAnswer.task_id)
        .where(Task.document_id == document_id, Task.question_id == question_id, AutomaticAnswer.withdrawn_at.is_(None))
        .limit(1)
    )


def person_answered(
    session: Session,
    project_id: str,
    document_id: str,
    question_id: str,
    state: AnnotationState,
    person_id: str,
    *,
    anew: bool = True,
    opinion: Opinion | None = None,
) -> None:
    """Store the verdict of a person's answer; leave the automatic stage when the audit fails.

    Runs in the caller's transaction. `anew` and `opinion` as in `store_verdict`.
    """
    automatic = store_verdict(session, document_id, question_id, state, person_id, anew=anew, opinion=opinion)
    if automatic is None or not automatic.audit or automatic.verdict != "wrong":
        return
    target = settings_of(lock_project(session, project_id)).precision_target
    reason = failed_audit_sentence(session, project_id, automatic.model_version_id, target)
    if reason is not None:
        project_stage.fall_back(session, project_id, automatic.model_version_id, reason)

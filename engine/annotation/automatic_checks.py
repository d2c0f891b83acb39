"""What people found when they checked automatic answers. Reading only, but for the verdict that their answer makes."""

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, defer

from db.base import now
from db.tables import AutomaticAnswer, Task
from engine.annotation import automatic_checks
from engine.annotation.agreement import agrees
from engine.annotation.state import AnnotationState
from engine.projects import project_stage
from engine.projects.open_tasks import lock_project
from engine.projects.project_settings import settings_of

LEAST = 20  # checked answers that a share is told over: of fewer, as many wrong ones as of these are let pass


@dataclass(frozen=True, slots=True)
class Audit:
    """Of the automatic answers that were drawn for a check: how many were, were checked, and were right."""

    drawn: int
    checked: int
    right: int


def audit_of(session: Session, project_id: str, version_id: str) -> Audit:
    """Return how the check of a version's automatic answers stands; those that were taken back before anybody looked are out."""
    mine = (
        AutomaticAnswer.project_id == project_id,
        AutomaticAnswer.model_version_id == version_id,
        AutomaticAnswer.audit,
        AutomaticAnswer.withdrawn_at.is_(None) | AutomaticAnswer.verdict.is_not(None),
    )
    right = func.count().filter(AutomaticAnswer.verdict == "right")
    row = session.execute(select(func.count(), func.count(AutomaticAnswer.verdict), right).where(*mine)).one()
    return Audit(*row)


def failed(session: Session, project_id: str, version_id: str, target: float) -> str | None:
    """Return a sentence when a version's audit lies below the target precision, else None.

    Of the first twenty checks no more may be wrong than of twenty: with a target of 95 % one is let pass, the second is not.
    """
    found = audit_of(session, project_id, version_id)
    wrong = found.checked - found.right
    if wrong <= (1 - target) * max(found.checked, LEAST) + 1e-9:
        return None
    return (
        f"Of {found.checked} automatic answers that people checked, {wrong} {'was' if wrong == 1 else 'were'} wrong: "
        f"less than {target:.1%} are right."
    )


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a person's answer says about an automatic one."""

    automatic_id: str
    right: bool


@dataclass(frozen=True, slots=True)
class ToCheck:
    """An automatic answer that a person's is held against. What it marks never changes."""

    id: str
    answer: dict[str, object]
    page_id: str


def to_check(session: Session, document_id: str, question_id: str) -> ToCheck | None:
    """Return the automatic answer to a question, None without any: to compare it before the turn to write begins."""
    columns = AutomaticAnswer.id, AutomaticAnswer.answer, AutomaticAnswer.page_id
    row = session.execute(_of_question(document_id, question_id).with_only_columns(*columns)).one_or_none()
    return None if row is None else ToCheck(*row)


def opinion_of(automatic: ToCheck, state: AnnotationState) -> Opinion:
    """Return what a person's answer says about an automatic one: pixels are compared, which takes a while for large masks."""
    return Opinion(automatic.id, agrees(state, automatic.answer, automatic.page_id))


def checked(
    session: Session,
    document_id: str,
    question_id: str,
    state: AnnotationState,
    person_id: str,
    *,
    anew: bool,
    opinion: Opinion | None = None,
) -> AutomaticAnswer | None:
    """Store what a person's answer says about the automatic one to the same question, if there is one; return that.

    Whoever answers, drawn for a check or not: a person's answer always counts before the machine's. Without `anew`, what was said of it
    before stays, and it is None then. `opinion`: what this answer says, where that was found out before.
    """
    # What it marks is left where it is, unless it must be compared here.
    automatic = session.scalar(_of_question(document_id, question_id).options(defer(AutomaticAnswer.answer)))
    if automatic is None or (automatic.verdict is not None and not anew):
        return None
    if opinion is None or opinion.automatic_id != automatic.id:
        opinion = opinion_of(ToCheck(automatic.id, automatic.answer, automatic.page_id), state)
    automatic.verdict = "right" if opinion.right else "wrong"
    automatic.checked_by, automatic.checked_at = person_id, now()
    session.flush()
    return automatic


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
    opinion: automatic_checks.Opinion | None = None,
) -> None:
    """Note what a person's answer says about an automatic one, and step back where too many were wrong. In the caller's unit of work.

    `anew`: also where somebody's answer has said so before. `opinion`: what this answer says, where that was found out before.
    """
    automatic = automatic_checks.checked(
        session, document_id, question_id, state, person_id, anew=anew, opinion=opinion
    )
    if automatic is None or not automatic.audit or automatic.verdict != "wrong":
        return
    target = settings_of(lock_project(session, project_id)).precision_target
    failed = automatic_checks.failed(session, project_id, automatic.model_version_id, target)
    if failed is not None:
        project_stage.fall_back(session, project_id, automatic.model_version_id, failed)

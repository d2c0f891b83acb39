"""What people found when they checked automatic answers. Reading only, but for the verdict that their answer makes."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import AutomaticAnswer, Task
from engine.annotation.state import AnnotationState
from engine.curation.measured import agrees

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


def checked(
    session: Session, document_id: str, question_id: str, state: AnnotationState, person_id: str, *, anew: bool
) -> AutomaticAnswer | None:
    """Store what a person's answer says about the automatic one to the same question, if there is one; return that.

    Whoever answers, drawn for a check or not: a person's answer always counts before the machine's. Without `anew`, what was said of it
    before stays, and it is None then.
    """
    automatic = session.scalar(
        select(AutomaticAnswer)
        .join(Task, Task.id == AutomaticAnswer.task_id)
        .where(Task.document_id == document_id, Task.question_id == question_id, AutomaticAnswer.withdrawn_at.is_(None))
        .limit(1)
    )
    if automatic is None or (automatic.verdict is not None and not anew):
        return None
    automatic.verdict = "right" if agrees(state, automatic.answer, automatic.page_id) else "wrong"
    automatic.checked_by, automatic.checked_at = person_id, now()
    session.flush()
    return automatic

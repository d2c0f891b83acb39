"""Queue as one person sees it: counts, held tasks, and the reason when nothing is left. Reads only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from sqlalchemy import ColumnElement, and_, exists, func, literal_column, select
from sqlalchemy.orm import Session

from db.tables import EVERYBODY, Annotation, Document, Question, ReviewCount, Revision, Task
from engine import leases, plurals
from engine.accounts import visibility
from engine.tasks import task_status
from engine.tasks.task_status import Counts
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HeldTask:
    """Task that somebody holds, and the end of the lease.

    A task of which others' answers are hidden from the viewer is not among them: it would announce such an answer.
    """

    person: str
    document: str
    question: str
    until: datetime


@dataclass(frozen=True, slots=True)
class QueueView:
    """Progress of a project's standard questions.

    - `open`: tasks that need answers; `mine`: those that this person may take now; `in_progress`: those that somebody
      holds. All but `mine` and `in_progress` add up to `total`.
    - `submitted`: answers that wait for a verdict; `done`: accepted answers.
    - `skipped`: tasks that somebody could not answer, which wait for a reviewer; `dismissed`: those that cannot be
      answered.
    - `automatic`: tasks answered automatically and not drawn for a check.
    - `to_review`: answers that this person may review.
    - `reason`: why nothing is left for this person, else None.
    """

    open: int
    mine: int
    held: list[HeldTask]
    submitted: int
    done: int
    total: int
    to_review: int
    reason: str | None
    automatic: int = 0
    in_progress: int = 0
    skipped: int = 0
    dismissed: int = 0


def queue_view(workspace: Workspace, project_id: str, user_id: str) -> QueueView:
    """Return the queue of a project as one person sees it. Raises NotFound for an unknown project."""
    with workspace.database.read() as session:
        return view_in(session, project_id, user_id)


def view_in(session: Session, project_id: str, user_id: str) -> QueueView:
    """Return the queue of a project as one person sees it. Raises NotFound for an unknown project."""
    leased = leases.live(session, "task:")
    counts = task_status.counts(session, project_id, user_id, leased)
    held, hidden = _load_held(session, project_id, user_id, leased)
    others = [line for holder, line in held if holder != user_id]
    reason = None if counts.mine else _reason(session, project_id, counts, others)
    return QueueView(
        open=counts.open,
        mine=counts.mine,
        held=[line for _, line in held],
        submitted=counts.submitted,
        done=counts.done,
        total=counts.total,
        to_review=to_review(session, project_id, user_id),
        reason=reason,
        automatic=counts.automatic,
        in_progress=max(0, counts.in_progress - hidden),
        skipped=counts.skipped,
        dismissed=counts.dismissed,
    )


def to_review(session: Session, project_id: str, user_id: str) -> int:
    """Return the number of submitted answers and label reviews that this person may review."""
    number = select(func.coalesce(func.sum(ReviewCount.number), 0)).where(ReviewCount.project_id == project_id)
    everybody = number.where(ReviewCount.person_id == EVERYBODY).scalar_subquery()
    own = number.where(ReviewCount.person_id == user_id).scalar_subquery()
    return session.scalar(select(everybody - own)) or 0


# As text, so that the database sees that the partial indexes serve.
_IS_SUBMITTED: ColumnElement[bool] = literal_column("annotations.status = 'submitted'")


def judgeable(project_id: str, user_id: str) -> ColumnElement[bool]:
    """Return the condition that an annotation was submitted without this person's part in it."""
    return and_(
        Annotation.project_id == project_id,
        _IS_SUBMITTED,
        Annotation.author_id != user_id,
        Revision.author_id != user_id,
    )


def clock(moment: datetime) -> str:
    """Return a time of day in UTC, as sentences show it; the reader's program converts it to local time."""
    return f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def to_local_time(sentence: str) -> str:
    """Convert the times that `clock` wrote in a sentence to this machine's local time."""

    def local(found: re.Match[str]) -> str:
        """Convert one matched time."""
        written = time.fromisoformat(found[1]).replace(tzinfo=UTC)
        return f"{datetime.combine(datetime.now(UTC), written).astimezone():%H:%M:%S}"

    return re.sub(r"\b(\d\d:\d\d:\d\d) UTC\b", local, sentence)


def _load_held(
    session: Session, project_id: str, viewer_id: str, held: Sequence[leases.Held]
) -> tuple[list[tuple[str, HeldTask]], int]:
    """Return (holder's id, held task) of a project, earliest end first, and how many more the viewer may not see."""
    if not held:
        return [], 0
    compared = visibility.is_compared_with(viewer_id).label("compared")
    rows = session.execute(
        select(Task.id, Document.name, Question.text, compared)
        .join(Document, Document.id == Task.document_id)
        .join(Question, Question.id == Task.question_id)
        .where(Task.project_id == project_id, Task.id.in_([task_status.task_of(lease) for lease in held]))
    ).all()
    named = {task_id: (document, question) for task_id, document, question, _ in rows}
    unseen = {task_id for task_id, *_, is_compared in rows if is_compared}
    if unseen and visibility.sees_all(session, project_id, viewer_id):
        unseen = set()
    own = {task_status.task_of(lease) for lease in held if lease.holder == viewer_id}
    shown = [
        (lease.holder, HeldTask(lease.name, *named[task_status.task_of(lease)], lease.until))
        for lease in held
        if task_status.task_of(lease) in named
        and (lease.holder == viewer_id or task_status.task_of(lease) not in unseen)
    ]
    return shown, len(unseen - own)


def _reason(session: Session, project_id: str, counts: Counts, others: Sequence[HeldTask]) -> str:
    """Return why nothing is left for this person, in one sentence."""
    if counts.total == 0:
        if not session.scalar(select(exists().where(Question.project_id == project_id, Question.standard))):
            return (
                "This project has no standard questions yet: a reviewer adds them on the tab Questions, "
                "and you can ask any other question in the mode Ask."
            )
        return "There are no documents yet: drop PDF files or pictures on the page."
    if counts.automatic and counts.done + counts.automatic == counts.total:
        clause = f", and people accepted {counts.done:,}" if counts.done else ""
        automatic = f"{_answers(counts.automatic)} {_verb(counts.automatic, 'was', 'were')} accepted automatically"
        return f"No task is left: {automatic}{clause}."
    if counts.dismissed and counts.done + counts.dismissed == counts.total:
        answered = f"{_answers(counts.done)} {_verb(counts.done, 'is', 'are')} accepted"
        return f"No task is left: {answered}, and {_tasks(counts.dismissed)} cannot be answered."
    if counts.done == counts.total:
        return (
            f"All {_tasks(counts.total)} are answered and accepted."
            if counts.total > 1
            else "The only question is answered and accepted."
        )
    parts = []
    if others and counts.open:
        first = others[0]
        more = (
            f", and {len(others) - 1} more {'is' if len(others) == 2 else 'are'} in progress" if len(others) > 1 else ""
        )
        parts.append(
            f"{first.person} is working on “{_short(first.question)}” of {_short(first.document)} "
            f"until {clock(first.until)}{more}"
        )
    if counts.reserved:
        parts.append(
            f"{_answers(counts.reserved)} {_verb(counts.reserved, 'was', 'were')} rejected and "
            f"{_verb(counts.reserved, 'waits for its author', 'wait for their authors')}"
        )
    if counts.elsewhere:
        parts.append(
            f"{_tasks(counts.elsewhere)} that you answered {_verb(counts.elsewhere, 'waits', 'wait')} "
            "for another person"
        )
    if counts.skipped:
        parts.append(f"{_tasks(counts.skipped)} {_verb(counts.skipped, 'was', 'were')} skipped and wait for a reviewer")
    if counts.submitted:
        parts.append(f"{_answers(counts.submitted)} {_verb(counts.submitted, 'waits', 'wait')} for review")
    return f"No task is left for you now: {'; '.join(parts) or 'other people are working on the remaining ones'}."


def _tasks(count: int) -> str:
    return plurals.count(count, "question")


def _answers(count: int) -> str:
    return plurals.count(count, "answer")


def _verb(count: int, one: str, several: str) -> str:
    return one if count == 1 else several


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."

"""Automatic answers: accepted without a person, sampled for checks, and withdrawn together on request.

They are rows of their own and no annotations, so code that reads annotations (training, evaluation, statistics) cannot
mistake one for a person's. Exports include them on request under their own status (engine.datasets.automatic_labels). A
person's answer to the same question becomes an annotation and takes precedence.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db import changes
from db.tables import AutomaticAnswer, Document, ModelVersion, Question, SurveyAnswer, Task, User
from engine import audit, leases
from engine.accounts import permissions
from engine.annotation import automatic_checks
from engine.batches import in_batches
from engine.errors import Forbidden
from engine.models import registry
from engine.paging import Order, Page
from engine.projects import project_stage
from engine.projects.project_settings import settings_of
from engine.queries import awaits_verdict, is_asked
from engine.selection import stages
from engine.selection.acceptable_tasks import acceptable
from engine.selection.precision import lowest
from engine.selection.survey_figures import measure
from engine.selection.value_checks import ValueChecks
from engine.tasks.opening import overlap, task_changes
from engine.tasks.opening.open_tasks import lock_project
from engine.workspace import Workspace

MOST_LISTED = 1000
_Basis = tuple[int, str, int]  # what accepting rests on


@dataclass(frozen=True, slots=True)
class Accepted:
    """Result of accepting: numbers of answers and of checks, or the reason of a fallback."""

    answers: int
    audits: int
    fell_back: str | None


@dataclass(frozen=True, slots=True)
class AutomaticLine:
    """Automatic answer in a list; `verdict` is None until a person answers the question."""

    id: str
    task_id: str
    document_id: str
    document: str
    question: str
    text: str
    model: str
    confidence: float
    threshold: float
    audit: bool
    verdict: str | None
    withdrawn: bool
    created_at: datetime


def accept(workspace: Workspace, project_id: str) -> Accepted | None:
    """Accept confident answers of the champion; None when the project's stage is not automatic.

    The threshold is measured again. When the target is missed, or the audit fails, the project falls back to
    semi-automatic and nothing is accepted. Answers are accepted in batches, once earlier ones are withdrawn. They end
    where the stage or the model changes, or somebody withdraws automatic answers.
    """
    while True:
        with workspace.database.read() as session:
            if project_stage.stage_of(session, project_id) != "automatic":
                return None
        task_changes.work_off(workspace, project_id)
        with workspace.database.read() as session:
            # Masks are compared here and the result cached, so the write transaction is short.
            measure(session, project_id, registry.champion(session, project_id).id)
        with workspace.database.write() as session:
            project = lock_project(session, project_id)
            if project_stage.stage_of(session, project_id) != "automatic":
                return None
            if task_changes.goes_on(session, project_id, task_changes.AUTOMATIC):
                continue  # a withdrawal takes all that is there: nothing new may come before its end
            chosen, version = settings_of(project), registry.champion(session, project_id)
            failed = automatic_checks.failed_audit_sentence(session, project_id, version.id, chosen.precision_target)
            estimate = measure(session, project_id, version.id)
            point = lowest(estimate.points, chosen.precision_target, chosen.precision_answers)
            if failed is None and point is None:
                failed = stages.shortfall(estimate, chosen, registry.label(version))
            if failed is not None:
                project_stage.fall_back(session, project_id, version.id, failed)
                return Accepted(0, 0, failed)
            assert point is not None
            basis = _basis(session, project_id)
            break
    done = _store(workspace, project_id, version.id, point.threshold, chosen.audit_share, basis)
    return Accepted(done.total(), done[True], None)


def _store(
    workspace: Workspace, project_id: str, version_id: str, threshold: float, audit_share: float, basis: _Basis
) -> Counter[bool]:
    """Store automatic answers while `basis` stands; return their numbers by whether they are drawn for a check.

    Answers to fields pass the checks of their values first (engine.selection.value_checks).
    """
    with workspace.database.read() as session:
        least = ValueChecks.of(session, project_id, version_id).least(threshold)
        tasks = list(
            session.scalars(acceptable(Task.project_id == project_id, version_id, least).with_only_columns(Task.id))
        )
    done: list[bool] = []

    def stands(session: Session) -> bool:
        lock_project(session, project_id)
        return _basis(session, project_id) == basis

    def store(session: Session, some: Sequence[str]) -> list[bool]:
        # What was answered, closed or corrected since the search is left out here.
        checks = ValueChecks.of(session, project_id, version_id)
        wanted = session.execute(acceptable(Task.id.in_(some), version_id, least)).all()
        fit = checks.fit(session, [said for _, said in wanted], threshold)
        held = {row.subject.split(":")[1] for row in leases.live(session, "task:")}
        answers = [
            _answer(project_id, task_id, said, checks.threshold_of(said.question_id, threshold), audit_share)
            for task_id, said in wanted
            if task_id not in held and (said.document_id, said.question_id) in fit
        ]
        session.add_all(answers)
        session.flush()
        session.expunge_all()
        changes.publish(session, "documents", project_id)
        return [row.audit for row in answers]

    in_batches(workspace, tasks, store, stands, on_commit=done.extend)
    return Counter(done)


def undo(workspace: Workspace, project_id: str, *, by: User) -> int:
    """Withdraw the automatic answers without a person's verdict; return their number. Audited.

    Reopens their tasks, in a large project in batches (engine.tasks.opening.task_changes).

    Raises:
        Forbidden: the user is not an admin of the project.
    """
    with workspace.database.write() as session:
        project = lock_project(session, project_id)
        if permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can withdraw automatic answers; ask one.")
        mine = (AutomaticAnswer.project_id == project_id, awaits_verdict())
        count = session.scalar(select(func.count()).where(*mine)) or 0
        audit.record(session, by.id, "automatic.undo", project_id, project_id, answers=count)
        goes_on = task_changes.ask(session, project, task_changes.AUTOMATIC, by.id)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return count


def lines(workspace: Workspace, project_id: str, limit: int = 200, cursor: str | None = None) -> Page[AutomaticLine]:
    """Return a page of a project's automatic answers, newest first.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    order = Order(f"automatic {project_id}", (AutomaticAnswer.id,), falls=True)
    chosen = (
        select(AutomaticAnswer, Document, Question.text, ModelVersion)
        .join(Task, Task.id == AutomaticAnswer.task_id)
        .join(Document, Document.id == Task.document_id)
        .join(Question, Question.id == Task.question_id)
        .join(ModelVersion, ModelVersion.id == AutomaticAnswer.model_version_id)
        .where(AutomaticAnswer.project_id == project_id, is_asked())
    )
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    listed = [
        AutomaticLine(
            id=answer.id,
            task_id=answer.task_id,
            document_id=document.id,
            document=document.name,
            question=question,
            text=str(answer.answer.get("text", "")),
            model=registry.label(version),
            confidence=answer.confidence,
            threshold=answer.threshold,
            audit=answer.audit,
            verdict=answer.verdict,
            withdrawn=answer.withdrawn_at is not None,
            created_at=answer.created_at,
        )
        for answer, document, question, version in rows
    ]
    return Page(listed, following)


def _basis(session: Session, project_id: str) -> _Basis:
    """Return what accepting rests on: stage changes, model in use, withdrawals."""
    withdrawals = task_changes.number_of(session, project_id, task_changes.AUTOMATIC)
    return project_stage.sequence_of(session, project_id), registry.champion(session, project_id).id, withdrawals


def _answer(project_id: str, task_id: str, found: SurveyAnswer, threshold: float, share: float) -> AutomaticAnswer:
    return AutomaticAnswer(
        project_id=project_id,
        task_id=task_id,
        model_version_id=found.model_version_id,
        page_id=found.page_id,
        answer=found.answer,
        score=found.score,
        answered=found.answered,
        confidence=found.confidence,
        threshold=threshold,
        audit=overlap.fraction(f"audit:{task_id}") < share,
    )

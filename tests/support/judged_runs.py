"""Retrainings that have ended, as a project shows them: snapshots, versions with figures, verdicts of the real gate."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from db.ids import new_id
from db.tables import ModelVersion, Run, RunMetric, Snapshot
from engine.jobs import queue
from engine.models import promotions, registry
from engine.training.evaluation.metrics import Scored
from engine.training.retraining.gate import Holdout, judge
from engine.workspace import Workspace


def add_run(
    workspace: Workspace, project_id: str, *, before: float, after: float, documents: int = 6, answers: int = 40
) -> Run:
    """Add a judged run of the champion; its challenger is promoted where the gate passed it.

    Args:
        workspace: Open workspace.
        project_id: Project of the run.
        before: Mean IoU of the champion on the holdouts, about.
        after: Mean IoU of the challenger, about.
        documents: Held-out documents; 0: generated pages alone are judged.
        answers: Answers in the snapshot.
    """
    job = queue.enqueue(workspace, "retrain", project_id)
    queue.cancel(workspace, job.id)
    sizes = {"own": documents, "taught": answers // 2, "generated": 40}
    verdict = judge(_holdout(name, size, before, after) for name, size in sizes.items() if size)
    with workspace.database.write() as session:
        parent = registry.champion(session, project_id)
        snapshot = Snapshot(project_id=project_id, sha256=new_id() + new_id(), counts={"annotations": answers})
        session.add(snapshot)
        number = session.scalar(select(func.count(ModelVersion.id)).where(ModelVersion.project_id == project_id)) or 0
        session.flush()
        version = ModelVersion(
            project_id=project_id,
            number=number + 1,
            checkpoint_sha256=parent.checkpoint_sha256,
            parent_id=parent.id,
            snapshot_id=snapshot.id,
            code_version="test",
            optimizer={"name": "NaturalGradient"},
            figures={name: one["challenger"] for name, one in verdict["holdouts"].items()},
        )
        session.add(version)
        session.flush()
        ended = datetime.now(UTC)
        run = Run(
            project_id=project_id,
            job_id=job.id,
            snapshot_id=snapshot.id,
            parent_id=parent.id,
            challenger_id=version.id,
            seed=0,
            settings={"seed": 0, "minutes": 5, "steps": 100, "cycle": 100, "pages_taught": 60, "refit_steps": 100},
            code_version="test",
            status="judged",
            verdict=verdict,
            created_at=ended - timedelta(minutes=8),
            finished_at=ended,
        )
        session.add(run)
        session.flush()
        session.add_all(_curve(run.id))
    if verdict["passed"]:
        promotions.promote(workspace, project_id, version.id, by=None, reason=str(verdict["sentence"]))
    return run


def _holdout(name: str, documents: int, before: float, after: float) -> Holdout:
    rng = random.Random(f"{name} {before} {after}")
    pages = {f"{name} {number}": f"document {number}" for number in range(documents)}
    scores = [(page, f"question {asked}", rng.random()) for page in pages for asked in range(3)]
    return Holdout(name, pages, *([_scored(*one, mean) for one in scores] for mean in (before, after)))


def _scored(page: str, question: str, luck: float, mean: float) -> Scored:
    iou = min(1.0, max(0.0, mean + 0.4 * (luck - 0.5)))
    return Scored(
        page_id=page,
        question_id=question,
        answerable=True,
        printed_key=True,
        iou=iou,
        word_iou=iou,
        pixel_iou=iou,
        baseline_iou=0.3,
        answered=0.9,
        predicted_iou=iou,
        milliseconds=25.0,
    )


def _curve(run_id: str) -> Sequence[RunMetric]:
    rng = random.Random(7)
    return [
        RunMetric(
            run_id=run_id,
            step=step,
            values={"loss": 2.0 * 0.97**step + 0.1 * rng.random()}
            | ({"watched": 2.1 * 0.975**step} if step % 10 == 0 else {}),
        )
        for step in range(0, 101, 2)
    ]

"""Retraining run: from accepted answers to a judged challenger; resumable after any stop or kill.

Each phase ends with durable output: the run's row with its snapshot, checkpoints on disk, the registered challenger,
the verdict. A worker that takes the job again continues after the last one.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from sqlalchemy import select

from db.base import now
from db.tables import Job, ModelVersion, Project, Promotion, Run, RunMetric, Snapshot
from engine.datasets import snapshots
from engine.datasets.freezes import freezing
from engine.errors import Conflict, Refused
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped, check
from engine.metrics.counted import VERDICTS
from engine.models import promotions, registry
from engine.models.pruning import MEAN_OF_FOLDS
from engine.outage import lasting
from engine.projects.project_settings import settings_of
from engine.training.retraining import challenger, folds, gate, learner, unlabelled_steps
from engine.training.retraining.challenger import Challenger
from engine.training.retraining.cleanup import end, run_folder
from engine.training.retraining.judging import judge
from engine.training.retraining.readiness import NOTHING_TO_LEARN
from engine.training.retraining.refit import Refitted, refit
from engine.training.retraining.run_settings import (
    BEGINS_AT,
    FOLD_STEPS,
    FOLDED,
    HANDED_IN,
    LATE,
    MADE_WITH,
    PAGES,
    READ_AS,
    REFIT_STEPS,
    settings_for,
    stored_settings,
    unfolded_settings,
    unlabelled_sentence,
)
from engine.training.sources.corpus import Corpus, corpus_of
from engine.training.sources.examples import read_as
from engine.version import code_version
from engine.workspace import Workspace

_NO_REFIT = "The mean of the folds is used, without a refit."
_LEARNED, _JUDGED = 0.45, 0.55  # shares of the progress bar after training and after judging; the refit takes the rest


def retrain(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    """Train a challenger for the job's project, judge it, and promote it if it passed and settings allow.

    Returns the job's result: ids of run and version, the verdict's summary, and whether the version was promoted.

    Raises:
        Refused: There is nothing to train on.
        Stopped: `should_stop` gave a reason; raised at the next step.
    """
    if job.project_id is None:
        raise Refused("A retraining belongs to a project.")
    try:
        run = _begin_run(workspace, job, on_progress, should_stop)
        if run.status == "running":
            run = _train(workspace, run, on_progress, should_stop)
            run = _judge(workspace, run, on_progress, should_stop)
            run = _refit(workspace, run, on_progress, should_stop)
        elif run.status != "judged":
            raise Refused(f"The run has ended already ({run.status}).")
    except Stopped as stopped:
        if stopped.reason == "cancel":
            _close(workspace, job.id, "cancelled")
        raise
    except Refused:
        _close(workspace, job.id, "failed")
        raise
    promoted, note = _promote(workspace, run)
    shutil.rmtree(run_folder(workspace, run.id), ignore_errors=True)
    with workspace.database.read() as session:
        version = session.get_one(ModelVersion, str(run.challenger_id))
    sentences = [
        f"{registry.label(version)}: {run.verdict['sentence']}",
        unlabelled_sentence(run.settings),
        _NO_REFIT if run.verdict["passed"] and run.settings.get(FOLDED) and not run.settings.get("refit") else "",
        *note,
    ]
    return {
        "run_id": run.id,
        "version_id": version.id,
        "label": registry.label(version),
        "passed": bool(run.verdict["passed"]),
        "promoted": promoted,
        "sentence": " ".join(sentence for sentence in sentences if sentence),
    }


def _begin_run(workspace: Workspace, job: Job, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Return the run of this job: an earlier attempt's, else a new one with its inputs frozen."""
    with workspace.database.read() as session:
        earlier = session.scalar(select(Run).where(Run.job_id == job.id))
    if earlier is not None:
        if FOLDED not in earlier.settings and earlier.status != "judged":
            raise Refused("This run was begun by an earlier version of Glossator and cannot go on; retrain again.")
        return earlier if earlier.status != "failed" else _reopen(workspace, earlier.id)
    project_id = str(job.project_id)
    settings = settings_for(workspace.settings, job.id, job.payload.get("settings", {}))

    def tell(done: int, of: int) -> None:
        """Report how far a snapshot is, and end it when the job should stop."""
        check(should_stop)
        how_far = f": {done:,} of {of:,}" if of else ""
        on_progress(0.0, f"Freezing the accepted answers{how_far}.")

    tell(0, 0)
    try:
        snapshot = snapshots.freeze(workspace, project_id, on_progress=tell)
    except snapshots.NothingToFreeze:
        raise Refused(NOTHING_TO_LEARN) from None
    with workspace.database.read() as session:
        parent = registry.champion(session, project_id)
        begins_at = registry.origin(session, parent) if settings.begin == "origin" else parent
    corpus = corpus_of(workspace, snapshot.sha256, exact=False)
    path = registry.checkpoint_path(workspace, begins_at)
    network = learner.network_of(path, settings.depth, workspace.settings.device)
    folded = folds.are_made(corpus)
    settings = settings if folded else unfolded_settings(settings)
    source = learner.source_for(workspace, corpus, settings)
    check(should_stop)
    on_progress(0.01, "Timing the first steps.")
    with freezing(workspace.database, project_id):  # until the run names the list of pages
        settings, of_unlabelled = unlabelled_steps.choose_pages(workspace, project_id, settings, folded=folded)
        settings = learner.with_length(network, source, corpus, settings, folds=folds.FOLDS if folded else 0)
        with workspace.database.write() as session:
            run = Run(
                project_id=project_id,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=parent.id,
                settings={
                    **settings.model_dump(),
                    BEGINS_AT: begins_at.id,
                    PAGES: len(corpus.pages),
                    READ_AS: read_as(corpus.pages),
                    FOLDED: folded,
                    **of_unlabelled,
                },
                seed=settings.seed,
                code_version=code_version(),
            )
            session.add(run)
            session.flush()
            return run


def _reopen(workspace: Workspace, run_id: str) -> Run:
    """Return a failed run whose job was retried, ready to resume."""
    with workspace.database.write() as session:
        run = session.get_one(Run, run_id, with_for_update=True)
        run.status, run.finished_at = "running", None
        return run


def _train(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Train, and return the run with its challenger registered."""
    if run.challenger_id is not None:
        return run
    settings = stored_settings(run.settings)

    def keep(values: Mapping[str, float]) -> None:
        """Collect a row of metrics."""
        step = int(values["step"])
        figures = {name: round(float(value), 6) for name, value in values.items() if name != "step"}

        def write() -> None:
            """Store the metrics."""
            with workspace.database.write() as session:
                session.merge(RunMetric(run_id=run.id, step=step, values=figures))  # after a resume, a step may repeat

        lasting(write)

    def look(step: int, name: str, value: float) -> None:
        """Collect a held-out figure of a checkpoint."""

        def write() -> None:
            """Store it."""
            with workspace.database.write() as session:
                point = session.get(RunMetric, (run.id, step))
                values = dict(point.values) if point is not None else {}
                session.merge(RunMetric(run_id=run.id, step=step, values={**values, name: round(value, 6)}))

        lasting(write)

    made = challenger.train(
        workspace,
        load_taught_pages(workspace, run),
        settings,
        run_folder(workspace, run.id),
        begins_at=beginning(workspace, run),
        folded=run.settings[FOLDED],
        on_metrics=keep,
        on_watched=look,
        on_progress=lambda share, sentence: on_progress(share * _LEARNED, sentence),
        should_stop=should_stop,
    )
    sha256 = workspace.blobs.put_file(made.path)
    of_folds = [workspace.blobs.put_file(fold.path) for fold in made.of_folds]
    return lasting(lambda: _register(workspace, run, sha256, of_folds, made))


def _register(workspace: Workspace, run: Run, sha256: str, of_folds: list[str], made: Challenger) -> Run:
    """Return the run with its challenger; registers it once, also when attempts overlap."""
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        if mine.challenger_id is None:
            version = registry.register(
                session,
                run.project_id,
                checkpoint_sha256=sha256,
                fold_sha256s=of_folds,
                parent_id=run.parent_id,
                snapshot_id=run.snapshot_id,
                seed=run.seed,
                optimizer=made.optimizer,
            )
            mine.challenger_id = version.id
            mine.settings = {
                **mine.settings,
                MADE_WITH: made_with(workspace),
                FOLD_STEPS: [fold.ended for fold in made.of_folds],
                HANDED_IN: [fold.handed_in for fold in made.of_folds],
                LATE: made.late,
                **({} if made.of_folds else {REFIT_STEPS: made.ended}),
            }
        return mine


def _judge(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Judge, and store verdict and figures in one commit."""
    if run.verdict:
        return run
    settings = stored_settings(run.settings)
    parent, snapshot = _parent_and_snapshot(workspace, run)
    with workspace.database.read() as session:
        version = session.get_one(ModelVersion, str(run.challenger_id))
    verdict = judge(
        workspace,
        parent,
        version,
        snapshot_sha256=snapshot.sha256,
        settings=settings,
        on_progress=lambda share, message: on_progress(_LEARNED + share * (_JUDGED - _LEARNED), message),
        should_stop=should_stop,
    )
    judged = lasting(lambda: _with_verdict(workspace, run, verdict))
    VERDICTS.labels("passed" if verdict["passed"] else "failed").inc()
    return judged


def _with_verdict(workspace: Workspace, run: Run, verdict: dict[str, Any]) -> Run:
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        mine.verdict = verdict
        version = session.get_one(ModelVersion, str(mine.challenger_id))
        version.figures = {name: holdout["challenger"] for name, holdout in verdict["holdouts"].items()}
        return mine


def _refit(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Train the weights in use of a challenger that passed, and end the run."""
    settings = stored_settings(run.settings)
    refitted = None
    if run.verdict["passed"] and settings.refit and run.settings[FOLDED]:
        refitted = refit(
            workspace,
            settings,
            load_taught_pages(workspace, run),
            run_folder(workspace, run.id) / "refit",
            handed_in=run.settings[HANDED_IN],
            begins_at=beginning(workspace, run),
            judged=_challenger_path(workspace, run),
            own_documents=_own_documents(run.verdict),
            on_progress=lambda share, sentence: on_progress(_JUDGED + share * (0.99 - _JUDGED), sentence),
            should_stop=should_stop,
        )
    sha256 = None
    if refitted is not None and refitted.path is not None and refitted.comparison["passed"]:
        sha256 = workspace.blobs.put_file(refitted.path)
    return lasting(lambda: _end_run(workspace, run, refitted, sha256))


def _own_documents(verdict: Mapping[str, Any]) -> int:
    """Return how many own documents a verdict rests on; one of an earlier version counts those without answers too."""
    own = verdict["holdouts"].get(gate.OWN, {})
    return int(own.get("with_answers", own.get("documents", 0)))


def _challenger_path(workspace: Workspace, run: Run) -> Path:
    with workspace.database.read() as session:
        return registry.checkpoint_path(workspace, session.get_one(ModelVersion, str(run.challenger_id)))


def _end_run(workspace: Workspace, run: Run, refitted: Refitted | None, sha256: str | None) -> Run:
    """End a run that was judged; its challenger uses the refitted weights, unless it is in use already."""
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        if mine.status == "judged":  # by another attempt, or by this one whose answer was lost
            return mine
        mine.status, mine.finished_at = "judged", now()
        if refitted is None:
            return mine
        version = session.get_one(ModelVersion, str(mine.challenger_id), with_for_update=True)
        sentence = refitted.comparison["sentence"]
        if promotions.was_promoted(session, version):
            sentence = "It was promoted before it had learned from all pages, so the mean of the folds stays in use."
        elif sha256 is not None:
            mine.settings = {
                **mine.settings,
                MEAN_OF_FOLDS: version.checkpoint_sha256,
                REFIT_STEPS: refitted.steps,
                LATE: refitted.late or mine.settings.get(LATE, False),
                MADE_WITH: made_with(workspace),
            }
            version.checkpoint_sha256 = sha256
        mine.verdict = {
            **mine.verdict,
            "refit": refitted.comparison,
            "sentence": f"{mine.verdict['sentence']} {sentence}",
        }
        return mine


def _promote(workspace: Workspace, run: Run) -> tuple[bool, list[str]]:
    """Return whether the challenger was promoted, and sentences about it."""
    if not run.verdict["passed"]:
        return False, []
    with workspace.database.read() as session:
        project = session.get_one(Project, run.project_id)
        before = session.scalar(select(Promotion.id).where(Promotion.run_id == run.id).limit(1))
    if before is not None:  # by an earlier attempt at this job that was killed right after
        return True, ["It was promoted."]
    if settings_of(project).promotion == "by_hand":
        return False, ["An admin can promote it."]
    try:
        promotions.promote(workspace, run.project_id, str(run.challenger_id), by=None, reason=run.verdict["sentence"])
    except Conflict as conflict:
        return False, [f"It was not promoted: {conflict}"]
    return True, ["It was promoted."]


def beginning(workspace: Workspace, run: Run) -> ModelVersion:
    """Return the version whose weights a run starts from: its parent, or the origin of all versions."""
    with workspace.database.read() as session:
        return session.get_one(ModelVersion, run.settings.get(BEGINS_AT, run.parent_id))


def made_with(workspace: Workspace) -> dict[str, Any]:
    """Return the software and the device that train here, stored for reproduction."""
    device = workspace.settings.device
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": device}


def _parent_and_snapshot(workspace: Workspace, run: Run) -> tuple[ModelVersion, Snapshot]:
    with workspace.database.read() as session:
        return session.get_one(ModelVersion, run.parent_id), session.get_one(Snapshot, run.snapshot_id)


def load_taught_pages(workspace: Workspace, run: Run) -> Corpus:
    """Return what a run learns from: the pages of its snapshot, and those without labels.

    Raises NotFound when a file is missing, Refused when it was changed on disk.
    """
    _, snapshot = _parent_and_snapshot(workspace, run)
    corpus = corpus_of(workspace, snapshot.sha256, exact=False)
    return unlabelled_steps.with_unlabelled(workspace, corpus, run.settings)


def _close(workspace: Workspace, job_id: str, status: str) -> None:
    """End a run that was begun."""
    with workspace.database.write() as session:
        run = session.scalar(select(Run).where(Run.job_id == job_id, Run.status == "running"))
        if run is not None:
            end(run, status)
            if status == "cancelled":  # a failed run may be retried, and resumes from its checkpoint
                shutil.rmtree(run_folder(workspace, run.id), ignore_errors=True)

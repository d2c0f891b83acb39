"""Retraining run: from accepted answers to a judged challenger; resumable after any stop or kill.

Each phase ends with durable output: the run's row with its snapshot, checkpoints on disk, the registered challenger,
the verdict. A worker that takes the job again continues after the last one.
"""

import shutil
from collections.abc import Mapping
from typing import Any

import torch
from sqlalchemy import select

from db.base import now
from db.tables import Job, ModelVersion, Project, Promotion, Run, RunMetric, Snapshot
from engine.datasets import snapshots
from engine.errors import Conflict, Refused
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped, check
from engine.jobs.outage import lasting
from engine.models import promotions, registry
from engine.projects.project_settings import settings_of
from engine.queries import existing
from engine.training.retraining import learner
from engine.training.retraining.judging import judge
from engine.training.retraining.readiness import NOTHING_TO_LEARN
from engine.training.retraining.refit import TAUGHT_SPLITS, Refitted, in_use, refit, snapshot_for
from engine.training.retraining.run_settings import (
    BEGINS_AT,
    ENDED_AT,
    HANDED_IN,
    HOLDOUTS,
    MADE_WITH,
    PAGES,
    REFIT_SNAPSHOT,
    RunSettings,
    settings_for,
    stored_settings,
)
from engine.training.retraining.sweep import run_folder
from engine.training.sources.corpus import Corpus, corpus_of
from engine.version import code_version
from engine.workspace import Workspace

TRAIN, HELD_OUT = "train", ("recent", "frozen")
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
        run = _begun(workspace, job, on_progress, should_stop)
        if run.status == "running":
            run = _trained(workspace, run, on_progress, should_stop)
            run = _judged(workspace, run, on_progress, should_stop)
            run = _refitted(workspace, run, on_progress, should_stop)
        elif run.status != "judged":
            raise Refused(f"The run has ended already ({run.status}).")
    except Stopped as stopped:
        if stopped.reason == "cancel":
            _close(workspace, job.id, "cancelled")
        raise
    except Refused:
        _close(workspace, job.id, "failed")
        raise
    promoted, note = _promoted(workspace, run)
    shutil.rmtree(run_folder(workspace, run.id), ignore_errors=True)
    with workspace.database.read() as session:
        version = session.get_one(ModelVersion, str(run.challenger_id))
    return {
        "run_id": run.id,
        "version_id": version.id,
        "label": registry.label(version),
        "passed": bool(run.verdict["passed"]),
        "promoted": promoted,
        "sentence": " ".join([f"{registry.label(version)}: {run.verdict['sentence']}", *note]),
    }


def _begun(workspace: Workspace, job: Job, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Return the run of this job: an earlier attempt's, else a new one with its inputs frozen."""
    with workspace.database.read() as session:
        there = session.scalar(select(Run).where(Run.job_id == job.id))
    if there is not None:
        return there if there.status != "failed" else _reopened(workspace, there.id)
    project_id = str(job.project_id)
    settings = settings_for(workspace.settings, job.id, job.payload.get("settings", {}))

    def tell(done: int, of: int) -> None:
        """Report how far a snapshot is, and end it when the job should stop."""
        check(should_stop)
        how_far = f": {done:,} of {of:,}" if of else ""
        on_progress(0.0, f"Freezing the accepted answers{how_far}.")

    tell(0, 0)
    snapshot = _frozen(workspace, project_id, tell, TRAIN)
    if snapshot is None:
        raise Refused(NOTHING_TO_LEARN)
    held_out = _frozen(workspace, project_id, tell, *HELD_OUT)
    with workspace.database.read() as session:
        parent = registry.champion(session, project_id)
        begins_at = registry.origin(session, parent) if settings.begin == "origin" else parent
    corpus = _taught(workspace, snapshot)
    network = learner.network_of(registry.judged_path(workspace, begins_at), settings.depth)
    source = learner.source_for(workspace, corpus, settings)
    check(should_stop)
    on_progress(0.01, "Timing the first steps.")
    pages = len(corpus.pages)
    if settings.refit and held_out is not None:
        pages += len(corpus_of(workspace, held_out.sha256, exact=False).of(*TAUGHT_SPLITS))
    settings = learner.with_length(network, source, corpus, settings, pages)
    with workspace.database.write() as session:
        run = Run(
            project_id=project_id,
            job_id=job.id,
            snapshot_id=snapshot.id,
            parent_id=parent.id,
            settings={
                **settings.model_dump(),
                HOLDOUTS: held_out.sha256 if held_out else None,
                BEGINS_AT: begins_at.id,
                PAGES: pages,
            },
            seed=settings.seed,
            code_version=code_version(),
        )
        session.add(run)
        session.flush()
        return run


def _reopened(workspace: Workspace, run_id: str) -> Run:
    """Return a failed run whose job was retried, ready to resume."""
    with workspace.database.write() as session:
        run = session.get_one(Run, run_id, with_for_update=True)
        run.status, run.finished_at = "running", None
        return run


def _frozen(workspace: Workspace, project_id: str, tell: snapshots.OnProgress, *splits: str) -> Snapshot | None:
    with workspace.database.read() as session:
        existing(session, Project, project_id)
    try:
        return snapshots.freeze(workspace, project_id, split=splits, on_progress=tell)
    except snapshots.NothingToFreeze:
        return None


def _trained(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Train, and return the run with its challenger registered."""
    if run.challenger_id is not None:
        return run
    settings = stored_settings(run.settings)
    _, snapshot = _parent_and_snapshot(workspace, run)
    network = learner.network_of(registry.judged_path(workspace, beginning(workspace, run)), settings.depth)
    folder = run_folder(workspace, run.id)

    def keep(values: Mapping[str, float]) -> None:
        """Collect a row of metrics."""
        step = int(values["step"])
        kept = {name: round(float(value), 6) for name, value in values.items() if name != "step"}

        def write() -> None:
            """Store the metrics."""
            with workspace.database.write() as session:
                session.merge(RunMetric(run_id=run.id, step=step, values=kept))  # after a resume, a step may repeat

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

    outcome = learner.train(
        network,
        workspace,
        _taught(workspace, snapshot),
        settings,
        folder,
        on_metrics=keep,
        on_watched=look,
        on_progress=lambda share: on_progress(*_progress(settings, share)),
        stop=lambda: should_stop() is not None,
    )
    check(should_stop)
    sha256 = workspace.blobs.put_file(learner.result_file(folder))
    optimizer = learner.described(network, settings)
    handed_in = learner.handed_in_step(folder) or outcome.step
    return lasting(lambda: _registered(workspace, run, sha256, optimizer, outcome.step, handed_in))


def _progress(settings: RunSettings, share: float) -> tuple[float, str]:
    """Return share and sentence on the progress of a training, within its present cycle."""
    step = round(share * settings.steps)
    begin, end = learner.plan_of(settings).cycle_of(max(0, step - 1))
    going_on = f" The run goes on after {begin}: it still gains." if begin else ""
    return step / end * _LEARNED, f"Training: step {step} of {end}.{going_on}"


def _registered(
    workspace: Workspace, run: Run, sha256: str, optimizer: dict[str, Any], step: int, handed_in: int
) -> Run:
    """Return the run with its challenger; registers it once, also when attempts overlap."""
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        if mine.challenger_id is None:
            version = registry.register(
                session,
                run.project_id,
                checkpoint_sha256=sha256,
                parent_id=run.parent_id,
                snapshot_id=run.snapshot_id,
                seed=run.seed,
                optimizer=optimizer,
            )
            mine.challenger_id = version.id
            mine.settings = {**mine.settings, **ended(step), HANDED_IN: handed_in}
        return mine


def _judged(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Judge, and store verdict and figures in one commit."""
    if run.verdict:
        return run
    settings = stored_settings(run.settings)
    parent, snapshot = _parent_and_snapshot(workspace, run)
    with workspace.database.read() as session:
        challenger = session.get_one(ModelVersion, str(run.challenger_id))
    verdict = judge(
        workspace,
        registry.judged_path(workspace, parent),
        registry.judged_path(workspace, challenger),
        taught=_taught(workspace, snapshot),
        holdouts_sha256=run.settings[HOLDOUTS],
        settings=settings,
        on_progress=lambda share, message: on_progress(_LEARNED + share * (_JUDGED - _LEARNED), message),
        should_stop=should_stop,
    )
    return lasting(lambda: _with_verdict(workspace, run, verdict))


def _with_verdict(workspace: Workspace, run: Run, verdict: dict[str, Any]) -> Run:
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        mine.verdict = verdict
        version = session.get_one(ModelVersion, str(mine.challenger_id))
        version.figures = {name: one["challenger"] for name, one in verdict["holdouts"].items()}
        return mine


def _refitted(workspace: Workspace, run: Run, on_progress: OnProgress, should_stop: ShouldStop) -> Run:
    """Refit a challenger that passed on all accepted pages, and end the run."""
    settings = stored_settings(run.settings)
    found = None
    snapshot_sha256 = _refit_snapshot(workspace, run, settings, should_stop)
    if snapshot_sha256 is not None:
        found = refit(
            workspace,
            run,
            settings,
            snapshot_sha256,
            handed_in=int(run.settings[HANDED_IN]),
            begins_at=beginning(workspace, run),
            on_progress=lambda share, said: on_progress(_JUDGED + share * (0.99 - _JUDGED), said),
            should_stop=should_stop,
        )
    return lasting(lambda: _ended(workspace, run, found))


def _refit_snapshot(workspace: Workspace, run: Run, settings: RunSettings, should_stop: ShouldStop) -> str | None:
    """Return the manifest that a refit learns from, stored with the run; None when there is nothing to refit."""
    if REFIT_SNAPSHOT in run.settings or not run.verdict["passed"] or not settings.refit or not run.settings[HOLDOUTS]:
        return run.settings.get(REFIT_SNAPSHOT)

    def tell(done: int, of: int) -> None:
        """End the snapshot when the job should stop."""
        check(should_stop)

    sha256 = snapshot_for(workspace, run, on_progress=tell)
    if sha256 is not None:
        with workspace.database.write() as session:
            mine = session.get_one(Run, run.id, with_for_update=True)
            mine.settings = {**mine.settings, REFIT_SNAPSHOT: sha256}
    return sha256


def _ended(workspace: Workspace, run: Run, found: Refitted | None) -> Run:
    """End a run that was judged; its challenger uses the refitted weights, unless it is in use already."""
    with workspace.database.write() as session:
        mine = session.get_one(Run, run.id, with_for_update=True)
        mine.status, mine.finished_at = "judged", now()
        if found is not None:
            version = session.get_one(ModelVersion, str(mine.challenger_id), with_for_update=True)
            sentence = f"{mine.verdict['sentence']} {found.comparison['sentence']}"
            mine.verdict = {**mine.verdict, "refit": found.comparison, "sentence": sentence}
            if found.comparison["passed"] and not in_use(session, version):
                version.judged_sha256 = version.checkpoint_sha256
                version.checkpoint_sha256 = found.sha256
                version.refit_snapshot_sha256 = found.snapshot_sha256
        return mine


def _promoted(workspace: Workspace, run: Run) -> tuple[bool, list[str]]:
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


def ended(step: int) -> dict[str, Any]:
    """Return the stored facts on the end of training, for reproduction: steps, and software versions."""
    return {ENDED_AT: step, MADE_WITH: {"torch": torch.__version__, "threads": torch.get_num_threads()}}


def _parent_and_snapshot(workspace: Workspace, run: Run) -> tuple[ModelVersion, Snapshot]:
    with workspace.database.read() as session:
        return session.get_one(ModelVersion, run.parent_id), session.get_one(Snapshot, run.snapshot_id)


def _taught(workspace: Workspace, snapshot: Snapshot) -> Corpus:
    return corpus_of(workspace, snapshot.sha256, exact=False)


def _close(workspace: Workspace, job_id: str, status: str) -> None:
    """End a run without a verdict, if it was begun and has none."""
    with workspace.database.write() as session:
        run = session.scalar(select(Run).where(Run.job_id == job_id, Run.status == "running"))
        if run is not None:
            run.status, run.finished_at = status, now()
            if status == "cancelled":  # a failed run may be retried, and resumes from its checkpoint
                shutil.rmtree(run_folder(workspace, run.id), ignore_errors=True)

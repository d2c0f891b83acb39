"""Reproduction of a run's weights from its stored snapshot, parent, settings and last step."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from db.tables import ModelVersion, Run
from engine.errors import Refused
from engine.jobs.cancellation import OnProgress
from engine.models import registry
from engine.private_files import users_umask
from engine.queries import existing
from engine.training.retraining import challenger
from engine.training.retraining.refit import train_for_use
from engine.training.retraining.run import beginning, load_taught_pages, made_with
from engine.training.retraining.run_settings import (
    DISTILLED,
    FOLD_STEPS,
    FOLDED,
    HANDED_IN,
    MADE_WITH,
    REFIT_STEPS,
    RunSettings,
    refit_settings,
    stored_settings,
)
from engine.training.sources.corpus import Corpus
from engine.version import code_version
from engine.workspace import Workspace
from model import checkpoint

_ENOUGH_MINUTES = 1e6  # large enough that the clock never ends the reproduction


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Result of a reproduction; `differences` lists changed conditions, one sentence each."""

    run_id: str
    kept: str  # version of the checkpoint that the run handed in: a hash of its weights
    made: str  # version of the reproduced checkpoint
    steps: int
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Return whether the weights are bit-identical."""
        return self.kept == self.made


def reproduce(
    workspace: Workspace,
    run_id: str,
    *,
    keep: Path | None = None,
    on_progress: OnProgress = lambda share, sentence: None,
) -> Reproduction:
    """Train again what a run made for use, with as many threads, and compare.

    That is the refit on all accepted pages; without one, the mean of the folds; with too few documents for folds, one
    network. Changes nothing that is stored. `keep`: where to write the checkpoint. Raises NotFound for an unknown run;
    Refused when it stored no weights, when an earlier version of the program made it, or when an input is missing or
    changed.
    """
    with workspace.database.read() as session:
        run = existing(session, Run, run_id)
        if run.challenger_id is None or MADE_WITH not in run.settings:
            raise Refused(f"This run stored no weights to reproduce (status: {run.status}); choose a finished run.")
        if FOLDED not in run.settings or run.settings.get(DISTILLED):
            raise Refused("An earlier version of Glossator made this run; only that version can reproduce it.")
        version = session.get_one(ModelVersion, run.challenger_id)
    settings = stored_settings(run.settings).model_copy(update={"minutes": _ENOUGH_MINUTES})
    then = {"device": "cpu", **run.settings[MADE_WITH]}  # earlier versions trained on the CPU alone
    kept_version = checkpoint.load(
        registry.checkpoint_path(workspace, version)
    ).version  # refuses at once where it is gone
    threads = torch.get_num_threads()
    torch.set_num_threads(int(then["threads"]))
    try:
        with tempfile.TemporaryDirectory(prefix="glossator-") as temporary:
            corpus = load_taught_pages(workspace, run)
            path, steps = _make_weights(workspace, run, settings, corpus, Path(temporary), on_progress)
            made = checkpoint.load(path).version
            if keep is not None:
                with users_umask():
                    keep.write_bytes(path.read_bytes())
        now = made_with(workspace)
    finally:
        torch.set_num_threads(threads)
    return Reproduction(run_id, kept_version, made, steps, tuple(_differences(run, then, now)))


def _make_weights(
    workspace: Workspace, run: Run, settings: RunSettings, corpus: Corpus, folder: Path, on_progress: OnProgress
) -> tuple[Path, int]:
    """Train the weights for use again; return their file and the number of steps."""
    refitted = run.settings[FOLDED] and REFIT_STEPS in run.settings
    if not refitted:
        ends = run.settings[FOLD_STEPS] or [run.settings[REFIT_STEPS]]
        made = challenger.train(
            workspace,
            corpus,
            settings,
            folder,
            begins_at=beginning(workspace, run),
            folded=run.settings[FOLDED],
            on_metrics=lambda _: None,
            on_watched=lambda step, name, value: None,
            on_progress=on_progress,
            should_stop=lambda: None,
            ends_at=ends,
        )
        return made.path, sum(ends)
    own = refit_settings(settings, run.settings[HANDED_IN])
    last = int(run.settings[REFIT_STEPS])

    def progress(share: float) -> None:
        """Report the steps."""
        done = round(share * own.steps)
        on_progress(done / last, f"Training: step {done} of {last}.")

    taught = train_for_use(
        workspace,
        corpus,
        own,
        folder,
        begins_at=beginning(workspace, run),
        ends_at=last,
        on_progress=progress,
        should_stop=lambda: None,
    )
    return taught.path, last


def _differences(run: Run, then: dict[str, object], now: dict[str, object]) -> list[str]:
    differences = [
        f"{name}: {then.get(name)} then, {value} now." for name, value in now.items() if then.get(name) != value
    ]
    if run.code_version != code_version():
        differences.append(f"The program is another version: {run.code_version} then, {code_version()} now.")
    return differences

"""Reproduction of a run's weights from its stored snapshot, parent, settings and last step."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch

from db.tables import ModelVersion, Run, Snapshot
from engine.errors import Refused
from engine.jobs.cancellation import OnProgress
from engine.models import registry
from engine.private_files import users_umask
from engine.queries import existing
from engine.training.retraining import learner
from engine.training.retraining.refit import refit_settings
from engine.training.retraining.run import beginning, ended
from engine.training.retraining.run_settings import ENDED_AT, HANDED_IN, MADE_WITH, stored_settings
from engine.training.sources.corpus import corpus_of
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
    refitted: bool = False,
    keep: Path | None = None,
    on_progress: OnProgress = lambda share, said: None,
) -> Reproduction:
    """Train again as the run did, with as many threads, and compare.

    Changes nothing that is stored.

    Args:
        workspace: Open workspace.
        run_id: Run to reproduce.
        refitted: Reproduce the refit, which is in use, instead of the judged weights.
        keep: Where to write the checkpoint.
        on_progress: Receives share and sentence.

    Raises:
        NotFound: There is no such run.
        Refused: The run stored no such weights, or an input is missing or changed.
    """
    with workspace.database.read() as session:
        run = existing(session, Run, run_id)
        if run.challenger_id is None or ENDED_AT not in run.settings:
            raise Refused(f"This run stored no weights to reproduce (status: {run.status}); choose a finished run.")
        challenger = session.get_one(ModelVersion, run.challenger_id)
        learned_from = session.get_one(Snapshot, run.snapshot_id).sha256
    settings = stored_settings(run.settings).model_copy(update={"minutes": _ENOUGH_MINUTES})
    last, then = int(run.settings[ENDED_AT]), run.settings[MADE_WITH]
    path_of = registry.judged_path
    if refitted:
        if challenger.refit_snapshot_sha256 is None:
            raise Refused("This run has no refit; leave out --refit to reproduce the judged weights.")
        last, path_of, learned_from = (
            int(run.settings[HANDED_IN]),
            registry.checkpoint_path,
            challenger.refit_snapshot_sha256,
        )
        settings = refit_settings(settings, last)
    threads = torch.get_num_threads()
    done = 0

    def progress(share: float) -> None:
        """Report the steps."""
        nonlocal done
        done = round(share * settings.steps)
        on_progress(done / last, f"Training: step {done} of {last}.")

    torch.set_num_threads(int(then["threads"]))
    try:
        network = learner.network_of(path_of(workspace, beginning(workspace, run)), settings.depth)
        with tempfile.TemporaryDirectory(prefix="glossator-") as temporary:
            folder = Path(temporary)
            learner.train(
                network,
                workspace,
                corpus_of(workspace, learned_from, exact=False),
                settings,
                folder,
                on_metrics=lambda _: None,
                on_watched=lambda step, name, value: None,
                on_progress=progress,
                stop=lambda: done + 1 >= last,
            )
            made = checkpoint.load(learner.result_file(folder)).version
            if keep is not None:
                with users_umask():
                    keep.write_bytes(learner.result_file(folder).read_bytes())
        now = ended(last)[MADE_WITH]
    finally:
        torch.set_num_threads(threads)
    kept = checkpoint.load(path_of(workspace, challenger)).version
    return Reproduction(run_id, kept, made, last, tuple(_differences(run, then, now)))


def _differences(run: Run, then: dict[str, object], now: dict[str, object]) -> list[str]:
    found = [f"{name}: {then.get(name)} then, {value} now." for name, value in now.items() if then.get(name) != value]
    if run.code_version != code_version():
        found.append(f"The program is another version: {run.code_version} then, {code_version()} now.")
    return found

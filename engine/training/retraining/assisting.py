"""Processes that train together: the first one runs a retraining, and the others take part in its trainings.

Each step's pages are parted among them and their gradients averaged (model.distributed). The first alone writes the
project, judges, and decides when a training ends. The weights are those of one process with as many parts a step: to
the bit with two processes and equal threads, else up to rounding.
"""

from engine.training.retraining import learner
from engine.workspace import Workspace
from model.distributed import Ranks, ranks_here
from model.learning import learn
from model.network import GroundingNetwork


def assist(workspace: Workspace, ranks: Ranks) -> None:
    """Take part in the trainings of the first process, until it releases the others; any other failure ends them all.

    Raises:
        DeviceMissing: the setting's device is not there.
        RankLost: another process ended.
    """
    while (assignment := ranks.on_first(_no_training)) is not None:
        network = learner.prepare(
            GroundingNetwork(assignment.config), assignment.settings.depth, workspace.settings.device
        )
        objective = learner.objective_of(network, workspace, assignment.corpus, assignment.settings)
        try:
            learn(
                objective,
                learner.optimizer_for(objective.learned, assignment.settings),
                learner.plan_here(assignment.settings, ranks),
                folder=assignment.folder,
                resume=True,
                on_metrics=lambda _: None,
                cancelled=lambda: False,
                at_checkpoint=(lambda step: False) if assignment.looks else None,
                ranks=ranks,
            )
        except FloatingPointError:  # in all processes: the first one says so, and what comes next
            continue


def release() -> None:
    """End `assist` in the other processes, unless the first one left them; called by it. Raises RankLost."""
    ranks_here().on_first(_no_training)


def _no_training() -> learner.Assignment | None:
    """Return None: computed on the first process alone, which has no further training."""
    return None

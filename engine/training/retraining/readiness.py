"""Readiness of a project for a retraining: whether it has enough new answers to learn from. Reads only."""

from dataclasses import dataclass

from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.datasets.labels import project_facts
from engine.jobs import job_list
from engine.plurals import count
from engine.projects.project_settings import ProjectSettings
from engine.training.retraining.trigger import RETRAIN
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace

# Fewer new answers than this bring a warning. It is the number that starts a retraining by itself unless a project says
# otherwise, so that both say the same. The measurements say that it is rather too small than too large: seven
# corrections of three documents cost .033 of mean IoU on generated pages before replay was raised, twenty corrected
# receipts (some eighty answers) gained nothing, and twenty corrected forms (some three hundred) gained .019
# (docs/benchmarks.md, "The data engine"; docs/LOG.md, "Replay takes half of the steps").
USEFUL_ANSWERS: int = ProjectSettings.model_fields["retrain_after"].default
NOTHING_TO_LEARN = (
    "There is nothing to learn from yet: no accepted answer passes the quality checks. Accept more answers, or see the "
    "tab Quality."
)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Conditions that a retraining would meet now.

    Attributes:
        learnable: an accepted answer passes the quality checks.
        fresh: number of accepted answers that no run has learned from.
        busy: a retraining waits or runs already.
        minutes: time limit of its trainings, without judging.
    """

    learnable: bool
    fresh: int
    busy: bool
    minutes: float

    @property
    def warning(self) -> str | None:
        """Return the reason why a retraining hardly pays now, in a few sentences; None when it may pay."""
        if self.fresh >= USEFUL_ANSWERS:
            return None
        new_answers = (
            count(self.fresh, "accepted answer is", "accepted answers are") if self.fresh else "No accepted answer is"
        )
        return (
            f"{new_answers} new since the last retraining. With fewer than {USEFUL_ANSWERS}, a "
            f"retraining rarely makes the model better. It takes about {self.minutes:g} minutes, and its judging takes "
            "some more."
        )


def readiness(workspace: Workspace, project_id: str) -> Readiness:
    """Return the conditions that a retraining of a project would meet now."""
    with workspace.database.snapshot_read() as session:
        known = project_facts(session, project_id)
        chosen = snapshots.chosen_labels(session, known, Filters())
        learnable = any(choice.taken for choice in chosen)
    return Readiness(
        learnable=learnable,
        fresh=untrained_answers(workspace, project_id).count if learnable else 0,
        busy=bool(job_list.open_jobs(workspace, RETRAIN, project_id)),
        minutes=workspace.settings.retrain_minutes,
    )

"""The client's methods for models, retrainings, jobs, and figures of their effect."""

from collections.abc import Sequence

from engine.client.schemas import (
    ChangeKind,
    Changes,
    Figures,
    JobView,
    ProjectAgreement,
    PrunedVersion,
    RunLine,
    RunView,
    TriggersView,
    VersionView,
)
from engine.client.transport import Connection


class Learning:
    """Methods of engine.client.Glossator for figures, models, retrainings and jobs."""

    _at: Connection

    # --- figures

    def agreement(self, project_id: str) -> ProjectAgreement:
        """Return the agreement of people with each other, and of the model with people (reviewers)."""
        return self._at.get(ProjectAgreement, f"/projects/{project_id}/agreement")

    def figures(self, project_id: str, days: int = 90) -> Figures:
        """Return masks a day, seconds a mask by model version, and the queue's depth, over so many days."""
        return self._at.get(Figures, f"/projects/{project_id}/figures", days=days)

    # --- models

    def models(self, project_id: str) -> list[VersionView]:
        """Return the model versions of a project, newest first."""
        return self._at.all(VersionView, f"/projects/{project_id}/models")

    def promote(self, project_id: str, version_id: str, *, reason: str = "", force: bool = False) -> list[VersionView]:
        """Promote a model version to champion, and return all versions (admins).

        reason: for the audit trail.
        force: whether to promote a version that failed its gate.
        """
        body = {"reason": reason, "force": force}
        path = f"/projects/{project_id}/models/{version_id}/promote"
        return self._at.post(list[VersionView], path, body, repeatable=False)

    def rollback(self, project_id: str, reason: str = "") -> list[VersionView]:
        """Roll back to the previous champion (admins), and return all versions."""
        path = f"/projects/{project_id}/rollback"
        return self._at.post(list[VersionView], path, {"reason": reason}, repeatable=False)

    def remove_model(self, project_id: str, version_id: str) -> PrunedVersion:
        """Delete the weights of a model version for good (admins); its figures and runs stay."""
        answer = self._at.send("DELETE", f"/projects/{project_id}/models/{version_id}", repeatable=False)
        return PrunedVersion.model_validate_json(answer.content)

    # --- retrainings

    def retrain(self, project_id: str) -> JobView:
        """Request a retraining (reviewers). One that waits or runs is returned instead of a second one."""
        return self._at.post(JobView, f"/projects/{project_id}/retrain")

    def runs(self, project_id: str) -> list[RunLine]:
        """Return the retrainings of a project, newest first."""
        return self._at.all(RunLine, f"/projects/{project_id}/runs")

    def run(self, run_id: str) -> RunView:
        """Return one retraining with its curves and verdict."""
        return self._at.get(RunView, f"/runs/{run_id}")

    def changes(self, run_id: str, *, kinds: Sequence[ChangeKind] | None = None, limit: int = 200) -> Changes:
        """Return the questions that challenger and champion of a retraining answer differently (reviewers).

        kinds: of changes to list; None: all but "same".
        """
        chosen = {} if kinds is None else {"kind": list(kinds)}
        return self._at.get(Changes, f"/runs/{run_id}/changes", limit=limit, **chosen)

    # --- jobs and triggers

    def jobs(self, project_id: str, limit: int | None = 100) -> list[JobView]:
        """Return the jobs of a project, newest first. `limit`: maximum number; None: all of them."""
        return self._at.all(JobView, f"/projects/{project_id}/jobs", limit)

    def cancel(self, job_id: str) -> JobView:
        """Stop a job (admins): at once while it waits, at its next step while it runs."""
        return self._at.post(JobView, f"/jobs/{job_id}/cancel")

    def retry(self, job_id: str) -> JobView:
        """Put a job that failed or was given up back into the queue (admins)."""
        return self._at.post(JobView, f"/jobs/{job_id}/retry", repeatable=False)

    def triggers(self, project_id: str) -> TriggersView:
        """Return the triggers of a project's retrainings (reviewers).

        The answer also says how near the next retraining is, and lists the newest entries of the trigger history.
        """
        return self._at.get(TriggersView, f"/projects/{project_id}/triggers")

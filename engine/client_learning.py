"""The Python client's part of what becomes of the answers: figures, models, retrainings, datasets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.client_types import ExportFormat, ImportedSet, ImportUnderWay
from engine.connection import Connection
from engine.models.registry import VersionView
from engine.statistics.project_agreement import ProjectAgreement
from engine.statistics.throughput import Figures
from engine.training.retraining.changes import Changes, Kind
from engine.training.retraining.trigger_status import TriggersView
from engine.training.retraining.views import JobView, RunLine, RunView


class Learning:
    """What engine.client.Glossator can do with figures, models and datasets."""

    _at: Connection

    def agreement(self, project_id: str) -> ProjectAgreement:
        """Return how people agree with each other, and the model with them (reviewers)."""
        return self._at.get(ProjectAgreement, f"/projects/{project_id}/agreement")

    def figures(self, project_id: str, days: int = 90) -> Figures:
        """Return masks a day, seconds a mask by model version, and the queue's depth."""
        return self._at.get(Figures, f"/projects/{project_id}/figures", days=days)

    def models(self, project_id: str) -> list[VersionView]:
        """Return the model versions of a project, newest first."""
        return self._at.get(list[VersionView], f"/projects/{project_id}/models")

    def promote(self, project_id: str, version_id: str, *, reason: str = "", force: bool = False) -> list[VersionView]:
        """Make a model the one that answers."""
        body = {"reason": reason, "force": force}
        path = f"/projects/{project_id}/models/{version_id}/promote"
        return self._at.post(list[VersionView], path, body, repeatable=False)

    def rollback(self, project_id: str, reason: str = "") -> list[VersionView]:
        """Make the champion before the present one answer again."""
        path = f"/projects/{project_id}/rollback"
        return self._at.post(list[VersionView], path, {"reason": reason}, repeatable=False)

    def retrain(self, project_id: str) -> JobView:
        """Ask for a retraining; one that waits or runs already is returned instead of a second one."""
        return self._at.post(JobView, f"/projects/{project_id}/retrain")

    def runs(self, project_id: str) -> list[RunLine]:
        """Return the retrainings of a project, newest first."""
        return self._at.get(list[RunLine], f"/projects/{project_id}/runs")

    def run(self, run_id: str) -> RunView:
        """Return one retraining with its curves and verdict."""
        return self._at.get(RunView, f"/runs/{run_id}")

    def changes(self, run_id: str, *, kinds: Sequence[Kind] | None = None, limit: int = 200) -> Changes:
        """Return what a retraining's challenger answers otherwise than the champion, question by question (reviewers)."""
        chosen = {} if kinds is None else {"kind": list(kinds)}
        return self._at.get(Changes, f"/runs/{run_id}/changes", limit=limit, **chosen)

    def jobs(self, project_id: str) -> list[JobView]:
        """Return the jobs of a project, newest first."""
        return self._at.get(list[JobView], f"/projects/{project_id}/jobs")

    def cancel(self, job_id: str) -> JobView:
        """Stop a job."""
        return self._at.post(JobView, f"/jobs/{job_id}/cancel")

    def retry(self, job_id: str) -> JobView:
        """Put a job that failed or was given up back into the queue."""
        return self._at.post(JobView, f"/jobs/{job_id}/retry", repeatable=False)

    def triggers(self, project_id: str) -> TriggersView:
        """Return what starts the retrainings of a project, how near the next one is, and what fired lately (reviewers)."""
        return self._at.get(TriggersView, f"/projects/{project_id}/triggers")

    def export_formats(self, project_id: str) -> list[ExportFormat]:
        """Return the formats that a project can be exported in (reviewers)."""
        return self._at.get(list[ExportFormat], f"/projects/{project_id}/export-formats")

    def export(self, project_id: str, path: str | Path, form: str = "coco", **chosen: Any) -> Path:
        """Write the accepted answers of a project to a zip file, and return its path (reviewers).

        `chosen`: which answers, as the route takes them: status, split, question, since, until, model, agreement, fit, snapshot.
        """
        out = Path(path)
        self._at.download(f"/projects/{project_id}/export", out, format=form, **chosen)
        return out

    def import_set(
        self, project_id: str, path: str | Path, form: str = "auto", status: str = "accepted", *, ocr: bool = True
    ) -> ImportedSet:
        """Take a zip file of a dataset into a project (reviewers): all of it, or ServerSaid with what is wrong and where.

        `form`: "auto" recognises it. `ocr`: read the words of pages that come without.
        """
        with Path(path).open("rb") as file:
            answer = self._at.send(
                "POST",
                f"/projects/{project_id}/import",
                repeatable=False,
                params={"format": form, "status": status, "ocr": ocr},
                files={"file": (Path(path).name, file)},
            )
        return ImportedSet.model_validate_json(answer.content)

    def imports(self, project_id: str) -> list[ImportUnderWay]:
        """Return the imports of a project that are under way, oldest first (reviewers)."""
        return self._at.get(list[ImportUnderWay], f"/projects/{project_id}/imports")

    def stop_import(self, project_id: str, import_id: str) -> ImportUnderWay:
        """Stop an import at its next step (reviewers): what has come in stays, as whole documents."""
        return self._at.post(ImportUnderWay, f"/projects/{project_id}/imports/{import_id}/stop")

"""The client's methods for datasets: export and import."""

from pathlib import Path
from typing import Any

from engine.client.schemas import ExportFormat, ExportView, ImportedSet, ImportUnderWay, JobView, SnapshotLine
from engine.client.transport import Connection


class Datasets:
    """Methods of engine.client.Glossator for exports and imports of datasets."""

    _at: Connection

    def export_formats(self, project_id: str) -> list[ExportFormat]:
        """Return the formats that a project can be exported in (reviewers)."""
        return self._at.get(list[ExportFormat], f"/projects/{project_id}/export-formats")

    def export(self, project_id: str, path: str | Path, form: str = "coco", **chosen: Any) -> Path:
        """Write the accepted answers of a project to a zip file, and return its path (reviewers).

        form: name of a format, as `export_formats` lists them.
        chosen: filters of the route: status, split, question, since, until, model, agreement, fit, snapshot.
        """
        out = Path(path)
        self._at.download(f"/projects/{project_id}/export", out, format=form, **chosen)
        return out

    def start_export(self, project_id: str, form: str = "coco", **chosen: Any) -> JobView:
        """Start an export as a job, which goes on when nobody waits for it (reviewers).

        form, chosen: as of `export`. `exports` tells how far it is, and `download_export` fetches its file.
        """
        wanted = {name: value for name, value in chosen.items() if value is not None}
        path = f"/projects/{project_id}/exports"
        answer = self._at.send("POST", path, repeatable=False, params={"format": form, **wanted})
        return JobView.model_validate_json(answer.content)

    def exports(self, project_id: str) -> list[ExportView]:
        """Return the exports that run, that failed within a day, or whose file is kept, newest first (reviewers)."""
        return self._at.get(list[ExportView], f"/projects/{project_id}/exports")

    def stop_export(self, project_id: str, export_id: str) -> ExportView:
        """Stop an export at its next step (reviewers). Nothing of it is kept."""
        return self._at.post(ExportView, f"/projects/{project_id}/exports/{export_id}/stop")

    def download_export(self, project_id: str, export_id: str, path: str | Path) -> Path:
        """Write the zip file of an export that is done, and return its path (reviewers)."""
        out = Path(path)
        self._at.download(f"/projects/{project_id}/exports/{export_id}/file", out)
        return out

    def remove_export(self, project_id: str, export_id: str) -> None:
        """Delete the file of an export for good (reviewers); its snapshot stays."""
        self._at.send("DELETE", f"/projects/{project_id}/exports/{export_id}", repeatable=False)

    def snapshots(self, project_id: str) -> list[SnapshotLine]:
        """Return the snapshots of a project, newest first (reviewers)."""
        return self._at.all(SnapshotLine, f"/projects/{project_id}/snapshots")

    def remove_snapshot(self, project_id: str, snapshot_id: str) -> None:
        """Delete a snapshot with its files for good (admins). `snapshot_id`: its id, or its SHA-256."""
        self._at.send("DELETE", f"/projects/{project_id}/snapshots/{snapshot_id}", repeatable=False)

    def import_set(
        self,
        project_id: str,
        path: str | Path,
        form: str = "auto",
        status: str = "accepted",
        *,
        ocr: bool = True,
        skip_bad: bool = False,
    ) -> ImportedSet:
        """Import a zip file of a dataset into a project, all of it or nothing (reviewers).

        form: name of a format; "auto" recognises it.
        status: of the imported answers.
        ocr: read the words of pages that come without words.
        skip_bad: leave out entries with an error, and import the rest.
        Raises ServerSaid, which says what is wrong in the file and where.
        """
        with Path(path).open("rb") as file:
            answer = self._at.send(
                "POST",
                f"/projects/{project_id}/import",
                repeatable=False,
                params={"format": form, "status": status, "ocr": ocr, "skip_bad": skip_bad},
                files={"file": (Path(path).name, file)},
            )
        return ImportedSet.model_validate_json(answer.content)

    def imports(self, project_id: str) -> list[ImportUnderWay]:
        """Return the running imports of a project, oldest first (reviewers)."""
        return self._at.get(list[ImportUnderWay], f"/projects/{project_id}/imports")

    def stop_import(self, project_id: str, import_id: str) -> ImportUnderWay:
        """Stop an import at its next step (reviewers). Documents that are already in stay, each of them whole."""
        return self._at.post(ImportUnderWay, f"/projects/{project_id}/imports/{import_id}/stop")

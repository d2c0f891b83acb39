"""A Glossator server as an object with a method for everything that people can do on the page."""

from types import TracebackType
from typing import Any, Self

from engine.client.annotations import Annotations
from engine.client.datasets import Datasets
from engine.client.documents import Documents
from engine.client.learning import Learning
from engine.client.people import People
from engine.client.proposers import Proposers
from engine.client.schemas import ChangesView, DeletedProject, Project, ProjectName, RemovedProjectLine
from engine.client.selection import Selection
from engine.client.transport import Connection, ServerSaid
from engine.client.webhooks import Webhooks
from engine.client.work import Work


class Glossator(Documents, Annotations, Work, Selection, Learning, Datasets, People, Webhooks, Proposers):
    """A server and a login there. Every failure raises `ServerSaid` with one sentence.

    A request is sent again when its answer is lost. Saves and verdicts carry an idempotency key, so that the server
    stores them once.

    address: of the server, as in "http://127.0.0.1:7860".
    token: from `glossator users token NAME`. Without a token, pass `name` and `password`.
        A server in local mode needs neither.
    timeout: seconds that one request may take.
    Raises ServerSaid (401) when the name or the password is wrong.

    >>> with Glossator(address, token=token) as glossator:
    ...     project = glossator.create_project("Invoices 2026")
    ...     invoice = glossator.upload(project.id, path).documents[0]
    ...     answer = glossator.ask(invoice.document_id, "What is the total due?")
    ...     page = glossator.document(invoice.document_id).pages[0]
    ...     words = glossator.words(page.id)
    ...     amount = words.numbers[words.texts.index("2,987.88")]
    ...     edits = [{"op": "clear", "page": page.id}, {"op": "words", "page": page.id, "add": [amount]}]
    ...     saved = glossator.save(answer.id, answer.head, edits, seconds=4)
    ...     glossator.accept(answer.id, saved.revision).text
    ...     glossator.export(project.id, folder / "invoices.zip").name
    '2,987.88'
    'invoices.zip'
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:7860",
        *,
        token: str | None = None,
        name: str | None = None,
        password: str | None = None,
        timeout: float = 120,
    ) -> None:
        self._at = Connection(address, token=token, name=name, password=password, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._at.close()

    # --- projects

    def projects(self, *, archived: bool = False) -> list[Project]:
        """Return the projects that you may see, by name; with `archived` the archived ones, otherwise the others."""
        return self._at.all(Project, "/projects", archived=archived or None)

    def project(self, name: str) -> Project:
        """Return the project with this name. ServerSaid (404) lists the projects there are."""
        found = self.projects()
        for project in found:
            if project.name == name:
                return project
        there = ", ".join(each.name for each in found) or "none"
        raise ServerSaid(f"There is no project {name!r}. Projects: {there}.", 404)

    def changed_since(self, since: int | None = None) -> ChangesView:
        """Return what changed since a cursor, and the next cursor; without one, in the last three seconds."""
        return self._at.get(ChangesView, "/changes/since", since=since)

    def create_project(self, name: str, description: str = "") -> Project:
        """Create a project (admins)."""
        body = {"name": name, "description": description}
        return self._at.post(Project, "/projects", body, repeatable=False)

    def rename_project(self, project_id: str, name: str, *, before: str | None = None) -> ProjectName:
        """Rename a project (its admins).

        before: name that you saw. Raises ServerSaid when it is another one by now, or `name` is taken.
        """
        return self._at.patch(ProjectName, f"/projects/{project_id}", {"name": name, "before": before})

    def archive_project(self, project_id: str) -> None:
        """Archive a project (its admins): it can be read, and nothing in it can be changed."""
        self._at.send("POST", f"/projects/{project_id}/archive")

    def unarchive_project(self, project_id: str) -> None:
        """Let people change an archived project again (its admins)."""
        self._at.send("POST", f"/projects/{project_id}/unarchive")

    def remove_project(self, project_id: str) -> None:
        """Remove a project into the bin, with everything in it (admins of the installation)."""
        self._at.send("POST", "/removed-projects", json={"id": project_id})

    def removed_projects(self) -> list[RemovedProjectLine]:
        """Return the projects in the bin, last removed first (admins of the installation)."""
        return self._at.all(RemovedProjectLine, "/removed-projects")

    def restore_project(self, project_id: str, name: str | None = None) -> str:
        """Restore a project from the bin, as it was; return its name. `name`: a new one."""
        return self._at.post(ProjectName, f"/removed-projects/{project_id}/restore", {"name": name}).name

    def delete_project(self, project_id: str) -> DeletedProject:
        """Delete a project in the bin for good. `stays`: sentences on what other projects need."""
        return self._at.post(DeletedProject, f"/removed-projects/{project_id}/delete", {})

    def change_settings(self, project_id: str, **changes: Any) -> dict[str, Any]:
        """Change settings of a project (its admins) and return all of them.

        The page /api/docs of the server lists them.
        """
        return self._at.patch(dict[str, Any], f"/projects/{project_id}/settings", changes)

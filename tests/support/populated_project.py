"""A project with everything in it, and one person of each kind: for the tests of who may do what."""

import uuid
from dataclasses import asdict
from datetime import timedelta

from starlette.testclient import TestClient

from db.base import now
from db.ids import new_id
from db.tables import Job, LoginSession, Prediction, ProjectField, Question, Run, Snapshot, Task, User
from engine.accounts import invitations
from engine.accounts.users import local_user
from engine.datasets.filters import Filters
from engine.fields.definition import FieldDefinition
from engine.interchange import export_files
from engine.jobs import queue
from engine.lifecycle import project_bin
from engine.models import registry
from engine.webhooks import messages, webhooks
from engine.workspace import Workspace
from tests.support.accounts import Person, make_user, somebody
from tests.support.factories import accept, bill, make_document, make_project, pages_of


class World:
    """A project with everything in it, and one person of each kind."""

    def __init__(self, workspace: Workspace, client: TestClient) -> None:
        self.workspace, self.client = workspace, client
        self.project = make_project(workspace, "guarded")
        other, self.third = make_project(workspace, "another"), make_project(workspace, "a third")
        self.owner = make_user(workspace, "olga", "admin")
        self.document = make_document(workspace, self.project.id, [bill(1)])
        self.page = pages_of(workspace, self.document.id)[0]
        self.annotation = accept(workspace, self.document, "What is the total due?", [4], author="somebody else")
        users: dict[str, User | None] = {
            "anonymous": None,
            "outsider": make_user(workspace, "otto", **{other.id: "admin"}),
            "annotator": make_user(workspace, "anna", **{self.project.id: "annotator"}),
            "reviewer": make_user(workspace, "rita", **{self.project.id: "reviewer"}),
            "admin": make_user(workspace, "adam", **{self.project.id: "admin"}),
            "owner": self.owner,
        }
        self.people: dict[str, Person] = {kind: somebody(client, workspace, user) for kind, user in users.items()}
        self._fixed = self._rows()

    def _rows(self) -> dict[str, str]:
        """Ids of what a project holds, by the names that routes give them."""
        version = registry.ensure_shipped(self.workspace)
        job = queue.enqueue(self.workspace, "retrain", self.project.id)
        queue.cancel(self.workspace, job.id)
        with self.workspace.database.write() as session:
            snapshot = Snapshot(project_id=self.project.id, sha256="0" * 64)
            session.add(snapshot)
            session.flush()
            run = Run(
                project_id=self.project.id,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=version.id,
                seed=0,
                code_version="test",
            )
            question_id = self.annotation.question_id
            task = Task(project_id=self.project.id, document_id=self.document.id, question_id=question_id)
            prediction = Prediction(
                annotation_id=self.annotation.id,
                page_id=self.page.id,
                question_id=question_id,
                model_version_id=version.id,
                answer={"words": [], "mask": {"box": [0, 0, 0, 0], "counts": []}, "text": "", "score": 0.5},
                score=0.5,
                answered=0.5,
                milliseconds=1,
            )
            text = session.get_one(Question, question_id).text
            definition = FieldDefinition(name="total", question=text).model_dump(mode="json")
            field = ProjectField(
                question_id=question_id, project_id=self.project.id, name="total", version=1, definition=definition
            )
            session.add_all([run, task, prediction, field])
            session.flush()
            return {
                "project_id": self.project.id,
                "document_id": self.document.id,
                "page_id": self.page.id,
                "annotation_id": self.annotation.id,
                "question_id": question_id,
                "field_id": question_id,
                "task_id": task.id,
                "prediction_id": prediction.id,
                "run_id": run.id,
                "version_id": version.id,
                "session_hash": "none",
                "path:path": "css/theme.css",
            }

    def ids_of(self, person: Person) -> dict[str, str]:
        """An id for every name that a path of the REST interface may hold."""
        used_up = (
            "user_id", "invitation_id", "job_id", "import_id", "export_id", "snapshot_id", "session_id", "webhook_id",
            "delivery_id",
        )  # fmt: skip
        kept = {name: key for name, key in self._fixed.items() if name.endswith("_id")}
        return kept | {name: self.id_of(name, person) for name in used_up}

    def id_of(self, name: str, person: Person) -> str:
        """What to put for a name in a path. What a request may use up is made anew for each request."""
        if name == "user_id":
            return make_user(self.workspace, **{self.project.id: "annotator"}).id
        if name == "invitation_id":
            return invitations.invite(self.workspace, self.project.id, "annotator", by=self.owner).id
        if name == "token":  # into a third project: a table about this one must not change its members
            return invitations.invite(self.workspace, self.third.id, "annotator", by=self.owner).token
        if name == "job_id":
            return queue.enqueue(self.workspace, "nothing", self.project.id).id
        if name == "import_id":
            payload = {"name": "set.zip", "user_id": self.owner.id}
            tomorrow = now() + timedelta(days=1)  # no worker does it before
            return queue.enqueue(self.workspace, "import", self.project.id, payload, run_after=tomorrow).id
        if name == "export_id":
            return self._made_export()
        if name == "snapshot_id":
            with self.workspace.database.write() as session:
                snapshot = Snapshot(project_id=self.project.id, sha256=new_id() + new_id())
                session.add(snapshot)
            return snapshot.id
        if name in ("webhook_id", "delivery_id"):
            hook = webhooks.create_webhook(
                self.workspace, self.project.id, "https://webhooks.invalid/", ["document.ready"], by=self.owner
            )
            return hook.id if name == "webhook_id" else messages.send_test(self.workspace, hook.id, by=self.owner)
        if name == "removed_id":
            removed = make_project(self.workspace, f"removed {new_id()}").id
            project_bin.remove_project(self.workspace, removed, self.owner.id)
            return removed
        if name == "session_id":
            return self._another_session(person)
        return self._fixed[name]

    def _made_export(self) -> str:
        payload = {"format": "csv", "filters": asdict(Filters()), "snapshot_id": None, "once": False}
        job = Job(kind="export", project_id=self.project.id, status="done", finished_at=now())
        job.payload = payload | {"user_id": self.owner.id}
        with self.workspace.database.write() as session:
            session.add(job)
        path = export_files.path_of(self.workspace, job.id)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"PK")
        return job.id

    def _another_session(self, person: Person) -> str:
        digest = uuid.uuid4().hex * 2
        with self.workspace.database.write() as session:
            owner = person.user or local_user(session)
            session.add(
                LoginSession(token_sha256=digest, user_id=owner.id, expires_at=owner.created_at.replace(year=9999))
            )
        return digest[:16]

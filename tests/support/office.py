"""A project with standard questions, bills and people who work through its queue."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from db.base import now
from db.tables import Lease, Project, Question, Task, User
from engine.projects.projects import change_settings
from engine.tasks.queue import next_task as queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import make_person, tasks_of
from tests.support.factories import bill, make_document, make_project

NUMBER, TOTAL, CUSTOMER = "What is the bill number?", "What is the total due?", "Who is the customer?"


class Office:
    """A project with bills, standard questions and people."""

    def __init__(self, workspace: Workspace, bills: int = 2, questions: tuple[str, ...] = (NUMBER, TOTAL)) -> None:
        self.workspace = workspace
        self.project: Project = make_project(workspace)
        self.documents = [
            make_document(workspace, self.project.id, [bill(number)], name=f"bill {number}.png")
            for number in range(bills)
        ]
        self.ann, self.ben = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben"))
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        if questions:
            self.ask(*questions)

    def ask(self, *questions: str) -> None:
        replace_standard_questions(self.workspace, self.project.id, questions, self.rita.id)

    def next(self, user: User, after: str | None = None) -> queue.NextTask:
        return queue.next_task(self.workspace, self.project.id, user.id, after)

    def taken(self, user: User, after: str | None = None) -> str:
        task = self.next(user, after).task
        assert task is not None
        return task.id

    def reason(self, user: User) -> str:
        reason = self.next(user).reason
        assert reason is not None
        return reason

    def tasks(self) -> list[Task]:
        return tasks_of(self.workspace, self.project.id)

    def question(self, text: str) -> str:
        with self.workspace.database.read() as session:
            asked = select(Question.id).where(Question.project_id == self.project.id, Question.text == text)
            return session.scalars(asked).one()

    def set(self, **settings: Any) -> None:
        change_settings(self.workspace, self.project.id, **settings)

    def let_expire(self) -> None:
        with self.workspace.database.write() as session:
            session.execute(update(Lease).values(expires_at=now() - timedelta(seconds=1)))

"""A project with bills that is surveyed by the shipped model."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from db.tables import Job, SurveyAnswer
from engine.jobs.cancellation import StopReason
from engine.models import registry
from engine.selection import survey as surveying
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import bill, make_document, make_project

TOTAL, NUMBER = "What is the total due?", "What is the bill number?"


class SurveyShop:
    """A project with bills, two standard questions and the shipped model."""

    def __init__(self, workspace: Workspace, bills: int = 3) -> None:
        self.workspace = workspace
        self.version = registry.ensure_shipped(workspace)
        self.project = make_project(workspace)
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        self.documents = [self.bill(at) for at in range(bills)]
        replace_standard_questions(workspace, self.project.id, [TOTAL, NUMBER], self.rita.id)

    def bill(self, number: int, **more: Any):  # type: ignore[no-untyped-def]
        return make_document(self.workspace, self.project.id, [bill(number)], name=f"bill {number}.png", **more)

    def survey(self, should_stop: Callable[[], StopReason | None] = lambda: None) -> dict[str, object]:
        """A survey done here."""
        job = Job(kind="survey", project_id=self.project.id, payload={"ask": True}, id="0" * 32)
        return surveying.survey(self.workspace, job, on_progress=lambda *_: None, should_stop=should_stop)

    def said(self) -> dict[tuple[str, str], SurveyAnswer]:
        """(document, question) -> what was stored."""
        with self.workspace.database.read() as session:
            return {(each.document_id, each.question_id): each for each in session.scalars(select(SurveyAnswer))}

"""A project that comes to answer automatically: holdouts with labels, waiting bills, and the model's answers."""

from collections.abc import Sequence
from copy import copy

from sqlalchemy import select, update

from db.tables import (
    AutomaticAnswer,
    Document,
    ModelVersion,
    StageChange,
    User,
)
from engine.accounts.users import ensure_local_user
from engine.projects import project_stage
from engine.projects.projects import change_settings
from engine.selection import auto_accept, stages
from engine.selection.stage_view import StageView, stage_view
from engine.tasks.queue import next_task as queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, make_person
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.survey_rows import make_version, say

QUESTIONS = ("What is the bill number?", "What is the total due?", "Who is the customer?")
RIGHT, WRONG = {QUESTIONS[0]: [1], QUESTIONS[1]: [4], QUESTIONS[2]: [6]}, [0]


class Works:
    """A project with a target of precision .8 over 20 answers: labelled holdouts, waiting bills, a model."""

    def __init__(self, workspace: Workspace, holdouts: int = 14, waiting: int = 4) -> None:
        self.workspace = workspace
        self.project = make_project(workspace)
        self.boss: User = ensure_local_user(workspace)
        self.ann = make_person(workspace, "Ann", self.project.id)
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        change_settings(workspace, self.project.id, precision_target=0.8, precision_answers=20, audit_share=0.01)
        self.version: ModelVersion = make_version(workspace, None)
        self.holdouts = [self._bill(at, "recent" if at % 2 else "frozen") for at in range(holdouts)]
        self.waiting = [self._bill(100 + at, "train") for at in range(waiting)]
        replace_standard_questions(workspace, self.project.id, QUESTIONS, self.rita.id)
        for document in self.holdouts:
            for question, words in RIGHT.items():
                accept(workspace, document, question, words, author="Ann")

    def copied_to(self, workspace: Workspace) -> "Works":
        """This project in a copy of its workspace."""
        works = copy(self)
        works.workspace = workspace
        return works

    def _bill(self, number: int, split: str) -> Document:
        return make_document(self.workspace, self.project.id, [bill(number)], split=split, name=f"bill {number}.png")

    def model_says(self, wrong: int = 0, version: ModelVersion | None = None, sure: float = 0.97) -> None:
        """The model answers everything, this many of the holdouts' questions wrongly: one a document first."""
        at = 0
        for question in QUESTIONS:
            for document in self.holdouts:
                said = RIGHT[question] if at >= wrong else WRONG
                say(self.workspace, version or self.version, document, question, said, answered=sure)
                at += 1
        for document in self.waiting:
            for question, words in RIGHT.items():
                say(self.workspace, version or self.version, document, question, words, answered=sure)

    def begin_automatic(self) -> StageChange:
        return stages.set_stage(self.workspace, self.project.id, "automatic", by=self.boss)

    def accept(self) -> auto_accept.Accepted:
        found = auto_accept.accept(self.workspace, self.project.id)
        assert found is not None
        return found

    def stage(self) -> str:
        with self.workspace.database.read() as session:
            return project_stage.stage_of(session, self.project.id)

    def view(self) -> StageView:
        return stage_view(self.workspace, self.project.id)

    def answers(self) -> Sequence[AutomaticAnswer]:
        with self.workspace.database.read() as session:
            return session.scalars(select(AutomaticAnswer).order_by(AutomaticAnswer.id)).all()

    def all_audits(self) -> None:
        """Everything that was accepted is drawn for a check, as a larger share would have it."""
        with self.workspace.database.write() as session:
            session.execute(update(AutomaticAnswer).values(audit=True))

    def check(self, right: bool, count: int = 1) -> None:
        """Ann answers this many of the tasks that wait for a check, as the model did or otherwise."""
        for _ in range(count):
            task = queue.next_task(self.workspace, self.project.id, self.ann.id).task
            assert task is not None
            answer(self.workspace, task.id, self.ann, RIGHT[task.question.text] if right else [3])

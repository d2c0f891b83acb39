"""A project that somebody poisons: two people who answer rightly, and one who marks anything."""

import random
import uuid

from sqlalchemy import select

from db.tables import Member, Task, User
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import to_patch
from engine.projects.projects import change_settings
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import answer, begin, make_person, tasks_of
from tests.support.factories import BILL_QUESTIONS, SIZE, bill, make_document, make_project, pages_of

BILLS = 10


class Poisoned:
    """Bills answered by Ann, Ben and Mal, two or three to a task. Mal marks anything, and answered the last alone."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.project = workspace, make_project(workspace)
        self.rng = random.Random(4)
        change_settings(workspace, self.project.id, overlap_share=1.0, overlap_people=2)
        for number in range(BILLS):
            make_document(workspace, self.project.id, [bill(number)], name=f"bill {number}.png")
        people = [_member(workspace, name, self.project.id) for name in ("Ann", "Ben", "Mal")]
        self.ann, self.ben, self.mal = people
        replace_standard_questions(workspace, self.project.id, list(BILL_QUESTIONS), self.ann.id)
        right = list(BILL_QUESTIONS.values())
        for at, task in enumerate(tasks_of(workspace, self.project.id)):
            alone = at >= (BILLS - 2) * 3
            pair = [self.mal] if alone else [person for place, person in enumerate(people) if place != at // 3 % 3]
            for person in pair:
                if person is self.mal:
                    self.mark_anything(task, person)
                else:
                    answer(workspace, task.id, person, right[at % 3])

    def mark_anything(self, task: Task, person: User) -> None:
        """A random box, accepted."""
        x, y = self.rng.randrange(SIZE[0] - 90), self.rng.randrange(SIZE[1] - 60)
        box = (x, y, x + self.rng.randrange(20, 90), y + self.rng.randrange(10, 60))
        page = pages_of(self.workspace, task.document_id)[0].id
        mask = to_patch(rasterise([box], (SIZE[1], SIZE[0]))).model_dump()
        request = RevisionRequest(
            idempotency_key=uuid.uuid4().hex,
            base=0,
            action="accept",
            edits=[{"op": "mask", "page": page, "words": [], "mask": mask}],  # type: ignore[list-item]
            seconds=4.0,
        )
        append_revision(self.workspace, begin(self.workspace, task.id, person).id, request, person.id)


def _member(workspace: Workspace, name: str, project_id: str) -> User:
    """A reviewer of the project: the user of that name who is there, else a new one."""
    with workspace.database.write() as session:
        there = session.scalar(select(User).where(User.name == name))
        if there is not None:
            session.add(Member(project_id=project_id, user_id=there.id, role="reviewer"))
            return there
    return make_person(workspace, name, project_id, "reviewer")

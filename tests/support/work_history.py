"""Weeks of believable work in a project, made through the real services and then dated back.

To look at it: `python -m tests.support.work_history FOLDER` fills a database in FOLDER, and
`GLOSSATOR_DATA_DIR=FOLDER glossator serve` shows it.
"""

import random
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from sqlalchemy import update

from db import changes
from db.dirty_documents import mark_dirty
from db.tables import (
    Annotation,
    Document,
    Member,
    ModelVersion,
    Page,
    Prediction,
    Project,
    Question,
    Revision,
    Task,
    User,
)
from engine.annotation.edits import EditMask, EditPrompts, EditWords
from engine.annotation.proposal import StoredAnswer
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import to_patch
from engine.projects.projects import DEFAULT_NAME, ensure_project
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from model.masks import rasterise
from tests.support.factories import BILL_QUESTIONS, bill, make_document, pages_of

PEOPLE = ("Amira Haddad", "Bento Rocha", "Chiara Lindqvist", "Dmitri Okonkwo")
# Model version, days that it answered, and how the work went with it: seconds of one mask, share only accepted.
STAGES = ((21, 34.0, 0.22), (21, 23.0, 0.41), (18, 17.0, 0.58), (16, 13.0, 0.71))


@dataclass
class History:
    """A project whose work is being made up, day by day."""

    workspace: Workspace
    project: Project
    people: dict[str, User]

    def version(self, number: int, at: datetime) -> ModelVersion:
        """A model version of this project; number 0 is a shipped one."""
        with self.workspace.database.write() as session:
            version = ModelVersion(
                project_id=self.project.id if number else None,
                number=number,
                checkpoint_sha256=uuid.uuid4().hex * 2,
                code_version="test",
                created_at=at,
            )
            session.add(version)
        return version

    def ask(
        self, document: Document, question: str, person: str, version: ModelVersion, at: datetime, words: Sequence[int]
    ) -> Annotation:
        """A question that a version answered with these words."""
        page = pages_of(self.workspace, document.id)[0]
        proposal = StoredAnswer(words=list(words), mask=mask_of(page, words), text="", score=0.8)
        with self.workspace.database.write() as session:
            asked = session.query(Question).filter_by(project_id=self.project.id, text=question).one_or_none()
            if asked is None:
                asked = Question(project_id=self.project.id, text=question, standard=True)
                session.add(asked)
                session.flush()
            annotation = Annotation(
                project_id=self.project.id,
                document_id=document.id,
                question_id=asked.id,
                author_id=self.people[person].id,
                created_at=at,
            )
            session.add(annotation)
            session.flush()
            session.add(
                Prediction(
                    annotation_id=annotation.id,
                    page_id=page.id,
                    question_id=asked.id,
                    model_version_id=version.id,
                    answer=proposal.model_dump(mode="json"),
                    score=0.8,
                    answered=0.9,
                    milliseconds=25,
                    created_at=at,
                )
            )
        return annotation

    def save(
        self,
        annotation: Annotation,
        at: datetime,
        *,
        action: str = "edit",
        edits: Sequence[EditWords | EditMask | EditPrompts] = (),
        seconds: float = 0,
        person: str | None = None,
    ) -> int:
        """One more revision, as the page saves it, at a time of one's choosing; return its number."""
        with self.workspace.database.read() as session:
            head = session.get_one(Annotation, annotation.id).head
        request = RevisionRequest(
            idempotency_key=uuid.uuid4().hex, base=head, action=action, edits=list(edits), seconds=seconds
        )
        author = self.people[person].id if person else annotation.author_id
        saved = append_revision(self.workspace, annotation.id, request, author)
        with self.workspace.database.write() as session:
            session.execute(
                update(Revision)
                .where(Revision.annotation_id == annotation.id, Revision.number == saved.revision)
                .values(created_at=at)
            )
            changes.publish(session, "answers", self.project.id)
            mark_dirty(session, self.project.id, [annotation.document_id])
        return saved.revision

    def task(self, document: Document, question: str, at: datetime, *, wanted: int = 1) -> Task:
        """A standard question that waits for an answer."""
        with self.workspace.database.write() as session:
            asked = session.query(Question).filter_by(project_id=self.project.id, text=question).one_or_none()
            if asked is None:
                asked = Question(project_id=self.project.id, text=question, standard=True)
                session.add(asked)
                session.flush()
            task = Task(
                project_id=self.project.id,
                document_id=document.id,
                question_id=asked.id,
                wanted=wanted,
                created_at=at,
            )
            session.add(task)
        return task

    def close(self, task: Task, at: datetime) -> None:
        """Close a task: its question is no standard one any more."""
        with self.workspace.database.write() as session:
            session.get_one(Task, task.id).closed_at = at


def mask_of(page: Page, words: Sequence[int]):  # type: ignore[no-untyped-def]
    """The mask of some words of a bill."""
    boxes = [bill(0)[at][1] for at in words]
    return to_patch(rasterise(boxes, (page.height, page.width)))


def begin(workspace: Workspace, project: Project, people: Sequence[str] = PEOPLE) -> History:
    """A project with people, reviewers all of them, and nothing done yet."""
    found = {}
    with workspace.database.write() as session:
        for name in people:
            there = session.query(User).filter_by(name=name).one_or_none()
            if there is None:
                there = User(name=name, role="annotator")
                session.add(there)
                session.flush()
            session.add(Member(project_id=project.id, user_id=there.id, role="reviewer"))
            found[name] = there
    return History(workspace, project, found)


def at(day: date, hour: float = 12) -> datetime:
    """A time of a day in UTC."""
    return datetime.combine(day, time(), UTC) + timedelta(hours=hour)


def make_weeks(
    workspace: Workspace, project: Project, last: date, *, a_day: int = 4, seed: int = 7, part: int = 1
) -> History:
    """Make eleven weeks until `last`: three retrainings, four people of different pace, weekends, late reviews.

    part: Of each model's days, one in so many.
    """
    rng = random.Random(seed)
    history = begin(workspace, project)
    day = last - timedelta(days=sum(days // part for days, _, _ in STAGES) - 1)
    number, waiting = 0, []
    for stage, (days, seconds, share) in enumerate(STAGES):
        version = history.version(stage, at(day, 0))
        for _ in range(days // part):
            if day.weekday() == 0:  # the week's documents come in on Mondays
                for _ in range(a_day * 5 // len(BILL_QUESTIONS) + 2):
                    document = make_document(workspace, project.id, [bill(0)], name=f"bill {number:04d}.png")
                    number += 1
                    for question in BILL_QUESTIONS:
                        history.task(document, question, at(day, 7))
                        waiting.append((document, question))
            if day.weekday() < 5:
                for turn in range(min(len(waiting), rng.randint(a_day - 2, a_day + 3 + stage))):
                    document, question = waiting.pop(0)
                    who = rng.choices(range(4), (5, 3, 3, 1 if stage < 2 else 3))[0]
                    _work(
                        history,
                        rng,
                        document,
                        question,
                        PEOPLE[who],
                        version,
                        at(day, 8 + turn * 0.7),
                        seconds * (0.8 + 0.2 * who),
                        share,
                    )
            day += timedelta(days=1)
    return history


def _work(
    history: History,
    rng: random.Random,
    document: Document,
    question: str,
    person: str,
    version: ModelVersion,
    when: datetime,
    seconds: float,
    share: float,
) -> None:
    words = BILL_QUESTIONS[question]
    annotation = history.ask(document, question, person, version, when, words)
    took = rng.lognormvariate(0, 0.45) * seconds
    if rng.random() < share:
        history.save(annotation, when + timedelta(seconds=5), action="submit", seconds=took * 0.35)
    else:
        page = pages_of(history.workspace, document.id)[0]
        edit = EditWords(op="words", page=page.id, add=[words[0] - 1])
        history.save(annotation, when + timedelta(seconds=9), edits=[edit], seconds=took * 0.7)
        history.save(annotation, when + timedelta(seconds=19), action="submit", seconds=took * 0.45)
    if rng.random() < 0.86:
        later = when + timedelta(hours=rng.choice((2, 5, 20, 26, 70)))
        reviewer = next(name for name in PEOPLE if name != person)
        history.save(annotation, later, action="accept", person=reviewer, seconds=6)


if __name__ == "__main__":
    opened = open_workspace(Settings(data_dir=Path(sys.argv[1]), _env_file=None))
    with opened.database.write() as writing:
        default = ensure_project(writing, DEFAULT_NAME, opened.settings)
    make_weeks(opened, default, datetime.now(UTC).date(), a_day=int(sys.argv[2]) if len(sys.argv) > 2 else 9)
    opened.close()

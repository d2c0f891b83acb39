"""A project of any size: documents of two pages, eight standard questions, half of the tasks answered by five people.

One task of twenty wants two answers, one answer of fifty was rejected and waits for its author, and a hundred questions
have known answers. `survey` adds answers of the model, for what needs them.

Rows go through the tables of the ORM in bulk, for the services would take hours for 20,000 documents. Ids grow as they do
in use. Pages share a few images, and words are drawn from one list.
"""

from __future__ import annotations

import io
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import insert, select, text, update

from db import changes
from db.ids import new_id
from db.tables import (
    Annotation,
    Document,
    DocumentGroup,
    Member,
    Page,
    PageSignature,
    PageWord,
    Question,
    Review,
    Revision,
    SurveyAnswer,
    Task,
    User,
)
from engine.accounts.users import local_user
from engine.annotation.state import AnnotationState, PageMark, to_patch
from engine.documents.duplicates.groups import split_of
from engine.models import registry
from engine.projects.projects import create_project
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import rasterise
from tests.support.drift import rebuild_all

SIZE = (400, 300)
PAGES, WORDS, IMAGES = 2, 12, 20
GOLD = 100  # tasks with a known answer
AT_ONCE = 500  # documents in one transaction
QUESTIONS = (
    "What is the invoice number?",
    "What is the invoice date?",
    "What is the total due?",
    "Who is the customer?",
    "Who is the supplier?",
    "What is the order number?",
    "What is the tax?",
    "Until when is it to be paid?",
)
PEOPLE = ("Amira", "Bento", "Chiara", "Dmitri", "Edda")
AWAY = (
    "Farid"  # whose are the drafts and the rejected answers; those of the others come to them first, so none are left
)
NOUNS = [
    "freight",
    "carrier",
    "pallet",
    "invoice",
    "customer",
    "order",
    "delivery",
    "weight",
    "volume",
    "discount",
    "account",
    "harbour",
    "vessel",
    "crate",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """What documents of a project are like.

    `worded`: first pages that have words; the other pages are unread. `answered`: share of the tasks. `known`: tasks
    with a known answer.
    """

    pages: int = PAGES
    worded: int = PAGES
    answered: float = 0.5
    known: int = GOLD


@dataclass(frozen=True, slots=True)
class Grown:
    """A project with its people."""

    project: str
    people: list[str]
    documents: int


def grow(workspace: Workspace, documents: int, *, name: str = "grown", seed: int = 0, shape: Shape = Shape()) -> Grown:
    """Make a project.

    Args:
        workspace: open workspace.
        documents: number of its documents.
        name: name of the project.
        seed: of words, people and days.
        shape: of its documents.
    """
    rng = random.Random(seed)
    project = create_project(workspace, name).id
    images = [_image(workspace, rng) for _ in range(IMAGES)]
    with workspace.database.write() as session:
        people = [_person(session, each, project) for each in PEOPLE]
        away = _person(session, AWAY, project)
        session.add(Member(project_id=project, user_id=local_user(session).id, role="admin"))
        asked = [
            Question(project_id=project, text=text, standard=True, position=at) for at, text in enumerate(QUESTIONS)
        ]
        session.add_all(asked)
        session.flush()
        questions = [each.id for each in asked]
    for begin in range(0, documents, AT_ONCE):
        rows = _Rows(project, people, away, questions, images, rng, shape)
        for number in range(begin, min(begin + AT_ONCE, documents)):
            rows.document(number, documents)
        with workspace.database.write() as session:
            for table, several in rows.in_order():
                if several:
                    session.execute(insert(table), several)
            for topic in ("documents", "tasks", "answers"):
                changes.publish(session, topic, project)
    _know(workspace, project, shape.known)
    analyze(workspace)
    rebuild_all(workspace, project)
    return Grown(project, people, documents)


def analyze(workspace: Workspace) -> None:
    """Let PostgreSQL count what came, as it does by itself within a minute; without, it plans for empty tables."""
    if workspace.database.dialect == "postgresql":
        with workspace.database.write() as session:
            session.execute(text("ANALYZE"))


def survey(workspace: Workspace, project: str, seed: int = 0) -> str:
    """Add a survey of the whole project: an answer of the model in use to every task; return the version's id.

    The model marks the place of a person's answer in most cases. Documents were asked one a second, one after the other.
    A project that has a survey keeps it.
    """
    rng = random.Random(seed)
    version = registry.ensure_shipped(workspace).id
    with workspace.database.read() as session:
        if session.scalar(select(SurveyAnswer.document_id).where(SurveyAnswer.project_id == project).limit(1)):
            return version
    word = to_patch(rasterise([(20, 20, 110, 34)], (SIZE[1], SIZE[0]))).model_dump(mode="json")
    begin = datetime.now(UTC) - timedelta(days=1)
    last, number = "", 0
    while True:
        with workspace.database.write() as session:
            next_ones = select(Document.id).where(Document.project_id == project, Document.id > last)
            documents = list(session.scalars(next_ones.order_by(Document.id).limit(AT_ONCE)))
            if not documents:
                return version
            first_pages = select(Page.document_id, Page.id).where(Page.document_id.in_(documents), Page.number == 1)
            pages = dict(session.execute(first_pages).tuples().all())
            said: dict[tuple[str, str], Any] = {}
            given = select(Annotation.document_id, Annotation.question_id, Revision.state).join(
                Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head)
            )
            for document, question, state in session.execute(given.where(Annotation.document_id.in_(documents))):
                said[document, question] = next(iter(state["pages"].values()))
            rows = []
            tasks = select(Task.document_id, Task.question_id).where(Task.document_id.in_(documents))
            for document, question in session.execute(tasks.order_by(Task.document_id)):
                mark = said.get((document, question)) if rng.random() < 0.97 else None
                sure = rng.uniform(0.3, 1)
                answer = {"words": [0], "mask": word, "text": "freight", "score": sure}
                if mark is not None:
                    answer |= {"words": mark["words"], "mask": mark["mask"]}
                rows.append(
                    {
                        "document_id": document,
                        "question_id": question,
                        "project_id": project,
                        "model_version_id": version,
                        "page_id": pages[document],
                        "words_version": 0,
                        "answer": answer,
                        "score": sure,
                        "answered": 0.99,
                        "disagreement": 0.0,
                        "confidence": sure,
                        "uncertainty": 1 - sure,
                        "milliseconds": 20.0,
                        "created_at": begin + timedelta(seconds=number + documents.index(document)),
                    }
                )
            session.execute(insert(SurveyAnswer), rows)
            changes.publish(session, "documents", project)
        last, number = documents[-1], number + len(documents)


def _know(workspace: Workspace, project: str, number: int) -> None:
    """Give tasks of the oldest documents known answers: those of people."""
    same = (Task.document_id == Annotation.document_id) & (Task.question_id == Annotation.question_id)
    with workspace.database.write() as session:
        known = session.execute(
            select(Task.id, Revision.id)
            .join(Annotation, same)
            .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
            .where(Task.project_id == project, Annotation.status == "accepted")
            .order_by(Task.id)
            .limit(number)
        )
        for task, revision in known.all():
            session.execute(update(Task).where(Task.id == task).values(gold_revision_id=revision))
        changes.publish(session, "tasks", project)


class _Rows:
    """Rows of some documents, by table."""

    def __init__(
        self,
        project: str,
        people: list[str],
        away: str,
        questions: list[str],
        images: list[str],
        rng: random.Random,
        shape: Shape,
    ):
        self.project, self.people, self.away, self.shape = project, people, away, shape
        self.questions, self.images, self.rng = questions, images, rng
        self.rows: dict[type, list[dict[str, Any]]] = {
            table: []
            for table in (DocumentGroup, Document, Page, PageSignature, PageWord, Task, Annotation, Revision, Review)
        }

    def in_order(self) -> Iterator[tuple[type, list[dict[str, Any]]]]:
        return iter(self.rows.items())

    def document(self, number: int, of: int) -> None:
        """Add a document, its tasks and their answers."""
        arrived = datetime.now(UTC) - timedelta(days=60 * (1 - number / of) + 1)
        group, document = new_id(), new_id()
        common = {"project_id": self.project, "created_at": arrived}
        self.rows[DocumentGroup].append(
            {"id": group, "sequence": number, "split": split_of(self.project, number), **common}
        )
        noun = self.rng.choice(NOUNS)
        self.rows[Document].append(
            {
                "id": document,
                "group_id": group,
                "sha256": uuid.uuid4().hex * 2,
                "name": f"{noun} note {number:06}.pdf",
                "media_type": "application/pdf",
                "byte_count": 40_000,
                "created_by": self.people[0],
                **common,
            }
        )
        pages = [self.page(document, at + 1) for at in range(self.shape.pages)]
        # Signed as empty pages are: without keys, which are not measured. A worker would sign unsigned pages first.
        signed = {"document_id": document, "group_id": group, "picture": "", "words": [], "text": ""}
        self.rows[PageSignature] += [{"id": new_id(), "page_id": page} | signed for page, _ in pages]
        for question in self.questions:
            wanted = 2 if self.rng.random() < 0.05 else 1
            self.rows[Task].append(
                {"id": new_id(), "document_id": document, "question_id": question, "wanted": wanted, **common}
            )
            if self.rng.random() < self.shape.answered:
                at = arrived + timedelta(hours=self.rng.uniform(1, 20))
                first = self.answer(document, question, pages[0], at)
                if wanted > 1 and self.rng.random() < 0.5:
                    self.answer(document, question, pages[0], at + timedelta(hours=1), but=first)

    def page(self, document: str, number: int) -> tuple[str, list[Box]]:
        page = new_id()
        self.rows[Page].append(
            {
                "id": page,
                "document_id": document,
                "number": number,
                "width": SIZE[0],
                "height": SIZE[1],
                "image_sha256": self.rng.choice(self.images),
                "image_media_type": "image/png",
                "text_source": "given" if number <= self.shape.worded else "none",
                "word_count": WORDS if number <= self.shape.worded else 0,
            }
        )
        boxes = []
        for at in range(WORDS if number <= self.shape.worded else 0):
            x, y = 20 + 120 * (at % 3), 20 + 24 * (at // 3)
            box = (x, y, x + 90, y + 14)
            text = f"{self.rng.choice(NOUNS)}{self.rng.randrange(1000)}"
            boxes.append(box)
            self.rows[PageWord].append(
                {"page_id": page, "number": at, "position": at, "line": at // 3, "text": text}
                | dict(zip(("x0", "y0", "x1", "y1"), box, strict=True))
            )
        return page, boxes

    def answer(
        self,
        document: str,
        question: str,
        page: tuple[str, list[Box]],
        at: datetime,
        but: str | None = None,
    ) -> str:
        """One person's answer in two revisions: one of twenty is a draft, one of ten waits for its review.

        Returns the person, who is another one than `but`.
        """
        drawn = self.rng.random()
        status = (
            "draft" if drawn < 0.05 else "submitted" if drawn < 0.15 else "rejected" if drawn < 0.17 else "accepted"
        )
        worker = self.rng.choice([each for each in self.people if each != but])
        away = status in ("draft", "rejected") and but != self.away
        person, annotation = self.away if away else worker, new_id()
        self.rows[Annotation].append(
            {
                "id": annotation,
                "project_id": self.project,
                "document_id": document,
                "question_id": question,
                "author_id": person,
                "status": status,
                "head": 2,
                "created_at": at,
            }
        )
        word = self.rng.randrange(WORDS)
        mask = to_patch(rasterise([page[1][word]], (SIZE[1], SIZE[0])))
        state = AnnotationState(pages={page[0]: PageMark(words=[word], mask=mask)}).model_dump(mode="json")
        revisions = [new_id(), new_id()]
        if status == "rejected":
            reviewer = next(each for each in self.people if each != person)
            self.rows[Review].append(
                {"id": new_id(), "annotation_id": annotation, "revision_id": revisions[1], "reviewer_id": reviewer}
                | {"verdict": "rejected", "reason": "The mark is too wide.", "created_at": at + timedelta(hours=1)}
            )
        for number, action, reached in ((1, "edit", "draft"), (2, "edit" if status == "draft" else "submit", status)):
            self.rows[Revision].append(
                {
                    "id": revisions[number - 1],
                    "annotation_id": annotation,
                    "number": number,
                    "base": number - 1,
                    "author_id": person,
                    "action": action,
                    "status": reached,
                    "edits": [],
                    "state": state,
                    "idempotency_key": new_id(),
                    "seconds": self.rng.uniform(2, 40),
                    "interactions": {},
                    "created_at": at + timedelta(seconds=30 * number),
                }
            )
        return person


def _image(workspace: Workspace, rng: random.Random) -> str:
    """Store an image of a page; return the digest of its blob."""
    grey = np.full((SIZE[1], SIZE[0]), 255, np.uint8)
    for _ in range(40):
        x, y = rng.randrange(SIZE[0] - 60), rng.randrange(SIZE[1] - 12)
        grey[y : y + 8, x : x + 50] = rng.randrange(120)
    file = io.BytesIO()
    Image.fromarray(grey).save(file, "PNG")
    return workspace.blobs.put(file.getvalue())


def _person(session: Any, name: str, project: str) -> str:
    person = session.scalar(select(User).where(User.name == name))
    if person is None:
        person = User(name=name, role="annotator")
        session.add(person)
        session.flush()
    session.add(Member(project_id=project, user_id=person.id, role="annotator"))
    return str(person.id)

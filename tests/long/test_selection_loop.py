"""All of it together, with the shipped model on generated pages: survey, order, label reviews, the stage and its checks.

The people are played: they know what the generator put on each page.
"""

import hashlib
import io
import uuid

import numpy as np
import pytest
from sqlalchemy import insert, select

from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    DocumentGroup,
    LabelReview,
    Page,
    PageWord,
    Question,
    Revision,
    SurveyAnswer,
    Task,
)
from engine.accounts.users import ensure_local_user
from engine.annotation.agreement import agrees
from engine.annotation.edits import EditMask
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import AnnotationState, PageMark, to_patch
from engine.commands.servers.background import run_worker
from engine.datasets import snapshots
from engine.models import registry
from engine.projects.projects import change_settings
from engine.selection import auto_accept, stages
from engine.selection.stage_view import stage_view
from engine.synthetic.corpus import generate_kind
from engine.tasks.queue import next_task as queue
from engine.tasks.review import review_queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import begin, judge, make_person
from tests.support.factories import accept, make_project

TRAIN, HOLDOUT = 10, 14
MOST = 3  # questions of a page


class Mill:
    """Generated receipts and forms as a project, with the answers that the generator knows."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.version = registry.ensure_shipped(workspace)
        self.project = make_project(workspace, "mill")
        self.boss = ensure_local_user(workspace)
        self.ann = make_person(workspace, "Ann", self.project.id)
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        self.known: dict[tuple[str, str], AnnotationState] = {}  # (document, question) -> the answer
        self.documents: list[Document] = []
        for at in range(TRAIN + HOLDOUT):
            pages = generate_kind("receipt" if at % 2 else "form", 700 + at)
            self._take(next(pages), "train" if at < TRAIN else "recent")
        texts = {question for _, question in self.known}
        replace_standard_questions(workspace, self.project.id, sorted(texts), self.rita.id)
        with workspace.database.write() as session:
            # Each page has questions of its own: the others are not asked of it.
            asked = {question.id: question.text for question in session.scalars(select(Question))}
            for task in session.scalars(select(Task)):
                if (task.document_id, asked[task.question_id]) not in self.known:
                    session.delete(task)

    def _take(self, generated, split: str) -> None:  # type: ignore[no-untyped-def]
        found, image = generated.page, generated.render()
        stream = io.BytesIO()
        image.save(stream, "PNG")
        content = stream.getvalue()
        with self.workspace.database.write() as session:
            group = DocumentGroup(project_id=self.project.id, sequence=len(self.documents), split=split)
            session.add(group)
            session.flush()
            document = Document(
                project_id=self.project.id,
                group_id=group.id,
                sha256=hashlib.sha256(content).hexdigest(),
                name=f"{found.page_id}.png",
                media_type="image/png",
                byte_count=len(content),
            )
            session.add(document)
            session.flush()
            page = Page(
                document_id=document.id,
                number=1,
                width=found.width,
                height=found.height,
                image_sha256=self.workspace.blobs.put(content),
                image_media_type="image/png",
                text_source="given",
                word_count=len(found.words),
            )
            session.add(page)
            session.flush()
            columns = ("x0", "y0", "x1", "y1")
            rows = [
                {
                    "page_id": page.id,
                    "number": number,
                    "position": number,
                    "line": word.box[1],
                    "text": word.text,
                    **dict(zip(columns, word.box, strict=True)),
                }
                for number, word in enumerate(found.words)
            ]
            session.execute(insert(PageWord), rows)
        self.documents.append(document)
        answered = [each for each in found.questions if each.answers][:MOST]
        for each in answered:
            words = each.answers[0]
            mask = rasterise([found.words[at].box for at in words], (found.height, found.width))
            mark = PageMark(words=list(words), mask=to_patch(mask))
            self.known[document.id, each.question] = AnnotationState(pages={page.id: mark})

    def label(self, document: Document, author: str = "Ann") -> list[Annotation]:
        """Accepted answers to all that is asked of a document."""
        return [
            accept(self.workspace, document, question, state=state, author=author)
            for (owner, question), state in self.known.items()
            if owner == document.id
        ]

    def answer_next(self) -> str | None:
        """Ann takes a task and marks what the generator knows; return the task, None when there is none for her."""
        task = queue.next_task(self.workspace, self.project.id, self.ann.id).task
        if task is None:
            return None
        state = self.known[task.document_id, task.question.text]
        annotation = begin(self.workspace, task.id, self.ann)
        edits = [EditMask(op="mask", page=page, words=mark.words, mask=mark.mask) for page, mark in state.pages.items()]
        request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=0, action="accept", edits=edits)
        append_revision(self.workspace, annotation.id, request, self.ann.id)
        return task.id

    def rows(self, table):  # type: ignore[no-untyped-def]
        with self.workspace.database.read() as session:
            return session.scalars(select(table)).all()


@pytest.fixture
def mill(workspace: Workspace) -> Mill:
    return Mill(workspace)


def test_from_a_survey_to_automatic_answers_that_people_check(mill: Mill) -> None:
    workspace, project_id = mill.workspace, mill.project.id
    change_settings(
        workspace,
        project_id,
        selection="model",
        selection_random_share=0.2,
        precision_target=0.6,
        precision_answers=20,
        audit_share=0.5,
        retrain_automatically=False,
    )
    # The worker surveys by itself, and the queue is in order: one in five documents drawn, all of them of the train split.
    run_worker(workspace, once=True)
    said = {(each.document_id, each.question_id): each for each in mill.rows(SurveyAnswer)}
    assert len(said) == len(mill.known)
    tasks = mill.rows(Task)
    train = {document.id for document in mill.documents[:TRAIN]}
    chosen = {task.document_id: task.chosen_by for task in tasks}
    assert sorted(filter(None, (chosen[document] for document in train))) == ["model"] * 8 + ["random"] * 2
    assert {chosen[document.id] for document in mill.documents[TRAIN:]} == {None}
    of_document = {
        document: float(np.mean([each.uncertainty for (owner, _), each in said.items() if owner == document]))
        for document in train
    }
    first = min((task for task in tasks if task.chosen_by == "model"), key=lambda task: task.priority)
    by_model = [document for document in train if chosen[document] == "model"]
    assert of_document[first.document_id] == max(of_document[document] for document in by_model)

    # Nothing is automatic before it was measured. Then people label the holdouts, and it may be.
    assert stage_view(workspace, project_id).measured_answers == 0
    for document in mill.documents[TRAIN:]:
        mill.label(document)
    view = stage_view(workspace, project_id)
    assert view.measured_answers >= 30
    assert view.threshold is not None, view.blocked
    stages.set_stage(workspace, project_id, "automatic", by=mill.boss)
    run_worker(workspace, once=True)  # the step alone asks for another survey, which has nothing to ask and accepts
    accepted = mill.rows(AutomaticAnswer)
    assert 0 < len(accepted) <= len(said)
    where = {task.id: task for task in tasks}
    assert {where[each.task_id].document_id for each in accepted} <= train
    assert all(each.confidence >= view.threshold for each in accepted)
    questions = {question.id: question.text for question in mill.rows(Question)}

    # People do the rest, the checks among it; each check says what the generator says.
    done = set()
    while (task_id := mill.answer_next()) is not None:
        done.add(task_id)
    assert done == {task.id for task in tasks if task.document_id in train} - {
        each.task_id for each in accepted if not each.audit
    }
    for each in mill.rows(AutomaticAnswer):
        task = where[each.task_id]
        right = agrees(mill.known[task.document_id, questions[task.question_id]], each.answer, each.page_id)
        assert each.verdict == (None if not each.audit else "right" if right else "wrong")
    after = stage_view(workspace, project_id)
    assert after.audit.checked == after.audit.drawn == sum(each.audit for each in accepted)
    frozen = snapshots.freeze(workspace, project_id, split="train")
    assert {item.annotation_id for item in snapshots.load(workspace, frozen)} == {
        each.id for each in mill.rows(Annotation) if each.document_id in train
    }
    auto_accept.undo(workspace, project_id, by=mill.boss)
    while (task_id := mill.answer_next()) is not None:
        done.add(task_id)
    assert done == {task.id for task in tasks if task.document_id in train}


def test_wrong_labels_are_found_by_the_model_and_right_ones_hardly_disturbed(mill: Mill) -> None:
    """A fifth of the labels name words far from the answer. Of what is queued most is wrong, and a reviewer can mend it."""
    workspace, project_id = mill.workspace, mill.project.id
    labels = [label for document in mill.documents[:TRAIN] for label in mill.label(document)]
    wrong = labels[::5]
    with workspace.database.write() as session:
        for label in wrong:
            revision = session.scalars(select(Revision).where(Revision.annotation_id == label.id)).one()
            [(page_id, mark)] = AnnotationState.model_validate(revision.state).pages.items()
            words = session.scalars(select(PageWord).where(PageWord.page_id == page_id)).all()
            other = max(words, key=lambda word: abs(word.y0 - mark.mask.box[1]))
            page = session.get_one(Page, page_id)
            box = (other.x0, other.y0, other.x1, other.y1)
            mask = to_patch(rasterise([box], (page.height, page.width)))
            moved = AnnotationState(pages={page_id: PageMark(words=[other.number], mask=mask)})
            revision.state = moved.model_dump(mode="json")
    change_settings(workspace, project_id, selection="model", retrain_automatically=False)
    run_worker(workspace, once=True)
    doubted = {look.annotation_id for look in mill.rows(LabelReview)}
    found = doubted & {label.id for label in wrong}
    assert len(found) >= len(wrong) / 2
    assert len(doubted - found) <= len(labels) / 10
    first = review_queue.next_review(workspace, project_id, mill.rita.id)
    assert first.label_review is not None and first.annotation_id in doubted
    judge(workspace, str(first.annotation_id), mill.rita)
    verdicts = {look.annotation_id: look.verdict for look in mill.rows(LabelReview)}
    assert verdicts[str(first.annotation_id)] == "kept"

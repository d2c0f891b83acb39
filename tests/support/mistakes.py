"""A project with answers in every state beside those that were there before, and everything that counts answers."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from db.tables import Annotation, Project, Question, Task, User
from engine.annotation.survey_answers import documents_to_ask
from engine.annotation.views import annotation_lines, next_annotation
from engine.datasets import estimates, snapshots
from engine.datasets.filters import Filters
from engine.documents.lists.listing import document_lines
from engine.projects.projects import change_settings, summaries
from engine.selection import label_review
from engine.statistics.project_agreement import project_agreement
from engine.statistics.throughput import figures
from engine.tasks.opening.priority import is_begun
from engine.tasks.queue.candidates import candidates
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.review.review_queue import waiting_answers
from engine.tasks.standard_questions import replace_standard_questions, suggestions
from engine.tasks.tasks import list_tasks
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace
from tests.support.annotators import answer, edits, judge, make_person, tasks_of
from tests.support.automatic_project import QUESTIONS, RIGHT, Works
from tests.support.factories import accept
from tests.support.survey_rows import propose, say

EVERY = ("draft", "submitted", "accepted", "rejected", "fixed")


class Mistakes:
    """A project at work, with automatic answers; `make` adds answers in every state, all of them by mistake."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.works = Works(workspace)
        self.works.model_says()
        self.works.begin_automatic()
        self.works.accept()
        self.works.all_audits()
        self.project: Project = self.works.project
        self.ann, self.rita = self.works.ann, self.works.rita
        self.ben = make_person(workspace, "Ben", self.project.id)
        self.ruth = make_person(workspace, "Ruth", self.project.id, "reviewer")
        self.fresh = [self.works._bill(200 + at, "train") for at in range(2)]
        replace_standard_questions(workspace, self.project.id, QUESTIONS, self.rita.id)
        for document in self.fresh:
            for question, words in RIGHT.items():
                say(workspace, self.works.version, document, question, words)
        change_settings(workspace, self.project.id, review_required=True)
        self.before = set(self.answers())

    def answers(self) -> list[str]:
        with self.workspace.database.read() as session:
            mine = select(Annotation.id).where(Annotation.project_id == self.project.id)
            return list(session.scalars(mine.order_by(Annotation.id)))

    def make(self) -> list[str]:
        """Add the mistakes; return their ids."""
        workspace, first = self.workspace, self.works.waiting[0]
        self.works.check(right=True)
        self.works.check(right=False)
        propose(workspace, self.asked(first.id, "asdf", self.ann), self.works.version, [1])
        accept(workspace, first, "asdf?", [2], status="draft", author="Ann")
        accept(workspace, first, "Is it so?", [3], author="Ann")
        tasks = {(task.document_id, task.question_id): task for task in tasks_of(workspace, self.project.id)}
        of_holdout = [task for (document, _), task in tasks.items() if document == self.works.holdouts[0].id]
        answer(workspace, of_holdout[0].id, self.ben, [2])  # Ann's differs, so hers weighs less
        rejected, fixed, kept = [task for (document, _), task in tasks.items() if document == self.fresh[0].id]
        judge(workspace, answer(workspace, rejected.id, self.ann, [5]).id, self.rita, "rejected")
        mended = edits(workspace, self.fresh[0].id, [4])
        judge(workspace, answer(workspace, fixed.id, self.ann, [3]).id, self.rita, "fixed", edits=mended)
        judge(workspace, answer(workspace, kept.id, self.ann, [0]).id, self.rita)
        assert label_review.find(workspace, self.project.id) == 1
        return [each for each in self.answers() if each not in self.before]

    def asked(self, document_id: str, text: str, author: User) -> Annotation:
        """A question that only the model has answered."""
        with self.workspace.database.write() as session:
            question = Question(project_id=self.project.id, text=text)
            session.add(question)
            session.flush()
            annotation = Annotation(
                project_id=self.project.id, document_id=document_id, question_id=question.id, author_id=author.id
            )
            session.add(annotation)
            return annotation

    def readings(self) -> Mapping[str, Any]:
        """What every part of Glossator that counts or lists answers says now."""
        workspace, project = self.workspace, self.project.id
        everybody = (self.ann, self.ben, self.rita, self.ruth)
        documents = [*self.works.waiting, *self.works.holdouts, *self.fresh]
        filters = Filters(statuses=EVERY, unfit=True)
        found: dict[str, Any] = {
            "documents": document_lines(workspace, project),
            "documents of Ben": document_lines(workspace, project, self.ben.id),
            "projects": [(each.documents, each.accepted) for each in summaries(workspace)],
            "questions": [annotation_lines(workspace, each.id) for each in documents],
            "questions of Ben": [annotation_lines(workspace, each.id, self.ben.id) for each in documents],
            "suggestions": [suggestions(workspace, project, each.id, documents[0].id) for each in everybody],
            "next open answer": [
                following.id if (following := next_annotation(workspace, project, each.id, None)) else None
                for each in everybody
            ],
            "queue": [queue_view(workspace, project, each.id) for each in everybody],
            "tasks": list_tasks(workspace, project),
            "review queue": [waiting_answers(workspace, project, each.id) for each in everybody],
            "label reviews": label_review.lines(workspace, project),
            "figures": figures(workspace, project).model_copy(update={"as_of": None}),
            "agreement": project_agreement(workspace, project),
            "estimate": estimates.would_take(workspace, project, filters),
            "answered questions": estimates.questions_answered(workspace, project),
            "snapshot": snapshots.freeze_with(workspace, project, filters).sha256,
            "labels": snapshots.freeze(workspace, project).sha256,
            "untrained answers": untrained_answers(workspace, project),
            "stage": self.works.view(),
        }
        with workspace.database.read() as session:
            found["candidates"] = [candidates(session, project, each.id, None) for each in everybody]
            found["begun tasks"] = set(session.scalars(select(Task.id).where(Task.project_id == project, is_begun())))
            found["survey"] = documents_to_ask(session, project, self.works.version.id)
            labels = label_review._labels(project, self.works.version.id)
            found["labels to compare"] = [row[0].id for row in session.execute(labels)]
        return found

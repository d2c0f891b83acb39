"""A copy of a document in another project, with its pages, words, answers, their history, and its tasks.

Rows are copied with other ids, also inside their JSON. Page images and the file are blobs, which both documents name.
What rests on the project stays behind: groups of documents, figures, model versions, automatic answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, literal, select
from sqlalchemy.orm import Session

from db import changes, document_texts, task_states
from db.base import Base
from db.dirty_documents import mark_dirty
from db.ids import new_id
from db.tables import (
    Annotation,
    Document,
    ModelVersion,
    OutsideAnswer,
    Page,
    PageSignature,
    PageWidget,
    PageWord,
    Prediction,
    Project,
    Question,
    Review,
    Revision,
    Skip,
    Task,
    WordEdit,
)
from db.tables.annotations import UNRANKED
from engine.annotation.proposal import StoredAnswer
from engine.documents.duplicates import groups, signature_index
from engine.lifecycle.archive_rows import lines_of, row_of
from engine.lifecycle.json_text import with_json_as_text
from engine.lifecycle.table_statements import table_of
from engine.models import registry
from engine.projects.project_settings import settings_of
from engine.tasks.opening import open_tasks, overlap, priority

_AT_ONCE = 500  # rows of one statement
_Versions = Mapping[tuple[str, int], int]


def copy_document(
    session: Session, document: Document, target: Project, questions: Mapping[str, str], versions: _Versions
) -> Document:
    """Copy a document into another project, in the caller's unit of work; return the copy.

    The caller has locked the project, which has no document with the same bytes, and sees to it that nobody changes the
    document meanwhile.

    Args:
        session: Of the unit of work.
        document: The document.
        target: The other project, locked.
        questions: Ids of questions there by ids of those asked of the document.
        versions: Numbers of versions of fields there, by question and number of the version here.
    """
    copying = _Copying(session, document, target, questions, versions)
    copying.copy_pages()
    copying.copy_answers()
    copying.copy_tasks()
    return copying.finish()


class _Copying:
    """One document on its way: ids of the copy by ids of the original."""

    def __init__(
        self, session: Session, document: Document, target: Project, questions: Mapping[str, str], versions: _Versions
    ) -> None:
        self.session, self.origin, self.target, self.versions = session, document, target, versions
        self.ids: dict[str, str] = dict(questions)
        self.asked = list(questions)  # without those in the bin
        self.answered: dict[str, str] = {}  # questions by copied answer
        self.proposals: set[str] = set()  # ids of the copied ones
        self.pages: Sequence[str] = session.scalars(
            select(Page.id).where(Page.document_id == document.id).order_by(Page.number)
        ).all()
        self.labels = _labels_of_versions(session, document.id)
        kept = {name: getattr(document, name) for name in _OF_DOCUMENT}
        warnings = [each for each in document.warnings.splitlines() if not each.startswith(groups.LIKE_ANOTHER)]
        group = groups.group_for(
            session, target.id, document.sha256, signature_index.signatures_of(session, document.id)
        )
        self.copy = Document(project_id=target.id, group_id=group.id, warnings="\n".join(warnings), **kept)
        session.add(self.copy)
        session.flush()
        self.ids[document.id] = self.copy.id

    def copy_pages(self) -> None:
        """Copy pages, their words and corrections, form fields and signatures."""
        self.insert(Page, Page.document_id == self.origin.id)
        for page_id in self.pages:
            for table in (PageWord, PageWidget):
                self.copy_within(table_of(table), page_id)
        self.insert(WordEdit, WordEdit.page_id.in_(self.pages))
        signed = select(PageSignature).where(PageSignature.document_id == self.origin.id).order_by(PageSignature.id)
        for row in self.session.scalars(signed).all():
            if row.page_id in self.ids:
                signature = signature_index.signature_in(row)
                place = self.copy.group_id, self.copy.id, self.ids[row.page_id]
                signature_index.remember(self.session, self.target.id, *place, signature)

    def copy_within(self, table: Table, page_id: str) -> None:
        """Copy the rows of a page inside the database: there may be thousands."""
        others = [column for column in table.columns if column.name != "page_id"]
        rows = select(literal(self.ids[page_id]), *others).where(table.c.page_id == page_id)
        names = ["page_id", *(column.name for column in others)]
        self.session.connection().execute(table.insert().from_select(names, rows))

    def copy_answers(self) -> None:
        """Copy answers with proposals, revisions and reviews: removed ones too, but none to a question in the bin."""
        answers = (Annotation.document_id == self.origin.id) & Annotation.question_id.in_(self.asked)
        of_answers = select(Annotation.id).where(answers)
        self.insert(Annotation, answers)
        asked = select(Annotation.id, Annotation.question_id).where(Annotation.document_id == self.copy.id)
        self.answered = dict(self.session.execute(asked).tuples().all())
        proposed = Prediction.annotation_id.in_(of_answers)
        self.insert(Prediction, proposed)
        self.proposals = {self.ids[key] for key in self.session.scalars(select(Prediction.id).where(proposed))}
        self.insert(Revision, Revision.annotation_id.in_(of_answers))
        self.insert(Review, Review.annotation_id.in_(of_answers))
        outside = OutsideAnswer.document_id == self.origin.id
        self.insert(OutsideAnswer, outside & OutsideAnswer.question_id.in_(self.asked))

    def copy_tasks(self) -> None:
        """Copy the tasks to questions that are standard ones there, with what people said when they skipped them."""
        standard = select(Question.id).where(Question.project_id == self.target.id, Question.standard)
        there = set(self.session.scalars(standard))
        here = [origin for origin, question_id in self.ids.items() if question_id in there]
        tasks = (Task.document_id == self.origin.id) & Task.question_id.in_(here)
        self.insert(Task, tasks)
        self.insert(Skip, Skip.task_id.in_(select(Task.id).where(tasks)))
        copied = select(Task.id).where(Task.document_id == self.copy.id)
        task_states.mark_tasks_dirty(self.session, self.session.scalars(copied).all())
        open_tasks.open_missing(self.session, self.target.id, self.copy.id)

    def finish(self) -> Document:
        """Settle the group of the copy, and let all that follows know of it."""
        quarantined = groups.settle(self.session, self.copy)
        if quarantined is not None:
            self.copy.warnings = "\n".join([*self.copy.warnings.splitlines(), quarantined])
        mark_dirty(self.session, self.target.id, [self.copy.id])
        document_texts.mark_documents_dirty(self.session, [self.copy.id])
        changes.publish(self.session, "documents", self.target.id, self.copy.id)
        changes.publish(self.session, "answers", self.target.id, self.copy.id)
        changes.publish(self.session, "tasks", self.target.id)
        changes.publish(self.session, "questions", self.target.id)
        return self.copy

    def insert(self, table: type[Base], condition: ColumnElement[bool]) -> None:
        """Copy the rows of a table that meet a condition, with ids of their own."""
        source, connection = table_of(table), self.session.connection()
        if "id" in source.c:
            keys = connection.scalars(select(source.c.id).where(condition).order_by(source.c.id)).all()
            # In the same order: those of one millisecond are in none, and what comes first may depend on ids.
            self.ids.update(zip(keys, sorted(new_id() for _ in keys), strict=True))
        copied, rows = with_json_as_text(source), []
        for line in lines_of(self.session, source, condition):
            rows.append(self.row(source, row_of(copied, line, self.ids)))
        for start in range(0, len(rows), _AT_ONCE):
            connection.execute(copied.insert(), rows[start : start + _AT_ONCE])

    def row(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row as it stands in the other project."""
        if "project_id" in row:
            row["project_id"] = self.target.id
        if "outside_model_id" in row:
            row["outside_model_id"] = None
        if table is table_of(Prediction) and row["model_version_id"] in self.labels:
            # No model of the other project has proposed it, so it counts in no figure of one.
            answer = StoredAnswer.model_validate_json(row["answer"])
            label = self.labels[row["model_version_id"]]
            changed = answer.model_copy(update={"source": "outside", "proposer": label})
            row |= {"model_version_id": None, "answer": changed.model_dump_json()}
        elif table is table_of(Revision):
            if row["field_version"] is not None:
                row["field_version"] = self.versions.get((self.answered[row["annotation_id"]], row["field_version"]))
            if row["prediction_id"] not in self.proposals:  # it belongs to no answer, and did not come along
                row["prediction_id"] = None
        elif table is table_of(Task):
            settings = settings_of(self.target)
            row["wanted"] = overlap.compute_wanted(row["id"], settings.overlap_share, settings.overlap_people)
            by_hand = row["priority"] == priority.BY_HAND
            row |= {"closed_at": None, "answered": 0, "state": ""}
            row |= {} if by_hand else {"priority": UNRANKED, "chosen_by": None}
        return row


_OF_DOCUMENT = (
    "sha256", "name", "media_type", "byte_count", "title", "licence", "source", "created_by", "created_at",
)  # fmt: skip


def _labels_of_versions(session: Session, document_id: str) -> dict[str, str]:
    """Return how people read the models of projects that proposed answers of a document, by id.

    A project is not named: people who may not see it read this, and it may be deleted.
    """
    proposed = (
        select(Prediction.model_version_id)
        .join(Annotation, Annotation.id == Prediction.annotation_id)
        .where(Annotation.document_id == document_id)
    )
    chosen = select(ModelVersion).where(ModelVersion.id.in_(proposed), ModelVersion.project_id.is_not(None))
    return {version.id: f"{registry.label(version)} of another project" for version in session.scalars(chosen)}

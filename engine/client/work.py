"""The client's methods for standard questions, the queue of tasks, and reviews."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.client.schemas import (
    ChangedQuestions,
    Conventions,
    DeletedQuestions,
    Edit,
    FieldAt,
    FieldChange,
    FieldDefinition,
    GoldState,
    Issuer,
    Judged,
    LeaseView,
    ListedQuestion,
    NextAnswer,
    NextReview,
    NextTask,
    QuestionHoldings,
    QueueView,
    ReadyFields,
    RemovedQuestionLine,
    ReviewLine,
    ReviewRequest,
    SkipDecision,
    SkipLine,
    SkipReason,
    StandardQuestion,
    StoredField,
    Suggestions,
    TableCounts,
    TableRow,
    TaskLine,
    TaskProgress,
    UpcomingTask,
    Verdict,
)
from engine.client.transport import Connection, build_request, plain

TABLE_PAGE = 200  # documents of the table of values that the server sends at once


class Work:
    """Methods of engine.client.Glossator for standard questions, tasks and reviews."""

    _at: Connection

    def standard_questions(self, project_id: str) -> list[StandardQuestion]:
        """Return the standard questions of a project, which are asked of every document."""
        return self._at.get(list[StandardQuestion], f"/projects/{project_id}/standard-questions")

    def set_standard_questions(
        self, project_id: str, questions: Sequence[str], before: Sequence[str] | None = None
    ) -> list[StandardQuestion]:
        """Replace the standard questions of a project (reviewers).

        before: the list that you saw. Raises ServerSaid when somebody has changed it since; None: do not check.
        """
        path = f"/projects/{project_id}/standard-questions"
        body = {"questions": list(questions), "before": None if before is None else list(before)}
        return self._at.put(list[StandardQuestion], path, body)

    def question_holdings(self, project_id: str, question_id: str) -> QuestionHoldings:
        """Return what goes to the bin with a question: numbers of its answers, values and tasks (admins)."""
        return self._at.get(QuestionHoldings, f"/projects/{project_id}/questions/{question_id}/holdings")

    def remove_questions(self, project_id: str, question_ids: Sequence[str]) -> list[str]:
        """Remove questions or fields into the bin, with their answers; return those that were not there already.

        question_ids: at most 200.
        """
        body = {"questions": list(question_ids)}
        return self._at.post(ChangedQuestions, f"/projects/{project_id}/questions/remove", body).questions

    def removed_questions(self, project_id: str) -> list[RemovedQuestionLine]:
        """Return the questions in the bin of a project, last removed first."""
        return self._at.all(RemovedQuestionLine, f"/projects/{project_id}/removed-questions")

    def restore_questions(self, project_id: str, question_ids: Sequence[str]) -> list[str]:
        """Restore questions from the bin with the answers that went with them; return those that this restored.

        question_ids: at most 200.
        """
        body = {"questions": list(question_ids)}
        return self._at.post(ChangedQuestions, f"/projects/{project_id}/removed-questions/restore", body).questions

    def delete_questions(self, project_id: str, question_ids: Sequence[str] | None = None) -> DeletedQuestions:
        """Delete questions in the bin for good. Snapshots keep the answers that they hold, and sentences say so.

        question_ids: at most 200; None: all questions in the bin.
        """
        body = {"questions": list(question_ids) if question_ids is not None else None}
        return self._at.post(DeletedQuestions, f"/projects/{project_id}/removed-questions/delete", body)

    def fields(self, project_id: str) -> list[StoredField]:
        """Return the fields of a project in their order."""
        return self._at.get(list[StoredField], f"/projects/{project_id}/fields")

    def set_fields(
        self, project_id: str, fields: Sequence[Mapping[str, Any]], before: Mapping[str, int] | None = None
    ) -> list[StoredField]:
        """Replace the fields of a project (reviewers); a field with an `id` keeps its answers.

        before: ids and versions of the list that you saw. Raises ServerSaid when somebody has changed it since; None:
        do not check.
        """
        body = {"fields": [dict(field) for field in fields], "before": None if before is None else dict(before)}
        return self._at.put(list[StoredField], f"/projects/{project_id}/fields", body)

    def remember_convention(
        self,
        project_id: str,
        convention: Mapping[str, str | None],
        *,
        document_id: str | None = None,
        issuer: str | None = None,
    ) -> Conventions:
        """Remember how the project's papers print values, as {"date_order": "DMY"}; null forgets one. Returns all.

        document_id: remember it for the issuer of this document; a person has accepted who that is.
        issuer: remember it for the issuer of this name.
        """
        body = {"convention": dict(convention), "document_id": document_id, "issuer": issuer}
        return self._at.post(Conventions, f"/projects/{project_id}/conventions", body)

    def issuer(self, document_id: str) -> str | None:
        """Return the issuer of a document as a person accepted it; None where it is not known."""
        return self._at.get(Issuer, f"/documents/{document_id}/issuer").issuer

    def preview_fields(self, project_id: str, fields: Sequence[Mapping[str, Any]]) -> list[FieldChange]:
        """Return what `set_fields` would do (reviewers); nothing is saved."""
        body = {"fields": [dict(field) for field in fields]}
        return self._at.post(list[FieldChange], f"/projects/{project_id}/fields/preview", body)

    def read_fields_file(self, project_id: str, path: str | Path) -> list[FieldDefinition]:
        """Return the fields that a file describes, YAML or a JSON Schema (reviewers); nothing is saved."""
        file = Path(path)
        body = {"name": file.name, "text": file.read_text("utf-8-sig")}
        return self._at.post(list[FieldDefinition], f"/projects/{project_id}/fields/file", body)

    def export_fields(self, project_id: str, path: str | Path, *, schema: bool = False) -> Path:
        """Write the fields of a project to a YAML file, or a JSON Schema of their values, and return its path."""
        out = Path(path)
        self._at.download(f"/projects/{project_id}/fields/file", out, format="schema" if schema else "yaml")
        return out

    def field_versions(self, project_id: str, field_id: str) -> list[FieldAt]:
        """Return the versions of a field, the newest first."""
        return self._at.get(list[FieldAt], f"/projects/{project_id}/fields/{field_id}/versions")

    def field_sets(self) -> list[ReadyFields]:
        """Return the ready sets of fields."""
        return self._at.get(list[ReadyFields], "/field-sets")

    def task_changes(self, project_id: str) -> list[TaskProgress]:
        """Return the changes that the tasks of a project follow in batches, with their progress."""
        return self._at.get(list[TaskProgress], f"/projects/{project_id}/task-changes")

    def suggestions(self, project_id: str, document_id: str | None = None) -> Suggestions:
        """Return suggestions of questions: the standard questions, and those asked lately."""
        path = f"/projects/{project_id}/questions"
        return self._at.get(Suggestions, path, document_id=document_id)

    def asked_questions(
        self, project_id: str, *, query: str | None = None, sort: str | None = None, limit: int | None = None
    ) -> list[ListedQuestion]:
        """Return the questions that were asked in a project, with the number of documents of each.

        query: only questions that contain each of these words.
        sort: "-documents", those of most documents first and the default, or "text".
        limit: maximum number; None: all of them.
        """
        path = f"/projects/{project_id}/asked-questions"
        return self._at.all(ListedQuestion, path, limit, q=query, sort=sort)

    def values(
        self,
        project_id: str,
        *,
        fields: Sequence[str] = (),
        filters: Sequence[str] = (),
        sort: str | None = None,
        limit: int | None = None,
    ) -> list[TableRow]:
        """Return the table of values: documents with what the answer that counts says for each field (reviewers).

        fields: names of the wanted fields; none: all.
        filters: flags that all hold, in any field ("broken") or in one ("total:broken").
        sort: "-created" (default), "created", "name", "value:FIELD" or "-value:FIELD".
        limit: maximum number; None: all of them.
        """
        asked = {"field": list(fields), "filter": list(filters), "sort": sort}
        return self._at.all(TableRow, f"/projects/{project_id}/values", limit, page=TABLE_PAGE, **asked)

    def export_values(
        self,
        project_id: str,
        path: str | Path,
        *,
        fields: Sequence[str] = (),
        filters: Sequence[str] = (),
        sort: str | None = None,
    ) -> Path:
        """Write what `values` returns to a file whose name ends in .csv or .xlsx, and return its path (reviewers)."""
        out = Path(path)
        asked = {"field": list(fields), "filter": list(filters), "format": out.suffix.lstrip(".")}
        asked |= {"sort": sort} if sort is not None else {}
        self._at.download(f"/projects/{project_id}/values/export", out, **asked)
        return out

    def value_counts(self, project_id: str) -> TableCounts:
        """Return how many documents each filter of the table of values finds (reviewers)."""
        return self._at.get(TableCounts, f"/projects/{project_id}/values/counts")

    def queue(self, project_id: str) -> QueueView:
        """Return the progress of the standard questions: open, submitted and finished tasks."""
        return self._at.get(QueueView, f"/projects/{project_id}/queue")

    def next(self, project_id: str, after: str | None = None) -> NextTask:
        """Lease the next task. Without one, `reason` says why. `after`: the task that you come from."""
        return self._at.post(NextTask, f"/projects/{project_id}/queue/next", {"after": after})

    def upcoming(self, project_id: str, after: str) -> UpcomingTask | None:
        """Return the task that follows `after`, the one you work on, and have its answer computed in advance.

        Nothing is leased: somebody else may get it first.
        """
        kind: Any = UpcomingTask | None
        found: UpcomingTask | None = self._at.post(kind, f"/projects/{project_id}/queue/upcoming", {"after": after})
        return found

    def next_answer(self, project_id: str, after: str | None = None) -> NextAnswer:
        """Return the next of your answers that waits for your decision.

        after: the answer that you come from.
        """
        return self._at.get(NextAnswer, f"/projects/{project_id}/next", after=after)

    def heartbeat(self, task_id: str) -> datetime:
        """Extend the lease of a task, and return its end. Call this every 30 seconds during work.

        Raises ServerSaid (409) when the lease is lost.
        """
        return self._at.post(LeaseView, f"/tasks/{task_id}/heartbeat").lease_until

    def release(self, task_id: str) -> None:
        """Give a task back to the queue."""
        self._at.send("POST", f"/tasks/{task_id}/release")

    def skip(self, task_id: str, reason: SkipReason, note: str = "") -> SkipLine:
        """Skip a task that you cannot answer; a reviewer decides what becomes of it. "other" needs a note."""
        return self._at.put(SkipLine, f"/tasks/{task_id}/skip", {"reason": reason, "note": note})

    def withdraw_skip(self, task_id: str) -> None:
        """Take back your own skip, while no reviewer has decided on it."""
        self._at.send("DELETE", f"/tasks/{task_id}/skip")

    def decide_skip(self, task_id: str, verdict: SkipDecision, remark: str = "") -> list[SkipLine]:
        """Send a skipped task back to the queue ("returned"), or confirm that it has no answer (reviewers)."""
        return self._at.post(list[SkipLine], f"/tasks/{task_id}/skip/verdict", {"verdict": verdict, "remark": remark})

    def skips(
        self, project_id: str, *, reason: SkipReason | None = None, waiting: bool = False, limit: int | None = None
    ) -> list[SkipLine]:
        """Return the skipped tasks of a project, oldest first (reviewers).

        reason: only skips for this reason. waiting: only those on which a reviewer has to decide.
        limit: maximum number; None: all of them, page after page.
        """
        path = f"/projects/{project_id}/skips"
        return self._at.all(SkipLine, path, limit, reason=reason, waiting=waiting or None)

    def tasks(self, project_id: str, *, limit: int | None = None, offset: int = 0) -> list[TaskLine]:
        """Return the tasks of a project with their gold questions and the answers given so far (reviewers).

        limit: maximum number; None: all of them, page after page.
        offset: number of tasks to skip.
        """
        path = f"/projects/{project_id}/tasks"
        return self._at.all(TaskLine, path, limit, offset=offset or None)

    def each_task(self, project_id: str) -> Iterator[TaskLine]:
        """Yield the tasks of a project, fetched in pages while they are used (reviewers)."""
        return self._at.each(TaskLine, f"/projects/{project_id}/tasks")

    def gold(self, annotation_id: str) -> GoldState:
        """Return whether the task of an answer is a gold question, and whose answer is the known one (reviewers)."""
        return self._at.get(GoldState, f"/annotations/{annotation_id}/gold")

    def set_gold(self, task_id: str, annotation_id: str | None) -> TaskLine:
        """Make a task a gold question with this accepted answer (reviewers).

        annotation_id: None makes it an ordinary task again.
        """
        return self._at.put(TaskLine, f"/tasks/{task_id}/gold", {"annotation_id": annotation_id})

    # --- reviews

    def next_review(self, project_id: str, after: str | None = None) -> NextReview:
        """Lease the next submitted answer (reviewers). Without one, `reason` says why."""
        return self._at.post(NextReview, f"/projects/{project_id}/review/next", {"after": after})

    def review_heartbeat(self, annotation_id: str) -> datetime:
        """Extend the lease of a review, and return its end.

        Raises ServerSaid (409) when somebody else has the answer.
        """
        return self._at.post(LeaseView, f"/annotations/{annotation_id}/review/heartbeat").lease_until

    def release_review(self, annotation_id: str) -> None:
        """Give an answer back to the review queue."""
        self._at.send("POST", f"/annotations/{annotation_id}/review/release")

    def review(
        self,
        annotation_id: str,
        base: int,
        verdict: Verdict,
        *,
        quality: bool | None = None,
        completeness: bool | None = None,
        reason: str = "",
        edits: Iterable[Edit | dict[str, Any]] = (),
        becomes_label: bool = False,
        seconds: float = 0,
        key: str | None = None,
    ) -> Judged:
        """Judge somebody else's answer (reviewers). Accepting it also accepts the equal answers of others.

        base: the revision that you judge.
        verdict: "accepted", "rejected" or "fixed".
        quality: whether the pixels are right. completeness: whether nothing is missing. None: not judged.
        reason: what to do better; "rejected" needs one.
        edits: your fixes, for "fixed" alone.
        becomes_label: it becomes the label, although an accepted answer contradicts it; without, that is refused.
        seconds: of active work.
        key: the idempotency key; the same key again is the same verdict. None: a new key.
        """
        fields = {"quality": quality, "completeness": completeness, "reason": reason, "edits": plain(edits)}
        request = build_request(
            ReviewRequest,
            idempotency_key=key or uuid.uuid4().hex,
            base=base,
            verdict=verdict,
            seconds=seconds,
            becomes_label=becomes_label,
            **fields,
        )
        return self._at.post(Judged, f"/annotations/{annotation_id}/reviews", request)

    def reviews(self, annotation_id: str) -> list[ReviewLine]:
        """Return the verdicts on an answer, oldest first."""
        return self._at.all(ReviewLine, f"/annotations/{annotation_id}/reviews")

"""The Python client's part of the work that is handed out: standard questions, their queue, and reviews."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from engine.annotation.revisions import Saved
from engine.annotation.state import Edit
from engine.client_types import NextAnswer
from engine.connection import Connection, checked
from engine.tasks.queue import NextTask
from engine.tasks.queue_view import QueueView
from engine.tasks.review import ReviewLine, ReviewRequest, Verdict
from engine.tasks.review_queue import NextReview
from engine.tasks.standard_questions import StandardQuestion, Suggestions
from engine.tasks.tasks import MOST_LISTED, TaskLine


class _Lease(BaseModel):
    lease_until: datetime


class Work:
    """What engine.client.Glossator can do with tasks and reviews."""

    _at: Connection

    def standard_questions(self, project_id: str) -> list[StandardQuestion]:
        """Return the questions that the project asks of every document."""
        return self._at.get(list[StandardQuestion], f"/projects/{project_id}/standard-questions")

    def set_standard_questions(
        self, project_id: str, questions: Sequence[str], before: Sequence[str] | None = None
    ) -> list[StandardQuestion]:
        """Replace the standard questions (reviewers); refused where `before`, if given, is not the list any more."""
        path = f"/projects/{project_id}/standard-questions"
        body = {"questions": list(questions), "before": None if before is None else list(before)}
        return self._at.put(list[StandardQuestion], path, body)

    def suggestions(self, project_id: str, document_id: str | None = None) -> Suggestions:
        """Return what can be asked of a document."""
        path = f"/projects/{project_id}/questions"
        return self._at.get(Suggestions, path, document_id=document_id)

    def queue(self, project_id: str) -> QueueView:
        """Return how far the standard questions are."""
        return self._at.get(QueueView, f"/projects/{project_id}/queue")

    def next(self, project_id: str, after: str | None = None) -> NextTask:
        """Lease the next task; without one, its `reason` says why. `after`: the task that one comes from."""
        return self._at.post(NextTask, f"/projects/{project_id}/queue/next", {"after": after})

    def next_answer(self, project_id: str, after: str | None = None) -> NextAnswer:
        """Return the next of one's own answers that waits for a decision. `after`: the answer that one comes from."""
        return self._at.get(NextAnswer, f"/projects/{project_id}/next", after=after)

    def heartbeat(self, task_id: str) -> datetime:
        """Keep a task, every 30 s while somebody works; return until when it is kept. ServerSaid (409) when it is lost."""
        return self._at.post(_Lease, f"/tasks/{task_id}/heartbeat").lease_until

    def release(self, task_id: str) -> None:
        """Give a task back."""
        self._at.send("POST", f"/tasks/{task_id}/release")

    def tasks(self, project_id: str, *, limit: int = MOST_LISTED, offset: int = 0) -> list[TaskLine]:
        """Return the tasks of a project with their known answers and the answers given so far (reviewers)."""
        return self._at.get(list[TaskLine], f"/projects/{project_id}/tasks", limit=limit, offset=offset)

    def set_gold(self, task_id: str, annotation_id: str | None) -> TaskLine:
        """Make an accepted answer the known one of a task, or with None take that back (reviewers)."""
        return self._at.put(TaskLine, f"/tasks/{task_id}/gold", {"annotation_id": annotation_id})

    # --- reviews

    def next_review(self, project_id: str, after: str | None = None) -> NextReview:
        """Lease the next submitted answer (reviewers)."""
        return self._at.post(NextReview, f"/projects/{project_id}/review/next", {"after": after})

    def review_heartbeat(self, annotation_id: str) -> datetime:
        """Keep an answer under review; return until when it is kept. ServerSaid (409) when somebody else has it."""
        return self._at.post(_Lease, f"/annotations/{annotation_id}/review/heartbeat").lease_until

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
        seconds: float = 0,
        key: str | None = None,
    ) -> Saved:
        """Judge somebody else's answer (reviewers); a rejection needs a reason, `edits` belong to "fixed" alone."""
        fields = {"quality": quality, "completeness": completeness, "reason": reason, "edits": list(edits)}
        request = checked(
            ReviewRequest,
            idempotency_key=key or uuid.uuid4().hex,
            base=base,
            verdict=verdict,
            seconds=seconds,
            **fields,
        )
        return self._at.post(Saved, f"/annotations/{annotation_id}/reviews", request)

    def reviews(self, annotation_id: str) -> list[ReviewLine]:
        """Return the verdicts on an answer, oldest first."""
        return self._at.get(list[ReviewLine], f"/annotations/{annotation_id}/reviews")

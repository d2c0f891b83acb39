"""Cost of the queue in a project of any size: next task and review, passing over, counts, saving and accepting.

`python -m tests.benchmarks.growth.queue [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import select

from db.ids import new_id
from db.tables import Annotation, Page
from engine.annotation.edits import EditWords
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.tasks.queue.next_task import LeasedTask, next_task
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.review.review_queue import next_review
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.support.annotators import judge, make_person

STEPS = 12  # of one person
NEXT, PASSED, COUNTED, SAVED, ACCEPTED = "next task", "task passed over", "counts of the queue", "save", "accept"
BARS = {NEXT: 30.0, PASSED: 30.0, COUNTED: 20.0, SAVED: 15.0, ACCEPTED: 15.0}
REVIEW, JUDGED = "next answer to review", "verdict"
REVIEW_BARS = {REVIEW: 30.0, JUDGED: 15.0}
_Done = TypeVar("_Done")


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of the services of the queue: one round a person, each answering and passing over tasks.

    Args:
        workspace: open workspace.
        grown: project in it; its people answer some more of its tasks.
    """
    rounds = [Work(workspace, grown.project, person).times() for person in grown.people]
    found = [row(what, [each[what] for each in rounds], bar) for what, bar in BARS.items()]
    reviews = _reviews(workspace, grown)
    return found + [row(what, [reviews[what]], bar) for what, bar in REVIEW_BARS.items()]


def _reviews(workspace: Workspace, grown: Grown) -> dict[str, list[float]]:
    """A reviewer judges every other answer and passes over the rest; the first step warms up and does not count."""
    reviewer = make_person(workspace, "Rita", grown.project, "reviewer")
    taken: dict[str, list[float]] = {what: [] for what in REVIEW_BARS}
    after = None
    for step in range(2 * STEPS + 1):
        begin = time.perf_counter()
        found = next_review(workspace, grown.project, reviewer.id, after)
        taken[REVIEW].append(1000 * (time.perf_counter() - begin))
        after = found.annotation_id
        assert after is not None, "the project has too few answers to review"
        if step % 2:
            begin = time.perf_counter()
            judge(workspace, after, reviewer)
            taken[JUDGED].append(1000 * (time.perf_counter() - begin))
        if step == 0:
            taken[REVIEW].clear()
    return taken


class Work:
    """One person at work."""

    def __init__(self, workspace: Workspace, project: str, person: str) -> None:
        self.workspace, self.project, self.person = workspace, project, person
        self.taken: dict[str, list[float]] = {what: [] for what in BARS}

    def times(self) -> dict[str, list[float]]:
        """Work; return milliseconds of each service. The first step warms up and does not count."""
        task = self.next(None)
        for step in range(STEPS + 1):
            self.answer(task)
            task = self.timed(NEXT, lambda: self.next(task))  # noqa: B023
            task = self.timed(PASSED, lambda: self.next(task))  # noqa: B023
            self.timed(COUNTED, lambda: queue_view(self.workspace, self.project, self.person))
            if step == 0:
                self.taken = {what: [] for what in BARS}
        return self.taken

    def timed(self, what: str, act: Callable[[], _Done]) -> _Done:
        begin = time.perf_counter()
        done = act()
        self.taken[what].append(1000 * (time.perf_counter() - begin))
        return done

    def next(self, left: LeasedTask | None) -> LeasedTask:
        task = next_task(self.workspace, self.project, self.person, left.id if left is not None else None).task
        assert task is not None, "the project has too few tasks"
        return task

    def answer(self, task: LeasedTask) -> None:
        """Mark a word and save, then accept."""
        answer_id, head, page = self.begun(task)
        edits = [EditWords(op="words", page=page, add=[3])]
        save = RevisionRequest(idempotency_key=new_id(), base=head, edits=edits)  # type: ignore[arg-type]
        self.timed(SAVED, lambda: append_revision(self.workspace, answer_id, save, self.person))
        accept = RevisionRequest(idempotency_key=new_id(), base=head + 1, action="accept")
        self.timed(ACCEPTED, lambda: append_revision(self.workspace, answer_id, accept, self.person))

    def begun(self, task: LeasedTask) -> tuple[str, int, str]:
        """Return the person's answer, begun if need be, with its newest revision and the document's first page."""
        own = Annotation.author_id == self.person, Annotation.status != "removed"
        here = Annotation.document_id == task.document_id, Annotation.question_id == task.question.id
        with self.workspace.database.write() as session:
            answer = session.scalar(select(Annotation).where(*here, *own))
            if answer is None:
                answer = Annotation(
                    project_id=self.project,
                    document_id=task.document_id,
                    question_id=task.question.id,
                    author_id=self.person,
                )
                session.add(answer)
                session.flush()
            page = session.scalar(select(Page.id).where(Page.document_id == task.document_id, Page.number == 1))
            assert page is not None
            return answer.id, answer.head, page


if __name__ == "__main__":
    command(measure)

"""Random actions of people in a project, and what its queue must say then, told from the answers alone."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db import statuses
from db.tables import Annotation, AutomaticAnswer, LabelReview, LeftTask, Member, Question, Revision, Skip, Task, User
from engine import leases
from engine.accounts.members import put_member, remove_member
from engine.accounts.users import ensure_local_user
from engine.annotation import removal
from engine.annotation.automatic_checks import needs_no_person
from engine.batches import Throttle
from engine.documents.lists.listing import document_lines
from engine.documents.lists.totals import DocumentTotals, document_totals
from engine.errors import Refused
from engine.queries import is_newest
from engine.selection import auto_accept
from engine.selection.ranking import put_first
from engine.tasks import skips, task_status, tasks
from engine.tasks.opening import task_changes
from engine.tasks.opening.open_tasks import open_missing
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.candidates import candidates
from engine.tasks.queue.queue_view import judgeable, queue_view, to_review
from engine.tasks.review import label_review_queue
from engine.workspace import Workspace
from tests.support.annotators import begin, judge, make_person, save, tasks_of
from tests.support.drift import find_drift
from tests.support.factories import bill, make_document, pages_of
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version

MOST_DOCUMENTS = 5
_GOLD_SHARES = (0.0, 0.5)


class Campaign:
    """A project in which random things happen."""

    def __init__(self, workspace: Workspace, seed: int) -> None:
        self.workspace, self.rng = workspace, random.Random(seed)
        self.office = Office(workspace, bills=2, questions=(NUMBER, TOTAL))
        self.boss = ensure_local_user(workspace)
        self.versions = [make_version(workspace, self.office.project.id, number) for number in (1, 2)]
        self.version = self.versions[-1]
        self.people: list[User] = [self.office.ann, self.office.ben, self.office.rita, self.boss]
        self.people.append(make_person(workspace, "Cleo", self.office.project.id))
        self.done: list[str] = []
        self.actions: list[tuple[int, Callable[[], object]]] = [
            (10, self.take),
            (24, self.answer),
            (8, self.reopen),
            (12, self.review),
            (6, self.remove),
            (5, self.restore),
            (4, self.gold),
            (4, self.settings),
            (2, self.questions),
            (1, self.document),
            (5, self.automatic),
            (1, self.undo),
            (2, self.membership),
            (2, self.first),
            (4, self.batch),
            (5, self.look),
            (4, self.skip),
            (3, self.decide_skip),
        ]

    def act(self) -> None:
        """Do something; what the services refuse is an answer too."""
        weights = [weight for weight, _ in self.actions]
        _, action = self.rng.choices(self.actions, weights)[0]
        self.done.append(action.__name__)
        try:
            action()
        except Refused:  # conflicts, missing rights
            self.done[-1] += " refused"

    # What people do

    def person(self) -> User:
        return self.rng.choice(self.people)

    def task(self) -> Task | None:
        open_tasks = [each for each in tasks_of(self.workspace, self.office.project.id) if each.closed_at is None]
        return self.rng.choice(open_tasks) if open_tasks else None

    def annotation(self, *chosen: str) -> Annotation | None:
        with self.workspace.database.read() as session:
            found = session.scalars(select(Annotation).where(Annotation.status.in_(chosen)).order_by(Annotation.id))
            every = found.all()
        return self.rng.choice(every) if every else None

    def take(self) -> None:
        person = self.person()
        with self.workspace.database.read() as session:
            held = [each for each in leases.live(session, "task:") if each.holder == person.id]
        left = task_status.task_of(self.rng.choice(held)) if held and self.rng.random() < 0.7 else None
        if left is not None and self.rng.random() < 0.3:
            queue.release(self.workspace, left, person.id)
        else:
            queue.next_task(self.workspace, self.office.project.id, person.id, left)

    def skip(self) -> None:
        person, task = self.person(), self.task()
        if task is None:
            return
        if self.rng.random() < 0.3:
            skips.withdraw(self.workspace, task.id, person.id)
        else:
            skips.skip(self.workspace, task.id, person.id, self.rng.choice(["unreadable", "not_sure"]))

    def decide_skip(self) -> None:
        lines = skips.list_skips(self.workspace, self.office.project.id)
        if lines:
            decision: skips.Decision = self.rng.choice(["returned", "dismissed"])
            skips.decide(self.workspace, self.rng.choice(lines).task_id, self.people[-1].id, decision)

    def answer(self) -> None:
        person, task = self.person(), self.task()
        if task is None:
            return
        annotation = begin(self.workspace, task.id, person)
        for action in self.rng.choice((("edit",), ("accept",), ("submit",), ("edit", "accept"), ())):
            save(self.workspace, annotation.id, person, [self.rng.randrange(6)], action=action)

    def reopen(self) -> None:
        annotation = self.annotation("accepted", "submitted", "rejected", "fixed", "draft")
        if annotation is not None:
            person = self.rng.choice([*self.people, *(p for p in self.people if p.id == annotation.author_id)])
            save(self.workspace, annotation.id, person, [1], action=self.rng.choice(("reopen", "edit", "submit")))

    def review(self) -> None:
        annotation = self.annotation("submitted", "accepted")
        if annotation is None:
            return
        verdict = self.rng.choice(("accepted", "rejected", "rejected", "fixed"))
        page = pages_of(self.workspace, annotation.document_id)[0].id
        edits = [{"op": "words", "page": page, "add": [self.rng.randrange(6)]}] if verdict == "fixed" else []
        judge(self.workspace, annotation.id, self.rng.choice((self.office.rita, self.boss)), verdict, edits=edits)

    def remove(self) -> None:
        annotation = self.annotation("accepted", "submitted", "rejected", "draft", "fixed")
        if annotation is not None:
            removal.remove(self.workspace, annotation.id, None, self.rng.choice((annotation.author_id, self.boss.id)))

    def restore(self) -> None:
        annotation = self.annotation("removed")
        if annotation is not None:
            removal.restore(self.workspace, annotation.id, self.boss.id)

    def gold(self) -> None:
        annotation, task = self.annotation("accepted", "fixed"), self.task()
        if annotation is not None and self.rng.random() < 0.7:
            for each in tasks_of(self.workspace, self.office.project.id):
                if (each.document_id, each.question_id) == (annotation.document_id, annotation.question_id):
                    tasks.set_gold(self.workspace, each.id, annotation.id, self.boss.id)
        elif task is not None:
            tasks.set_gold(self.workspace, task.id, None, self.boss.id)

    # What admins do

    def settings(self) -> None:
        name, values = self.rng.choice(
            (
                ("overlap_share", (0.0, 0.5, 1.0)),
                ("overlap_people", (2, 3)),
                ("review_required", (True, False)),
                ("selection", ("arrival", "random")),
                ("gold_share", _GOLD_SHARES),
            )
        )
        self.office.set(**{name: self.rng.choice(values)})  # type: ignore[arg-type]

    def questions(self) -> None:
        asked = [NUMBER, TOTAL, CUSTOMER, "Who wrote it?"]
        self.rng.shuffle(asked)
        self.office.ask(*asked[: self.rng.randint(1, 4)])

    def document(self) -> None:
        if len(self.office.documents) < MOST_DOCUMENTS:
            number = len(self.office.documents)
            made = make_document(self.workspace, self.office.project.id, [bill(number)], name=f"bill {number}.png")
            with self.workspace.database.write() as session:  # as an upload does
                open_missing(session, self.office.project.id, made.id)
            self.office.documents.append(made)

    def first(self) -> None:
        put_first(self.workspace, self.rng.choice(self.office.documents).id, self.boss.id)

    def batch(self) -> None:
        """Let the tasks of one document follow the changes, as a server that is killed after that batch."""
        killed = threading.Event()
        task_changes.work_off(
            self.workspace,
            self.office.project.id,
            stop=killed,
            throttle=Throttle(1),
            on_progress=lambda _: killed.set(),
        )

    def membership(self) -> None:
        project, cleo = self.office.project.id, self.people[-1]
        if self.rng.random() < 0.5:
            remove_member(self.workspace, project, cleo.id, by=self.boss)
        else:
            put_member(self.workspace, project, cleo.id, "annotator", by=self.boss)

    def automatic(self) -> None:
        """Accept an answer of the model, as `auto_accept.accept` stores it."""
        task = self.task()
        if task is None:
            return
        answer = {"words": [1], "mask": {"box": [0, 0, 0, 0], "counts": []}, "text": "", "score": 1.0}
        with self.workspace.database.write() as session:
            before = AutomaticAnswer.task_id == task.id, AutomaticAnswer.withdrawn_at.is_(None)
            if session.scalar(select(AutomaticAnswer.id).where(*before)) is not None:
                return
            if task_changes.goes_on(session, task.project_id, task_changes.AUTOMATIC):
                return
            session.add(
                AutomaticAnswer(
                    project_id=task.project_id,
                    task_id=task.id,
                    model_version_id=self.version.id,
                    page_id=pages_of(self.workspace, task.document_id)[0].id,
                    answer=answer,
                    score=1.0,
                    answered=1.0,
                    confidence=1.0,
                    threshold=0.9,
                    audit=self.rng.random() < 0.3,
                )
            )

    def look(self) -> None:
        """Contradict a label, as `label_review.find` stores it."""
        label, version = self.annotation("accepted", "fixed"), self.rng.choice(self.versions)
        if label is None:
            return
        with self.workspace.database.write() as session:
            newest = Revision.annotation_id == label.id, Revision.number == label.head
            known = LabelReview.annotation_id == label.id, LabelReview.model_version_id == version.id
            if session.scalar(select(LabelReview.id).where(*known)) is None:
                session.add(
                    LabelReview(
                        project_id=label.project_id,
                        annotation_id=label.id,
                        revision_id=session.scalars(select(Revision.id).where(*newest)).one(),
                        model_version_id=version.id,
                        kind="here",
                        page_id=pages_of(self.workspace, label.document_id)[0].id,
                        answer={"words": [1], "mask": {"box": [0, 0, 0, 0], "counts": []}, "text": "", "score": 1.0},
                        score=1.0,
                        answered=1.0,
                        iou=0.0,
                    )
                )

    def undo(self) -> None:
        auto_accept.undo(self.workspace, self.office.project.id, by=self.boss)

    # What must hold

    def check(self) -> None:
        """Compare what is kept, counted and offered with what the answers say, and tasks with what is wanted."""
        assert not (drift := find_drift(self.workspace)), (drift, self.done)
        task_changes.work_off(self.workspace, self.office.project.id)
        assert not (drift := find_drift(self.workspace)), (drift, self.done)
        with self.workspace.database.read() as session:
            standard = set(session.scalars(select(Question.id).where(Question.standard)))
        asked = {(document.id, question) for document in self.office.documents for question in standard}
        tasks = tasks_of(self.workspace, self.office.project.id)
        assert {(each.document_id, each.question_id) for each in tasks if each.closed_at is None} == asked, self.done
        for person in self.people:
            self.check_counts(person)
            self.check_order(person)
            self.check_totals(person)

    def check_totals(self, person: User) -> None:
        lines = document_lines(self.workspace, self.office.project.id, person.id)
        sums = DocumentTotals(
            documents=len(lines),
            pages=sum(each.pages for each in lines),
            questions=sum(each.questions for each in lines),
            accepted=sum(each.accepted for each in lines),
        )
        assert document_totals(self.workspace, self.office.project.id, person.id) == sums, self.done

    def check_counts(self, person: User) -> None:
        project = self.office.project.id
        with self.workspace.database.read() as session:
            every = session.scalars(select(Task).where(Task.project_id == project, Task.closed_at.is_(None))).all()
            stands = {task.id: task_status.status_of(session, task.id, person.id) for task in every}
            automatic = set(session.scalars(select(Task.id).where(Task.project_id == project, needs_no_person())))
            returned_to = self.returned_to(session, every)
            waiting = set(session.scalars(select(Skip.task_id).where(Skip.verdict.is_(None))))
            dismissed = set(session.scalars(select(Skip.task_id).where(Skip.verdict == "dismissed"))) - waiting
            counted = task_status.counts(session, project, person.id)
            looks = {label.id for _, label, _ in session.execute(label_review_queue.waiting(project, person.id))}
            submitted = set(
                session.scalars(select(Annotation.id).join(Revision, is_newest()).where(judgeable(project, person.id)))
            )
            assert to_review(session, project, person.id) == len(looks | submitted), (person.name, self.done)
            accepted = {
                task.id: len(
                    session.scalars(
                        select(Annotation.id).where(
                            Annotation.document_id == task.document_id,
                            Annotation.question_id == task.question_id,
                            Annotation.status.in_(("accepted", "fixed")),
                        )
                    ).all()
                )
                for task in every
            }
        found = {each.place.task_id: each for each in stands.values() if each is not None}
        answered = {each.place.task_id for each in found.values() if each.answered >= each.wanted}
        waiting, dismissed = waiting & found.keys() - answered, dismissed & found.keys() - answered
        automatic -= waiting | dismissed
        still_open = found.keys() - answered - automatic - waiting - dismissed
        returned = {each for each in still_open if found[each].answered + len(returned_to[each]) >= found[each].wanted}
        expected = replace(
            counted,
            open=len(still_open),
            mine=sum(each.takeable for each in found.values()),
            submitted=sum(accepted[each] < found[each].wanted for each in answered),
            done=sum(accepted[each] >= found[each].wanted for each in answered),
            total=len(every),
            elsewhere=sum(found[each].mine for each in still_open - returned),
            reserved=sum(person.id not in returned_to[each] for each in returned),
            skipped=len(waiting),
            dismissed=len(dismissed),
            automatic=len(found.keys() & automatic - answered),
        )
        assert counted == expected, (counted, expected, person.name, self.done)
        assert queue_view(self.workspace, project, person.id).total == len(every)

    def returned_to(self, session: Session, tasks: Iterable[Task]) -> dict[str, set[str]]:
        """Return the authors of rejected answers who are still there to fix them, by task."""
        project = self.office.project.id
        members = set(session.scalars(select(Member.user_id).where(Member.project_id == project)))
        there = {user.id for user in session.scalars(select(User)) if user.id in members or user.role == "admin"}
        enabled = set(session.scalars(select(User.id).where(User.disabled_at.is_(None))))
        rejected = select(Annotation.document_id, Annotation.question_id, Annotation.author_id).where(
            Annotation.project_id == project, Annotation.status == "rejected"
        )
        authors: dict[tuple[str, str], set[str]] = {}
        for document, question, author in session.execute(rejected):
            authors.setdefault((document, question), set()).add(author)
        return {task.id: authors.get((task.document_id, task.question_id), set()) & there & enabled for task in tasks}

    def left_by(self, session: Session, person: User) -> list[str]:
        """Return the tasks that a person left, the one left longest ago first."""
        left = select(LeftTask.task_id).where(LeftTask.person_id == person.id)
        return list(session.scalars(left.order_by(LeftTask.left_at, LeftTask.task_id)))

    def check_order(self, person: User) -> None:
        """Compare the candidates with the order that the queue promises, told task by task."""
        project = self.office.project.id
        with self.workspace.database.read() as session:
            every = session.scalars(select(Task).where(Task.project_id == project, Task.closed_at.is_(None))).all()
            positions = dict(session.execute(select(Question.id, Question.position)).tuples().all())
            held = {task_status.task_of(each) for each in leases.live(session, "task:") if each.holder == person.id}
            own = {
                (document, question): status
                for document, question, status in session.execute(
                    select(Annotation.document_id, Annotation.question_id, Annotation.status).where(
                        Annotation.author_id == person.id, Annotation.status != "removed"
                    )
                )
            }
            stands = [(task, task_status.status_of(session, task.id, person.id)) for task in every]
            free = [(task, stand) for task, stand in stands if stand is not None and stand.takeable]

            def place(task: Task) -> tuple[int, str, int, str]:
                return task.priority, task.document_id, positions[task.question_id], task.id

            def kind(task: Task, stand: task_status.TaskStatus) -> int:
                status = own.get((task.document_id, task.question_id))
                if task.id in held:
                    return 0
                kinds = {"rejected": 1, "draft": 2}
                return kinds.get(status or "", 3 if stand.answered > 0 and task.wanted > 1 else 4)

            kinds = {task.id: kind(task, stand) for task, stand in free}
            golden = {task.id for task, stand in stands if stand is not None and stand.gold and not stand.mine}
            left = self.left_by(session, person)
            skips = select(Skip.task_id).where(Skip.person_id == person.id)
            skipped = set(session.scalars(skips.where(or_(Skip.verdict.is_(None), Skip.verdict == "dismissed"))))
            again = [each for each in left if each in {*golden, *(task.id for task, _ in free)} - skipped]

            def order(after: str | None) -> list[str]:
                """Return the ids in the promised order; `after`: the task that the person leaves."""
                behind = {*left, after}
                others = [
                    task for task, _ in free if task.id != after and (kinds[task.id] == 0 or task.id not in behind)
                ]
                begun = [task for task in others if kinds[task.id] <= 2]
                ids = [task.id for task in sorted(begun or others, key=lambda task: (kinds[task.id], place(task)))]
                return (ids or [each for each in again if each != after] or ([after] if after else []))[:20]

            leaves = [None, *([self.rng.choice(free)[0].id] if free else [])]
            for after in leaves:
                found = candidates(session, project, person.id, after)
                # A gold question may come first, unannounced.
                behind_gold = found[1:] if found and found[0] in golden else found
                assert order(after) in (found, behind_gold), (person.name, self.done)
        assert all(task.state != statuses.NEW for task in every)

"""The order of the queue, on both databases: what the model is unsure of, a random share, nothing left to starve."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, ModelVersion, Task
from db.tables.annotations import UNRANKED
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.errors import NotFound
from engine.projects.projects import change_settings
from engine.selection import ranking
from engine.statistics.throughput import figures
from engine.tasks.opening import priority
from engine.tasks.opening.open_tasks import open_missing
from engine.tasks.opening.priority import BEGUN, BY_HAND
from engine.tasks.queue import next_task as queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, edits, make_person, tasks_of
from tests.support.drift import find_drift
from tests.support.factories import bill, make_document, make_project
from tests.support.survey_rows import choose, look_like, make_version, propose, say

pytestmark = pytest.mark.usefixtures("figures_at_once")

TOTAL, NUMBER = "What is the total due?", "What is the bill number?"


class Room:
    """A project with bills, two questions, people, and a model that has said something about each bill."""

    def __init__(self, workspace: Workspace, train: int = 10, holdout: int = 0) -> None:
        self.workspace = workspace
        self.project = make_project(workspace)
        splits = ["train"] * train + ["recent"] * holdout
        self.documents = [
            make_document(workspace, self.project.id, [bill(at)], split=split, name=f"bill {at}.png")
            for at, split in enumerate(splits)
        ]
        self.ann, self.ben = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben"))
        rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        replace_standard_questions(workspace, self.project.id, [NUMBER, TOTAL], rita.id)
        self.version: ModelVersion = make_version(workspace, None)

    def unsure(self, *of_each: float) -> None:
        """The model is this unsure of each training bill."""
        for at, (document, much) in enumerate(zip(self.documents, of_each, strict=False)):
            for question in (NUMBER, TOTAL):
                say(self.workspace, self.version, document, question, answered=1.0, score=1 - much)
            look_like(self.workspace, self.version, document, [1.0, at % 2, 0.0])

    def rank(self, **settings: Any) -> dict[str, int]:
        change_settings(self.workspace, self.project.id, **settings)
        return ranking.rank(self.workspace, self.project.id, self.version.id)

    def places(self) -> list[tuple[str, int, str | None]]:
        """(name, place, what chose it) of the documents, in the order of the queue."""
        with self.workspace.database.read() as session:
            rows = session.execute(
                select(Document.name, Task.priority, Task.chosen_by)
                .join(Document, Document.id == Task.document_id)
                .where(Task.project_id == self.project.id)
                .distinct()
                .order_by(Task.priority, Document.name)
            )
            return [(name, priority, by) for name, priority, by in rows]

    def handed_out(self, count: int, user=None) -> list[str]:  # type: ignore[no-untyped-def]
        """Names of the documents whose tasks a person gets, one after the other, each answered."""
        names = {document.id: document.name for document in self.documents}
        found = []
        for _ in range(count):
            task = queue.next_task(self.workspace, self.project.id, (user or self.ann).id).task
            assert task is not None
            found.append(names[task.document_id])
            answer(self.workspace, task.id, user or self.ann)
        return found


@pytest.fixture
def room(workspace: Workspace) -> Room:
    return Room(workspace)


def test_without_a_wish_documents_come_as_they_arrived(room: Room) -> None:
    room.unsure(*[at / 10 for at in range(10)])
    assert room.rank() == {}
    assert {(place, by) for _, place, by in room.places()} == {(UNRANKED, None)}
    assert room.handed_out(4) == ["bill 0.png", "bill 0.png", "bill 1.png", "bill 1.png"]


def test_what_the_model_is_unsure_of_is_handed_out_first_page_by_page(room: Room) -> None:
    room.unsure(0.1, 0.1, 0.9, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.1)
    counts = room.rank(selection="model", selection_random_share=0.0)
    assert counts == {"model": 10}
    assert room.handed_out(4) == ["bill 2.png", "bill 2.png", "bill 5.png", "bill 5.png"]


def test_a_random_share_stands_between_the_chosen_ones_and_says_so(room: Room) -> None:
    room.unsure(*[0.5] * 10)
    assert room.rank(selection="model", selection_random_share=0.3) == {"model": 7, "random": 3}
    by = [by for _, _, by in room.places()]
    assert by.count("random") == 3 and "random" in by[:4]
    room.handed_out(20)
    assert [by for _, _, by in room.places()] == by  # what was answered keeps what it was chosen by


def test_all_are_drawn_where_that_is_wanted_and_the_model_is_not_asked(room: Room) -> None:
    assert room.rank(selection="random") == {"random": 10}
    drawn = [name for name, _, _ in room.places()]
    assert sorted(drawn) != drawn
    assert room.handed_out(2) == [drawn[0]] * 2


def test_holdouts_are_spread_between_and_nothing_chooses_them(workspace: Workspace) -> None:
    room = Room(workspace, train=8, holdout=4)
    room.unsure(*[at / 8 for at in range(8)])
    room.rank(selection="model", selection_random_share=0.25)
    places = room.places()
    holdouts = [at for at, (name, _, _) in enumerate(places) if int(name.split()[1].split(".")[0]) >= 8]
    assert [places[at][2] for at in holdouts] == [None] * 4
    assert [places[at][0] for at in holdouts] == [f"bill {at}.png" for at in (8, 9, 10, 11)]  # as they came
    assert all(later - earlier == 3 for earlier, later in itertools.pairwise(holdouts))
    assert {by for at, (_, _, by) in enumerate(places) if at not in holdouts} == {"model", "random"}


def test_a_page_that_was_begun_is_finished_before_the_next_one(room: Room) -> None:
    room.unsure(*[at / 10 for at in range(10)])
    room.rank(selection="model", selection_random_share=0.0)
    assert room.handed_out(1) == ["bill 9.png"]
    room.unsure(*[1 - at / 10 for at in range(10)])  # another survey sees it the other way round
    room.rank()
    assert room.places()[0][:2] == ("bill 9.png", BEGUN)
    assert room.handed_out(2) == ["bill 9.png", "bill 0.png"]


def test_a_document_finished_while_it_is_ranked_was_not_chosen(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    begun_late = priority.begun_late
    finished: list[str] = []

    def finish_meanwhile(session: Session, project_id: str) -> list[str]:
        """The last look before places are given: all documents are waiting ones."""
        late = begun_late(session, project_id)
        session.rollback()  # SQLite: no reader stands in the way of the answers
        for task in tasks_of(room.workspace, project_id):
            if task.document_id == room.documents[0].id and not finished:
                answer(room.workspace, task.id, room.ann)
        finished.append(room.documents[0].name)
        return late

    monkeypatch.setattr(priority, "begun_late", finish_meanwhile)
    room.rank(selection="random")
    places = {name: (place, by) for name, place, by in room.places()}
    assert places[finished[0]] == (BEGUN, None)
    assert {by for name, (_, by) in places.items() if name != finished[0]} == {"random"}
    assert not find_drift(room.workspace)


def test_who_passes_a_task_over_gets_the_next_one_in_the_order(room: Room) -> None:
    room.unsure(0.1, 0.7, 0.2, 0.3, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1)
    room.rank(selection="model", selection_random_share=0.0)
    seen, after = [], None
    names = {document.id: document.name for document in room.documents}
    for _ in range(4):
        task = queue.next_task(room.workspace, room.project.id, room.ann.id, after).task
        assert task is not None
        after = task.id
        seen.append(names[task.document_id])
    assert seen == ["bill 4.png", "bill 4.png", "bill 1.png", "bill 1.png"]


def test_two_people_get_different_tasks_of_the_first_document(room: Room) -> None:
    room.unsure(0.1, 0.1, 0.1, 0.9)
    room.rank(selection="model", selection_random_share=0.0)
    first = queue.next_task(room.workspace, room.project.id, room.ann.id).task
    second = queue.next_task(room.workspace, room.project.id, room.ben.id).task
    assert first is not None and second is not None
    assert first.document_id == second.document_id == room.documents[3].id
    assert first.id != second.id


def test_a_document_that_waited_too_long_gets_a_place_without_uncertainty(room: Room) -> None:
    room.unsure(0.0, *[0.9] * 9)
    long_ago = now() - timedelta(days=40)
    with room.workspace.database.write() as session:
        session.execute(update(Task).where(Task.document_id == room.documents[0].id).values(created_at=long_ago))
    assert room.rank(selection="model", selection_random_share=0.0, selection_patience_days=30)["age"] == 1
    assert room.places()[3] == ("bill 0.png", 3, "age")
    room.rank(selection_patience_days=50)
    assert room.places()[-1][0] == "bill 0.png"


def test_a_person_can_put_a_document_first(room: Room) -> None:
    room.unsure(*[at / 10 for at in range(10)])
    room.rank(selection="model")
    with pytest.raises(NotFound):
        ranking.put_first(room.workspace, "0" * 32, room.ann.id)
    assert ranking.put_first(room.workspace, room.documents[4].id, room.ann.id) == 2
    room.rank()
    assert room.places()[0] == ("bill 4.png", BY_HAND, "hand")
    assert room.handed_out(2) == ["bill 4.png", "bill 4.png"]


def test_the_order_of_arrival_comes_back_when_it_is_wanted_again(room: Room) -> None:
    room.unsure(*[at / 10 for at in range(10)])
    room.rank(selection="model", selection_random_share=0.0)
    change_settings(room.workspace, room.project.id, selection="arrival")
    assert room.handed_out(2) == ["bill 0.png", "bill 0.png"]


def test_documents_that_come_in_later_wait_behind_until_they_are_surveyed(room: Room) -> None:
    room.unsure(*[0.5] * 10)
    room.rank(selection="model")
    late = make_document(room.workspace, room.project.id, [bill(99)], name="late.png")
    with room.workspace.database.write() as session:
        assert open_missing(session, room.project.id, late.id) == 2
    room.documents.append(late)
    assert room.handed_out(22)[-2:] == ["late.png", "late.png"]


def test_corrections_a_page_are_told_by_what_chose_the_document(workspace: Workspace) -> None:
    """Chosen by the model: both answers corrected. Drawn: one of two. Put first by hand: not counted."""
    room = Room(workspace, train=16)
    for at, document in enumerate(room.documents):
        choose(workspace, document, "model" if at < 7 else "random" if at < 14 else "hand")
    ids = [document.id for document in room.documents]
    answered: set[str] = set()
    for task in tasks_of(workspace, room.project.id):
        at = ids.index(task.document_id)
        if at == 13 and task.document_id in answered:
            continue  # nobody has finished it
        begun = begin(workspace, task.id, room.ann)
        propose(workspace, begun, room.version, [4])
        corrected = at < 7 or task.document_id not in answered
        answered.add(task.document_id)
        request = RevisionRequest(
            idempotency_key=f"answer {task.id[-12:]}",
            base=0,
            action="accept",
            edits=edits(workspace, task.document_id, [1]) if corrected else [],
        )
        append_revision(workspace, begun.id, request, room.ann.id)
    found = figures(workspace, room.project.id).choices
    assert [(each.chosen_by, each.documents, each.pages, each.corrections) for each in found.by] == [
        ("model", 7, 7, 14),
        ("random", 6, 6, 6),
    ]
    assert found.more == pytest.approx(1.0)
    assert found.more_low == pytest.approx(1.0) and found.more_high == pytest.approx(1.0)

"""Removed answers count nowhere and come back as they were, on both databases."""

import threading
import uuid
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from db.statuses import REMOVED
from db.tables import Annotation, AuditEntry, AutomaticAnswer, Lease, Revision
from engine import audit, leases
from engine.annotation import removal
from engine.annotation.revisions import RevisionConflict, RevisionRequest, append_revision
from engine.annotation.views import annotation_lines, annotation_view, removed_lines
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.interchange.exports import export
from engine.tasks.queue import next_task as queue
from engine.tasks.review import verdicts as review
from engine.tasks.review.review_queue import heartbeat, next_review
from engine.tasks.tasks import set_gold
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, make_person, save
from tests.support.exported_project import hashes
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.mistakes import EVERY, Mistakes
from tests.support.office import Office
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("figures_at_once")

TOTAL = "What is the total due?"


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def status_of(workspace: Workspace, annotation_id: str) -> tuple[str, int]:
    with workspace.database.read() as session:
        row = session.get_one(Annotation, annotation_id)
        return row.status, row.head


def test_removed_answers_count_nowhere_and_come_back_as_they_were(workspace: Workspace, tmp_path: Path) -> None:
    mistakes = Mistakes(workspace)

    def written(name: str) -> dict[str, str]:
        chosen = Filters(statuses=EVERY, unfit=True)
        folder = tmp_path / name
        for form in ("grounded", "csv"):
            export(workspace, mistakes.project.id, form, folder / form, filters=chosen)
        return hashes(folder)

    at_first, exported_at_first = mistakes.readings(), written("first")
    ids = mistakes.make()
    made, exported = mistakes.readings(), written("made")
    assert {status_of(workspace, each)[0] for each in ids} == set(EVERY)
    unmoved = [name for name, reading in made.items() if reading == at_first[name]]
    assert unmoved == [], "readings that no removed answer could change"
    for each in ids:
        removal.remove(workspace, each, None, mistakes.rita.id)
    gone, exported_without = mistakes.readings(), written("gone")
    assert [name for name, reading in gone.items() if reading != at_first[name]] == []
    assert exported_without == exported_at_first
    for each in reversed(ids):
        removal.restore(workspace, each, mistakes.rita.id)
    back, exported_again = mistakes.readings(), written("back")
    assert [name for name, reading in back.items() if reading != made[name]] == []
    assert exported_again == exported != exported_at_first


def test_what_was_frozen_before_a_removal_stays_as_it_is(office: Office, tmp_path: Path) -> None:
    workspace, project = office.workspace, office.project.id
    one, other = (accept(workspace, document, TOTAL, [4], author="Ann") for document in office.documents)
    frozen = snapshots.freeze(workspace, project)
    before = [item.annotation_id for item in snapshots.load(workspace, frozen)]
    written = hashes(export(workspace, project, "grounded", tmp_path / "before", snapshot=frozen).folder)
    removal.remove(workspace, one.id, 1, office.ann.id)
    assert [item.annotation_id for item in snapshots.load(workspace, frozen)] == before == [one.id, other.id]
    assert hashes(export(workspace, project, "grounded", tmp_path / "after", snapshot=frozen).folder) == written
    fresh = snapshots.freeze(workspace, project)
    assert [item.annotation_id for item in snapshots.load(workspace, fresh)] == [other.id]


def test_a_removal_and_a_return_are_audited_once_however_often_asked(office: Office) -> None:
    asked = accept(office.workspace, office.documents[0], "asdf", [4], author="Ann")
    for _ in range(2):
        removal.remove(office.workspace, asked.id, 1, office.ann.id)
    assert status_of(office.workspace, asked.id) == ("removed", 1)
    for _ in range(2):
        removal.restore(office.workspace, asked.id, office.rita.id)
    assert status_of(office.workspace, asked.id) == ("accepted", 1)
    with office.workspace.database.read() as session:
        mine = select(AuditEntry.action).where(AuditEntry.subject == asked.id).order_by(AuditEntry.id)
        assert session.scalars(mine).all() == ["answers.remove", "answers.restore"]
    restored, removed, *_ = audit.entries(office.workspace, office.project.id)
    assert removed.what == "removed an answer of Ann: asdf (bill 0.png)" and removed.actor == "Ann"
    assert restored.what == "restored an answer of Ann: asdf (bill 0.png)" and restored.actor == "Rita"


def test_a_removal_under_somebody_s_new_revision_is_a_conflict(office: Office) -> None:
    asked = accept(office.workspace, office.documents[0], "asdf", [4], author="Ann")
    save(office.workspace, asked.id, office.rita, [3], action="edit")
    with pytest.raises(RevisionConflict, match="starts from revision 1, and the newest is revision 2"):
        removal.remove(office.workspace, asked.id, 1, office.ann.id)
    assert status_of(office.workspace, asked.id) == ("draft", 2)


def test_of_a_save_and_a_removal_at_once_one_gets_through(office: Office) -> None:
    asked = accept(office.workspace, office.documents[0], "asdf", [4], author="Ann")
    together = threading.Barrier(2)
    outcomes: dict[str, str] = {}

    def do(what: str) -> None:
        together.wait()
        try:
            if what == "removal":
                removal.remove(office.workspace, asked.id, 1, office.ann.id)
            else:
                request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=1, action="reopen")
                append_revision(office.workspace, asked.id, request, office.ann.id)
            outcomes[what] = "done"
        except (RevisionConflict, NotFound) as error:
            outcomes[what] = type(error).__name__

    threads = [threading.Thread(target=do, args=(what,)) for what in ("removal", "save")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if outcomes["save"] == "done":
        assert outcomes["removal"] == "RevisionConflict" and status_of(office.workspace, asked.id) == ("draft", 2)
    else:
        assert outcomes == {"save": "NotFound", "removal": "done"}
        assert status_of(office.workspace, asked.id) == ("removed", 1)


def test_a_save_that_waits_for_a_removal_is_refused(office: Office) -> None:
    """On PostgreSQL both have read the answer before; on SQLite the second one waits for its turn."""
    workspace = office.workspace
    asked = accept(workspace, office.documents[0], "asdf", [4], author="Ann")
    refused: list[Exception] = []

    def save_late() -> None:
        request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=1, action="reopen")
        try:
            append_revision(workspace, asked.id, request, office.ann.id)
        except Exception as error:
            refused.append(error)

    def waits() -> bool:
        if workspace.database.engine.dialect.name == "sqlite":
            return saving.is_alive()
        with workspace.database.read() as watching:
            locked = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(watching.scalar(locked))

    saving = threading.Thread(target=save_late)
    with workspace.database.write() as session:
        session.get_one(Annotation, asked.id, with_for_update=True).status = REMOVED
        session.flush()
        saving.start()
        wait_until(waits)
    saving.join()
    assert [type(each) for each in refused] == [NotFound]
    assert status_of(workspace, asked.id) == ("removed", 1)


def test_a_removed_answer_is_neither_read_nor_changed(office: Office) -> None:
    workspace, task = office.workspace, office.tasks()[0]
    office.set(review_required=True)
    asked = answer(workspace, task.id, office.ann)
    page = annotation_view(workspace, asked.id).state.marked_pages()[0]
    removal.remove(workspace, asked.id, 1, office.ann.id)
    attempts = {
        "view": lambda: annotation_view(workspace, asked.id, office.rita.id),
        "history": lambda: review.revisions_of(workspace, asked.id, office.ann.id),
        "verdicts": lambda: review.reviews_of(workspace, asked.id, office.ann.id),
        "save": lambda: save(workspace, asked.id, office.ann, [3]),
        "late edit": lambda: append_revision(
            workspace,
            asked.id,
            RevisionRequest(
                idempotency_key=uuid.uuid4().hex, base=0, edits=[{"op": "words", "page": page, "add": [3]}]
            ),
            office.ann.id,
        ),
        "verdict": lambda: judge(workspace, asked.id, office.rita),
        "gold": lambda: set_gold(workspace, task.id, asked.id, office.rita.id),
    }
    for name, attempt in attempts.items():
        with pytest.raises(NotFound, match=r"^This answer was removed\. .* can restore it\.$"):
            attempt()
            pytest.fail(name)
    with workspace.database.read() as session:
        assert session.scalars(select(Revision.number).where(Revision.annotation_id == asked.id)).all() == [1]


def test_a_task_goes_back_to_the_queue_and_leases_end(office: Office) -> None:
    office.set(review_required=True)
    task = office.taken(office.ann)
    asked = answer(office.workspace, task, office.ann)
    assert next_review(office.workspace, office.project.id, office.rita.id).annotation_id == asked.id
    before = annotation_view(office.workspace, asked.id)
    removal.remove(office.workspace, asked.id, 1, office.ann.id)
    with office.workspace.database.read() as session:
        assert session.get(Lease, leases.annotation_subject(asked.id)) is None
    assert next_review(office.workspace, office.project.id, office.rita.id).annotation_id is None
    again = office.next(office.ann)
    assert again.task is not None and (again.task.id, again.annotation_id) == (task, None)
    queue.release(office.workspace, task, office.ann.id)
    assert office.taken(office.ben) == task, "as if nobody had answered"
    assert (again.queue.open, again.queue.mine, office.next(office.ann).queue.mine) == (4, 4, 3)
    queue.release(office.workspace, task, office.ben.id)
    removal.restore(office.workspace, asked.id, office.ann.id)
    assert annotation_view(office.workspace, asked.id) == before
    assert heartbeat(office.workspace, asked.id, office.rita.id)


def test_a_held_task_is_released_by_the_removal_of_a_draft(office: Office) -> None:
    task = office.taken(office.ann)
    draft = begin(office.workspace, task, office.ann)
    removal.remove(office.workspace, draft.id, 0, office.ann.id)
    with office.workspace.database.read() as session:
        assert session.get(Lease, leases.task_subject(task, office.ann.id)) is None
    assert office.taken(office.ben) == task
    removal.restore(office.workspace, draft.id, office.ann.id)
    assert status_of(office.workspace, draft.id) == ("draft", 0)


def test_a_person_has_one_standing_answer_to_a_question(office: Office) -> None:
    workspace, document = office.workspace, office.documents[0]
    first = accept(workspace, document, TOTAL, [4], author="Ann")
    removal.remove(workspace, first.id, 1, office.ann.id)
    second = accept(workspace, document, TOTAL, [3], author="Ann")
    with pytest.raises(Conflict, match=r"^Ann has answered this question again since\. Remove that answer first"):
        removal.restore(workspace, first.id, office.ann.id)
    with pytest.raises(IntegrityError):
        accept(workspace, document, TOTAL, [2], author="Ann")
    removal.remove(workspace, second.id, 1, office.ann.id)
    assert [line.id for line in removed_lines(workspace, document.id, office.ann.id)] == [second.id, first.id]
    removal.restore(workspace, first.id, office.ann.id)
    [line] = annotation_lines(workspace, document.id)
    assert (line.id, line.text) == (first.id, "11.50" if document == office.documents[1] else "10.50")


def test_only_the_author_and_reviewers_remove_and_restore(office: Office) -> None:
    workspace, document = office.workspace, office.documents[0]
    asked = accept(workspace, document, "asdf", [4], author="Ann")
    with pytest.raises(Forbidden, match="belongs to Ann"):
        removal.remove(workspace, asked.id, 1, office.ben.id)
    removal.remove(workspace, asked.id, 1, office.rita.id)
    with pytest.raises(Forbidden, match="belongs to Ann"):
        removal.restore(workspace, asked.id, office.ben.id)
    shown = [len(removed_lines(workspace, document.id, user.id)) for user in (office.ann, office.ben, office.rita)]
    assert shown == [1, 0, 1]
    [line] = removed_lines(workspace, document.id, office.ann.id)
    assert (line.question.text, line.status, line.head) == ("asdf", "accepted", 1)
    removal.restore(workspace, asked.id, office.ann.id)
    assert removed_lines(workspace, document.id, office.ann.id) == []


def test_compared_answers_are_removed_by_reviewers_only(office: Office) -> None:
    office.set(overlap_share=1.0, overlap_people=2)
    task = office.taken(office.ann)
    draft = begin(office.workspace, task, office.ann)
    removal.remove(office.workspace, draft.id, 0, office.ann.id)  # Ann has not seen the others' answers
    asked = answer(office.workspace, task, office.ann)
    save(office.workspace, asked.id, office.ann, action="reopen", replace=False)
    with pytest.raises(Forbidden, match="compared with those of other people"):
        removal.remove(office.workspace, asked.id, 2, office.ann.id)
    removal.remove(office.workspace, asked.id, 2, office.rita.id)
    assert status_of(office.workspace, asked.id)[0] == "removed"


def test_a_gold_answer_is_not_removed(office: Office) -> None:
    task = office.tasks()[0]
    gold = answer(office.workspace, task.id, office.rita)
    set_gold(office.workspace, task.id, gold.id, office.rita.id)
    with pytest.raises(Refused, match="known answer of a gold question"):
        removal.remove(office.workspace, gold.id, 1, office.rita.id)
    set_gold(office.workspace, task.id, None, office.rita.id)
    removal.remove(office.workspace, gold.id, 1, office.rita.id)


def test_an_annotator_does_not_learn_that_their_answer_is_gold(office: Office) -> None:
    task = office.tasks()[0]
    gold = answer(office.workspace, task.id, office.ann)
    judge(office.workspace, gold.id, office.rita)
    set_gold(office.workspace, task.id, gold.id, office.rita.id)
    with pytest.raises(Forbidden, match="compared with those of other people"):
        removal.remove(office.workspace, gold.id, None, office.ann.id)
    with pytest.raises(Refused, match="known answer of a gold question"):
        removal.remove(office.workspace, gold.id, None, office.rita.id)
    for person, marked in ((office.ann, False), (office.rita, True)):
        [line] = annotation_lines(office.workspace, task.document_id, person.id)
        assert line.gold is marked


def test_a_verdict_on_an_automatic_answer_is_that_of_standing_answers(workspace: Workspace) -> None:
    mistakes = Mistakes(workspace)
    mistakes.works.check(right=False)
    [asked] = [each for each in mistakes.answers() if each not in mistakes.before]

    def verdicts() -> list[tuple[str | None, str | None]]:
        with workspace.database.read() as session:
            told = select(AutomaticAnswer.verdict, AutomaticAnswer.checked_by).order_by(AutomaticAnswer.id)
            return [each for each in session.execute(told).tuples() if each[0] is not None]

    assert verdicts() == [("wrong", mistakes.ann.id)]
    removal.remove(workspace, asked, None, mistakes.ann.id)
    assert verdicts() == []
    removal.restore(workspace, asked, mistakes.ann.id)
    assert verdicts() == [("wrong", mistakes.ann.id)]


def test_an_answer_of_nobody_s_is_not_found(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_document(workspace, project.id, [bill(1)])
    somebody = make_person(workspace, "Ann", project.id)
    with pytest.raises(NotFound, match="There is no such annotation"):
        removal.remove(workspace, "0" * 32, 0, somebody.id)
    with pytest.raises(NotFound, match="There is no such annotation"):
        removal.restore(workspace, "0" * 32, somebody.id)

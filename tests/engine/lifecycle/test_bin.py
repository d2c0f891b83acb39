"""Removed documents count nowhere, and come back with their answers as they were, on both databases."""

import threading
import uuid
from pathlib import Path

import pytest
from sqlalchemy import select

from db.base import Base
from db.tables import Annotation, Document, Lease, Project, Question, Task, User
from engine import audit, leases
from engine.accounts import permissions, visibility
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets.filters import Filters
from engine.documents.lists.listing import document_page
from engine.errors import Conflict, NotFound, Refused
from engine.followers.registry import FOLLOWERS
from engine.interchange.exports import export
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import rehoming
from engine.projects.projects import summaries, visible_to
from engine.tasks.opening.open_tasks import open_missing
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, edits, judge, make_person
from tests.support.automatic_project import RIGHT
from tests.support.drift import find_drift
from tests.support.exported_project import hashes
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.mistakes import EVERY, Mistakes
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.statements import heard
from tests.support.survey_rows import say
from tests.support.two_at_once import POSTGRESQL, overlapping

pytestmark = pytest.mark.usefixtures("figures_at_once")


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def test_removed_documents_count_nowhere_and_come_back_as_they_were(workspace: Workspace, tmp_path: Path) -> None:
    mistakes = Mistakes(workspace)
    project = mistakes.project.id

    def read(name: str) -> tuple[dict[str, object], dict[str, str]]:
        for form in ("grounded", "csv"):
            chosen = Filters(statuses=EVERY, unfit=True)
            export(workspace, project, form, tmp_path / name / form, filters=chosen)
        return dict(mistakes.readings()), hashes(tmp_path / name)

    at_first, exported_at_first = read("first")
    added = _add_documents(mistakes)
    made, exported = read("made")
    unmoved = {name for name, reading in made.items() if reading == at_first[name]}
    assert unmoved <= _WITHOUT_NEW_DOCUMENTS, "readings that no removed document could change"
    assert lifecycle.remove(workspace, project, added, mistakes.rita.id) == sorted(added)
    gone, exported_without = read("gone")
    assert [name for name, reading in gone.items() if reading != at_first[name]] == []
    assert exported_without == exported_at_first
    assert lifecycle.restore(workspace, project, added, mistakes.rita.id) == sorted(added)
    back, exported_again = read("back")
    assert [name for name, reading in back.items() if reading != made[name]] == []
    assert exported_again == exported != exported_at_first


_WITHOUT_NEW_DOCUMENTS = {
    "agreement", "questions", "questions of Ben", "answered questions", "label reviews", "suggestions",
    "next open answer",
}  # fmt: skip


def _add_documents(mistakes: Mistakes) -> list[str]:
    """Add documents with tasks, proposals, and answers in several states."""
    workspace, project = mistakes.workspace, mistakes.project.id
    documents = [
        make_document(workspace, project, [bill(300 + at)], split=split, name=f"added {at}.png")
        for at, split in enumerate(("train", "train", "recent"))
    ]
    for document in documents:
        with workspace.database.write() as session:
            open_missing(session, project, document.id)
        for question, words in RIGHT.items():
            say(workspace, mistakes.works.version, document, question, words)
    with workspace.database.read() as session:
        tasks = list(session.scalars(select(Task.id).where(Task.document_id == documents[0].id).order_by(Task.id)))
    judge(workspace, answer(workspace, tasks[0], mistakes.ann, [5]).id, mistakes.rita, "rejected")
    judge(workspace, answer(workspace, tasks[1], mistakes.ben, [3]).id, mistakes.rita)
    answer(workspace, tasks[2], mistakes.ann, [0])
    accept(workspace, documents[1], "Is it so?", [3], author="Ann")
    accept(workspace, documents[2], "What else?", [2], author="Ann")
    return [document.id for document in documents]


def _check(office: Office, user: User, **ids: str) -> None:
    with office.workspace.database.read() as session:
        permissions.check(session, user, ids)


def test_a_removed_document_says_where_it_is_to_members_alone(office: Office) -> None:
    workspace, (first, _) = office.workspace, office.documents
    task = office.tasks()[0]
    given = answer(workspace, task.id, office.ann)
    lifecycle.remove(workspace, office.project.id, [first.id], office.rita.id)
    stranger = make_person(workspace, "Sam", make_project(workspace, "other").id)
    boss = User(id="0" * 32, name="Boss", role="admin")
    ids = ({"document_id": first.id}, {"task_id": task.id}, {"annotation_id": given.id})
    for which in ids:
        for member in (office.ann, office.rita, boss):
            with pytest.raises(NotFound, match="lies in the bin"):
                _check(office, member, **which)
        with pytest.raises(NotFound, match="There is no such"):
            _check(office, stranger, **which)
    lifecycle.restore(workspace, office.project.id, [first.id], office.rita.id)
    for which in ids:
        _check(office, office.ann, **which)


def test_an_edit_sent_while_the_document_lies_in_the_bin_is_saved_when_it_is_back(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    begun = begin(workspace, office.tasks()[0].id, office.ann)
    edit = RevisionRequest(
        idempotency_key=uuid.uuid4().hex, base=0, action="accept", edits=edits(workspace, begun.document_id, [4])
    )
    lifecycle.remove(workspace, project, [begun.document_id], office.rita.id)
    with pytest.raises(NotFound) as said:
        append_revision(workspace, begun.id, edit, office.ann.id)
    assert str(said.value) == visibility.IN_BIN
    lifecycle.restore(workspace, project, [begun.document_id], office.rita.id)
    assert append_revision(workspace, begun.id, edit, office.ann.id).revision == 1


def test_searches_find_a_document_only_while_it_is_not_in_the_bin(office: Office) -> None:
    workspace, project = office.workspace, office.project.id

    def found() -> tuple[list[str], int]:
        page = document_page(workspace, project, query="bill")
        return sorted(line.id for line in page.lines), page.total

    both, (first, second) = found(), office.documents
    assert both == (sorted([first.id, second.id]), 2)
    lifecycle.remove(workspace, project, [first.id], None)
    assert found() == ([second.id], 1)
    lifecycle.restore(workspace, project, [first.id], None)
    assert found() == both


def test_bins_are_no_projects_of_anybody(office: Office) -> None:
    workspace = office.workspace
    boss = User(id="0" * 32, name="Boss", role="admin")
    before = [each.id for each in visible_to(workspace, boss)]
    lifecycle.remove(workspace, office.project.id, [office.documents[0].id], None)
    assert [each.id for each in visible_to(workspace, boss)] == before
    assert [each.project.id for each in summaries(workspace)] == before
    with workspace.database.read() as session:
        hidden = session.scalars(select(Project.id).where(Project.bin_of == office.project.id)).one()
    with pytest.raises(NotFound, match="There is no such project"):
        _check(office, boss, project_id=hidden)


def test_the_bin_lists_what_was_removed_in_pages_last_first(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    first, second = (document.id for document in office.documents)
    answer(workspace, office.tasks()[0].id, office.ann)
    lifecycle.remove(workspace, project, [first], office.rita.id)
    lifecycle.remove(workspace, project, [second], None)
    page = lifecycle.list_bin(workspace, project, limit=1)
    rest = lifecycle.list_bin(workspace, project, limit=1, cursor=page.next)
    assert [line.id for line in (*page, *rest)] == [second, first]
    assert (rest.next, lifecycle.count_bin(workspace, project)) == (None, 2)
    [line] = rest
    assert (line.name, line.pages, line.answers, line.removed_by) == ("bill 0.png", 1, 1, "Rita")
    assert (line.deleted_at - line.removed_at).days == workspace.settings.bin_days


def test_removing_and_restoring_again_change_nothing_and_are_audited_once(office: Office) -> None:
    workspace, project, first = office.workspace, office.project.id, office.documents[0].id
    assert lifecycle.remove(workspace, project, [first, first], office.rita.id) == [first]
    assert lifecycle.remove(workspace, project, [first], office.rita.id) == []
    assert lifecycle.restore(workspace, project, [first], office.rita.id) == [first]
    assert lifecycle.restore(workspace, project, [first], office.rita.id) == []
    assert [line.what for line in audit.entries(workspace, project)][:2] == [
        "restored the document bill 0.png from the bin",
        "removed the document bill 0.png into the bin",
    ]


def test_a_document_of_another_project_stops_a_removal_as_a_whole(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    foreign = make_document(workspace, make_project(workspace, "other").id, [bill(9)], name="foreign.png")
    for act in (lifecycle.remove, lifecycle.restore):
        with pytest.raises(NotFound, match="1 document of the request"):
            act(workspace, project, [office.documents[0].id, foreign.id], None)
    assert lifecycle.count_bin(workspace, project) == 0
    with pytest.raises(Refused, match="1,001 documents; 1,000 are allowed"):
        lifecycle.remove(workspace, project, [f"{number:032}" for number in range(1001)], None)


def test_the_same_bytes_removed_twice_lie_in_the_bin_twice(office: Office) -> None:
    workspace, project, first = office.workspace, office.project.id, office.documents[0]
    lifecycle.remove(workspace, project, [first.id], None)
    again = make_document(workspace, project, [bill(0)], name="again.png")
    with workspace.database.write() as session:
        session.get_one(Document, again.id).sha256 = first.sha256
    with pytest.raises(Conflict, match=r"bill 0.png is in the project again, as again.png"):
        lifecycle.restore(workspace, project, [first.id], None)
    lifecycle.remove(workspace, project, [again.id], None)
    assert {line.name for line in lifecycle.list_bin(workspace, project)} == {"bill 0.png", "again.png"}
    with pytest.raises(Conflict, match=r"are the same file. Restore one of them"):
        lifecycle.restore(workspace, project, [first.id, again.id], None)
    lifecycle.restore(workspace, project, [first.id], None)
    assert [line.name for line in lifecycle.list_bin(workspace, project)] == ["again.png"]


def test_tasks_of_a_restored_document_follow_what_was_changed_meanwhile(office: Office) -> None:
    workspace, project, first = office.workspace, office.project.id, office.documents[0].id
    lifecycle.remove(workspace, project, [first], None)
    office.ask(NUMBER, CUSTOMER)
    office.set(overlap_share=1.0, overlap_people=2)
    lifecycle.restore(workspace, project, [first], None)
    with workspace.database.read() as session:
        asked = select(Question.text, Task.wanted, Task.state, Task.project_id)
        asked = asked.join(Question, Question.id == Task.question_id).where(Task.document_id == first)
        tasks = {text: rest for text, *rest in session.execute(asked)}
    assert tasks == {
        NUMBER: [2, "open", project],
        CUSTOMER: [2, "open", project],
        TOTAL: [tasks[TOTAL][0], "closed", project],
    }


def test_a_removal_ends_the_leases_of_the_document_alone(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    first, second = ({task.document_id: task for task in office.tasks()}[each.id] for each in office.documents)
    with workspace.database.write() as session:
        for task in (first, second):
            assert leases.acquire(session, leases.task_subject(task.id, office.ann.id), office.ann.id)
    lifecycle.remove(workspace, project, [first.document_id], None)
    with workspace.database.read() as session:
        held = session.scalars(select(Lease.subject).where(Lease.subject.startswith("task:"))).all()
    assert held == [leases.task_subject(second.id, office.ann.id)]


def test_an_answer_that_begins_during_a_removal_goes_into_the_bin_too(office: Office) -> None:
    workspace, project, task = office.workspace, office.project.id, office.tasks()[0]
    begun: list[str] = []

    def ask() -> None:
        with workspace.database.write() as session:
            annotation = Annotation(
                project_id=project, document_id=task.document_id, question_id=task.question_id, author_id=office.ann.id
            )
            session.add(annotation)
            session.flush()
            begun.append(annotation.id)

    asking = threading.Thread(target=ask)
    with workspace.database.write() as session:
        hidden = Project(name="bin", bin_of=project, settings={})
        session.add(hidden)
        session.flush()
        bin_id = hidden.id
        rehoming.move_documents(session, [task.document_id], project, bin_id)
        asking.start()
    asking.join(20)
    with workspace.database.read() as session:
        assert session.get_one(Annotation, begun[0]).project_id == bin_id


@POSTGRESQL
def test_a_removal_gives_way_to_a_verdict_on_one_of_its_answers(workspace: Workspace) -> None:
    office = Office(workspace)
    office.set(review_required=True)
    given = answer(workspace, office.tasks()[0].id, office.ann)
    ids = [document.id for document in office.documents]
    _, removed = overlapping(
        workspace,
        lambda: judge(workspace, given.id, office.rita, "rejected"),  # it locks the answer, and then the project
        lambda: lifecycle.remove(workspace, office.project.id, ids, office.rita.id),
        at="before_flush",
    )
    assert removed == sorted(ids)
    with workspace.database.read() as session:
        assert session.get_one(Annotation, given.id).status == "rejected"
    assert find_drift(workspace) == []


def test_removing_a_document_takes_as_many_statements_in_a_larger_project(workspace: Workspace) -> None:
    counts = []
    for number in (2, 12):
        office = Office(workspace, bills=number) if number == 2 else _larger(workspace, number)
        with heard(workspace) as statements:
            lifecycle.remove(workspace, office.project.id, [office.documents[0].id], None)
            lifecycle.restore(workspace, office.project.id, [office.documents[0].id], None)
        counts.append(len(statements))
    assert counts[0] == counts[1]


def _larger(workspace: Workspace, bills: int) -> Office:
    office = object.__new__(Office)
    office.workspace, office.project = workspace, make_project(workspace, "larger")
    office.documents = [
        make_document(workspace, office.project.id, [bill(number)], name=f"bill {number}.png")
        for number in range(bills)
    ]
    with workspace.database.read() as session:
        office.rita = session.scalars(select(User).where(User.name == "Rita")).one()
    office.ask(NUMBER, TOTAL)
    return office


def test_each_table_of_a_documents_rows_goes_to_the_bin_or_follows() -> None:
    moved = {table.__tablename__ for table in (*rehoming.BY_DOCUMENT, *rehoming.BY_TASK, *rehoming.BY_ANSWER)}
    moved |= {"documents", "tasks"}
    derived = {table.name for follower in FOLLOWERS for table in follower.tables}
    # Whose project is the one that the document was removed from: what was asked for there, and what was taken in.
    stay = {"bucket_objects", "extraction_callbacks", "removed_documents"}
    of_documents = {
        table.name
        for table in Base.metadata.sorted_tables
        if "project_id" in table.columns
        and {"document_id", "task_id", "annotation_id", "page_id"} & set(table.columns.keys())
    }
    assert of_documents - moved - derived == stay

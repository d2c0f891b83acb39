"""Documents are moved and copied between projects with their answers, on both databases."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import select

from db.dirty_documents import mark_dirty
from db.tables import (
    Annotation,
    Document,
    Job,
    ModelVersion,
    Page,
    PageWord,
    Prediction,
    Project,
    ProjectField,
    Question,
    Quota,
    Revision,
    Skip,
    Task,
    User,
)
from engine import audit, quotas
from engine.accounts import members, permissions
from engine.annotation.revisions import RevisionConflict, RevisionRequest, append_revision
from engine.annotation.state import AnnotationState
from engine.annotation.words import WordEditsRequest, edit_words
from engine.documents.lists.listing import document_page
from engine.documents.renaming import rename_document
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.fields.project_fields import project_fields
from engine.followers import catch_up, checks, document_figures
from engine.jobs import queue
from engine.jobs.cancellation import Stopped
from engine.jobs.worker import do
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import document_copy, erasing, transfers
from engine.lifecycle.transfer_view import transfer_view
from engine.lifecycle.transfers import TRANSFER, run_transfer
from engine.projects.archiving import archive
from engine.tasks import skips
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, edits, judge, make_person, save
from tests.support.factories import bill, make_document, make_project, pages_of
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.survey_rows import propose
from tests.support.two_at_once import POSTGRESQL, overlapping

pytestmark = pytest.mark.usefixtures("figures_at_once")


def join(workspace: Workspace, project_id: str, user: User, role: str) -> None:
    with workspace.database.write() as session:
        members.join(session, project_id, user.id, role)


class Move(Office):
    """An office beside another project, `there`, with a lead who is an admin of both."""

    def __init__(self, workspace: Workspace, *, asked: Sequence[str] = (NUMBER, TOTAL)) -> None:
        super().__init__(workspace)
        self.there: Project = make_project(workspace, "letters")
        self.lead: User = make_person(workspace, "Lena", self.project.id, "admin")
        join(workspace, self.there.id, self.lead, "admin")
        self.first = self.documents[0].id
        if asked:
            replace_standard_questions(workspace, self.there.id, asked, self.lead.id)

    def send(self, *ids: str, move: bool = True, **options: Any) -> Job:
        chosen = ids or (self.first,)
        job = transfers.request_transfer(
            self.workspace, self.project.id, chosen, self.there.id, self.lead, move=move, **options
        )
        return self.run(job)

    def run(self, job: Job) -> Job:
        leased = queue.lease(self.workspace, "worker", [TRANSFER], job_id=job.id)
        assert leased is not None
        do(self.workspace, leased, "worker", handlers={TRANSFER: run_transfer}, stop=threading.Event())
        return queue.job_by_id(self.workspace, job.id)

    def copy_of(self, name: str = "bill 0.png") -> str:
        with self.workspace.database.read() as session:
            named = select(Document.id).where(Document.project_id == self.there.id, Document.name == name)
            return session.scalars(named).one()

    def answers(self, document_id: str) -> dict[str, list[Any]]:
        """What a document's answers and their history say, without any id of the document."""
        with self.workspace.database.read() as session:
            pages = dict(
                session.execute(select(Page.id, Page.number).where(Page.document_id == document_id)).tuples().all()
            )
            rows = session.execute(
                select(Question.text, Annotation.status, Annotation.head, User.name, Revision)
                .join(Question, Question.id == Annotation.question_id)
                .join(User, User.id == Annotation.author_id)
                .join(Revision, Revision.annotation_id == Annotation.id)
                .where(Annotation.document_id == document_id)
                .order_by(Question.text, User.name, Revision.number)
            ).tuples()
            said: dict[str, list[Any]] = {}
            for text, status, head, author, revision in rows:
                state = AnnotationState.model_validate(revision.state)
                marks = {pages[page]: mark for page, mark in state.pages.items()}
                what = status, head, author, revision.number, revision.action, revision.created_at, revision.seconds
                said.setdefault(text, []).append((what, state.no_answer, marks))
            return said

    def words(self, document_id: str) -> list[Any]:
        with self.workspace.database.read() as session:
            chosen = select(Page.number, Page.image_sha256, PageWord.number, PageWord.text, PageWord.x0, PageWord.y1)
            chosen = chosen.join(PageWord, PageWord.page_id == Page.id).where(Page.document_id == document_id)
            return [tuple(row) for row in session.execute(chosen.order_by(Page.number, PageWord.number))]


@pytest.fixture
def office(workspace: Workspace) -> Move:
    return Move(workspace)


def test_a_moved_document_has_its_answers_history_words_and_tasks(office: Move) -> None:
    workspace = office.workspace
    tasks = {(task.document_id, task.question_id): task for task in office.tasks()}
    number = tasks[office.first, office.question(NUMBER)]
    given = answer(workspace, number.id, office.ann, words=(1,))
    judge(workspace, given.id, office.rita)
    begin(workspace, tasks[office.first, office.question(TOTAL)].id, office.ben)
    skips.skip(workspace, tasks[office.first, office.question(TOTAL)].id, office.ann.id, "unreadable", "")
    before, words = office.answers(office.first), office.words(office.first)
    assert before[NUMBER][-1][0][0] == "accepted"

    job = office.send()
    assert job.status == "done" and job.result["sentence"] == "Moved 1 document to the other project."
    copy = office.copy_of()
    assert (office.answers(copy), office.words(copy)) == (before, words)
    with workspace.database.read() as session:
        of_copy = select(Question.text, Task.state, Task.answered).join(Question, Question.id == Task.question_id)
        states = {text: rest for text, *rest in session.execute(of_copy.where(Task.document_id == copy))}
        assert session.scalars(select(Skip.reason).where(Skip.project_id == office.there.id)).all() == ["unreadable"]
    assert states == {NUMBER: ["done", 1], TOTAL: ["skipped", 0]}
    assert catch_up(workspace, patience=30)
    [line] = document_page(workspace, office.there.id, office.lead.id, query="B1000").lines
    assert (line.id, line.questions, line.accepted) == (copy, 2, 1)
    assert [line.id for line in document_page(workspace, office.project.id, office.lead.id).lines] == [
        office.documents[1].id
    ]
    assert lifecycle.count_bin(workspace, office.project.id) == 1
    newest = next(iter(audit.entries(workspace, office.there.id)))
    assert newest.what == "added the document bill 0.png from the project bills"


def test_a_move_is_undone_once_and_leaves_what_was_changed_since(office: Move) -> None:
    workspace, second = office.workspace, office.documents[1].id
    answer(workspace, office.tasks()[0].id, office.ann)
    before = {each.id: office.answers(each.id) for each in office.documents}
    job = office.send(office.first, second)
    with workspace.database.read() as session:
        task = session.scalars(select(Task).where(Task.document_id == office.copy_of("bill 1.png"))).first()
    assert task is not None
    changed = answer(workspace, task.id, office.lead)

    undone = transfers.undo_transfer(workspace, job, office.lead)
    assert undone.documents == [office.first]
    assert undone.stays == ["bill 1.png was changed in letters since, and stays there. Move it back with its changes."]
    assert office.answers(office.first) == before[office.first]
    assert transfers.undo_transfer(workspace, job, office.lead).documents == []
    with workspace.database.read() as session:
        assert session.get_one(Document, office.first).project_id == office.project.id
        assert session.get_one(Annotation, changed.id).project_id == office.there.id
    with pytest.raises(Refused, match="Only a move can be undone"):
        transfers.undo_transfer(workspace, office.send(move=False), office.lead)


@POSTGRESQL
def test_a_move_gives_way_to_a_verdict_on_one_of_its_answers(workspace: Workspace) -> None:
    office = Move(workspace)
    office.set(review_required=True)
    given = answer(workspace, next(task.id for task in office.tasks() if task.document_id == office.first), office.ann)
    _, job = overlapping(
        workspace,
        lambda: judge(workspace, given.id, office.rita, "rejected"),  # it locks the answer, and then the project
        office.send,
        at="before_flush",
    )
    assert (job.status, job.attempts) == ("done", 1)
    assert {answers[-1][0][0] for answers in office.answers(office.copy_of()).values()} == {"rejected"}


def test_a_copy_leaves_the_document_and_is_made_once(office: Move) -> None:
    workspace = office.workspace
    answer(workspace, office.tasks()[0].id, office.ann)
    before = office.answers(office.first)
    assert office.send(move=False).result["sentence"] == "Copied 1 document to the other project."
    assert office.answers(office.first) == office.answers(office.copy_of()) == before
    again = office.send(move=True)
    assert again.result["sentence"] == (
        "Moved 0 documents to the other project. bill 0.png stays: the other project has the same file already."
    )
    with workspace.database.read() as session:
        assert session.get_one(Document, office.first).project_id == office.project.id


def test_what_a_transfer_says_of_a_document_is_without_its_name_after_deletion(office: Move) -> None:
    workspace, name = office.workspace, office.documents[0].name
    office.send(move=False)
    job = office.send()
    assert f"{name} stays: the other project has the same file already." in job.message
    lifecycle.remove(workspace, office.project.id, [office.first], None)
    erasing.mark(workspace, office.project.id, None, None)
    assert erasing.erase_marked(workspace) == 1
    after = queue.job_by_id(workspace, job.id)
    sentence = "A deleted document stays: the other project has the same file already."
    assert after.result["stays"] == [sentence]
    assert sentence in after.message and name not in f"{after.message}{after.result}"


def test_missing_fields_are_added_where_the_person_may_and_become_questions_otherwise(office: Move) -> None:
    workspace = office.workspace
    office.ask(NUMBER, TOTAL, CUSTOMER)
    asked = next(task for task in office.tasks() if task.question_id == office.question(CUSTOMER))
    answer(workspace, asked.id, office.ann)
    planned = transfers.plan_transfer(
        workspace, office.project.id, [office.first], office.there.id, office.lead, move=True
    )
    assert (planned.fields, planned.may_add) == (["customer"], True)
    office.send(move=False, add_missing=False)
    assert [field.question for field in project_fields(workspace, office.there.id)] == [NUMBER, TOTAL]
    assert set(office.answers(office.copy_of())) == {CUSTOMER}
    office.send(office.documents[1].id)
    assert [field.question for field in project_fields(workspace, office.there.id)] == [NUMBER, TOTAL, CUSTOMER]
    with workspace.database.read() as session:
        open_tasks = select(Task.id).where(Task.document_id == office.copy_of("bill 1.png"))
        assert len(session.scalars(open_tasks).all()) == 3


def test_questions_meet_by_the_names_of_their_fields(workspace: Workspace) -> None:
    office = Move(workspace, asked=())
    replace_standard_questions(workspace, office.there.id, ["Bill number"], office.lead.id)
    with workspace.database.write() as session:
        name = session.scalars(
            select(ProjectField.name).where(ProjectField.question_id == office.question(NUMBER))
        ).one()
        session.scalars(select(ProjectField).where(ProjectField.project_id == office.there.id)).one().name = name
    asked = next(task for task in office.tasks() if task.question_id == office.question(NUMBER))
    answer(workspace, asked.id, office.ann, words=(1,))
    office.send(asked.document_id, add_missing=False)
    assert set(office.answers(office.copy_of(asked_name(workspace, asked.document_id)))) == {"Bill number"}


def asked_name(workspace: Workspace, document_id: str) -> str:
    with workspace.database.read() as session:
        return session.get_one(Document, document_id).name


def test_who_has_a_moved_document_open_reads_where_it_is_and_loses_nothing(office: Move) -> None:
    workspace = office.workspace
    task = next(task for task in office.tasks() if task.document_id == office.first)
    annotation = begin(workspace, task.id, office.ann)
    page = pages_of(workspace, office.first)[0]
    marked = edits(workspace, office.first, [4])
    request = RevisionRequest.model_validate({"idempotency_key": "open-elsewhere", "base": 0, "edits": marked})
    job = office.send()
    elsewhere = r"^This document was moved to another project\. Ask an admin of this project where it is\.$"
    with pytest.raises(NotFound, match=elsewhere):
        append_revision(workspace, annotation.id, request, office.ann.id)
    words = WordEditsRequest.model_validate(
        {"idempotency_key": "words-elsewhere", "base": 0, "edits": [{"op": "text", "number": 0, "text": "Bill"}]}
    )
    with pytest.raises(NotFound, match=elsewhere):
        edit_words(workspace, page.id, words, office.ann.id)
    with workspace.database.read() as session:
        ids = {"document_id": office.first}
        with pytest.raises(NotFound, match=r"^This document was moved to the project letters\. Open it there\.$"):
            permissions.check(session, office.lead, ids)
    transfers.undo_transfer(workspace, job, office.lead)
    assert append_revision(workspace, annotation.id, request, office.ann.id).revision == 1


def test_a_save_that_waits_while_a_document_moves_is_refused(office: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = office.workspace
    task = next(task for task in office.tasks() if task.document_id == office.first)
    annotation = begin(workspace, task.id, office.ann)
    marked = edits(workspace, office.first, [4])
    request = RevisionRequest.model_validate({"idempotency_key": "while-it-moves", "base": 0, "edits": marked})
    outcomes: list[Any] = []

    def save() -> None:
        try:
            outcomes.append(append_revision(workspace, annotation.id, request, office.ann.id))
        except (NotFound, RevisionConflict) as refused:
            outcomes.append(refused)

    saving = threading.Thread(target=save)
    copying = document_copy.copy_document

    def copy_while_somebody_saves(session: Any, *arguments: Any) -> Document:
        saving.start()
        saving.join(0.5)  # it waits for the answer, which this unit of work holds
        return copying(session, *arguments)

    monkeypatch.setattr(transfers, "copy_document", copy_while_somebody_saves)
    assert office.send().status == "done"
    saving.join(30)
    assert [type(outcome) for outcome in outcomes] == [NotFound]
    with workspace.database.read() as session:
        heads = session.scalars(select(Annotation.head).where(Annotation.author_id == office.ann.id)).all()
        assert set(heads) == {0}


def test_an_interrupted_move_goes_on_where_it_was(office: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = office.workspace
    job = transfers.request_transfer(
        workspace, office.project.id, [each.id for each in office.documents], office.there.id, office.lead, move=True
    )
    leased = queue.lease(workspace, "worker", [TRANSFER])
    assert leased is not None
    copying = document_copy.copy_document
    copied: list[str] = []

    def copy_one(session: Any, *arguments: Any) -> Document:
        if copied:
            raise KeyboardInterrupt
        copied.append(arguments[0].id)
        return copying(session, *arguments)

    monkeypatch.setattr(transfers, "copy_document", copy_one)
    with pytest.raises(KeyboardInterrupt):
        run_transfer(workspace, leased, on_progress=lambda *_: None, should_stop=lambda: None)
    monkeypatch.undo()
    queue.release(workspace, job.id, "worker")
    assert office.run(job).result["sentence"] == "Moved 2 documents to the other project."
    with workspace.database.read() as session:
        names = select(Document.name).where(Document.project_id == office.there.id).order_by(Document.name)
        assert session.scalars(names).all() == ["bill 0.png", "bill 1.png"]


def test_a_new_name_and_a_skip_are_changes_that_an_undo_leaves(office: Move) -> None:
    workspace = office.workspace
    third = make_document(workspace, office.project.id, [bill(9)], name="bill 9.png").id
    skips.skip(workspace, office.tasks()[0].id, office.ann.id, "unreadable", "")  # came along, so it is no change
    job = office.send(office.first, office.documents[1].id, third)
    rename_document(workspace, office.copy_of("bill 1.png"), "bill one.png", office.lead.id)
    with workspace.database.read() as session:
        asked = select(Task.id).where(Task.document_id == office.copy_of("bill 9.png"))
        task = session.scalars(asked.limit(1)).one()
    skips.skip(workspace, task, office.lead.id, "not_sure", "")
    undone = transfers.undo_transfer(workspace, job, office.lead)
    assert undone.documents == [office.first]
    assert sorted(sentence.partition(" was changed")[0] for sentence in undone.stays) == ["bill 9.png", "bill one.png"]


def test_a_skip_that_comes_after_a_move_is_refused_and_not_lost_in_the_bin(office: Move) -> None:
    workspace = office.workspace
    first, second = [task.id for task in office.tasks() if task.document_id == office.first]
    skips.skip(workspace, second, office.ann.id, "unreadable", "")
    office.send()
    with pytest.raises(NotFound, match="This document was moved to another project"):
        skips.skip(workspace, first, office.ann.id, "not_sure", "")
    with pytest.raises(NotFound, match="This document was moved to the project letters"):
        skips.decide(workspace, second, office.lead.id, "dismissed")
    with pytest.raises(NotFound, match="This document was moved"):
        skips.withdraw(workspace, second, office.ann.id)


def test_a_move_that_was_stopped_says_what_it_moved_and_is_undone(office: Move) -> None:
    workspace = office.workspace
    job = transfers.request_transfer(
        workspace, office.project.id, [each.id for each in office.documents], office.there.id, office.lead, move=True
    )
    leased = queue.lease(workspace, "worker", [TRANSFER], job_id=job.id)
    assert leased is not None
    stops: Iterator[Any] = iter([None, "cancel"])
    with pytest.raises(Stopped):
        run_transfer(workspace, leased, on_progress=lambda *_: None, should_stop=lambda: next(stops))
    queue.close_cancelled(workspace, job.id, "worker")
    ended = queue.job_by_id(workspace, job.id)
    moved = transfers.count_transferred(workspace, job.id)
    assert moved == 1 and transfer_view(ended, moved).documents == 1
    assert len(transfers.undo_transfer(workspace, ended, office.lead).documents) == 1


def test_answers_of_a_copy_stand_in_their_order(workspace: Workspace) -> None:
    office = Move(workspace, asked=())
    office.ask(*[f"What is in line {number}?" for number in range(9)])
    for task in office.tasks():
        if task.document_id == office.first:
            begin(workspace, task.id, office.ann)
    office.send(move=False)

    def asked(document_id: str) -> Sequence[str]:
        with workspace.database.read() as session:
            texts = select(Question.text).join(Annotation, Annotation.question_id == Question.id)
            chosen = texts.where(Annotation.document_id == document_id).order_by(Annotation.id)
            return session.scalars(chosen).all()

    assert asked(office.copy_of()) == asked(office.first)
    assert len(asked(office.first)) >= 9


@pytest.mark.parametrize("archived", ["project", "there"])
def test_a_project_is_archived_while_documents_leave_it(
    office: Move, archived: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = office.workspace, getattr(office, archived).id
    outcomes: list[Any] = []

    def put_away() -> None:
        try:
            archive(workspace, project, office.lead.id)
            outcomes.append(None)
        except Exception as error:
            outcomes.append(error)

    archiving = threading.Thread(target=put_away)
    locking = transfers._lock_both

    def lock_behind(*arguments: Any) -> Any:
        if not archiving.ident:
            archiving.start()
            archiving.join(0.5)  # on SQLite it waits for this unit of work
        return locking(*arguments)

    monkeypatch.setattr(transfers, "_lock_both", lock_behind)
    ended = office.send(office.first, office.documents[1].id)
    archiving.join(30)
    assert outcomes == [None]
    assert ended.status in ("cancelled", "failed"), "one of the documents stays"
    with workspace.database.read() as session:
        assert session.get_one(Document, office.documents[1].id).project_id == office.project.id


def test_a_moved_document_counts_once_for_its_uploader(office: Move) -> None:
    workspace = office.workspace
    with workspace.database.write() as session:
        session.get_one(Document, office.first).created_by = office.ann.id
        mark_dirty(session, office.project.id, [office.first])

    def used() -> int:
        assert catch_up(workspace, patience=30)
        with workspace.database.read() as session:
            projects = session.scalars(select(Project.id)).all()  # bins, too
            [space] = quotas.load_spaces(session, workspace.settings, None, office.ann.id)
        for project_id in projects:
            assert checks.find_mismatches(workspace, project_id, [document_figures.FOLLOWER]) == []
        return space.documents

    assert used() == 1
    office.send()
    assert used() == 1
    lifecycle.remove(workspace, office.there.id, [office.copy_of()], office.lead.id)
    assert used() == 1
    assert len(erasing.mark(workspace, office.there.id, None, office.lead.id).documents) == 1
    assert erasing.erase_marked(workspace) == 1
    assert used() == 1, "the original is all that is left"


def test_members_of_the_first_project_read_nothing_of_the_other(office: Move) -> None:
    workspace, second = office.workspace, office.documents[1]
    office.send(move=False)
    with workspace.database.write() as session:
        session.get_one(Document, office.copy_of()).name = "secret.png"
        session.add(Quota(subject_id=office.there.id, documents=1))
    assert catch_up(workspace, patience=30)
    ended = office.send(office.first, second.id)
    assert ended.result["stays"] == [
        "bill 0.png stays: the other project has the same file already.",
        "bill 1.png stays: it exceeds the quota of the other project. Ask an admin of it for more.",
    ]
    said = f"{ended.message} {ended.failure} {ended.result}"
    assert "secret" not in said and office.there.name not in said


def test_rights_in_both_projects_are_needed(office: Move) -> None:
    workspace, project, there = office.workspace, office.project.id, office.there.id
    with pytest.raises(Forbidden, match="Only an admin of the project"):
        transfers.request_transfer(workspace, project, [office.first], there, office.rita, move=True)
    with pytest.raises(NotFound, match="There is no such project"):
        transfers.request_transfer(workspace, project, [office.first], there, office.rita, move=False)
    join(workspace, there, office.rita, "annotator")
    with pytest.raises(Forbidden, match="a reviewer or an admin of the other project"):
        transfers.request_transfer(workspace, project, [office.first], there, office.rita, move=False)
    with pytest.raises(NotFound, match="1 document of the request"):
        transfers.plan_transfer(workspace, there, [office.first], project, office.lead, move=False)
    archive(workspace, there, office.lead.id)
    with pytest.raises(Forbidden, match="The other project is archived"):
        transfers.request_transfer(workspace, project, [office.first], there, office.lead, move=True)
    with pytest.raises(Refused, match="in this project already"):
        transfers.request_transfer(workspace, project, [office.first], project, office.lead, move=True)


def test_proposals_of_a_projects_model_come_along_as_those_of_another_model(office: Move) -> None:
    workspace = office.workspace
    annotation = begin(workspace, office.tasks()[0].id, office.ann)
    with workspace.database.write() as session:
        version = ModelVersion(project_id=office.project.id, number=1, checkpoint_sha256="0" * 64, code_version="test")
        session.add(version)
    propose(workspace, annotation, version, [4])
    save(workspace, annotation.id, office.ann, replace=False)
    office.send(annotation.document_id)
    with workspace.database.read() as session:
        of_project = (
            select(Prediction, Revision.prediction_id)
            .join(Annotation, Annotation.id == Prediction.annotation_id)
            .join(Revision, Revision.annotation_id == Annotation.id)
        )
        copied, built_on = session.execute(of_project.where(Annotation.project_id == office.there.id)).one()
        original = session.scalars(select(Prediction).where(Prediction.model_version_id == version.id)).one()
    assert (copied.model_version_id, copied.answer["proposer"]) == (None, "v1 of another project")
    assert copied.answer["words"] == original.answer["words"] == [4] and built_on in (None, copied.id)
    running = Job(kind=TRANSFER, payload={"move": True}, status="running")
    with pytest.raises(Conflict, match="still being moved"):
        transfers.undo_transfer(workspace, running, office.lead)

"""What is deleted for good is found nowhere any more, on both databases."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from sqlalchemy import UniqueConstraint, inspect, select, text, update

from db.base import Base, now
from db.session import BUSY_SECONDS
from db.tables import Annotation, Document, Job, Lease, Page, RemovedDocument, Run, WebhookDelivery
from engine import audit
from engine.datasets import snapshots
from engine.datasets.manifest import canonical
from engine.documents.lists.thumbnails import Thumbnail
from engine.documents.reading import read_jobs
from engine.documents.reading.reading_state import READ
from engine.errors import Conflict, NotFound
from engine.jobs.cancellation import Stopped
from engine.jobs.queue import enqueue, lease
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import bins, erasing, traces
from engine.lifecycle.document_copy import copy_document
from engine.lifecycle.row_deletion import DELETED
from engine.lifecycle.snapshot_removal import remove_snapshot
from engine.read_again.turning import turn_by_hand
from engine.tasks.tasks import set_gold
from engine.training.retraining.run_settings import UNLABELLED_LIST
from engine.training.retraining.trigger import RETRAIN
from engine.training.unlabelled.frozen_pages import FORMAT
from engine.workspace import Workspace
from tests.support.annotators import answer, judge
from tests.support.factories import accept, bill, line, make_document, make_project, pages_of
from tests.support.half_read import content, half_read, stored
from tests.support.left_behind import columns_with, files_with
from tests.support.office import NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("figures_at_once")

NAME, WORD, REASON = "Zebrafink contract.png", "Quokkaworth", "Ocelotish mark"
SIGNS = (NAME, WORD, WORD.lower(), REASON)


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace, bills=1, questions=())


@pytest.fixture
def secret(office: Office) -> Document:
    """A document at work: asked, answered, corrected, reviewed, and named in the audit trail and in messages."""
    workspace, project = office.workspace, office.project.id
    document = make_document(workspace, project, [[*bill(7), *line(f"{WORD} due", 30, 300)]], name=NAME)
    office.ask(NUMBER, TOTAL)
    first, second = (task.id for task in office.tasks() if task.document_id == document.id)
    judge(workspace, answer(workspace, first, office.ann, [4]).id, office.rita, "rejected", reason=REASON)
    right = answer(workspace, second, office.ann, [3])
    judge(workspace, right.id, office.rita, reason=REASON)
    set_gold(workspace, second, right.id, office.rita.id)
    accept(workspace, document, "Which words?", [2], author="Ann")
    with workspace.database.write() as session:
        audit.record(session, office.rita.id, "tasks.first", document.id, project, document=NAME)
        session.add(
            WebhookDelivery(
                project_id=project,
                url="https://webhooks.invalid/",
                event="document.ready",
                key=document.id,
                body=f'{{"document": {{"id": "{document.id}", "name": "{NAME}"}}}}',
                forgets=False,
            )
        )
    Thumbnail(workspace, pages_of(workspace, document.id)[0].image_sha256, 80).load_or_make()
    _age_files(workspace)
    return document


def _age_files(workspace: Workspace) -> None:
    """Let the files of all documents be of yesterday."""
    for blob in workspace.blobs.list_blobs():
        os.utime(workspace.blobs.path(blob.sha256), (blob.modified - 86_400,) * 2)


def test_nothing_of_a_document_is_left_after_the_bin_was_emptied(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    page = pages_of(workspace, secret.id)[0]
    image = workspace.blobs.read(page.image_sha256)
    signs = [*(sign.encode() for sign in SIGNS), image[-200:-100], workspace.blobs.read(secret.sha256)[-100:]]
    columns = set(columns_with(workspace, SIGNS))
    assert {"documents.name", "words.text", "audit_entries.details", "webhook_deliveries.body"} <= columns
    assert len(files_with(workspace, signs)) >= 2
    lifecycle.remove(workspace, project, [secret.id], office.rita.id)
    assert erasing.mark(workspace, project, None, office.rita.id).documents == [secret.id]
    with pytest.raises(Conflict, match="is being deleted"):
        lifecycle.restore(workspace, project, [secret.id], office.rita.id)
    assert erasing.erase_marked(workspace) == 1
    assert columns_with(workspace, SIGNS) == []
    assert files_with(workspace, signs) == []
    assert [entry.what for entry in audit.entries(workspace, project)][:2] == [
        "deleted 1 document from the bin for good",
        "removed the document a deleted document into the bin",
    ]
    with pytest.raises(NotFound):
        lifecycle.restore(workspace, project, [secret.id], office.rita.id)


def test_a_long_reader_keeps_no_writer_waiting_and_the_log_is_emptied_after_it(
    sqlite_workspace: Workspace,
) -> None:
    office = Office(sqlite_workspace, bills=1, questions=())
    database, project = sqlite_workspace.database, office.project.id
    name = office.documents[0].name.encode()
    _age_files(sqlite_workspace)
    lifecycle.remove(sqlite_workspace, project, [office.documents[0].id], None)
    erasing.mark(sqlite_workspace, project, None, None)
    with database.snapshot_read() as session:
        session.scalars(select(Document.id)).all()
        begun = time.monotonic()
        assert erasing.erase_marked(sqlite_workspace) == 1
        assert not traces.wipe(database)
        assert time.monotonic() - begun < BUSY_SECONDS / 2, "neither waits for the reader"
        with database.write() as writing:
            audit.record(writing, None, "documents.delete", project, project, number="1 document")
    assert "glossator.db-wal" in files_with(sqlite_workspace, [name])
    erasing.look_after(sqlite_workspace)
    assert files_with(sqlite_workspace, [name]) == []
    assert traces.wipe(database)
    with database.read() as session:
        assert session.scalar(text("PRAGMA busy_timeout")) == BUSY_SECONDS * 1000


def test_a_deletion_that_goes_on_overwrites_its_traces_once_a_minute(sqlite_workspace: Workspace) -> None:
    database = sqlite_workspace.database

    def is_noted() -> bool:
        with database.read() as session:
            return session.get(Lease, "wipe") is not None

    for left in (False, True):
        with database.write() as session:
            traces.note_wipe(session)
        traces.wipe_at_times(database)
        assert is_noted() == left
    assert traces.wipe(database) and not is_noted()


def test_every_row_that_names_a_document_is_deleted_with_it(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    with workspace.database.read() as session:
        answers = session.scalars(select(Annotation.id).where(Annotation.document_id == secret.id)).all()
    ids = [secret.id, pages_of(workspace, secret.id)[0].id, *answers]
    lifecycle.remove(workspace, project, [secret.id], None)
    erasing.mark(workspace, project, [secret.id], None)
    erasing.erase_marked(workspace)
    naming = set()
    with workspace.database.read() as session:
        for table in inspect(session.connection()).get_table_names():
            for row in session.execute(text(f'SELECT * FROM "{table}"')).mappings():
                naming |= {table for value in row.values() for each in ids if each in str(value)}
    # Changes are deleted after an hour. The audit trail says what was done, without the name; a place is a mere id.
    assert naming - {"changes", "audit_entries", "task_changes"} == set()


def test_no_table_refers_to_a_document_without_being_deleted_with_it() -> None:
    owned = {"documents", "pages", "annotations", "tasks", "revisions", "predictions", "page_signatures"}
    deleted = {table.name for table in DELETED}
    referring = {
        table.name
        for table in Base.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name in owned
    }
    assert referring - deleted == {"bucket_objects"}, "its row stays: the object of the bucket is not taken in again"


def test_databases_look_up_what_names_a_deleted_row_and_read_no_whole_table() -> None:
    few = {("tasks", "gold_revision_id")}  # rows that have a value, which alone are in an index by project
    deleted, scanned = {table.name for table in DELETED}, set()
    for table in Base.metadata.sorted_tables:
        unique = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
        lists = [list(each.columns) for each in (table.primary_key, *unique, *table.indexes)]  # type: ignore[attr-defined]
        first = {columns[0].name for columns in lists if columns}
        for key in table.foreign_keys:
            if key.column.table.name in deleted and key.parent.name not in first:
                scanned.add((table.name, key.parent.name))
    assert scanned == few


def test_a_message_that_is_stored_while_a_document_is_deleted_goes_with_it(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    with workspace.database.read() as session:
        naming = traces.find_naming(session, secret.id, project)
        assert len(naming.messages) == 1
    with workspace.database.write() as session:
        of_project = {"project_id": project, "url": "https://webhooks.invalid/", "event": "document.ready"}
        for key in (secret.id, office.documents[0].id):
            session.add(WebhookDelivery(**of_project, key=f"late {key}", body=f'{{"id": "{key}"}}', forgets=False))
    with workspace.database.write() as session:
        traces.forget_names(session, secret.id, project, naming)
    with workspace.database.read() as session:
        assert session.scalars(select(WebhookDelivery.key)).all() == [f"late {office.documents[0].id}"]


def test_an_image_that_another_document_shows_too_stays(office: Office, secret: Document) -> None:
    workspace, project, other = office.workspace, office.project.id, office.documents[0]
    shared = pages_of(workspace, secret.id)[0].image_sha256
    with workspace.database.write() as session:
        session.scalars(select(Page).where(Page.document_id == other.id)).one().image_sha256 = shared
    lifecycle.remove(workspace, project, [secret.id], None)
    erasing.mark(workspace, project, None, None)
    erasing.erase_marked(workspace)
    assert shared in workspace.blobs
    assert secret.sha256 not in workspace.blobs


def test_an_image_from_before_a_turn_stays_as_long_as_the_document_that_had_it(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    document = make_document(workspace, project, [bill(7), bill(8)])
    accept(workspace, document, "Which words?", [2], author="Ann")
    frozen = snapshots.freeze(workspace, project)
    target = make_project(workspace, "other")
    with workspace.database.write() as session:
        copy = copy_document(session, session.get_one(Document, document.id), session.merge(target), {}, {}).id
    page = pages_of(workspace, document.id)[1]
    turn_by_hand(workspace, page.id, 90, office.rita.id)
    assert pages_of(workspace, document.id)[1].image_sha256 != page.image_sha256
    _age_files(workspace)
    lifecycle.remove(workspace, target.id, [copy], None)
    erasing.mark(workspace, target.id, None, None)
    assert erasing.erase_marked(workspace) == 1
    [item] = snapshots.load(workspace, frozen)
    assert [each.image_sha256 in workspace.blobs for each in item.document.pages] == [True, True]
    remove_snapshot(workspace, project, frozen.sha256, None)
    lifecycle.remove(workspace, project, [document.id], None)
    erasing.mark(workspace, project, None, None)
    assert erasing.erase_marked(workspace) == 1
    assert page.image_sha256 not in workspace.blobs


def test_an_upload_that_found_the_file_before_it_was_deleted_keeps_it(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    lifecycle.remove(workspace, project, [secret.id], None)
    erasing.mark(workspace, project, None, None)
    content = workspace.blobs.read(secret.sha256)
    assert workspace.blobs.put(content) == secret.sha256, "the rows of an upload follow"
    assert erasing.erase_marked(workspace) == 1
    assert workspace.blobs.read(secret.sha256) == content
    add = make_document(workspace, make_project(workspace, "other").id, [bill(3)], name="uploaded.png")
    with workspace.database.write() as session:
        session.get_one(Document, add.id).sha256 = secret.sha256
    _age_files(workspace)
    _end_leases(workspace)
    erasing.look_after(workspace)
    assert workspace.blobs.read(secret.sha256) == content


def test_a_file_put_lately_is_deleted_an_hour_later(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    lifecycle.remove(workspace, project, [secret.id], None)
    erasing.mark(workspace, project, None, None)
    workspace.blobs.put(workspace.blobs.read(secret.sha256))
    erasing.erase_marked(workspace)
    _end_leases(workspace)
    erasing.look_after(workspace)
    assert secret.sha256 in workspace.blobs, "it was put less than an hour ago"
    _age_files(workspace)
    _end_leases(workspace)
    erasing.look_after(workspace)
    assert secret.sha256 not in workspace.blobs
    with workspace.database.read() as session:
        assert not session.scalars(select(Lease.subject).where(Lease.subject.startswith("file left:"))).all()


def _end_leases(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.execute(update(Lease).values(expires_at=now() - timedelta(minutes=1)))


def test_a_document_that_a_snapshot_holds_stays_and_a_sentence_says_so(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    frozen = snapshots.freeze(workspace, project)
    lifecycle.remove(workspace, project, [secret.id], None)
    emptied = erasing.mark(workspace, project, None, None)
    assert emptied.documents == []
    assert emptied.stays == [
        f"{NAME} stays in the bin: the snapshot {frozen.sha256[:12]} of {frozen.created_at:%Y-%m-%d} still holds it."
    ]
    assert lifecycle.restore(workspace, project, [secret.id], None) == [secret.id]


def test_a_snapshot_that_is_being_frozen_keeps_what_it_holds(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    erased: list[int] = []

    def empty(done: int, of: int) -> None:
        if done == of > 0 and not erased:
            lifecycle.remove(workspace, project, [secret.id], None)
            assert erasing.mark(workspace, project, None, None).documents == [secret.id]
            erased.append(erasing.erase_marked(workspace))

    frozen = snapshots.freeze(workspace, project, on_progress=empty)
    assert erased == [0], "the bin waits for the freeze"
    assert erasing.erase_marked(workspace) == 0
    assert [line.id for line in lifecycle.list_bin(workspace, project)] == [secret.id], "it stays, and can be restored"
    held = [item for item in snapshots.load(workspace, frozen) if item.document.id == secret.id]
    assert held and all(workspace.blobs.read(page.image_sha256) for page in pages_of(workspace, secret.id))


def test_each_snapshot_is_read_once_for_all_documents_that_were_chosen(
    office: Office, secret: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project, other = office.workspace, office.project.id, office.documents[0]
    lifecycle.remove(workspace, project, [secret.id, other.id], None)
    accept(workspace, make_document(workspace, project, [bill(5)]), "Which words?", [1], author="Ann")
    frozen = snapshots.freeze(workspace, project)
    assert len(erasing.mark(workspace, project, None, None).documents) == 2
    reads = _reads(workspace, monkeypatch)
    assert erasing.erase_marked(workspace, seconds=0.0) == 0
    assert erasing.erase_marked(workspace) == 2
    assert reads.count(frozen.sha256) == 1


def test_a_snapshot_that_was_changed_on_disk_keeps_the_bin_of_its_project_alone(
    office: Office, secret: Document
) -> None:
    workspace, project = office.workspace, office.project.id
    other = make_project(workspace, "other").id
    beside = make_document(workspace, other, [bill(3)])
    lifecycle.remove(workspace, project, [secret.id], None)
    accept(workspace, office.documents[0], "Which words?", [1], author="Ann")
    frozen = snapshots.freeze(workspace, project)
    lifecycle.remove(workspace, other, [beside.id], None)
    for each in (project, other):
        assert erasing.mark(workspace, each, None, None).documents
    path = workspace.blobs.path(frozen.sha256)
    path.chmod(0o600)
    path.write_text("{}")
    assert erasing.erase_marked(workspace) == 1
    with workspace.database.read() as session:
        assert session.get(Document, beside.id) is None and session.get(Document, secret.id) is not None


def test_an_hourly_look_reads_no_file_for_what_is_known_to_be_held(
    office: Office, secret: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = office.workspace, office.project.id
    first = snapshots.freeze(workspace, project)
    accept(workspace, office.documents[0], "Which words?", [1], author="Ann")
    second = snapshots.freeze(workspace, project)
    lifecycle.remove(workspace, project, [secret.id], None)
    with workspace.database.write() as session:
        old = now() - timedelta(days=workspace.settings.bin_days, minutes=1)
        session.execute(update(RemovedDocument).values(removed_at=old))
    reads = _reads(workspace, monkeypatch)

    def look() -> int:
        reads.clear()
        monkeypatch.setattr(bins, "_looked_at", {})  # an hour later
        erasing.look_after(workspace)
        return reads.count(first.sha256) + reads.count(second.sha256)

    assert [look(), look()] == [2, 0]
    remove_snapshot(workspace, project, first.sha256, None)
    assert [look(), look()] == [1, 0], "it may be free now"
    remove_snapshot(workspace, project, second.sha256, None)
    look()
    with workspace.database.read() as session:
        assert session.get(Document, secret.id) is None


def _reads(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files as they are read from now on."""
    reads: list[str] = []
    read = workspace.blobs.read

    def note(sha256: str) -> bytes:
        reads.append(sha256)
        return read(sha256)

    monkeypatch.setattr(workspace.blobs, "read", note)
    return reads


def test_a_list_of_pages_that_a_run_learned_from_holds_its_documents(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    lifecycle.remove(workspace, project, [secret.id], None)
    accept(workspace, office.documents[0], "Which words?", [1], author="Ann")
    frozen, version = snapshots.freeze(workspace, project), make_version(workspace, project, 3)
    listed = workspace.blobs.put(canonical({"format": FORMAT, "pages": [{"document_id": secret.id}]}))
    with workspace.database.write() as session:
        job = enqueue(session, RETRAIN, project, {})
        session.flush()
        session.add(
            Run(
                project_id=project,
                job_id=job.id,
                snapshot_id=frozen.id,
                parent_id=version.id,
                settings={UNLABELLED_LIST: listed},
                seed=1,
                code_version="1",
            )
        )
    (sentence,) = erasing.mark(workspace, project, None, None).stays
    assert sentence.startswith(f"{NAME} stays in the bin: the list of pages without labels of the run of ")


def test_a_document_that_is_chosen_is_read_no_further(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    with workspace.database.write() as session:
        job = read_jobs.request(session, session.get_one(Document, secret.id), 9)
    lifecycle.remove(workspace, project, [secret.id], None)
    erasing.mark(workspace, project, None, None)
    with workspace.database.read() as session:
        assert session.get_one(Job, job.id).status == "cancelled"


def test_a_document_that_is_read_is_deleted_after_that_and_no_image_of_it_stays(
    workspace: Workspace, tmp_path: Path
) -> None:
    _, project, document = stored(workspace, tmp_path, pages=4)
    images = [image for _, image, _ in content(workspace, document)]
    half_read(workspace, document, 4)
    for image in images[2:]:
        workspace.blobs.remove(image)
    job = lease(workspace, "reader", [READ])
    assert job is not None
    lifecycle.remove(workspace, project, [document], None)
    assert erasing.mark(workspace, project, None, None).documents == [document]
    assert erasing.erase_marked(workspace) == 0, "it waits for the reader"
    looks: list[int] = []

    def should_stop() -> Literal["cancel"] | None:
        looks.append(1)
        if len(looks) == 1:
            return None
        wait_until(lambda: all(image in workspace.blobs for image in images))
        return "cancel"

    with pytest.raises(Stopped):
        read_jobs.read_further_pages(workspace, job, on_progress=lambda *_: None, should_stop=should_stop)
    with workspace.database.write() as session:
        session.get_one(Job, job.id).status, session.get_one(Job, job.id).key = "cancelled", None
    assert erasing.erase_marked(workspace) == 1
    _age_files(workspace)
    _end_leases(workspace)
    erasing.look_after(workspace)
    assert [image for image in images if image in workspace.blobs] == []


def test_a_removed_snapshot_leaves_nothing_of_the_documents_that_it_held(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    accept(workspace, office.documents[0], "Which words?", [1], author="Ann")
    whole = snapshots.freeze(workspace, project)
    lifecycle.remove(workspace, project, [secret.id], None)
    rest = snapshots.freeze(workspace, project)
    page = pages_of(workspace, secret.id)[0]
    signs = [*(sign.encode() for sign in SIGNS), workspace.blobs.read(page.image_sha256)[-200:-100]]
    assert remove_snapshot(workspace, project, whole.sha256[:12], office.rita.id).id == whole.id
    assert audit.entries(workspace, project)[0].what == f"removed the snapshot {whole.sha256[:12]}"
    emptied = erasing.mark(workspace, project, None, None)
    assert (emptied.documents, emptied.stays) == ([secret.id], [])
    erasing.erase_marked(workspace)
    assert files_with(workspace, signs) == []
    assert [item.document.id for item in snapshots.load(workspace, rest)] == [office.documents[0].id]


def test_documents_are_deleted_when_their_days_in_the_bin_are_over(office: Office, secret: Document) -> None:
    workspace, project = office.workspace, office.project.id
    lifecycle.remove(workspace, project, [secret.id, office.documents[0].id], None)
    with workspace.database.write() as session:
        old = now() - timedelta(days=workspace.settings.bin_days, minutes=1)
        session.execute(update(RemovedDocument).where(RemovedDocument.document_id == secret.id).values(removed_at=old))
    erasing.look_after(workspace)
    with workspace.database.read() as session:
        assert session.get(Document, secret.id) is None
    assert [line.id for line in lifecycle.list_bin(workspace, project)] == [office.documents[0].id]

"""Backups: consistent while people work, incremental, whole or absent, and restored as they were."""

import io
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, text
from typer.testing import CliRunner, Result

from annotator.auth import COOKIE
from db.base import Base
from db.blobs import BlobFolder, sha256_of
from db.tables import Document, Job, Revision
from engine import blob_turns
from engine.accounts import sessions, tokens
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.cli import app
from engine.documents.lists import search_texts as kept_texts
from engine.documents.lists.listing import document_page
from engine.errors import Conflict, NotFound, Refused
from engine.followers import catch_up, checks
from engine.interchange import import_jobs, uploaded_sets
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import database_copies, erasing
from engine.lifecycle.backup import back_up
from engine.lifecycle.backup_folder import BackupFolder
from engine.lifecycle.restore import check_backup, restore
from engine.models import pruning
from engine.projects.projects import project_named
from engine.settings import Settings
from engine.storage import store_at, whole_store
from engine.tasks import kept_states
from engine.workspace import Workspace, open_workspace
from tests.conftest import fresh_database
from tests.support.accounts import cookie_of, make_user
from tests.support.factories import accept, bill, make_document, make_project, pages_of
from tests.support.installation import Installation, silent
from tests.support.small_disk import small_filesystem
from tests.support.waiting import wait_until

WRITERS = 8


@pytest.fixture
def run(sqlite_installation: Installation) -> Callable[..., Result]:
    def call(*words: str, data: Path) -> Result:
        return CliRunner().invoke(app, list(words), env={"GLOSSATOR_DATA_DIR": str(data)})

    return call


def test_a_restored_backup_has_the_same_rows_and_files(installation: Installation) -> None:
    before = installation.rows()
    written = installation.back_up()
    installation.restore()
    restored = installation.rows(installation.new)
    assert {name for name in before if restored[name] != before[name]} <= {"leases", "audit_entries"}
    assert restored["revisions"] and installation.blobs(installation.new.data_dir) == installation.blobs()
    assert written.copied == len(installation.blobs()) == 2
    assert written.backup.manifest.rows["documents"] == 1
    opened = open_workspace(installation.new)
    with blob_turns.turn(opened.database, "a work"):  # the turn of the backup itself is over
        installation.add_document(2)
    with opened.database.read() as session:
        assert session.scalars(select(Document.name)).all() == ["bill 1.png"]
    opened.close()


def test_what_eight_writers_were_told_before_a_backup_is_in_it(installation: Installation) -> None:
    workspace, over = installation.workspace, threading.Event()
    user, project = ensure_local_user(workspace), project_named(workspace, "bills")
    acknowledged: set[str] = set()
    failures: list[BaseException] = []

    def write(document: Document) -> None:
        try:
            page, head = pages_of(workspace, document.id)[0].id, 1
            answer = answers[document.id]
            while not over.is_set():
                key = uuid.uuid4().hex
                edit = {"op": "words", "page": page, "add" if head % 2 else "remove": [3]}
                asked = RevisionRequest(idempotency_key=key, base=head, edits=[edit])
                head = append_revision(workspace, answer, asked, user.id).revision
                acknowledged.add(key)
                workspace.blobs.put(key.encode())
        except BaseException as error:
            failures.append(error)

    documents = [make_document(workspace, project.id, [bill(number)]) for number in range(10, 10 + WRITERS)]
    answers = {document.id: accept(workspace, document, "What is the total due?", [4]).id for document in documents}
    threads = [threading.Thread(target=write, args=(document,)) for document in documents]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(acknowledged) > 5 * WRITERS or failures)
    before, during = set(acknowledged), 0
    copied_bytes: list[int] = []

    def follow(step: str, done: int, _size: int | None) -> None:
        nonlocal during
        if step == "Database":
            copied_bytes.append(done)
        if step == "Rows":  # the copy has ended; what is written from here on is not in it
            seen = len(acknowledged)
            wait_until(lambda: len(acknowledged) > seen + WRITERS or failures)
            during = len(acknowledged) - len(before)

    installation.back_up(follow)
    over.set()
    for thread in threads:
        thread.join()
    assert not failures and during > 0
    assert copied_bytes == sorted(copied_bytes), "a writer made the copy begin anew"
    installation.restore()
    opened = open_workspace(installation.new)
    with opened.database.read() as session:
        stored = set(session.scalars(select(Revision.idempotency_key)))
        images = session.scalars(select(Document.sha256)).all()
    opened.close()
    assert before <= stored and not acknowledged <= stored
    assert len(images) == WRITERS + 1 and set(images) <= installation.blobs(installation.new.data_dir).keys()


def test_a_second_backup_copies_new_files_alone(installation: Installation) -> None:
    installation.back_up()
    installation.add_document(2)
    second = installation.back_up()
    assert (second.copied, second.backup.manifest.blobs) == (2, 4)
    assert len(BackupFolder(installation.folder).names()) == 2
    check_backup(second.backup, silent)
    check_backup(BackupFolder(installation.folder).read(BackupFolder(installation.folder).names()[0]), silent)


def test_old_backups_go_with_the_files_that_none_names(installation: Installation) -> None:
    first = installation.back_up().backup
    with installation.workspace.database.write() as session:
        document = session.scalars(select(Document)).one()
        before, document.sha256 = document.sha256, installation.workspace.blobs.put(b"another")
    installation.add_document(2)
    assert before in installation.back_up(keep=2).backup.store
    third = installation.back_up(keep=2)
    assert third.forgotten.backups == [first.name]
    assert len(BackupFolder(installation.folder).names()) == 2 and before not in third.backup.store
    check_backup(third.backup, silent)


def test_a_killed_backup_leaves_the_earlier_one_and_the_next_cleans_up(sqlite_installation: Installation) -> None:
    installation = sqlite_installation
    first = installation.back_up().backup
    for number in range(2, 30):
        installation.add_document(number)
    settings = installation.workspace.settings

    def back_up_until_killed() -> None:
        def kill(step: str, done: int, _size: int | None) -> None:
            if step == "Files" and done == 5:
                os.kill(os.getpid(), signal.SIGKILL)

        Installation(open_workspace(settings), installation.folder, installation.new).back_up(kill)

    child = multiprocessing.get_context("fork").Process(target=back_up_until_killed)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    [left] = installation.folder.glob(".new-*")
    assert BackupFolder(installation.folder).names() == [first.name]
    check_backup(first, silent)
    with pytest.raises(Conflict, match="If it was killed, its turn ends at"):
        installation.back_up()
    with installation.workspace.database.write() as session:  # as its clock does
        session.execute(text("DELETE FROM leases"))
    second = installation.back_up()
    assert not left.exists() and second.copied < 56 and second.backup.manifest.blobs == 58
    check_backup(second.backup, silent)


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("file", ["database.sqlite", "manifest.json", "SHA256SUMS", "blob"])
def test_a_flipped_bit_is_refused_before_anything_is_written(sqlite_installation: Installation, file: str) -> None:
    backup = sqlite_installation.back_up().backup
    flipped(backup.store.path(backup.blobs[0]) if file == "blob" else backup.folder / file)
    with pytest.raises(Refused, match=r"The backup .* is damaged: .* Nothing was restored"):
        sqlite_installation.restore()
    assert not sqlite_installation.new.data_dir.exists()


def test_a_damaged_file_of_an_earlier_backup_is_copied_again(sqlite_installation: Installation) -> None:
    backup = sqlite_installation.back_up().backup
    flipped(backup.store.path(backup.blobs[0]))
    assert sqlite_installation.back_up().repaired == 0
    assert sqlite_installation.back_up(read_again=True).repaired == 1
    sqlite_installation.restore()


def test_the_hashes_are_those_of_sha256sum(sqlite_installation: Installation) -> None:
    backup = sqlite_installation.back_up().backup
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    ended = subprocess.run(command, cwd=backup.folder, capture_output=True, text=True, check=True)
    assert ended.stdout.count(": OK\n") == 2 + len(backup.blobs)


def test_nothing_is_overwritten(installation: Installation) -> None:
    installation.back_up()
    folder = installation.new.data_dir
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match=r"holds notes\.txt"):
        installation.restore()
    (folder / "notes.txt").unlink()
    installation.restore()
    restored = installation.rows(installation.new)
    with pytest.raises(Refused, match="Restore into an empty or new folder"):
        installation.restore()
    elsewhere = installation.new.model_copy(update={"data_dir": folder.parent / "elsewhere"})
    if elsewhere.database_url:
        with pytest.raises(Refused, match="holds tables"):
            restore(elsewhere, BackupFolder(installation.folder).read(), silent)
    assert installation.rows(installation.new) == restored


def test_a_restore_ends_logins_in_browsers_and_keeps_tokens_of_programs(installation: Installation) -> None:
    workspace = installation.workspace
    user = make_user(workspace, "Ann")
    token = tokens.issue(workspace, "Ann", purpose="a script", days=30)
    open_login, ended_login = (cookie_of(workspace, user)[COOKIE] for _ in range(2))
    sessions.log_out(workspace, ended_login)
    installation.back_up()
    assert installation.restore() == 1
    restored = open_workspace(installation.new)
    try:
        known = [sessions.user_of_token(restored, each) for each in (open_login, ended_login, token)]
        assert [person and person.name for person in known] == [None, None, "Ann"]
    finally:
        restored.close()
    assert sessions.user_of_token(workspace, open_login) is not None


def test_a_stopped_restore_goes_on(installation: Installation) -> None:
    for number in range(2, 30):
        installation.add_document(number)
    installation.back_up()

    class Stopped(Exception):
        pass

    def stop(step: str, done: int, _size: int | None) -> None:
        if step == "Files" and done == 20:
            raise Stopped

    with pytest.raises(Stopped):
        installation.restore(stop)
    left = installation.blobs(installation.new.data_dir)
    assert 20 <= len(left) < 58
    installation.restore()
    assert installation.blobs(installation.new.data_dir) == installation.blobs()
    assert sorted(path.name for path in installation.new.data_dir.glob("[!.]*") if path.is_file()) in (
        ["glossator.db"],
        [],
    )


@pytest.mark.postgresql
def test_a_backup_of_sqlite_moves_to_postgresql_with_its_history(
    sqlite_workspace: Workspace, tmp_path: Path, postgresql_address: str
) -> None:
    new = Settings(data_dir=tmp_path / "new", database_url=fresh_database(postgresql_address), _env_file=None)
    installation = Installation(sqlite_workspace, tmp_path / "backups", new)
    make_project(sqlite_workspace, "bills")
    for number in range(3):
        installation.add_document(number)
    catch_up(sqlite_workspace)
    with sqlite_workspace.database.write() as session:
        session.add(Job(kind="retrain", payload={"ä": None, "list": [1.5]}))
    written = installation.back_up()
    installation.restore()
    with closing(open_workspace(new)) as moved:
        with moved.database.read() as session, sqlite_workspace.database.read() as before:
            for table in Base.metadata.sorted_tables:
                if table.name not in ("leases", "audit_entries"):
                    rows = [
                        {tuple(row[key] for key in table.primary_key): dict(row) for row in result.mappings()}
                        for result in (opened.execute(select(table)) for opened in (session, before))
                    ]
                    assert rows[0] == rows[1] and len(rows[0]) == written.backup.manifest.rows[table.name], table.name
        project = project_named(moved, "bills").id
        assert document_page(moved, project, query="customer").total == 3
        assert kept_states.check(moved, project).tasks == [] and kept_texts.check(moved, project) == []
        assert checks.find_mismatches(moved, project) == []
        installation.workspace = moved
        installation.add_document(3)  # numbers of changes go on
        assert document_page(moved, project, query="customer").total == 4
    assert [path.name for path in new.data_dir.iterdir()] == ["blobs"]


def test_a_backup_of_postgresql_and_a_newer_schema_are_refused(sqlite_installation: Installation) -> None:
    backup = sqlite_installation.back_up().backup
    other = sqlite_installation.new
    of_postgresql = backup.manifest.model_copy(update={"database": "postgresql"})
    with pytest.raises(Refused, match="The backup is of PostgreSQL, but GLOSSATOR_DATABASE_URL names none"):
        restore(other, type(backup)(backup.folder, of_postgresql, backup.sums, backup.blobs), silent)
    newer = backup.manifest.model_copy(update={"schema_revision": "9999"})
    with pytest.raises(Refused, match=r"unknown to this version\. Install that version or a newer one"):
        restore(sqlite_installation.new, type(backup)(backup.folder, newer, backup.sums, backup.blobs), silent)
    with pytest.raises(Refused, match="There is no backup 20200101T000000Z"):
        BackupFolder(sqlite_installation.folder).read("20200101T000000Z")
    with pytest.raises(Refused, match="in the data folder"):
        Installation(
            sqlite_installation.workspace, sqlite_installation.workspace.settings.data_dir / "b", other
        ).back_up()


def test_a_folder_of_others_is_refused_and_keeps_its_files(sqlite_installation: Installation, tmp_path: Path) -> None:
    workspace, data = sqlite_installation.workspace, sqlite_installation.workspace.settings.data_dir
    with closing(open_workspace(sqlite_installation.new)) as other:
        make_document(other, make_project(other, "others").id, [bill(7)])
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "glossator-notes.txt").write_text("mine")
    for to, sentence in (
        (other.settings.data_dir, r"so it is a data folder\. Choose an empty or new folder"),
        (notes, r"is no folder of backups, and holds glossator-notes\.txt"),
        (data / "backups", "is in the data folder"),
        (data.parent, "contains the data folder"),
        (notes / "glossator-notes.txt", "is no folder"),
    ):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        with pytest.raises(Refused, match=sentence):
            back_up(workspace, to, silent)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    made = sqlite_installation.back_up().backup
    folder = sqlite_installation.folder
    (folder / "uploads").mkdir()
    with pytest.raises(Refused, match="holds uploads, so it is a data folder"):
        sqlite_installation.back_up()
    (folder / "uploads").rmdir()
    for name in (".old-mail", ".new-20200101T000000Z-3"):
        (folder / name).mkdir()
    assert sqlite_installation.back_up().copied == 0 and made.store.folder.name != "blobs"
    assert [path.name for path in folder.glob(".*")] == [".old-mail"]


def test_a_manifest_names_no_file_elsewhere(sqlite_installation: Installation) -> None:
    backup = sqlite_installation.back_up().backup
    outside = sqlite_installation.folder.parent / "secret.txt"
    outside.write_text("a secret")
    path, sums = backup.folder / "manifest.json", backup.folder / "SHA256SUMS"
    manifest = json.loads(path.read_text()) | {"database_file": str(outside)}
    path.write_text(json.dumps(manifest))
    lines = [line for line in sums.read_text().splitlines() if "../" in line]
    lines += [f"{sha256_of(path)}  manifest.json", f"{sha256_of(outside)}  {outside}"]
    sums.write_text("\n".join(lines))
    with pytest.raises(Refused, match=r"SHA256SUMS and manifest\.json do not fit"):
        sqlite_installation.restore()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_nothing_is_restored_beside_the_log_of_another_database(
    sqlite_installation: Installation, tmp_path: Path, suffix: str
) -> None:
    backup, file = sqlite_installation.back_up().backup, tmp_path / "databases" / "g.sqlite"
    file.parent.mkdir()
    log = file.with_name(file.name + suffix)
    log.write_bytes(b"pages of another database")
    new = sqlite_installation.new.model_copy(update={"database_url": f"sqlite:///{file}"})
    with pytest.raises(Refused, match=rf"g\.sqlite{suffix} is the log of an earlier database\. Move it away"):
        restore(new, backup, silent)
    assert list(file.parent.iterdir()) == [log] and not new.data_dir.exists()
    log.unlink()
    restore(new, backup, silent)
    assert file.is_file()


def test_a_backup_that_cannot_be_read_is_named_and_no_file_is_deleted(
    run: Callable[..., Result], sqlite_installation: Installation
) -> None:
    data, to = sqlite_installation.workspace.settings.data_dir, str(sqlite_installation.folder)
    damaged, second = sqlite_installation.back_up().backup, sqlite_installation.back_up().backup
    (damaged.folder / "SHA256SUMS").write_text("")
    old = damaged.store.put(b"of the damaged backup alone")
    made = run("backup", to, "--keep", "3", data=data)
    assert made.exit_code == 0 and f"or of a newer version: {damaged.name}. No file is deleted" in made.output
    assert old in second.store and len(BackupFolder(sqlite_installation.folder).names()) == 3
    assert run("audit", "--json", data=data).output.count("backed up the installation") == 3
    made = run("backup", to, "--keep", "3", data=data)  # now the damaged one goes by its age
    assert "newer version" not in made.output and not damaged.folder.exists() and old not in second.store
    check_backup(second, silent)


def test_files_are_not_deleted_while_a_backup_runs(sqlite_installation: Installation) -> None:
    workspace = sqlite_installation.workspace
    by, project = ensure_local_user(workspace), project_named(workspace, "bills").id

    def prune() -> list[pruning.PrunedVersion]:
        return list(pruning.prune(workspace, project, by=by))

    def refused(step: str, _done: int, _size: int | None) -> None:
        if step == "Rows":
            with pytest.raises(Conflict, match=r"The files are in use by another work: backup \("):
                prune()
            with pytest.raises(Conflict, match=r"The files are in use by another work: backup \("):
                erasing.erase_marked(workspace)
            erasing.look_after(workspace)  # of a worker, which tries again later
            with pytest.raises(Conflict, match="Another backup writes"):
                sqlite_installation.back_up()

    with workspace.database.read() as session:
        document = session.scalars(select(Document.id)).one()
    lifecycle.remove(workspace, project, [document], None)
    erasing.mark(workspace, project, [document], None)
    sqlite_installation.back_up(refused)
    with pytest.raises(NotFound, match="No model is registered"):  # its turn, but there is nothing to prune
        prune()
    blobs = sqlite_installation.blobs()
    for sha256 in blobs:  # of yesterday: lately stored files stay for now
        os.utime(workspace.blobs.path(sha256), (time.time() - 86_400,) * 2)
    assert erasing.erase_marked(workspace) == 1 and len(blobs) == 2 and not sqlite_installation.blobs()
    with blob_turns.turn(workspace.database, "cleanup of files"), pytest.raises(Conflict, match="cleanup of files"):
        sqlite_installation.back_up()


def test_a_full_disk_is_said_and_earlier_backups_stay_whole(sqlite_installation: Installation, tmp_path: Path) -> None:
    with small_filesystem(tmp_path / "disk", megabytes=48) as fill:
        installation = Installation(
            sqlite_installation.workspace, tmp_path / "disk" / "backups", sqlite_installation.new
        )
        first = installation.back_up().backup
        make_room = fill()
        with pytest.raises(Refused, match=r"The disk of .*backups is full. No backup was made; earlier ones are whole"):
            installation.back_up()
        make_room()
        large = installation.workspace.blobs.put(os.urandom(30_000_000))
        with installation.workspace.database.write() as session:
            session.scalars(select(Document)).one().sha256 = large
        with pytest.raises(Refused, match=r"MB free; the files that are not there yet need 50 MB"):
            installation.back_up()
        assert BackupFolder(installation.folder).names() == [first.name]
        check_backup(first, silent)


def test_a_disk_too_small_for_a_restore_is_said_before_it_begins(
    sqlite_installation: Installation, tmp_path: Path
) -> None:
    backup = sqlite_installation.back_up().backup
    with small_filesystem(tmp_path / "disk", megabytes=20):
        new = sqlite_installation.new.model_copy(update={"data_dir": tmp_path / "disk" / "data"})
        with pytest.raises(Refused, match=r"MB free; the backup needs .* MB. Nothing was restored"):
            restore(new, backup, silent)
        assert not (tmp_path / "disk" / "data" / "glossator.db").exists()


def test_a_file_missing_here_is_named_and_the_rest_is_backed_up(sqlite_installation: Installation) -> None:
    [missing, *others] = sorted(sqlite_installation.blobs())
    sqlite_installation.workspace.blobs.remove(missing)
    manifest = sqlite_installation.back_up().backup.manifest
    assert (manifest.missing, manifest.blobs) == ([missing], len(others))


def with_waiting_import(installation: Installation) -> tuple[str, str]:
    """Upload a dataset and ask for its import; return its SHA-256 and the id of the job."""
    workspace = installation.workspace
    project = project_named(workspace, "bills").id
    sha256 = uploaded_sets.receive(workspace.settings.data_dir, io.BytesIO(b"a dataset"))
    user = ensure_local_user(workspace).id
    job = import_jobs.request(
        workspace, project, sha256, name="set.zip", form="glossator", status="draft", ocr=False, skip_bad=False,
        user_id=user,
    )  # fmt: skip
    return sha256, job.id


def test_a_dataset_whose_import_waits_is_restored(sqlite_installation: Installation) -> None:
    sha256, _ = with_waiting_import(sqlite_installation)
    assert sqlite_installation.back_up().backup.manifest.uploads == [sha256]
    sqlite_installation.restore()
    assert (sqlite_installation.new.data_dir / "uploads" / sha256).read_bytes() == b"a dataset"
    assert sha256 not in BlobFolder(sqlite_installation.new.data_dir / "blobs")


def test_an_import_that_ends_during_a_backup_is_whole_in_it(sqlite_installation: Installation) -> None:
    workspace = sqlite_installation.workspace
    sha256, job_id = with_waiting_import(sqlite_installation)

    def end(step: str, _done: int, _size: int | None) -> None:
        if step == "Rows":  # the copy of the database has ended
            with workspace.database.write() as session:
                session.get_one(Job, job_id).status = "done"

    backup = sqlite_installation.back_up(end).backup
    assert (backup.manifest.uploads, backup.manifest.missing) == ([sha256], [])
    sqlite_installation.restore()
    assert (sqlite_installation.new.data_dir / "uploads" / sha256).read_bytes() == b"a dataset"


def test_an_upload_that_is_gone_is_named(sqlite_installation: Installation) -> None:
    sha256, _ = with_waiting_import(sqlite_installation)
    (sqlite_installation.workspace.settings.data_dir / "uploads" / sha256).unlink()
    assert sqlite_installation.back_up().backup.manifest.missing == [sha256]


def test_files_come_from_an_object_store_and_go_to_another(sqlite_installation: Installation, tmp_path: Path) -> None:
    base = sqlite_installation.workspace
    address, other = (f"memory://{uuid.uuid4().hex}" for _ in range(2))
    remote = store_at(base.settings, address)
    whole_store.move(base.blobs, remote)
    Installation(
        Workspace(base.settings, base.database, remote), sqlite_installation.folder, sqlite_installation.new
    ).back_up()
    new = sqlite_installation.new.model_copy(update={"blobs": other})
    restore(new, BackupFolder(sqlite_installation.folder).read(), silent)
    assert {blob.sha256 for blob in store_at(new, other).list_blobs()} == sqlite_installation.blobs().keys()


def test_without_pg_dump_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(database_copies, "_DEBIAN", tmp_path)
    with pytest.raises(Refused, match=r"pg_dump is not on the PATH. Install .*postgresql-client-16"):
        database_copies.find_program("pg_dump", 16)


def test_commands_back_up_check_and_restore(run, sqlite_installation: Installation, tmp_path: Path) -> None:
    data, to = sqlite_installation.workspace.settings.data_dir, str(tmp_path / "backups")
    made = run("backup", to, data=data)
    assert made.exit_code == 0 and "2 files, of which 2 new" in made.output, made.output
    assert "Not in it: settings and secrets" in made.output
    assert "is whole: 2 files" in run("restore", to, "--check", data=tmp_path / "new").output
    assert not (tmp_path / "new").exists()
    restored = run("restore", to, data=tmp_path / "new")
    assert restored.exit_code == 0 and "Next: glossator check" in restored.output, restored.output
    assert run("check", data=tmp_path / "new").exit_code == 0
    again = run("restore", to, data=tmp_path / "new")
    assert again.exit_code == 1 and "Restore into an empty or new folder" in again.output
    assert "backed up the installation (2 files" in run("audit", "--json", data=data).output
    shutil.rmtree(to)
    assert run("restore", to, data=tmp_path / "newer").exit_code == 1

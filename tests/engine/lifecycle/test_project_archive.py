"""A project as a file: it comes to another installation, of the other kind of database too, with its history."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from db.base import Base, now
from db.tables import (
    Document,
    Invitation,
    LoginSession,
    Member,
    ModelVersion,
    Page,
    Project,
    Proposer,
    Question,
    User,
    WebhookSecret,
)
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import state_at
from engine.cli import app
from engine.datasets.snapshots import freeze
from engine.documents.lists.listing import document_page
from engine.errors import Conflict, Refused
from engine.followers import catch_up, checks
from engine.jobs import queue
from engine.lifecycle import bin as bins
from engine.lifecycle.archive_rows import LEFT_OUT, belongs, tables_of_project
from engine.lifecycle.project_archive import pack_project, unpack_project
from engine.lifecycle.snapshot_removal import remove_snapshot
from engine.models import promotions, registry
from engine.projects.projects import project_named
from engine.settings import Settings
from engine.tasks import kept_states
from engine.workspace import Workspace, open_workspace
from tests.conftest import fresh_database
from tests.support.factories import accept, bill, make_document, make_project, revise, save_tiny_model
from tests.support.installation import Installation, silent


def with_small_model(workspace: Workspace, folder: Path) -> str:
    """Register small weights as the initial model, and return its id."""
    save_tiny_model(folder / "tiny.safetensors")
    settings = workspace.settings.model_copy(update={"model_path": folder / "tiny.safetensors"})
    return registry.ensure_shipped(Workspace(settings, workspace.database, workspace.blobs)).id


@pytest.fixture
def project(workspace: Workspace, tmp_path: Path) -> str:
    """Three documents with answers of two people, one of them revised, a model, and another project beside it."""
    model = with_small_model(workspace, tmp_path)
    made = make_project(workspace, "bills").id
    for number in range(3):
        document = make_document(workspace, made, [bill(number)], name=f"bill {number}.png")
        answer = accept(workspace, document, "What is the total due?", [4], author="ann" if number else "bob")
    with workspace.database.read() as session:
        state = state_at(session, answer.id, 1)
    revise(workspace, answer, state)
    with workspace.database.write() as session:
        sha256 = workspace.blobs.put(b"weights of the project")
        own = ModelVersion(project_id=made, number=1, parent_id=model, checkpoint_sha256=sha256, code_version="test")
        session.add(own)
    promotions.promote(workspace, made, own.id, by=ensure_local_user(workspace), force=True, reason="a test")
    removed = make_document(workspace, made, [bill(8)], name="in the bin.png")
    accept(workspace, removed, "What is the total due?", [4], author="ann")
    bins.remove(workspace, made, [removed.id], None)
    make_document(workspace, make_project(workspace, "others").id, [bill(9)], name="not of it.png")
    catch_up(workspace)
    return made


@pytest.fixture
def target(workspace: Workspace, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workspace]:
    """An installation on the other kind of database, with a project and a person of its own."""
    url = ""
    if workspace.database.dialect == "sqlite":
        url = fresh_database(request.getfixturevalue("postgresql_address"))
    opened = open_workspace(Settings(data_dir=tmp_path / "target", database_url=url, _env_file=None))
    with opened.database.write() as session:
        session.add(User(name="ann", role="annotator"))
    make_document(opened, make_project(opened, "here before").id, [bill(5)])
    yield opened
    opened.close()


def rows(workspace: Workspace, project: str) -> dict[str, list[str]]:
    """Rows of a project by table, with names in place of ids of people and models, also in their JSON."""
    names = names_of_ids(workspace)
    lines = {}
    with workspace.database.snapshot_read() as session:
        for table in tables_of_project():
            condition = belongs(table, project)
            assert condition is not None
            of_table = session.execute(select(table).where(condition).order_by(*table.primary_key)).mappings()
            texts = (json.dumps(dict(row), default=str, sort_keys=True) for row in of_table)
            lines[table.name] = sorted(
                re.sub(r"\b[0-9a-f]{32}\b", lambda match: names.get(match[0], match[0]), line) for line in texts
            )
    return lines


def names_of_ids(workspace: Workspace) -> dict[str, str]:
    """Names of people, and weights of models: what has other ids in another installation."""
    with workspace.database.read() as session:
        people = session.execute(select(User.id, User.name)).tuples().all()
        models = session.execute(select(ModelVersion.id, ModelVersion.checkpoint_sha256)).tuples().all()
    return dict([*people, *models])


@pytest.mark.parametrize("known", [True, False], ids=["model-known", "model-new"])
def test_a_project_moves_to_the_other_kind_of_database(
    workspace: Workspace, project: str, target: Workspace, tmp_path: Path, known: bool
) -> None:
    model = with_small_model(target, tmp_path) if known else None
    pack_project(workspace, project, tmp_path / "bills.glossator", silent)
    manifest = unpack_project(target, tmp_path / "bills.glossator", silent)
    assert manifest.rows["documents"] == 3 and manifest.rows["revisions"] == 4
    before, after = rows(workspace, project), rows(target, project)
    packed, unpacked = before.pop("audit_entries"), after.pop("audit_entries")
    assert [line for line in unpacked if "unpack" not in line] == [line for line in packed if "pack" not in line]
    assert after == before and before["revisions"] and before["promotions"]
    people = list(names_of_ids(target).values())
    assert (people.count("ann"), people.count("bob")) == (1, 1)
    assert checks.find_mismatches(target, project) == [] and kept_states.check(target, project).tasks == []
    assert document_page(target, project, query="customer").total == 3
    with target.database.read() as session:
        for sha256 in session.scalars(select(Document.sha256).where(Document.project_id == project)):
            assert target.blobs.read(sha256) == workspace.blobs.read(sha256)
        champion = registry.champion(session, project)
        initial = session.get_one(ModelVersion, champion.parent_id)
        assert (champion.project_id, initial.project_id) == (project, None) and initial.id == (model or initial.id)
        assert {champion.checkpoint_sha256, initial.checkpoint_sha256} <= {
            blob.sha256 for blob in target.blobs.list_blobs()
        }
        assert set(session.scalars(select(Project.name))) == {"bills", "here before"}
    make_document(target, project, [bill(7)], name="afterwards.png")
    assert document_page(target, project, query="customer").total == 4


def test_a_project_that_is_here_and_a_name_that_is_taken_are_conflicts(
    workspace: Workspace, project: str, target: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "bills.glossator"
    pack_project(workspace, project, file, silent)
    with pytest.raises(Conflict, match="This project is here already"):
        unpack_project(workspace, file, silent)
    with pytest.raises(Conflict, match="The project name 'here before' is taken"):
        unpack_project(target, file, silent, "here before")
    unpack_project(target, file, silent, "bills of the other office")
    with target.database.read() as session:
        assert session.get_one(Project, project).name == "bills of the other office"
    with pytest.raises(Refused, match=r"exists\. Choose another name"):
        pack_project(workspace, project, file, silent)
    queue.enqueue(workspace, "retrain", project)
    with pytest.raises(Refused, match="Jobs of the project have not ended"):
        pack_project(workspace, project, tmp_path / "again.glossator", silent)
    assert [path.name for path in tmp_path.glob("*again*")] == []


def test_a_damaged_archive_adds_nothing(workspace: Workspace, project: str, target: Workspace, tmp_path: Path) -> None:
    file, changed = tmp_path / "bills.glossator", tmp_path / "changed.glossator"
    manifest = pack_project(workspace, project, file, silent)
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(changed, "w") as other:
        for name in whole.namelist():
            content = whole.read(name)
            other.writestr(name, content[:-1] + b"?" if name == f"blobs/{manifest.blobs[0]}" else content)
    with pytest.raises(Refused, match=r"was changed\. Nothing was added"):
        unpack_project(target, changed, silent)
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(Refused, match="is no archive of a project, or damaged"):
        unpack_project(target, file, silent)
    with target.database.read() as session:
        assert session.get(Project, project) is None


def with_changed_rows(file: Path, table: str, change: Callable[[list[dict[str, Any]]], object], by: int = 0) -> Path:
    """Return a copy of an archive with changed rows of a table, whose manifest counts `by` more."""
    changed = file.with_name(f"changed {table} {by}.glossator")
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(changed, "w") as other:
        for name in whole.namelist():
            content = whole.read(name).decode(errors="ignore") if name.endswith(("jsonl", "json")) else whole.read(name)
            if name == f"rows/{table}.jsonl":
                lines = [json.loads(line) for line in content.splitlines()]
                change(lines)
                content = "".join(json.dumps(line) + "\n" for line in lines)
            if name == "manifest.json":
                manifest = json.loads(content)
                manifest["rows"][table] += by
                content = json.dumps(manifest)
            other.writestr(name, content)
    return changed


def test_rows_that_are_missing_or_of_other_projects_add_nothing(
    sqlite_installation: Installation, tmp_path: Path
) -> None:
    file, workspace = tmp_path / "bills.glossator", sqlite_installation.workspace
    sqlite_installation.add_document(3)
    pack_project(workspace, project_named(workspace, "bills").id, file, silent)
    with closing(open_workspace(sqlite_installation.new)) as target:
        victim = make_document(target, make_project(target, "victim").id, [bill(2)])
        accept(target, victim, "What is the total due?", [4])
        before = sqlite_installation.rows(target.settings)
        with target.database.read() as session:
            page, question = session.scalars(select(Page.id)).one(), session.scalars(select(Question.id)).one()

        def forge(words: list[dict[str, Any]]) -> None:
            words.append(words[0] | {"page_id": page, "number": 9999, "text": "forged"})

        def ask(annotations: list[dict[str, Any]]) -> None:
            annotations[0]["question_id"] = question

        for table, change, by, sentence in (
            ("words", lambda rows: rows.pop(), 0, "words has other rows than it says"),
            ("words", forge, 0, "words has other rows than it says"),
            ("words", forge, 1, "words has rows of another project"),
            ("annotations", ask, 0, "annotations has rows of another project"),
            ("documents", lambda rows: rows[0].pop("name"), 0, "an entry is missing or was changed"),
            ("documents", lambda rows: rows[0].update(unknown=1), 0, "an entry is missing or was changed"),
        ):
            with pytest.raises(Refused, match=rf"is damaged: {sentence}\. Nothing was added"):
                unpack_project(target, with_changed_rows(file, table, change, by), silent)
        with zipfile.ZipFile(file) as whole, zipfile.ZipFile(tmp_path / "few.glossator", "w") as few:
            for name in set(whole.namelist()) - {"rows/tasks.jsonl"}:
                few.writestr(name, whole.read(name))
        for place, sentence in ((tmp_path / "few.glossator", "an entry is missing"), (tmp_path, "cannot be read")):
            with pytest.raises(Refused, match=sentence):
                unpack_project(target, place, silent)
        assert sqlite_installation.rows(target.settings) == before
    with pytest.raises(Refused, match=r"was not written: No such file or directory"):
        pack_project(workspace, project_named(workspace, "bills").id, tmp_path / "none" / "p.glossator", silent)


def test_a_snapshot_with_documents_of_the_bin_is_not_packed(sqlite_installation: Installation, tmp_path: Path) -> None:
    workspace = sqlite_installation.workspace
    project, file = project_named(workspace, "bills").id, tmp_path / "bills.glossator"
    sqlite_installation.add_document(3)
    with workspace.database.read() as session:
        document = session.scalars(select(Document).where(Document.name == "bill 3.png")).one()
    snapshot = freeze(workspace, project)
    bins.remove(workspace, project, [document.id], None)
    with pytest.raises(Refused, match=f"held by the snapshot {snapshot.sha256[:12]} of .* Restore these documents"):
        pack_project(workspace, project, file, silent)
    remove_snapshot(workspace, project, snapshot.sha256, None)
    assert document.sha256 not in pack_project(workspace, project, file, silent).blobs


def test_every_table_belongs_to_projects_or_is_left_out_on_purpose() -> None:
    of_project = {table.name for table in tables_of_project()}
    assert of_project | LEFT_OUT == set(Base.metadata.tables) and not of_project & LEFT_OUT


def test_no_secret_is_in_an_archive(sqlite_installation: Installation, tmp_path: Path) -> None:
    workspace, file = sqlite_installation.workspace, tmp_path / "bills.glossator"
    project, user = project_named(workspace, "bills").id, ensure_local_user(workspace)
    of_project = {"project_id": project, "created_at": now()}
    secrets = ["key-of-a-model", "secret-of-a-webhook", "hash-of-a-password", "7" * 64, "8" * 64]
    with workspace.database.write() as session:
        session.get_one(User, user.id).password_hash = secrets[2]
        session.add(Member(project_id=project, user_id=user.id, role="admin"))
        session.add_all(
            [
                Proposer(
                    project_id=project, kind="openai", url="https://models.example.org/v1", model="m", prompt="",
                    api_key=secrets[0], alone=False, number=1, changed_by=user.id, changed_at=now(),
                ),
                WebhookSecret(secret=secrets[1], **of_project),
                Invitation(token_sha256=secrets[3], role="admin", created_by=user.id, expires_at=now(), **of_project),
                LoginSession(token_sha256=secrets[4], user_id=user.id, created_at=now(), expires_at=now()),
            ]
        )  # fmt: skip
    pack_project(workspace, project, file, silent)
    with zipfile.ZipFile(file) as archive:
        content = b"".join(map(archive.read, archive.namelist()))
    assert user.id.encode() in content and not [secret for secret in secrets if secret.encode() in content]
    named = re.compile("secret|password|api_key|token_")
    columns = [str(column) for table in tables_of_project() for column in table.columns if named.search(column.name)]
    assert columns == [], "Leave the table out, or show that this column is no secret."


def test_commands_write_and_bring_a_project(sqlite_installation, tmp_path: Path) -> None:
    def run(*words: str, data: Path):
        return CliRunner().invoke(app, ["projects", *words], env={"GLOSSATOR_DATA_DIR": str(data)})

    file = str(tmp_path / "bills.glossator")
    written = run("pack", "bills", file, data=sqlite_installation.workspace.settings.data_dir)
    assert written.exit_code == 0 and "1 document, 0 revisions, 2 files" in written.output, written.output
    brought = run("unpack", file, data=tmp_path / "new")
    assert brought.exit_code == 0 and "Added the project bills: 1 document" in brought.output, brought.output
    again = run("unpack", file, data=tmp_path / "new")
    assert again.exit_code == 1 and "is here already" in again.output

"""A project as one file, with all of its history: it moves to another installation, of either kind of database.

manifest.json        `ArchiveManifest`
people.jsonl         people whom its rows name: id and name
rows/TABLE.jsonl     its rows
blobs/SHA256         its files
"""

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Table, func, select
from sqlalchemy.exc import OperationalError, StatementError
from sqlalchemy.orm import Session

from db import changes, document_texts, migrate
from db.base import Base, now
from db.blobs import BlobMissing
from db.ids import new_id
from db.tables import Document, Job, ModelVersion, Project, RemovedDocument, User
from engine import audit, blob_turns
from engine.accounts.users import ensure_local_user
from engine.errors import Conflict, Refused
from engine.followers import checks
from engine.jobs.queue import OPEN
from engine.lifecycle.archive_rows import belongs, lines_of, names_of_others, row_of, tables_of_project
from engine.lifecycle.holders import find_holders
from engine.lifecycle.json_text import with_json_as_text
from engine.storage.named_blobs import NAME, names_in_file, naming_columns
from engine.text import join_names
from engine.version import code_version
from engine.workspace import Workspace

MANIFEST = "manifest.json"
_PEOPLE = "people.jsonl"
_AT_ONCE = 2_000  # rows
_TOPICS: tuple[changes.Topic, ...] = (
    "projects",
    "members",
    "documents",
    "questions",
    "tasks",
    "answers",
    "models",
    "jobs",
)
OnStep = Callable[[str, int, int | None], None]


class ArchiveManifest(BaseModel):
    """What an archive holds: the project, versions, and numbers of rows by table and of blobs."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    project_id: str
    name: str
    made_at: datetime
    version: str
    schema_revision: str
    rows: dict[str, int]
    blobs: list[str]


def pack_project(workspace: Workspace, project_id: str, target: Path, on_step: OnStep) -> ArchiveManifest:
    """Write a project to a new file, which is complete or absent.

    Raises:
        Refused: The file exists or cannot be written, a job of the project has not ended, a file of the project is
            missing, or a snapshot holds a document of the bin.
        Conflict: Somebody deletes files.
    """
    if target.exists():
        raise Refused(f"{target} exists. Choose another name.")
    new = target.with_name(f".{target.name}.new-{os.getpid()}")
    try:
        with blob_turns.turn(workspace.database, "packing of a project"), zipfile.ZipFile(new, "w") as archive:
            with workspace.database.snapshot_read() as session:
                open_jobs = select(func.count()).where(Job.project_id == project_id, Job.status.in_(OPEN))
                if session.scalar(open_jobs):
                    raise Refused("Jobs of the project have not ended. Wait for them, or cancel them.")
                in_bin = select(RemovedDocument.document_id).where(RemovedDocument.project_id == project_id)
                _check_unheld(workspace, project_id, session.scalars(in_bin).all())
                project = session.get_one(Project, project_id)
                rows, named = _write_rows(session, archive, project_id, on_step)
            blobs = list(_write_blobs(workspace, archive, named, on_step))
            manifest = ArchiveManifest(
                project_id=project_id,
                name=project.name,
                made_at=now(),
                version=code_version(),
                schema_revision=str(migrate.current(workspace.database)),
                rows=rows,
                blobs=blobs,
            )
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=2))
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.rename(target)
    except OSError as error:
        raise Refused(f"{target} was not written: {error.strerror or error}.") from error
    finally:
        new.unlink(missing_ok=True)
    audit.note(workspace, ensure_local_user(workspace).id, "projects.pack", manifest.name, project_id)
    return manifest


def read_manifest(source: Path) -> ArchiveManifest:
    """Return what an archive holds. Raises Refused where it is none, or of another schema."""
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = ArchiveManifest.model_validate_json(archive.read(MANIFEST))
    except FileNotFoundError:
        raise Refused(f"There is no file {source}.") from None
    except (zipfile.BadZipFile, KeyError, ValidationError):
        raise Refused(f"{source} is no archive of a project, or damaged.") from None
    except OSError as error:
        raise Refused(f"{source} cannot be read: {error.strerror or error}.") from None
    if manifest.schema_revision != migrate.head():
        raise Refused(
            f"Glossator {manifest.version} made this archive, with schema {manifest.schema_revision}; this is schema "
            f"{migrate.head()}. Use the same version of Glossator on both sides."
        )
    return manifest


def unpack_project(workspace: Workspace, source: Path, on_step: OnStep, name: str | None = None) -> ArchiveManifest:
    """Add the project of an archive to this installation, whole or not at all.

    People are those of the same name here; others are added without a password. The initial model is the one here if
    it has the same weights. Webhooks, the address and key of another model, invitations and documents in
    the bin do not move.

    Args:
        workspace: where it is added.
        source: the archive.
        on_step: called with the progress.
        name: new name of the project; None: that of the archive.

    Raises:
        Refused: The file is no archive, damaged, or of another schema.
        Conflict: The project, or one of its name, is here.
    """
    manifest = read_manifest(source)
    name, by = name or manifest.name, ensure_local_user(workspace).id
    turn = blob_turns.turn(workspace.database, "unpacking of a project")
    with _said_when_damaged(source), zipfile.ZipFile(source) as archive, turn:
        with workspace.database.read() as session:
            _check_new(session, manifest, name)
        for number, sha256 in enumerate(manifest.blobs, 1):
            with archive.open(f"blobs/{sha256}") as file:
                pieces = iter(lambda: file.read(1 << 20), b"")
                if sha256 not in workspace.blobs and not _stores(workspace, sha256, pieces):
                    raise Refused(f"{source} is damaged: the file {sha256} was changed. Nothing was added.")
            on_step("Files", number, len(manifest.blobs))
        with workspace.database.write() as session:
            _check_new(session, manifest, name)
            other_ids = _people(session, archive) | _initial_models(session, archive)
            tables, done = tables_of_project(), 0
            before = {table.name: _count(session, table, manifest.project_id) for table in tables}
            for table in tables:
                inserted = _insert(session, archive, table, other_ids, manifest.project_id, name)
                if inserted != manifest.rows.get(table.name):
                    raise Refused(f"{source} is damaged: {table.name} has other rows than it says. Nothing was added.")
                done += inserted
                on_step("Rows", done, sum(manifest.rows.values()))
            for table in tables:
                added = _count(session, table, manifest.project_id) - before[table.name]
                if added != manifest.rows[table.name] or names_of_others(session, table, manifest.project_id):
                    raise Refused(f"{source} is damaged: {table.name} has rows of another project. Nothing was added.")
            of_project = select(Document.id).where(Document.project_id == manifest.project_id)
            document_texts.mark_documents_dirty(session, session.scalars(of_project))
            for topic in _TOPICS:
                changes.publish(session, topic, manifest.project_id)
            made_at = f"{manifest.made_at:%Y-%m-%d}"
            audit.record(session, by, "projects.unpack", name, manifest.project_id, name=name, made_at=made_at)
    checks.rebuild(workspace, manifest.project_id)  # what had not followed when the archive was made follows here
    return manifest


def _check_unheld(workspace: Workspace, project_id: str, in_bin: Sequence[str]) -> None:
    """Refuse a project with snapshots or runs that hold documents of the bin: their files would come along."""
    holders = find_holders(workspace, project_id, in_bin)
    names = sorted({name for of_document in holders.values() for name in of_document})
    if names:
        raise Refused(
            f"Documents of the bin must not leave with the project, and are held by {join_names(names)}. Restore "
            "these documents, or remove the snapshots with glossator snapshots remove."
        )


@contextmanager
def _said_when_damaged(source: Path) -> Iterator[None]:
    """Turn the errors of entries that are missing or garbled, and of rows that no table takes, into a refusal."""
    try:
        yield
    except OperationalError:  # of the database itself
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError, TypeError, StatementError) as error:
        raise Refused(f"{source} is damaged: an entry is missing or was changed. Nothing was added.") from error
    except OSError as error:
        raise Refused(f"{source} cannot be unpacked: {error.strerror or error}. Nothing was added.") from error


def _write_rows(
    session: Session, archive: zipfile.ZipFile, project_id: str, on_step: OnStep
) -> tuple[dict[str, int], set[bytes]]:
    """Write the rows of a project and the people whom they name; return numbers of rows, and names of blobs."""
    naming = {name.partition(".")[0] for name, _ in naming_columns()}
    people = dict(session.execute(select(User.id, User.name)).tuples().all())
    named_people: set[str] = set()  # ids
    rows: dict[str, int] = {}
    named: set[bytes] = set()
    models: set[str] = set()
    for table in tables_of_project():
        condition = belongs(table, project_id)
        assert condition is not None
        with archive.open(_entry(table), "w", force_zip64=True) as file:
            rows[table.name] = 0
            for line in lines_of(session, table, condition):
                file.write(line.encode() + b"\n")
                rows[table.name] += 1
                if table.name in naming:
                    named.update(map(bytes.fromhex, NAME.findall(line)))
                values = {value for value in json.loads(line).values() if isinstance(value, str)}
                named_people |= values & people.keys()
                models |= {value for value in values if len(value) == 32}
        on_step("Rows", sum(rows.values()), None)
    initial = ModelVersion.__table__
    with archive.open("initial_models.jsonl", "w") as file:
        for line in lines_of(session, initial, initial.c.project_id.is_(None)):  # type: ignore[arg-type]
            if json.loads(line)["id"] in models:
                file.write(line.encode() + b"\n")
                named.add(bytes.fromhex(json.loads(line)["checkpoint_sha256"]))
    lines = [json.dumps({"id": user_id, "name": people[user_id]}) for user_id in sorted(named_people)]
    archive.writestr(_PEOPLE, "\n".join(lines))
    return rows, named


def _write_blobs(workspace: Workspace, archive: zipfile.ZipFile, named: set[bytes], on_step: OnStep) -> Iterator[str]:
    """Write the blobs of these names, and those that they name; yield their names."""
    written: set[bytes] = set()
    waiting = sorted(named)
    while waiting:
        name = waiting.pop()
        if name in written:
            continue
        written.add(name)
        sha256 = name.hex()
        if workspace.blobs.size(sha256) is None:  # a hash of something else
            continue
        waiting += names_in_file(workspace.blobs, sha256) - written
        try:
            with archive.open(f"blobs/{sha256}", "w", force_zip64=True) as file:
                for chunk in workspace.blobs.chunks(sha256):
                    file.write(chunk)
        except BlobMissing as error:
            raise Refused(str(error)) from None
        on_step("Files", len(written), len(written) + len(waiting))
        yield sha256


def _check_new(session: Session, manifest: ArchiveManifest, name: str) -> None:
    if session.get(Project, manifest.project_id) is not None:
        raise Conflict("This project is here already; an archive adds one, and changes none.")
    if session.scalar(select(Project.id).where(Project.name == name)) is not None:
        raise Conflict(f"The project name {name!r} is taken. Choose another one with --name.")


def _stores(workspace: Workspace, sha256: str, pieces: Iterator[bytes]) -> bool:
    try:
        return workspace.blobs.put_chunks(sha256, pieces)
    except zipfile.BadZipFile:
        return False


def _people(session: Session, archive: zipfile.ZipFile) -> dict[str, str]:
    """Add people who are not here; return the ids of those who have another id here."""
    here = {name: user_id for user_id, name in session.execute(select(User.id, User.name)).tuples()}
    ids = set(here.values())
    other_ids = {}
    for line in archive.read(_PEOPLE).decode().splitlines():
        person = json.loads(line)
        if person["name"] in here:
            other_ids[person["id"]] = here[person["name"]]
            continue
        user = User(id=new_id() if person["id"] in ids else person["id"], name=person["name"], role="annotator")
        session.add(user)
        session.flush()
        other_ids[person["id"]] = user.id
    return {there: here_id for there, here_id in other_ids.items() if there != here_id}


def _initial_models(session: Session, archive: zipfile.ZipFile) -> dict[str, str]:
    """Find the initial models here by their weights; add those that are not here, as the project's own."""
    table = with_json_as_text(Base.metadata.tables["model_versions"])
    known = select(ModelVersion.checkpoint_sha256, ModelVersion.id).where(ModelVersion.project_id.is_(None))
    here = dict(session.execute(known).tuples().all())
    other_ids = {}
    for line in archive.read("initial_models.jsonl").decode().splitlines():
        row = row_of(table, line, {})
        same = here.get(row["checkpoint_sha256"])
        if same is None:
            # Older than any here, so that it is the initial model of no other project.
            oldest = session.scalar(select(func.min(ModelVersion.created_at)).where(ModelVersion.project_id.is_(None)))
            session.connection().execute(
                table.insert(), [row | {"created_at": min(row["created_at"], oldest or now())}]
            )
        elif same != row["id"]:
            other_ids[row["id"]] = same
    return other_ids


def _count(session: Session, table: Table, project_id: str) -> int:
    """Return the number of rows of a project; audit entries of an earlier stay may be here."""
    of_project = belongs(table, project_id)
    assert of_project is not None
    return session.scalar(select(func.count()).select_from(table).where(of_project)) or 0


def _insert(
    session: Session, archive: zipfile.ZipFile, table: Table, other_ids: dict[str, str], project_id: str, name: str
) -> int:
    """Insert the rows of a table; return their number. Raises Refused for a row of another project."""
    copied = with_json_as_text(table)
    some: list[dict[str, object]] = []
    done = 0

    def insert() -> None:
        nonlocal done
        if some:
            session.connection().execute(copied.insert(), some)
        done += len(some)
        some.clear()

    with archive.open(_entry(table)) as file:
        for line in file:
            row = row_of(copied, line.decode(), other_ids)
            if row.get("project_id", project_id) != project_id:
                raise Refused("The archive is damaged: it has rows of another project. Nothing was added.")
            some.append(row | {"name": name} if table.name == "projects" else row)
            if len(some) == _AT_ONCE:
                insert()
    insert()
    return done


def _entry(table: Table) -> str:
    return f"rows/{table.name}.jsonl"

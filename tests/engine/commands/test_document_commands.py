"""Documents from a shell: the check of what the search looks in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import delete, select
from typer.testing import CliRunner, Result

from db.tables import Document, DocumentText, Project
from engine.cli import app
from engine.documents.lists.listing import document_page
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.engine.commands.test_commands import last_line
from tests.support.factories import bill, make_document


def test_what_the_search_looks_in_is_checked_and_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["check", *words])

    workspace = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    project = create_project(workspace, "bills")
    document = make_document(workspace, project.id, [bill(1)])
    assert run().exit_code == 0 and "All states, figures and search entries are right." in run().output
    with workspace.database.engine.begin() as connection:  # past every service
        connection.execute(delete(DocumentText))
    assert document_page(workspace, project.id, query="customer").total == 0
    wrong = run("--project", "bills")
    assert wrong.exit_code == 1 and "Differing: 1 search entry. Run it again" in wrong.output
    corrected = run("--rebuild", "--json")
    assert corrected.exit_code == 0
    found = last_line(corrected)
    assert (found["documents"], found["index"]) == ([document.id], True)
    assert (found["left"]["documents"], found["left"]["index"]) == ([], True)
    assert run().exit_code == 0 and document_page(workspace, project.id, query="customer").total == 1
    workspace.close()


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_names_are_printed_under_an_ascii_locale(answered_on_file: tuple[Workspace, str], options: list[str]) -> None:
    workspace, project = answered_on_file
    with workspace.database.write() as session:
        for document in session.scalars(select(Document).where(Document.project_id == project)):
            document.name = "Zürich 領収書 \udcff.pdf".encode("utf-8", "replace").decode()
        name = session.scalar(select(Project.name).where(Project.id == project))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "GLOSSATOR_DATA_DIR": str(workspace.settings.data_dir)}
    command = [sys.executable, "-m", "engine.cli", "documents", "list", "--project", str(name), *options]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    if options:
        rows = json.loads(done.stdout.splitlines()[-1])["documents"]
        assert all(row["name"] == "Zürich 領収書 ?.pdf" for row in rows) and rows
    else:
        assert b"Z?rich ???" in done.stdout


def test_lists_are_whole_in_a_pipe_and_names_may_hold_brackets(answered_on_file: tuple[Workspace, str]) -> None:
    workspace, project = answered_on_file
    with workspace.database.write() as session:
        document = session.scalars(select(Document).where(Document.project_id == project)).first()
        assert document is not None
        document.name = f"{'Bill of the water works ' * 4}[draft].pdf"
        project_name, line = session.get_one(Project, project).name, [*document.name.split(), document.id]
    environment = {**os.environ, "GLOSSATOR_DATA_DIR": str(workspace.settings.data_dir)}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "engine.cli", "documents", "list", "--project", project_name]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert line in [printed.split()[: len(line)] for printed in done.stdout.splitlines()]


def test_a_named_pipe_in_a_folder_is_named_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "scans").mkdir()
    os.mkfifo(tmp_path / "scans" / "pipe.pdf")
    done = CliRunner().invoke(app, ["ingest", str(tmp_path / "scans"), "--json"])
    [row] = last_line(done)["files"]
    assert (row["outcome"], row["sentence"]) == ("refused", "pipe.pdf is no regular file, so it was not read.")


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_a_file_whose_name_is_no_utf8_is_read_and_shown(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfcr_\xb1\xb1\xb1"))
    folder.mkdir()
    Image.new("L", (60, 40), 200).save(tmp_path / f"page.{kind}")
    (tmp_path / f"page.{kind}").rename(folder / os.fsdecode(f"M\xe4rz.{kind}".encode("latin-1")))
    done = CliRunner().invoke(app, ["ingest", str(folder), "--json"])
    [row] = last_line(done)["files"]
    assert (row["outcome"], row["name"]) == ("new", f"M\u00e4rz.{kind}"), row
    assert row["file"].endswith(f"/f\u00fcr_\ufffd\ufffd\ufffd/M\u00e4rz.{kind}")

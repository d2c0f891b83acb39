"""Documents from a shell: the check of what the search looks in."""

from pathlib import Path

import pytest
from sqlalchemy import delete
from typer.testing import CliRunner, Result

from db.tables import DocumentText
from engine.cli import app
from engine.documents.listing import document_page
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.engine.commands.test_commands import last_line
from tests.support.factories import bill, make_document


def test_what_the_search_looks_in_is_checked_and_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, ["documents", "check", *words])

    workspace = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    project = create_project(workspace, "bills")
    document = make_document(workspace, project.id, [bill(1)])
    assert run().exit_code == 0 and "All search entries match names and words." in run().output
    with workspace.database.engine.begin() as connection:  # past every service
        connection.execute(delete(DocumentText))
    assert document_page(workspace, project.id, query="customer").total == 0
    wrong = run("--project", "bills")
    assert wrong.exit_code == 1 and "Search entries of 1 document are out of date. Run it again" in wrong.output
    corrected = run("--rebuild", "--json")
    assert corrected.exit_code == 0
    expected = {"documents": [document.id], "index": True, "left": [], "index_left": True}
    assert last_line(corrected).items() >= expected.items()
    assert run().exit_code == 0 and document_page(workspace, project.id, query="customer").total == 1
    workspace.close()

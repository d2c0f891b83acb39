"""Documents moved and copied to another project from a shell."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from engine.lifecycle import bin as lifecycle
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.engine.commands.test_commands import last_line
from tests.support.factories import bill, make_document, pages_of


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    return open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))


def send(how: str, *words: str) -> Result:
    return CliRunner().invoke(app, ["documents", how, *words])


def names_in(project: str) -> list[str]:
    listed = CliRunner().invoke(app, ["documents", "list", "--project", project, "--json"])
    return sorted(row["name"] for row in last_line(listed)["documents"])


def test_documents_are_copied_and_moved_by_name_and_stay_where_they_are_already(workspace: Workspace) -> None:
    bills = create_project(workspace, "bills")
    create_project(workspace, "letters")
    first, second = (make_document(workspace, bills.id, [bill(number)], name=f"{number}.png") for number in (1, 2))
    copied = send("copy", "1.png", "--to", "letters", "--project", "bills")
    assert copied.exit_code == 0, copied.output
    assert copied.output.rstrip().endswith("Copied 1 document to the other project.")
    assert "Snapshots, exports, trained models" in copied.output, "it says before what stays"
    assert names_in("bills") == ["1.png", "2.png"] and names_in("letters") == ["1.png"]

    moved = send("move", "1.png", second.id, "--to", "letters", "--project", "bills", "--json")
    assert moved.exit_code == 0 and last_line(moved)["status"] == "done"
    assert last_line(moved)["stays"] == ["1.png stays: the other project has the same file already."]
    assert names_in("bills") == ["1.png"] and names_in("letters") == ["1.png", "2.png"]
    assert lifecycle.count_bin(workspace, bills.id) == 1
    assert len(pages_of(workspace, first.id)) == 1
    workspace.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("3.png", "--to", "letters", "--project", "bills"), "has no document"),
        (("1.png", "--to", "drafts", "--project", "bills"), "There is no project"),
        (("1.png", "--to", "bills", "--project", "bills"), "in this project already"),
    ],
    ids=["document", "project", "same"],
)
def test_a_wrong_name_is_one_sentence_and_moves_nothing(
    words: tuple[str, ...], sentence: str, workspace: Workspace
) -> None:
    bills = create_project(workspace, "bills")
    create_project(workspace, "letters")
    make_document(workspace, bills.id, [bill(1)], name="1.png")
    refused = send("move", *words)
    assert refused.exit_code == 1 and sentence in refused.output.replace("\n", " ")
    assert names_in("bills") == ["1.png"] and names_in("letters") == []
    workspace.close()

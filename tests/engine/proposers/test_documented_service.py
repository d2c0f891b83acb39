"""The service of docs/proposers.md runs as it stands there, and its proposals arrive."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.tables import OutsideAnswer
from engine.accounts.users import ensure_local_user
from engine.proposers.proposer import WantedProposer, set_proposer
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.support.asked_models import ask_model, make_asked_project
from tests.support.factories import bill, make_document
from tests.support.repository import ROOT


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The address of the service, a process of its own that has nothing of Glossator."""
    text = (ROOT / "docs/proposers.md").read_text()
    [program] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = tmp_path / "service.py"
    path.write_text(program)
    command = [sys.executable, "-I", str(path), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


def test_the_documented_service_proposes_what_it_says(service: str, database_url: str, tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path / "data", database_url=database_url, proposer_addresses=[service], _env_file=None
    )
    workspace = open_workspace(settings)
    project = make_asked_project(workspace)
    make_document(workspace, project.id, [bill(1)])
    wanted = WantedProposer(kind="http", url=f"{service}/", model="keys")
    set_proposer(workspace, project.id, wanted, by=ensure_local_user(workspace))
    job = ask_model(workspace, project.id)
    assert (job.status, job.result["proposed"]) == ("done", 1), job.failure or job.message
    with workspace.database.read() as session:
        [answer] = session.query(OutsideAnswer).all()
    assert (answer.answer["text"], answer.confidence, answer.model) == ("11.50", 0.5, "keys")
    workspace.close()

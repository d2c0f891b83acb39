"""The application as a client sees it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from db.tables import Project, User
from engine.settings import Settings
from engine.workspace import Workspace
from tests.factories import make_project
from tests.integration.answers_named import every_answer
from tests.integration.people_made import ADDRESS, make_user


@pytest.fixture(scope="session")
def _faults_of_answers() -> Iterator[list[str]]:
    faults: list[str] = []
    with every_answer(faults):
        yield faults


@pytest.fixture(autouse=True)
def _answers_are_named(_faults_of_answers: list[str]) -> Iterator[None]:
    """Fail a test whose application answers what the OpenAPI document does not name (annotator.reference.causes)."""
    _faults_of_answers.clear()
    yield
    assert not _faults_of_answers, "\n".join(sorted(set(_faults_of_answers)))


@pytest.fixture
def application_settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings of an application in a temporary folder, on each kind of database in turn."""
    return Settings(data_dir=tmp_path / "data", database_url=database_url, poll_seconds=0.2, _env_file=None)


@pytest.fixture
def client(application_settings: Settings) -> Iterator[TestClient]:
    """A client of the whole application, its Gradio page included."""
    with TestClient(create_app(application_settings), base_url="http://127.0.0.1:7860") as client:
        yield client


@pytest.fixture
def owner(workspace: Workspace) -> User:
    """An admin of everything."""
    return make_user(workspace, "olga", "admin")


@pytest.fixture
def project(workspace: Workspace) -> Project:
    """An empty project."""
    return make_project(workspace)


@pytest.fixture
def app_client(database_url: str, tmp_path: Path) -> Iterator[TestClient]:
    """A client of an application where people log in."""
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield client

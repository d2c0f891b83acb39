"""Fixtures: the whole application as a client sees it. What takes seconds to import is imported where it is used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from db.tables import Project, User
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.accounts import ADDRESS, make_user
from tests.support.factories import make_project
from tests.support.named_answers import every_answer

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def _client_of(settings: Settings, address: str, with_page: bool) -> TestClient:
    from starlette.testclient import TestClient

    from annotator.app import create_app

    return TestClient(create_app(settings, with_page=with_page), base_url=address)


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
def with_page() -> bool:
    """Whether an application has its Gradio page, which takes a second to build; tests of it say so for themselves."""
    return False


@pytest.fixture
def client(application_settings: Settings, with_page: bool) -> Iterator[TestClient]:
    """A client of the application."""
    with _client_of(application_settings, "http://127.0.0.1:7860", with_page) as client:
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
def app_client(database_url: str, tmp_path: Path, with_page: bool) -> Iterator[TestClient]:
    """A client of an application where people log in."""
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, auth="login", _env_file=None)
    with _client_of(settings, ADDRESS, with_page) as client:
        yield client

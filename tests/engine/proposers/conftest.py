"""A server of another model, and a workspace that may send pages to it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.support.model_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as serving:
        yield serving


@pytest.fixture
def house_of_models(database_url: str, tmp_path: Path, server: ModelServer) -> Iterator[Workspace]:
    """A workspace on each kind of database in turn, whose projects may ask the server."""
    folder = tmp_path / "data"
    settings = Settings(data_dir=folder, database_url=database_url, proposer_addresses=[server.url], _env_file=None)
    opened = open_workspace(settings)
    yield opened
    opened.close()


@pytest.fixture
def hasty_house(migrated_file: Path, tmp_path: Path, server: ModelServer) -> Iterator[Workspace]:
    """The same on SQLite alone, where a request may take a second."""
    (tmp_path / "data").mkdir(exist_ok=True)
    shutil.copyfile(migrated_file, tmp_path / "data" / "glossator.db")
    settings = Settings(data_dir=tmp_path / "data", proposer_addresses=[server.url], proposer_seconds=1, _env_file=None)
    opened = open_workspace(settings)
    yield opened
    opened.close()

"""A workspace that is filled once for a module of tests and copied for each: filling takes longer than most tests."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.conftest import KINDS, fresh_database

T = TypeVar("T")


class Prepare(Protocol):
    """prepare(fill): a workspace of one's own as `fill` left it, and what `fill` returned of the first."""

    def __call__(self, fill: Callable[[Workspace], T]) -> tuple[Workspace, T]: ...


@dataclass(frozen=True)
class _Filled:
    data_dir: Path
    database: str  # of SQLite the path of its file, of PostgreSQL the name of a template
    returned: Any


@pytest.fixture(scope="session")
def _filled_workspaces() -> dict[tuple[str, Callable[..., Any]], _Filled]:
    return {}


@pytest.fixture(params=KINDS)
def prepare(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    _filled_workspaces: dict[tuple[str, Callable[..., Any]], _Filled],
) -> Iterator[Prepare]:
    """Copy a prepared workspace, on each kind of database in turn."""
    kind: str = request.param
    with ExitStack() as opened:

        def open_one(data_dir: Path, database_url: str) -> Workspace:
            return open_workspace(Settings(data_dir=data_dir, database_url=database_url, _env_file=None))

        def fill_first(fill: Callable[[Workspace], T]) -> _Filled:
            folder = tmp_path_factory.mktemp("prepared")
            if kind == "sqlite":
                shutil.copyfile(request.getfixturevalue("migrated_file"), folder / "glossator.db")
                database, url = str(folder / "glossator.db"), f"sqlite:///{folder / 'glossator.db'}"
            else:
                url = fresh_database(
                    request.getfixturevalue("postgresql_address"), request.getfixturevalue("migrated_database")
                )
                database = url.split("?")[0].rpartition("/")[2]
            workspace = open_one(folder / "data", url)
            try:
                returned = fill(workspace)
            finally:
                workspace.close()
            return _Filled(folder / "data", database, returned)

        def prepare_copy(fill: Callable[[Workspace], T]) -> tuple[Workspace, T]:
            key = (kind, fill)
            if key not in _filled_workspaces:
                _filled_workspaces[key] = fill_first(fill)
            filled = _filled_workspaces[key]
            shutil.copytree(filled.data_dir, tmp_path / "data")
            if kind == "sqlite":
                shutil.copyfile(filled.database, tmp_path / "glossator.db")
                url = f"sqlite:///{tmp_path / 'glossator.db'}"
            else:
                url = fresh_database(request.getfixturevalue("postgresql_address"), filled.database)
            workspace = open_one(tmp_path / "data", url)
            opened.callback(workspace.close)
            return workspace, filled.returned

        yield prepare_copy

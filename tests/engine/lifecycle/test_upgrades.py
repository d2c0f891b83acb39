"""Databases that earlier versions have made open in this one, with everything that they held."""

from pathlib import Path

import pytest

from db import migrate
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.support.schema_samples import SCHEMAS, known_of, unpack_schema
from tests.support.upgraded import assert_is_whole

pytestmark = pytest.mark.migrates


@pytest.mark.parametrize("schema", sorted({SCHEMAS[0], SCHEMAS[len(SCHEMAS) // 2], SCHEMAS[-1]}))
def test_a_database_of_an_earlier_version_keeps_its_rows_and_answers(
    schema: str, empty_database_url: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=empty_database_url, _env_file=None)
    unpack_schema(schema, settings)
    workspace = open_workspace(settings)
    assert migrate.current(workspace.database) == migrate.head()
    assert_is_whole(workspace, known_of(schema))
    workspace.close()

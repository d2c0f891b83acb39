"""Exports that tests of imports share."""

from pathlib import Path

import pytest

from engine.workspace import Workspace
from tests.support.imported_sets import Answered, Exported


@pytest.fixture
def exported(answered_on_file: Answered, tmp_path: Path) -> tuple[Workspace, Exported]:
    return answered_on_file[0], Exported(*answered_on_file, tmp_path)

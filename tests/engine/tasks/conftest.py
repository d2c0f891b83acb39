"""The office that tests of tasks share."""

import pytest

from engine.workspace import Workspace
from tests.support.office import Office


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)

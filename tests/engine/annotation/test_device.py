"""The annotation service answers on the device of the settings, and says so when it is not there."""

import pytest

from engine.annotation.predictors import Predictors
from engine.errors import Refused
from engine.models.registry import ensure_shipped
from engine.projects.projects import ensure_project
from engine.workspace import Workspace


def service(workspace: Workspace, device: str) -> Predictors:
    settings = workspace.settings.model_copy(update={"device": device})
    return Predictors(Workspace(settings, workspace.database, workspace.blobs))


@pytest.fixture
def project_id(sqlite_workspace: Workspace) -> str:
    ensure_shipped(sqlite_workspace)
    with sqlite_workspace.database.write() as session:
        return ensure_project(session, "devices", sqlite_workspace.settings).id


def test_questions_are_answered_on_the_device_of_the_settings(sqlite_workspace: Workspace, project_id: str) -> None:
    assert service(sqlite_workspace, "cpu").of(project_id).predictor.device.type == "cpu"


def test_a_device_that_is_not_there_is_told_to_those_who_ask(sqlite_workspace: Workspace, project_id: str) -> None:
    with pytest.raises(Refused, match="The device 'cuda:99' is not available on this machine; choose cpu or auto"):
        service(sqlite_workspace, "cuda:99").of(project_id)

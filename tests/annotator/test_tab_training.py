"""The tab Training without a browser: a retraining that does not pay is not begun, and one figure has one name."""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from db.tables import Project
from engine.jobs import job_list
from engine.settings import Settings
from engine.training.retraining.readiness import NOTHING_TO_LEARN
from tests.support.accounts import ADDRESS
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.judged_runs import add_run
from tests.support.populated_project import World
from tests.support.tab_events import event


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    application = create_app(Settings(data_dir=tmp_path_factory.mktemp("training"), auth="login", _env_file=None))
    with TestClient(application, base_url=ADDRESS) as client:
        yield World(application.state.answer_service.workspace, client)


@pytest.fixture
def project(world: World, request: pytest.FixtureRequest) -> Project:
    return make_project(world.workspace, request.node.name[:90])


def fire(world: World, project: Project, name: str, *given: Any) -> str:
    """Fire an event of the tab as the owner; return what the server says, its HTML unescaped."""
    said = event(world.people["owner"], "training", name, project.id, *given)
    return html.unescape(said.encode().decode("unicode_escape"))


def jobs(world: World, project: Project) -> list[str]:
    """Status of the retrainings of a project, newest first."""
    return [job.status for job in job_list.list_jobs(world.workspace, project.id)]


def test_nothing_to_learn_from_is_said_before_a_job_is_made(world: World, project: Project) -> None:
    assert NOTHING_TO_LEARN in fire(world, project, "ask_for_run")
    assert NOTHING_TO_LEARN in fire(world, project, "ask_anyway")
    assert jobs(world, project) == []


def test_too_few_answers_bring_a_warning_with_their_number(world: World, project: Project) -> None:
    document = make_document(world.workspace, project.id, [bill(1)])
    accept(world.workspace, document, "What is the total due?", [4])
    warned = fire(world, project, "ask_for_run")
    assert "1 accepted answer is new since the last retraining." in warned and "With fewer than 20," in warned
    assert jobs(world, project) == []
    fire(world, project, "ask_anyway")
    assert jobs(world, project) == ["waiting"]
    shown = fire(world, project, "show", False, {}, {})
    assert "Waiting for a worker." in shown and "No retraining yet." not in shown
    assert "waiting or running already" in fire(world, project, "ask_for_run")
    fire(world, project, "stop_run")
    assert jobs(world, project) == ["cancelled"]
    assert "1 of 20 newly accepted answers" in fire(world, project, "show", False, {}, {})


def test_one_figure_has_one_name_and_the_model_in_use_is_named(world: World, project: Project) -> None:
    assert "No retraining yet." in fire(world, project, "show", False, {}, {})
    add_run(world.workspace, project.id, before=0.60, after=0.59, answers=1)
    shown = fire(world, project, "show", False, {}, {})
    assert "nano in use" in shown and re.search(r"0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", shown)
    assert "1 answer" in shown and not re.search(r"\b1 answers\b", shown)
    add_run(world.workspace, project.id, before=0.60, after=0.72)
    shown = fire(world, project, "show", False, {}, {})
    assert "Model in use: <b>v2</b>" in shown and "v2 in use" in shown
    text = re.sub(r"<[^>]*>", " ", shown)
    assert not re.search(r"[Hh]oldout|acc@|\d % of \d|(?<!\d)\.\d{3}", text), text
    assert {"Held-out documents", "Generated pages"} <= set(re.findall(r"Held-out documents|Generated pages", text))

"""People change their minds while a job asks the model: they change or remove it, or wish for more."""

from collections.abc import Callable
from typing import Any

import pytest

from db.tables import OutsideReading
from engine.accounts.users import ensure_local_user
from engine.errors import Conflict
from engine.jobs import queue
from engine.proposers.jobs import check_new_documents, request_proposals
from engine.proposers.proposer import remove_proposer
from engine.proposers.wishes import MOST_WISHES
from engine.workspace import Workspace
from tests.support.asked_models import ask_model, make_asked_project, run_job, set_model
from tests.support.factories import bill, make_document
from tests.support.model_server import ModelServer


@pytest.fixture
def at_first_request(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Let something happen while the server works on its first request."""

    def set_action(action: Callable[[], Any]) -> None:
        reply = ModelServer.reply

        def act_and_reply(serving: ModelServer, path: str, body: dict[str, Any]) -> bytes:
            if len(serving.requests) == 1:
                action()
            return reply(serving, path, body)

        monkeypatch.setattr(ModelServer, "reply", act_and_reply)

    return set_action


def make_project_of_bills(workspace: Workspace, number: int) -> tuple[str, list[str]]:
    """Return the ids of a project and its documents."""
    project = make_asked_project(workspace)
    return project.id, [make_document(workspace, project.id, [bill(1)]).id for _ in range(number)]


def test_a_model_that_is_removed_is_sent_nothing_more(
    hasty_house: Workspace, server: ModelServer, at_first_request: Callable[[Callable[[], Any]], None]
) -> None:
    project_id, _ = make_project_of_bills(hasty_house, 3)
    set_model(hasty_house, project_id, server)
    by = ensure_local_user(hasty_house)
    at_first_request(lambda: remove_proposer(hasty_house, project_id, by=by))
    job = ask_model(hasty_house, project_id)
    assert (job.status, len(server.requests)) in [("failed", 1), ("cancelled", 1)]
    assert job.message in ("The project asks no other model any more.", "Cancelled.")


def test_a_job_that_waits_is_stopped_with_its_model(house_of_models: Workspace, server: ModelServer) -> None:
    project_id, _ = make_project_of_bills(house_of_models, 1)
    set_model(house_of_models, project_id, server)
    by = ensure_local_user(house_of_models)
    job = request_proposals(house_of_models, project_id, by=by.id)
    remove_proposer(house_of_models, project_id, by=by)
    assert queue.job_by_id(house_of_models, job.id).status == "cancelled"


def test_a_job_goes_on_with_changed_settings(
    hasty_house: Workspace, server: ModelServer, at_first_request: Callable[[Callable[[], Any]], None]
) -> None:
    project_id, _ = make_project_of_bills(hasty_house, 2)
    server.values = {"total": "11.50"}
    set_model(hasty_house, project_id, server, api_key="old")
    at_first_request(lambda: set_model(hasty_house, project_id, server, model="writer", api_key="new"))
    job = ask_model(hasty_house, project_id)
    assert server.keys == ["Bearer old", "Bearer new"]
    assert [request["model"] for request in server.requests] == ["reader", "writer"]
    assert job.message.startswith("reader and writer were asked about 2 documents: 2 proposals"), job.message
    ask_model(hasty_house, project_id)
    assert len(server.requests) == 3  # the first document was not yet asked about with the new settings


def test_a_key_that_is_refused_while_a_new_one_is_set_ends_nothing(hasty_house: Workspace, server: ModelServer) -> None:
    project_id, _ = make_project_of_bills(hasty_house, 1)
    set_model(hasty_house, project_id, server, api_key="old")

    class NewKeyMeanwhile(list[int | str]):
        def pop(self, at: Any = -1) -> int | str:
            set_model(hasty_house, project_id, server, api_key="new")
            return super().pop(at)

    server.faults = NewKeyMeanwhile([401])
    assert ask_model(hasty_house, project_id).status == "done"
    assert server.keys == ["Bearer old", "Bearer new"]


def test_a_running_job_takes_the_wish_of_another_person(
    house_of_models: Workspace, server: ModelServer, at_first_request: Callable[[Callable[[], Any]], None]
) -> None:
    workspace, wished = house_of_models, []
    project_id, [first, second] = make_project_of_bills(workspace, 2)
    by = ensure_local_user(workspace).id
    set_model(workspace, project_id, server)

    def wish() -> None:
        for again in (False, True):
            wished.append(request_proposals(workspace, project_id, documents=[second], again=again, by=by).id)

    at_first_request(wish)
    job = ask_model(workspace, project_id, documents=[first])
    assert (job.status, job.result["documents"], len(server.requests)) == ("done", 2, 2), job.message
    assert wished == [job.id, job.id]
    with workspace.database.read() as session:
        assert session.get_one(OutsideReading, second).failure == ""
    assert request_proposals(workspace, project_id, by=by).id != job.id


def test_what_was_asked_already_is_asked_again_by_an_open_job(hasty_house: Workspace, server: ModelServer) -> None:
    project_id, [_, second] = make_project_of_bills(hasty_house, 2)
    set_model(hasty_house, project_id, server)
    ask_model(hasty_house, project_id)
    by = ensure_local_user(hasty_house).id
    job = request_proposals(hasty_house, project_id, by=by)
    assert request_proposals(hasty_house, project_id, documents=[second], again=True, by=by).id == job.id
    assert run_job(hasty_house, job).result["documents"] == 1


def test_a_job_that_nobody_asked_for_takes_the_wish_of_a_person(hasty_house: Workspace, server: ModelServer) -> None:
    project_id, [before] = make_project_of_bills(hasty_house, 1)
    set_model(hasty_house, project_id, server, automatic=True)
    make_document(hasty_house, project_id, [bill(2)])
    [job] = check_new_documents(hasty_house)
    by = ensure_local_user(hasty_house).id
    taken = request_proposals(hasty_house, project_id, documents=[before], by=by)
    assert (taken.id, taken.created_by) == (job.id, by)
    assert run_job(hasty_house, job).result["documents"] == 2
    assert check_new_documents(hasty_house) == []


def test_a_job_that_cannot_take_a_wish_says_so(hasty_house: Workspace, server: ModelServer) -> None:
    project_id, documents = make_project_of_bills(hasty_house, MOST_WISHES + 1)
    set_model(hasty_house, project_id, server)
    by = ensure_local_user(hasty_house).id
    job = request_proposals(hasty_house, project_id, by=by)
    for document in 2 * documents[:-1]:
        request_proposals(hasty_house, project_id, documents=[document], by=by)
    with pytest.raises(Conflict, match="20 further requests"):
        request_proposals(hasty_house, project_id, documents=documents[-1:], by=by)
    queue.lease(hasty_house, "a worker", ["propose"], job_id=job.id)
    queue.cancel(hasty_house, job.id, by=by)
    with pytest.raises(Conflict, match="is being stopped"):
        request_proposals(hasty_house, project_id, by=by)

"""A model of others at a real server is asked about documents, and its answers become proposals."""

import logging
import threading
from typing import Any

import pytest
from sqlalchemy import select

from db.tables import Job, OutsideAnswer, OutsideModel, OutsideReading, Question
from engine.accounts.users import ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.annotation.proposal import newest_proposal
from engine.errors import Conflict, NotFound, Refused
from engine.form.asking import ask_fields
from engine.jobs import queue
from engine.lifecycle import bin
from engine.proposers import ask as asking
from engine.proposers.jobs import check_new_documents, request_proposals
from engine.proposers.proposer import PROMPT, WantedProposer, proposer_state, set_proposer
from engine.workspace import Workspace
from tests.support.asked_models import ask_model, make_asked_project, run_job, set_model
from tests.support.factories import accept, bill, line, make_document
from tests.support.model_server import ModelServer
from tests.support.waiting import wait_until


def proposals(workspace: Workspace, document_id: str) -> dict[str, str]:
    """Return the texts that wait for people, by question."""
    chosen = select(Question.text, OutsideAnswer.answer).join(Question, Question.id == OutsideAnswer.question_id)
    with workspace.database.read() as session:
        rows = session.execute(chosen.where(OutsideAnswer.document_id == document_id))
        return {question: answer["text"] for question, answer in rows}


def test_printed_texts_become_proposals_with_model_and_prompt(house_of_models: Workspace, server: ModelServer) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    second = [*bill(2), *line("Carried over: 11.50", 20, 140)]
    document = make_document(workspace, project.id, [bill(1), second])
    server.values = {"number": "B1001", "total": 11.5}
    set_model(workspace, project.id, server, prompt="Copy what is printed.", api_key="sesame")
    job = ask_model(workspace, project.id)
    assert (job.status, job.result["proposed"], job.result["tokens"]) == ("done", 2, 1025), job.message
    assert proposals(workspace, document.id) == {"What is the bill number?": "B1001", "What is the total due?": "11.50"}
    [request] = server.requests
    assert (server.paths, server.keys) == (["/v1/chat/completions"], ["Bearer sesame"])
    assert request["messages"][0] == {"role": "system", "content": "Copy what is printed."}
    schema = request["response_format"]["json_schema"]
    assert schema["strict"] and schema["schema"]["required"] == ["number", "total"]  # no text says a signature
    assert schema["schema"]["properties"]["total"] == {
        "type": ["string", "null"],
        "description": "What is the total due?\nWithout the currency.",
    }
    assert [picture.size for picture in server.pictures()] == [(400, 300), (400, 300)]
    [used] = proposer_state(workspace, project.id).models
    assert (used.name, used.version, used.prompt) == ("reader", "settings 1", "Copy what is printed.")
    assert (used.requests, used.tokens_in, used.tokens_out) == (1, 1000, 25) and used.milliseconds > 0


def test_a_text_that_no_page_prints_makes_no_proposal(house_of_models: Workspace, server: ModelServer) -> None:
    project = make_asked_project(house_of_models)
    document = make_document(house_of_models, project.id, [bill(1)])
    server.values = {"number": "B2002", "total": None}
    set_model(house_of_models, project.id, server)
    job = ask_model(house_of_models, project.id)
    assert (job.status, job.result["proposed"], job.result["not_found"]) == ("done", 0, 1)
    assert proposals(house_of_models, document.id) == {}


def test_odd_values_of_a_model_do_no_harm(hasty_house: Workspace, server: ModelServer) -> None:
    project = make_asked_project(hasty_house)
    odd: list[Any] = ["\ud800\x00", "x" * 5000, 1e400, True, {"total": 1}, [[], [None, "B1001"]], ["B" * 3000, "B1001"]]
    set_model(hasty_house, project.id, server)
    for value in odd:
        make_document(hasty_house, project.id, [bill(1)])
        server.values = {"number": value, "total": value}
        job = ask_model(hasty_house, project.id)
        assert job.status == "done", (value, job.failure)
        assert job.result["proposed"] == (2 if value is odd[5] else 0)


def test_a_service_marks_places_and_names_its_version(house_of_models: Workspace, server: ModelServer) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    server.version = "build 5"
    server.values = {
        "total": {"text": "11.50", "page": 1, "confidence": 0.25},
        "signed": {"marks": [{"box": [20, 200, 120, 240]}], "page": 1},
    }
    set_model(workspace, project.id, server, kind="http")
    assert ask_model(workspace, project.id).result["proposed"] == 2
    [request] = server.requests
    assert server.paths == ["/propose"] and server.keys == [None]
    assert [part["name"] for part in request["fields"]] == ["number", "total", "signed"]
    assert (request["protocol"], request["model"], request["prompt"]) == (1, "reader", PROMPT)
    assert request["pages"][0]["words"][4] == {"text": "11.50", "box": [108, 60, 148, 74]}
    with workspace.database.read() as session:
        stored = session.scalars(select(OutsideAnswer).where(OutsideAnswer.document_id == document.id)).all()
        [model] = session.scalars(select(OutsideModel)).all()
    assert (model.version, model.tokens_in) == ("settings 1, build 5", 300)
    assert {answer.outside_model_id for answer in stored} == {model.id}
    assert {answer.answer["proposer"] for answer in stored} == {"reader settings 1, build 5"}
    assert sorted(answer.confidence for answer in stored) == [0.25, 1.0]


def test_pages_go_out_a_few_at_a_time_and_what_is_answered_is_not_asked_again(
    house_of_models: Workspace, server: ModelServer
) -> None:
    project = make_asked_project(house_of_models)
    pages = [bill(1), *([line("Nothing here.")] * (asking.PAGES_AT_ONCE - 1)), bill(2), bill(3)]
    document = make_document(house_of_models, project.id, pages)
    accept(house_of_models, document, "What is the total due?", [4])
    server.values = {"number": "not printed"}
    set_model(house_of_models, project.id, server)
    ask_model(house_of_models, project.id)
    asked = [request["response_format"]["json_schema"]["schema"]["required"] for request in server.requests]
    assert asked == [["number"], ["number"]]  # a person has answered the total
    assert [len(server.pictures(at)) for at in (0, 1)] == [asking.PAGES_AT_ONCE, 2]


@pytest.mark.parametrize(
    ("kind", "fault", "sentence"),
    [
        ("openai", 500, "The model's server answered with status 500."),
        ("openai", "hang up", "The model's server ended the connection without an answer."),
        ("openai", "hang", "The model's server did not answer in time."),
        ("openai", "drip", "The model's server did not answer in time."),
        ("openai", "large", "The model's server sent an answer of more than 2,000,000 bytes."),
        ("openai", "no json", "The answer of the model's server is not JSON."),
        ("openai", "deep", "The answer of the model's server is not JSON."),
        ("openai", "a list", "The answer of the model's server is not a JSON object."),
        ("openai", "no choice", "The answer of the model's server has no choices[0].message."),
        ("openai", "prose", "The text of the model is not JSON."),
        ("openai", "refusal", "The model refused to answer."),
        ("openai", "cut off", "The model's answer was cut off after 4,096 tokens."),
        ("http", "nothing", "The answer of the service is wrong at predictions: Field required."),
        ("http", "other field", "Prediction 1 of the service names no field that it was asked."),
        ("http", "other page", "Prediction 1 of the service names page 9, which it was not sent."),
        ("http", "no marks", "The model's answer cannot be used. Prediction 1 has a mark outside its page"),
    ],
)
def test_what_cannot_be_used_fails_in_a_sentence(
    hasty_house: Workspace, server: ModelServer, kind: str, fault: int | str, sentence: str
) -> None:
    project = make_asked_project(hasty_house)
    document = make_document(hasty_house, project.id, [bill(1)])
    server.values = {"total": "11.50" if kind == "openai" else {"text": "11.50"}}
    server.faults = [fault]
    set_model(hasty_house, project.id, server, kind=kind)
    job = ask_model(hasty_house, project.id)
    assert job.status == "waiting" and job.failure.startswith(sentence), job.failure
    assert proposals(hasty_house, document.id) == {}
    again = run_job(hasty_house, _due(hasty_house, job.id))  # the server is right again
    assert (again.status, again.result["proposed"]) == ("done", 1)


def _due(workspace: Workspace, job_id: str) -> Job:
    with workspace.database.write() as session:
        job = session.get_one(Job, job_id)
        job.run_after = job.created_at
        return job


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (302, "The model's server sent a redirect (status 302), which is not followed."),
        (401, "The model's server refused the key (status 401). Set another one."),
        (404, "The model's server knows no such address or model (status 404)."),
    ],
)
def test_a_server_that_refuses_everything_is_asked_once(
    hasty_house: Workspace, server: ModelServer, status: int, sentence: str
) -> None:
    project = make_asked_project(hasty_house)
    for number in (1, 2):
        make_document(hasty_house, project.id, [bill(number)])
    server.faults = [status]
    set_model(hasty_house, project.id, server)
    job = ask_model(hasty_house, project.id)
    assert (job.status, job.message, len(server.requests)) == ("failed", sentence, 1)


def test_a_document_that_fails_does_not_keep_the_others_waiting(hasty_house: Workspace, server: ModelServer) -> None:
    project = make_asked_project(hasty_house)
    documents = [make_document(hasty_house, project.id, [bill(1)]) for _ in range(3)]
    server.values, server.faults = {"total": "11.50"}, ["prose", 500]
    set_model(hasty_house, project.id, server)
    job = ask_model(hasty_house, project.id)
    assert (job.status, job.result["documents"], job.result["failed"]) == ("done", 1, 2)
    assert job.message.endswith("2 documents failed: The text of the model is not JSON.")
    with hasty_house.database.read() as session:
        failures = [session.get_one(OutsideReading, document.id).failure for document in documents]
    assert failures == ["The text of the model is not JSON.", "The model's server answered with status 500.", ""]
    assert ask_model(hasty_house, project.id).result["documents"] == 2  # those that failed alone
    assert len(server.requests) == 5


def test_several_failures_in_a_row_end_the_attempt(hasty_house: Workspace, server: ModelServer) -> None:
    project = make_asked_project(hasty_house)
    for number in range(6):
        make_document(hasty_house, project.id, [bill(number)])
    server.values, server.faults = {"total": "11.50"}, ["", 503, 503, 503]
    set_model(hasty_house, project.id, server)
    job = ask_model(hasty_house, project.id)
    assert (job.status, job.failure) == ("waiting", "The model's server answered with status 503.")
    again = run_job(hasty_house, _due(hasty_house, job.id))
    assert (again.status, again.result["documents"], len(server.requests)) == ("done", 5, 9)


def test_a_person_stops_a_job_while_the_server_hangs(house_of_models: Workspace, server: ModelServer) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    make_document(workspace, project.id, [bill(1)])
    server.faults = ["hang"]
    set_model(workspace, project.id, server)
    by = ensure_local_user(workspace).id
    job = request_proposals(workspace, project.id, by=by)
    running = threading.Thread(target=run_job, args=(workspace, job))
    running.start()
    wait_until(lambda: server.requests)
    queue.cancel(workspace, job.id, by=by)
    running.join(60)
    assert queue.job_by_id(workspace, job.id).status == "cancelled"


def test_only_named_servers_are_asked_also_after_the_list_has_changed(
    house_of_models: Workspace, server: ModelServer
) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    for url in (
        "http://127.0.0.1:1/v1",
        server.url.replace("127.0.0.1", "localhost"),
        server.url.replace("http", "https"),
        f"{server.url}@example.org/",
        f"http://user@{server.url.removeprefix('http://')}/v1",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
    ):
        wanted = WantedProposer(kind="openai", url=url, model="reader")
        with pytest.raises(Refused, match=r"may not be sent|not a web address"):
            set_proposer(workspace, project.id, wanted, by=ensure_local_user(workspace))
    with pytest.raises(Conflict, match="asks no other model"):
        request_proposals(workspace, project.id, by=ensure_local_user(workspace).id)
    set_model(workspace, project.id, server)
    job = request_proposals(workspace, project.id, documents=[document.id], by=ensure_local_user(workspace).id)
    workspace.settings.proposer_addresses.clear()
    assert run_job(workspace, job).message.startswith(f"Pages may not be sent to {server.url}.")
    assert not server.requests


def test_the_key_is_for_one_server_and_stands_in_no_log(
    house_of_models: Workspace, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    workspace, key = house_of_models, "sk-7d1f-open-sesame"
    caplog.set_level(logging.DEBUG)
    project = make_asked_project(workspace)
    make_document(workspace, project.id, [bill(1)])
    workspace.settings.proposer_addresses.append("http://127.0.0.1:9")
    assert set_model(workspace, project.id, server, api_key=key).has_key
    assert set_model(workspace, project.id, server, model="another").has_key  # the same server
    server.faults = ["prose"]
    job = ask_model(workspace, project.id)
    assert server.keys == [f"Bearer {key}"]
    shown = [proposer_state(workspace, project.id).model_dump_json(), job.failure, caplog.text]
    assert not any(key in text for text in shown)
    other = WantedProposer(kind="openai", url="http://127.0.0.1:9/v1", model="reader")
    assert not set_proposer(workspace, project.id, other, by=ensure_local_user(workspace)).has_key


def test_other_settings_or_fields_ask_again_and_the_same_do_not(hasty_house: Workspace, server: ModelServer) -> None:
    project = make_asked_project(hasty_house)
    make_document(hasty_house, project.id, [bill(1)])
    server.values = {"total": "11.50"}
    assert set_model(hasty_house, project.id, server).number == 1
    ask_model(hasty_house, project.id)
    assert set_model(hasty_house, project.id, server, alone=True).number == 1
    assert ask_model(hasty_house, project.id).message == "There is no document to ask about."
    assert ask_model(hasty_house, project.id, again=True).result["documents"] == 1
    assert set_model(hasty_house, project.id, server, prompt="Read well.").number == 2
    assert ask_model(hasty_house, project.id).result["documents"] == 1
    versions = [model.version for model in proposer_state(hasty_house, project.id).models]
    assert versions == ["settings 2", "settings 1"]


def test_alone_it_leaves_the_own_model_out(house_of_models: Workspace, server: ModelServer) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    server.values = {"total": "11.50"}
    set_model(workspace, project.id, server, alone=True)
    ask_model(workspace, project.id)
    service, user = AnswerService(workspace), ensure_local_user(workspace)
    total, _ = service.ask(document.id, "What is the total due?", None, user.id)
    other, _ = service.ask(document.id, "Who is the customer?", None, user.id)
    ask_fields(service, document.id, user.id)
    with workspace.database.read() as session:
        proposed = newest_proposal(session, total)
        assert proposed is not None and proposed.answer["proposer"] == "reader settings 1"
        assert newest_proposal(session, other) is None
    assert not service.predictors.is_ready  # its network was not even loaded


def test_new_documents_are_asked_about_by_themselves_each_once(house_of_models: Workspace, server: ModelServer) -> None:
    workspace = house_of_models
    project = make_asked_project(workspace)
    make_document(workspace, project.id, [bill(1)])  # before it was wanted
    server.values, server.faults = {"total": "12.50"}, ["", "prose"]
    set_model(workspace, project.id, server, automatic=True)
    make_document(workspace, project.id, [bill(2)])
    [job] = check_new_documents(workspace)
    assert check_new_documents(workspace) == []  # it waits already
    assert run_job(workspace, job).result["proposed"] == 1
    make_document(workspace, project.id, [bill(3)])
    [job] = check_new_documents(workspace)
    assert run_job(workspace, job).failure == "The text of the model is not JSON."
    number = len(server.requests)
    assert check_new_documents(workspace) == []  # what failed by its own fault is left to people
    assert len(server.requests) == number


def test_a_document_in_the_bin_is_not_sent(house_of_models: Workspace, server: ModelServer) -> None:
    workspace, by = house_of_models, ensure_local_user(house_of_models).id
    project = make_asked_project(workspace)
    documents = [make_document(workspace, project.id, [bill(number)]) for number in (1, 2)]
    set_model(workspace, project.id, server)
    job = request_proposals(workspace, project.id, documents=[document.id for document in documents], by=by)
    bin.remove(workspace, project.id, [documents[0].id], by)
    assert run_job(workspace, job).result["documents"] == 1
    with pytest.raises(NotFound):  # removed after the job has listed it
        asking.ask_document(workspace, project.id, documents[0].id, lambda: None)
    assert len(server.requests) == 1

"""The description of the REST interface: complete, true, and readable without a network."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import TypeAdapter
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.exception_handlers import status_and_sentence
from annotator.reference.causes import CAUSES, FAILURES, OPEN
from annotator.reference.examples import Examples, NoSample
from db.blobs import BlobMissing
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany
from engine.settings import Settings

HEALTH = ("GET /api/health", "GET /api/health/ready")  # whose 503 is an answer of their own


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The application with an empty database; the description does not depend on what it holds."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("reference"), _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:7860") as client:
        yield client


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    return dict(client.get("/api/openapi.json").json())


def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, several in document["paths"].items()
        for method, operation in several.items()
    ]


def test_every_field_has_a_sample_so_that_every_route_has_examples(document: dict[str, Any]) -> None:
    """What is missing belongs into annotator/reference/samples.py, or into Field(examples=[...])."""
    examples, missing = Examples(document["components"]["schemas"]), set()
    for name, schema in document["components"]["schemas"].items():
        for field, each in schema.get("properties", {}).items():
            try:
                examples.of(each, field, name)
            except NoSample as error:
                missing.add(str(error))
    twice = [name for name in document["components"]["schemas"] if "__" in name and not name.startswith("Body_")]
    assert twice == [], "two models have the same name"
    assert missing - {"Problem.errors", "Problem.current", "errors.where", "errors.what"} == set()


def test_every_route_has_a_description_and_examples_of_request_and_response(document: dict[str, Any]) -> None:
    tags = {tag["name"]: tag.get("description") for tag in document["tags"]}
    for name, operation in operations(document):
        assert operation["summary"] and operation["description"].strip(), name
        assert not operation["summary"].endswith(".") and "\n" not in operation["summary"], name
        assert [tags[tag] for tag in operation["tags"]] != [None], f"{name}: its tag has no description"
        for parameter in operation.get("parameters", []):
            assert parameter["description"], f"{name}: what is {parameter['name']}? (annotator/reference/document.py)"
        body = operation.get("requestBody")
        if body:
            assert body["description"], name
            assert all("example" in content or "examples" in content for content in body["content"].values()), name
        good = [(status, answer) for status, answer in operation["responses"].items() if status.startswith("2")]
        assert good, name
        for status, answer in good:
            assert answer["description"] not in ("", "Successful Response"), name
            assert status == "204" or answer["content"], name
            for kind, content in answer.get("content", {}).items():
                assert kind != "application/json" or "example" in content or "examples" in content, (name, status)


def test_failures_are_described_once_and_named_by_every_route(document: dict[str, Any]) -> None:
    shared = document["components"]["responses"]
    assert set(shared) == {name for name, _, _ in FAILURES.values()}
    for name, operation in operations(document):
        failures = {status for status in operation["responses"] if status[0] in "45"}
        shown = [operation["responses"][status] for status in failures]
        assert all("$ref" in each and set(each) <= {"$ref", "description"} for each in shown) or name in HEALTH, name
        method, path = name.split(" ")
        assert "default" not in operation["responses"], f"{name} hides its failures"
        assert "421" in failures and ("401" in failures or path in OPEN), name
        assert {"403", "507"} <= failures or method == "GET", name
        assert "404" in failures or "{" not in path, name
    assert "409" in document["paths"]["/api/annotations/{annotation_id}/revisions"]["put"]["responses"]
    text = json.dumps(document)
    assert "HTTPValidationError" not in text
    for reference in re.findall(r'"#/([^"]+)"', text):
        found: Any = document
        for part in reference.split("/"):
            found = found[part]


def test_what_only_some_routes_answer_has_its_cause_beside_it(document: dict[str, Any]) -> None:
    assert CAUSES.keys() <= dict(operations(document)).keys(), "a route that is no more"
    for name, operation in operations(document):
        for status in {"409", "429", "500"} & operation["responses"].keys():
            assert operation["responses"][status]["description"].endswith("."), (name, status)
    shown = document["paths"]["/api/jobs/{job_id}/cancel"]["post"]["responses"]
    assert shown["409"]["description"] == "The job has ended."
    assert shown["403"]["description"].startswith("Only admins of the project can do this. Or: ")


def test_every_status_of_a_failure_is_described() -> None:
    errors = [NotFound(""), Forbidden(""), Conflict(""), TooMany("", 1), Refused(""), BlobMissing(""), NoConnection()]
    for error in errors:
        found = status_and_sentence(error)
        assert found is not None and str(found[0]) in FAILURES, error


@pytest.mark.parametrize("path", ["/api/projects", "/api/me/preferences", "/api/health"])
def test_a_method_that_is_not_there_is_told_all_that_are(
    client: TestClient, document: dict[str, Any], path: str
) -> None:
    answer = client.request("TRACE", path)
    assert answer.status_code == 405
    assert answer.headers["allow"].lower().split(", ") == sorted(document["paths"][path])
    assert answer.json()["detail"].endswith(f"Use {answer.headers['allow']}.")


def test_examples_are_what_the_routes_take_and_give(client: TestClient, document: dict[str, Any]) -> None:
    app: Any = client.app
    checked = 0
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if not isinstance(route, APIRoute) or context.path not in document["paths"]:
            continue
        operation = document["paths"][context.path][next(iter(route.methods or ())).lower()]
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content:
            [body] = route.dependant.body_params
            assert body.field_info.annotation is not None
            TypeAdapter(body.field_info.annotation).validate_python(content["example"])
            checked += 1
        answer = operation["responses"].get(str(route.status_code or 200), {}).get("content", {})
        if route.response_model is not None and "example" in answer.get("application/json", {}):
            TypeAdapter(route.response_model).validate_json(json.dumps(answer["application/json"]["example"]))
            checked += 1
    assert checked > 25


def test_the_example_of_a_new_project_makes_one(client: TestClient, document: dict[str, Any]) -> None:
    example = document["paths"]["/api/projects"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert client.post("/api/projects", json=example).status_code == 201
    again = client.post("/api/projects", json=example)
    assert again.status_code == 409 and set(again.json()) == {"detail"}


class Links(HTMLParser):
    """Everything in a page that a browser would fetch or run, and the anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0
        self.anchors: set[str] = set()
        self.followed: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.scripts += tag == "script" or any(name.startswith("on") for name, _ in attributes)
        self.anchors.add(named.get("id") or "")
        if tag == "a":
            self.followed.append(named["href"] or "")
        elif "src" in named or "href" in named:
            self.fetched.append(named.get("src") or named.get("href") or "")


def test_the_page_needs_no_script_and_nothing_from_another_machine(client: TestClient) -> None:
    answer = client.get("/api/docs")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    found = Links()
    found.feed(answer.text)
    assert found.scripts == 0
    assert found.fetched == ["/static/icon.svg"] and client.get("/static/icon.svg").status_code == 200
    assert "@import" not in answer.text and not re.search(r"url\(", answer.text)
    for target in found.followed:
        assert target[1:] in found.anchors if target[0] == "#" else target in ("/api/openapi.json", "/app/"), target


def test_the_page_shows_every_route_with_its_example_as_a_command(client: TestClient, document: dict[str, Any]) -> None:
    text = client.get("/api/docs").text
    for name, operation in operations(document):
        assert f'id="{operation["operationId"]}"' in text, name
    assert text.count("curl -H") == len(operations(document))
    assert "Bearer $TOKEN" in text and "What is the total due?" in text

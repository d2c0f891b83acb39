"""The client's schemas are those of the server's OpenAPI document, and read what servers of other versions say."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from engine.client import documents, people, schemas, transport, work
from engine.client.transport import ServerSaid, build_request, plain
from tests import client_schemas


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return client_schemas.document()


def schema(name: str) -> type[BaseModel]:
    return getattr(schemas, client_schemas.NAMES.get(name, name))


def test_schemas_follow_the_openapi_document(document: dict[str, Any]) -> None:
    written = client_schemas.SCHEMAS.read_text("utf-8")
    assert client_schemas.source(document) == written, "the REST interface has changed; run: make client"


def test_schemas_read_the_examples_of_the_document(document: dict[str, Any]) -> None:
    read = 0
    for path, operations in document["paths"].items():
        if path.startswith(client_schemas.HEALTH):
            continue
        for operation in operations.values():
            good = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
            content = good[0].get("content", {}).get("application/json", {})
            answer, example = content.get("schema", {}), content.get("example")
            if answer.get("type") == "array":
                answer, [example, *_] = answer["items"], example
            name = answer.get("$ref", "").rsplit("/", 1)[-1]
            if name and name not in client_schemas.DICTIONARIES:
                found = schema(name).model_validate(example).model_dump(mode="json")
                assert set(found) >= set(example), (path, "a field is not read")
                read += 1
    assert read > 50


def test_requests_of_the_document_are_checked_and_sent_unchanged(document: dict[str, Any]) -> None:
    bodies = {
        content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]: content["application/json"]["example"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "$ref"
        in (content := operation.get("requestBody", {}).get("content", {}))
        .get("application/json", {})
        .get("schema", {})
    }
    for name in client_schemas.REQUESTS:
        sent = build_request(schema(name), **bodies[name])
        assert {field: sent[field] for field in bodies[name]} == bodies[name], name


def test_unknown_fields_of_a_newer_server_are_ignored() -> None:
    patch = {"box": [0, 0, 2, 1], "counts": [0, 2], "new": 1}
    mark = schemas.PageMark.model_validate({"words": [1], "mask": patch, "new": 1})
    assert mark.mask.box == (0, 0, 2, 1) and not hasattr(mark, "new")


def test_answers_may_exceed_the_limits_that_this_version_knows(document: dict[str, Any]) -> None:
    counts = document["components"]["schemas"]["Patch"]["properties"]["counts"]
    assert counts["maxItems"] and "max_length" not in str(schemas.Patch.model_fields["counts"])


def test_a_misspelt_field_of_a_request_is_refused_before_it_is_sent() -> None:
    edits = [{"op": "clear", "page": "a", "pages": "b"}]
    with pytest.raises(ServerSaid, match=r"^edits\.0\.clear\.pages: ") as refused:
        build_request(schemas.RevisionRequest, idempotency_key="a" * 8, base=0, edits=edits)
    assert refused.value.status == 422
    with pytest.raises(ValidationError):
        schemas.EditClear.model_validate(edits[0])


def test_edits_may_be_models_or_dictionaries() -> None:
    edit = schemas.EditClear(op="clear", page="a")
    assert plain([edit, edit.model_dump()]) == [{"op": "clear", "page": "a", "place": 0}] * 2


def test_limits_of_the_client_are_those_of_the_server(document: dict[str, Any]) -> None:
    in_pages = {}
    for path, item in document["paths"].items():
        given = {each["name"]: each["schema"] for each in item.get("get", {}).get("parameters", ())}
        if "cursor" in given:
            in_pages[path] = given["limit"]["maximum"]
    trails = {path for path in in_pages if path.endswith("/audit")}
    assert len(trails) == 2 and {in_pages[path] for path in trails} == {people.AUDIT_PAGE}
    tables = {path for path in in_pages if path.endswith("/values")}
    assert len(tables) == 1 and {in_pages[path] for path in tables} == {work.TABLE_PAGE}
    assert len(in_pages) > 15 and {in_pages[path] for path in in_pages.keys() - trails - tables} == {transport.PAGE}
    upload = document["paths"]["/api/projects/{project_id}/documents"]["post"]["requestBody"]["content"]
    assert f"at most {documents.MOST_FILES}" in str(
        document["components"]["schemas"][upload["multipart/form-data"]["schema"]["$ref"].rsplit("/", 1)[1]]
    )

"""Removing documents over REST: what a browser and a program see."""

from starlette.testclient import TestClient

from engine.followers import catch_up
from tests.annotator.test_rest import pdf, save, upload
from tests.support.accounts import here

IN_BIN = "This document was removed and lies in the bin of its project. An admin of the project can restore it."


def test_a_document_is_removed_with_its_answers_and_comes_back_as_it_was(client: TestClient) -> None:
    taken = upload(client, pdf("Invoice date: 14 March 2026", "Total due: 2,987.88")).json()["documents"][0]
    of_document = f"/api/documents/{taken['document_id']}"
    asked = client.post(f"{of_document}/ask", json={"question": "What is the total due?"}).json()
    page = client.get(of_document).json()["pages"][0]["id"]
    edit = {"op": "words", "page": page, "add": [7]}
    assert save(client, asked, 0, [edit], action="accept").json()["revision"] == 1
    project = f"/api/projects/{client.get('/api/projects').json()[0]['id']}"
    before = client.get(of_document).json()
    chosen = {"documents": [taken["document_id"]]}

    assert client.post(f"{project}/documents/remove", json=chosen).json() == chosen
    assert client.post(f"{project}/documents/remove", json=chosen).json() == {"documents": []}
    assert catch_up(here(client), patience=30)
    assert client.get(f"{project}/documents").json() == []
    assert client.get(f"{project}/questions").json()["recent"] == []
    answer = f"/api/annotations/{asked['id']}"
    for refused in (
        client.get(of_document),
        client.get(f"/api/pages/{page}/words"),
        client.get(f"/api/pages/{page}/image"),
        client.get(answer),
        client.post(f"{of_document}/ask", json={"question": "What is the date?"}),
        save(client, asked, 1, [], action="reopen"),
    ):
        assert (refused.status_code, refused.json()) == (404, {"detail": IN_BIN}), refused.request.url
    listed = client.get(f"{project}/bin")
    [line] = listed.json()
    assert (line["id"], line["name"], line["pages"], line["answers"]) == (taken["document_id"], taken["name"], 1, 1)
    assert listed.headers["x-total-count"] == "1"

    assert client.post(f"{project}/bin/restore", json=chosen).json() == chosen
    assert client.get(f"{project}/bin").json() == []
    assert catch_up(here(client), patience=30)
    assert client.get(of_document).json() == before
    assert save(client, asked, 1, [], action="reopen").json()["revision"] == 2


def test_a_document_is_downloaded_as_a_file_of_its_name_that_no_browser_opens(client: TestClient) -> None:
    content = pdf("Invoice date: 14 March 2026")
    taken = upload(client, content).json()["documents"][0]
    answer = client.get(f"/api/documents/{taken['document_id']}/original")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/octet-stream")
    assert answer.headers["content-disposition"] == f'attachment; filename="{taken["name"]}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == content

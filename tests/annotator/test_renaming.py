"""Other names of documents and projects, and archived projects, over REST."""

from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from annotator.access import OWNER, roles_of
from engine.followers import catch_up
from tests.annotator.test_rest import pdf, save, upload
from tests.support.accounts import here
from tests.support.waiting import wait_until

ARCHIVED = "This project is archived: nothing in it can be changed. An admin of it can unarchive it."


def test_lists_searches_and_the_audit_trail_follow_the_new_name_of_a_document(client: TestClient) -> None:
    taken = upload(client, pdf("Invoice date: 14 March 2026")).json()["documents"][0]
    project = f"/api/projects/{client.get('/api/projects').json()[0]['id']}"
    document, old = f"/api/documents/{taken['document_id']}", taken["name"]

    renamed = client.patch(document, json={"name": "Rechnung März.pdf", "before": old})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Rechnung März.pdf")
    assert catch_up(here(client), patience=30)
    assert [line["name"] for line in client.get(f"{project}/documents", params={"q": "märz"}).json()] == [
        "Rechnung März.pdf"
    ]
    assert client.get(f"{project}/documents", params={"q": old}).json() == []
    assert client.get(f"{document}/original").headers["content-disposition"].endswith("M%C3%A4rz.pdf")
    [entry] = [line for line in client.get("/api/audit").json() if line["action"] == "documents.rename"]
    assert entry["what"] == f"renamed the document {old} to Rechnung März.pdf"

    late = client.patch(document, json={"name": "mine.pdf", "before": old})
    sentence = f"Somebody renamed {old} to Rechnung März.pdf meanwhile. Your name was not stored."
    assert (late.status_code, late.json()) == (409, {"detail": sentence})
    for wrong in ("a/b.pdf", " ", "x" * 201, "ü" * 101, "a\u202eb"):
        assert client.patch(document, json={"name": wrong}).status_code == 422, wrong
    assert client.get(document).json()["name"] == "Rechnung März.pdf"


def test_a_project_is_renamed_unless_the_name_is_taken_or_another_one_by_now(client: TestClient) -> None:
    first, second = (client.post("/api/projects", json={"name": name}).json() for name in ("bills", "letters"))
    path = f"/api/projects/{first['id']}"
    assert client.patch(path, json={"name": "Bills 2026", "before": "bills"}).json()["name"] == "Bills 2026"
    taken = client.patch(f"/api/projects/{second['id']}", json={"name": "Bills 2026"})
    assert taken.json() == {"detail": "The project name 'Bills 2026' is taken. Choose another one."}
    late = client.patch(path, json={"name": "mine", "before": "bills"})
    assert (taken.status_code, late.status_code) == (409, 409)
    assert {"Bills 2026", "letters"} <= {each["name"] for each in client.get("/api/projects").json()}


def test_a_document_goes_to_another_project_and_comes_back(client: TestClient) -> None:
    taken = upload(client, pdf("Invoice date: 14 March 2026", "Total due: 2,987.88")).json()["documents"][0]
    source = client.get("/api/projects").json()[0]["id"]
    target = client.post("/api/projects", json={"name": "letters"}).json()["id"]
    document = f"/api/documents/{taken['document_id']}"
    asked = client.post(f"{document}/ask", json={"question": "What is the total due?"}).json()
    page = client.get(document).json()["pages"][0]["id"]
    edit = {"op": "words", "page": page, "add": [7]}
    assert save(client, asked, 0, [edit], action="accept").status_code == 200
    before = client.get(document).json()
    body = {"documents": [taken["document_id"]], "to": target, "move": True}
    preview = client.post(f"/api/projects/{source}/transfers/preview", json=body).json()
    assert (preview["documents"], preview["fields"], len(preview["sentences"])) == (1, [], 3)

    begun = client.post(f"/api/projects/{source}/transfers", json=body)
    assert (begun.status_code, begun.json()["move"]) == (202, True)
    place = f"/api/projects/{source}/transfers/{begun.json()['id']}"
    wait_until(lambda: client.get(place).json()["status"] == "done")
    assert client.get(place).json()["message"] == "Moved 1 document to the other project."
    gone = client.get(document)
    assert (gone.status_code, gone.json()["detail"]) == (
        404,
        "This document was moved to the project letters. Open it there.",
    )
    [line] = client.get(f"/api/projects/{target}/documents").json()
    there = client.get(f"/api/documents/{line['id']}").json()
    assert [each["text"] for each in there["annotations"]] == [each["text"] for each in before["annotations"]]
    assert client.get(f"/api/pages/{there['pages'][0]['id']}/image").content

    assert client.post(f"{place}/undo").json() == {"documents": [taken["document_id"]], "stays": []}
    assert catch_up(here(client), patience=30)
    assert client.get(document).json() == before
    assert client.get(f"/api/projects/{target}/documents").json() == []


def test_an_archived_project_is_read_and_no_route_changes_it(client: TestClient) -> None:
    taken = upload(client, pdf("Invoice date: 14 March 2026", "Total due: 2,987.88")).json()["documents"][0]
    project_id = client.get("/api/projects").json()[0]["id"]
    project, document = f"/api/projects/{project_id}", f"/api/documents/{taken['document_id']}"
    asked = client.post(f"{document}/ask", json={"question": "What is the total due?"}).json()
    before = client.get(document).json()

    assert client.post(f"{project}/archive").status_code == client.post(f"{project}/archive").status_code == 204
    assert project_id not in [each["id"] for each in client.get("/api/projects").json()]
    [line] = client.get("/api/projects", params={"archived": True}).json()
    assert (line["id"], line["archived_at"] is None) == (project_id, False)
    assert client.get(document).json() == before
    refused = save(client, asked, 0, [], action="accept")
    assert (refused.status_code, refused.json()) == (403, {"detail": ARCHIVED})
    ids = {"project_id": project_id, "document_id": taken["document_id"], "annotation_id": asked["id"]}
    ids["page_id"] = before["pages"][0]["id"]
    tried = 0
    for context in iter_route_contexts(client.app.routes):  # type: ignore[attr-defined]
        path, endpoint = context.path or "", getattr(context.original_route, "endpoint", None)
        names = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        for method in set(getattr(context, "methods", None) or ()) - {"GET", "HEAD"}:
            if not names or not names <= ids.keys() or getattr(endpoint, "while_archived", False):
                continue
            role = roles_of(client.app.routes).get((method, path))  # type: ignore[attr-defined]
            if role == OWNER:  # limits of the installation
                continue
            answer = client.request(method, path.format(**ids), params={"base": 0}, json={})
            late = role is None
            assert answer.status_code in ((403, 422) if late else (403,)), (method, path, answer.text)
            tried += 1
    assert tried > 40

    assert client.post(f"{project}/unarchive").status_code == 204
    assert save(client, asked, 0, [], action="accept").status_code == 200
    assert client.get("/api/projects", params={"archived": True}).json() == []

"""Lists over REST: pages follow each other by the header Link; wrong limits and cursors get a sentence."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.followers import catch_up
from tests.support.long_lists import LongLists

FILLED = {
    "/api/projects/{project_id}/tasks": "tasks",
    "/api/projects/{project_id}/skips": "skips",
    "/api/projects/{project_id}/jobs": "jobs",
    "/api/projects/{project_id}/audit": "audit trail",
    "/api/projects/{project_id}/runs": "runs",
    "/api/projects/{project_id}/models": "models",
    "/api/projects/{project_id}/snapshots": "snapshots",
    "/api/projects/{project_id}/automatic-answers": "automatic answers",
    "/api/projects/{project_id}/label-reviews": "label review",
    "/api/projects/{project_id}/second-looks": "label review",
    "/api/projects/{project_id}/asked-questions": "questions",
    "/api/projects/{project_id}/members": "members",
    "/api/projects/{project_id}/invitations": "invitations",
    "/api/projects/{project_id}/webhooks": "webhooks",
    "/api/projects/{project_id}/webhook-deliveries": "deliveries",
    "/api/projects/{project_id}/bin": "bin",
    "/api/projects/{project_id}/documents": "tasks",
    "/api/projects/{project_id}/values": "values",
    "/api/annotations/{annotation_id}/revisions": "revisions",
    "/api/annotations/{annotation_id}/reviews": "reviews",
    "/api/projects": "projects",
    "/api/users": "users",
    "/api/removed-projects": "removed projects",
    "/api/projects/{project_id}/removed-questions": "removed questions",
    "/api/audit": "audit trail of all",
    "/api/me/sessions": "sessions",
    "/api/users/{user_id}/sessions": "sessions",
}
OLD_NAMES = {"/api/projects/{project_id}/second-looks"}  # still answered, no longer described
COUNTED = {
    "bin",
    "removed-questions",
    "documents",
    "tasks",
    "asked-questions",
    "values",
}  # the others do not tell their number


@pytest.fixture
def lists(client: TestClient) -> LongLists:
    application: Any = client.app
    return LongLists(application.state.answer_service.workspace)


TRIED = ("attempts", "error", "tried_at", "next_at")


def _address(path: str, lists: LongLists) -> str:
    return path.format(project_id=lists.project, annotation_id=lists.answer.id, user_id=lists.local.id)


def test_every_list_in_pages_stands_in_the_table(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    in_pages = {
        path
        for path, item in document["paths"].items()
        if any(each["name"] == "cursor" for each in item.get("get", {}).get("parameters", ()))
    }
    assert in_pages == set(FILLED) - OLD_NAMES
    for path in in_pages:
        assert "Link" in document["paths"][path]["get"]["responses"]["200"]["headers"], path


def test_links_lead_through_every_list(client: TestClient, lists: LongLists) -> None:
    for path, name in FILLED.items():
        for _ in range(3):
            lists.lists[name][0]()
        assert catch_up(lists.workspace, patience=30)
        whole = client.get(_address(path, lists))
        assert whole.status_code == 200 and "link" not in whole.headers, path
        seen, address = [], f"{_address(path, lists)}?limit=2"
        while address:
            page = client.get(address)
            assert page.status_code == 200 and 0 < len(page.json()) <= 2, path
            seen += page.json()
            address = page.links.get("next", {}).get("url", "")
            assert ("x-total-count" in page.headers) == (path.rsplit("/", 1)[1] in COUNTED), path
        assert _at_rest(seen) == _at_rest(whole.json()) and len(seen) >= 3, path


def _at_rest(lines: list[dict[str, Any]]) -> str:
    """Lines in their order, without what changes while deliveries are tried."""
    return json.dumps([{name: value for name, value in line.items() if name not in TRIED} for line in lines])


def test_wrong_limits_and_cursors_are_refused_in_a_sentence(client: TestClient, lists: LongLists) -> None:
    for path in FILLED:
        for given, said in (
            ("limit=0", "greater than or equal to 1"),
            ("limit=100000", "less than or equal to"),
            ("limit=some", "valid integer"),
            ("cursor=WyJub25lIl0", "The cursor belongs to another list. Ask for the first page, without a cursor."),
            ("cursor=%00", "another list"),
            (f"cursor={'x' * 4001}", "at most 4000 characters"),
        ):
            refused = client.get(f"{_address(path, lists)}?{given}")
            assert refused.status_code == 422 and said in refused.json()["detail"], (path, given, refused.text)


def test_calls_without_a_cursor_answer_as_before(client: TestClient, lists: LongLists) -> None:
    for _ in range(3):
        for name in ("tasks", "audit trail"):
            lists.lists[name][0]()
    tasks, trail = (
        _address(path, lists) for path in ("/api/projects/{project_id}/tasks", "/api/projects/{project_id}/audit")
    )
    ids = [each["id"] for each in client.get(tasks).json()]
    assert [each["id"] for each in client.get(f"{tasks}?offset=2&limit=3").json()] == ids[2:5]
    behind = client.get(f"{tasks}?offset=2&limit=3").links["next"]["url"]
    assert [each["id"] for each in client.get(behind).json()] == ids[5:8]  # the offset is not skipped once more
    entries = client.get(trail).json()
    older = client.get(f"{trail}?before={entries[1]['id']}&limit=2")
    assert older.json() == entries[2:4]
    assert client.get(older.links["next"]["url"]).json() == entries[4:6]

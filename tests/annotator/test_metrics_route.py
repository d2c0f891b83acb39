"""The metrics on the web port: who may read them, and what requests leave in them."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError
from starlette.testclient import TestClient

from annotator.app import create_app
from engine.accounts import tokens
from engine.settings import Settings
from tests.support.accounts import ADDRESS, Person, cookie_of, make_user

TOKEN = "scrape-me-every-15-seconds"


def counted(client: TestClient, **labels: str) -> float:
    """Requests so far with these labels."""
    families = {family.name: family for family in text_string_to_metric_families(client.get("/api/metrics").text)}
    samples = families["glossator_requests"].samples
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


@pytest.fixture
def client(tmp_path: Path):
    with TestClient(
        create_app(Settings(data_dir=tmp_path, _env_file=None), with_page=False), base_url=ADDRESS
    ) as client:
        yield client


def test_requests_are_counted_by_route_and_class_of_their_status(client: TestClient) -> None:
    document = {"route": "/api/documents/{document_id}", "method": "GET", "status": "4xx"}
    other = {"route": "unmatched", "status": "4xx"}
    before = counted(client, **document), counted(client, **other), counted(client, route="/static")
    client.get("/api/documents/0123")
    client.get("/api/documents/4567")
    client.get("/nothing/here")
    client.get("/static/icon.svg")
    after = counted(client, **document), counted(client, **other), counted(client, route="/static")
    assert [new - old for new, old in zip(after, before, strict=True)] == [2, 1, 1]


def test_a_method_of_a_stranger_s_choice_makes_no_new_series(client: TestClient) -> None:
    before = counted(client, method="other")
    client.request("BREW", "/api/me")
    assert counted(client, method="other") == before + 1
    assert counted(client, method="BREW") == 0


def test_admins_and_the_token_of_the_metrics_read_them_and_nobody_else(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, auth="login", metrics_token=TOKEN, _env_file=None)
    app = create_app(settings, with_page=False)
    workspace = app.state.answer_service.workspace
    admin, annotator = make_user(workspace, "olga", "admin"), make_user(workspace, "anna")
    narrow = tokens.issue(workspace, "olga", purpose="tests", days=1, scope="read")
    broad = tokens.issue(workspace, "olga", purpose="tests", days=1, scope="admin")
    with TestClient(app, base_url=ADDRESS) as client:

        def status(bearer: str, path: str = "/api/metrics") -> int:
            client.cookies.clear()
            return client.get(path, headers={"authorization": f"Bearer {bearer}"}).status_code

        assert client.get("/api/metrics").status_code == 401
        assert Person(annotator, client, cookie_of(workspace, annotator)).get("/api/metrics").status_code == 403
        assert Person(admin, client, cookie_of(workspace, admin)).get("/api/metrics").status_code == 200
        assert status(TOKEN) == 200
        assert status(TOKEN + "x") == status("") == 401
        assert (status(narrow), status(broad)) == (403, 200)
        assert status(TOKEN, "/api/me") == status(TOKEN, "/api/projects") == 401


def test_without_a_token_in_the_settings_none_opens_the_metrics(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, auth="login", _env_file=None), with_page=False)
    with TestClient(app, base_url=ADDRESS) as client:
        for header in ("Bearer ", "Bearer", "bearer  "):
            assert client.get("/api/metrics", headers={"authorization": header}).status_code == 401
    with pytest.raises(ValidationError, match="16 to 200"):
        Settings(metrics_token="short", _env_file=None)

"""The source of what runs: offered on every page, handed out where no address is set, to strangers as well."""

import ast
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator import source_offer
from annotator.app import create_app
from engine.settings import Settings
from tests.support.accounts import ADDRESS

ELSEWHERE = f"{ADDRESS}/code/glossator?at=main&raw=1"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A stranger at an application where people log in, with no address of the source set."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("source"), auth="login", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield client


def test_the_source_is_handed_out_whole_and_holds_nothing_else(client: TestClient) -> None:
    told = client.get("/source")
    assert told.status_code == 200 and told.headers["content-type"] == "application/zip"
    assert "attachment" in told.headers["content-disposition"] and len(told.content) < 5_000_000
    with zipfile.ZipFile(io.BytesIO(told.content)) as packed:
        names = set(packed.namelist())
        running = Path(source_offer.__file__)
        assert packed.read("glossator/annotator/source_offer.py") == running.read_bytes()
        ast.parse(packed.read("glossator/engine/cli.py"))
        assert b"GNU AFFERO" in packed.read("glossator/LICENSE").upper()
        assert all(one.external_attr >> 16 == 0o644 for one in packed.infolist())
        said = packed.read("glossator/SOURCE.txt").decode()
    for package in source_offer.PACKAGES:
        folder = running.parents[1] / package
        here = {f"glossator/{package}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.py")}
        assert here <= names, package
    assert "glossator/annotator/static/main.js" in names and "glossator/migrations/script.py.mako" in names
    wrong = [name for name in names if "__pycache__" in name or "/." in name or name.endswith((".db", ".env", ".zip"))]
    assert wrong == []
    for address in re.findall(r"/source/weights/\S+", said):  # what is too large to lie in it
        with client.stream("GET", address) as answer:
            assert answer.status_code == 200


def test_who_has_the_source_already_is_sent_nothing_again(client: TestClient) -> None:
    tag = client.get("/source").headers["etag"]
    again = client.get("/source", headers={"if-none-match": tag})
    assert again.status_code == 304 and again.content == b""


def test_health_and_the_form_of_logging_in_name_version_licence_and_source(client: TestClient) -> None:
    told = client.get("/api/health").json()
    assert told == {
        "status": "ok",
        "version": source_offer.version(),
        "licence": "AGPL-3.0-or-later",
        "source": "/source",
    }
    page = client.get("/login").text
    assert '<a href="/source">Source</a>' in page and source_offer.version() in page and "AGPL-3.0-or-later" in page


def test_every_tab_but_annotate_offers_the_source_at_its_foot(tmp_path: Path) -> None:
    with TestClient(create_app(Settings(data_dir=tmp_path, _env_file=None)), base_url=ADDRESS) as client:
        config = client.get("/app/config").json()
    feet = {
        each["id"] for each in config["components"] if "glossator-foot" in (each["props"].get("elem_classes") or [])
    }
    by_id = {each["id"]: each["props"] for each in config["components"]}
    assert all('<a href="/source"' in by_id[foot]["value"] for foot in feet)

    def holds_foot(node: dict[str, Any]) -> bool:
        return node["id"] in feet or any(holds_foot(child) for child in node.get("children") or [])

    def tabs(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if str(by_id.get(node["id"], {}).get("elem_id") or "").startswith("tab-"):
            yield node
        for child in node.get("children") or []:
            yield from tabs(child)

    found = {by_id[tab["id"]]["elem_id"]: holds_foot(tab) for tab in tabs(config["layout"])}
    assert len(found) == 9 and [name for name, holds in found.items() if not holds] == ["tab-annotate"]


def test_with_an_address_set_the_link_leads_there_even_to_another_path_of_this_host(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, source_url=ELSEWHERE, root_path="/gloss", _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        sent_on = client.get("/source", follow_redirects=False)
        assert sent_on.status_code == 307 and sent_on.headers["location"] == ELSEWHERE
        assert client.get("/api/health").json()["source"] == ELSEWHERE
        assert f'data-source="{ELSEWHERE.replace("&", "&amp;")}"' in client.get("/app/").text

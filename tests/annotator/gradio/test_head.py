"""The head of the page: the workspace's files stand in the document, and Gradio starts after the workspace."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.front_end_files import BASE
from engine.settings import Settings


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    settings = Settings(data_dir=tmp_path_factory.mktemp("head"), _env_file=None)
    return TestClient(create_app(settings), base_url="http://127.0.0.1:7860")


def test_the_page_loads_one_script_and_one_style_sheet_of_the_front_end(client: TestClient) -> None:
    page = client.get("/app/")
    assert int(page.headers["content-length"]) == len(page.content)
    ours = re.findall(rf'(?:src|href)="({BASE}/[^"]+)"', page.text)
    assert sorted(Path(path).name for path in ours) == ["bundle.css", "bundle.js", "icon.svg"]
    for path in ours:
        assert client.get(path).status_code == 200
    assert page.text.index(f"{BASE}/bundle.js") < page.text.index("</head>")


def test_gradio_waits_for_the_workspace_but_not_for_ever(client: TestClient) -> None:
    page = client.get("/app/").text
    [script] = re.findall(r"type: 'module', src: '([^']+)'", page)
    assert client.get(f"/app/{script}").status_code == 200
    assert f'<link rel="modulepreload" crossorigin href="{script}">' in page
    assert f'<script type="module" crossorigin src="{script}">' not in page
    assert "setTimeout(() => window.startGradio()" in page

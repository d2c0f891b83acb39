"""A server and a document for tests of the client."""

from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from annotator.app import create_app
from engine.settings import Settings
from tests.support.client_house import Gateway, House
from tests.support.server_thread import served


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("house"), auth="login", _env_file=None)
    application = create_app(settings)
    gateway = Gateway(application)
    with served(gateway) as address:
        yield House(address, application.state.answer_service.workspace, gateway)


@pytest.fixture
def invoice(tmp_path: Path) -> Path:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), f"Invoice of {tmp_path.name}")
    page.insert_text((72, 130), "Total due: 2,987.88")
    path = tmp_path / "invoice.pdf"
    path.write_bytes(document.tobytes())
    return path

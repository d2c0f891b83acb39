"""Small pictures of pages: each decoded once, in few widths, and not at all for a browser that has it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from PIL import Image

from annotator import thumbnail_queue
from annotator.app import create_app
from engine.documents.lists.thumbnails import KEPT_WIDTHS
from engine.documents.lists.views import document_view
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.settings import Settings
from engine.workspace import Workspace
from tests.annotator.test_work_queues import taken, until
from tests.support.factories import line, make_document
from tests.support.server_thread import served


@pytest.fixture
def address(sqlite_workspace: Workspace) -> Iterator[str]:
    """The address of a page's small picture, in a served application."""
    app = create_app(Settings(data_dir=sqlite_workspace.settings.data_dir, _env_file=None), with_page=False)
    workspace: Workspace = app.state.answer_service.workspace
    project = project_named(workspace, DEFAULT_NAME).id
    document = make_document(workspace, project, [line("Total due: 7.00")])
    with served(app) as server:
        yield f"{server}/api/pages/{document_view(workspace, document.id).pages[0].id}/thumbnail"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """An entry for each picture that is opened from now on."""
    opened: list[object] = []
    really = Image.open

    def counted(source: object, *more: object, **named: object) -> Image.Image:
        opened.append(source)
        return really(source, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Image, "open", counted)
    return opened


def test_many_widths_at_once_decode_a_page_once_a_kept_width(address: str, decoded: list[object]) -> None:
    def fetch(width: int) -> httpx.Response:
        return httpx.get(address, params={"width": width}, timeout=60)

    with ThreadPoolExecutor(20) as people:
        answers = list(people.map(fetch, range(190, 210)))  # 200 and 400 pixels
        assert [answer.status_code for answer in answers] == [200] * 20
        assert len(decoded) == 2
        assert {answer.headers["etag"] for answer in answers[:11]} == {answers[0].headers["etag"]}
        assert list(people.map(lambda width: fetch(width).status_code, range(16, 601, 20))) == [200] * 30
    assert len(decoded) == len(KEPT_WIDTHS)


def test_a_small_picture_that_somebody_has_is_not_decoded_again(
    address: str, decoded: list[object], sqlite_workspace: Workspace
) -> None:
    tag = httpx.get(address, params={"width": 100}).headers["etag"]
    for kept in (sqlite_workspace.settings.data_dir / "thumbnails").glob("*/*.jpg"):
        kept.unlink()
    decoded.clear()
    again = httpx.get(address, params={"width": 120}, headers={"if-none-match": tag})
    assert (again.status_code, again.content, decoded) == (304, b"", [])


def test_pictures_beyond_those_that_may_wait_are_sent_back(address: str) -> None:
    line_ = thumbnail_queue.THUMBNAILS
    with taken(line_, everything=True):
        said = httpx.get(address, params={"width": 200})
        assert said.status_code == 429 and int(said.headers["retry-after"]) > 0
    assert httpx.get(address, params={"width": 200}).status_code == 200
    with taken(line_, everything=True):  # what is kept needs no place
        assert httpx.get(address, params={"width": 180}).status_code == 200


def test_who_waits_for_a_picture_holds_no_thread_of_the_server(address: str) -> None:
    with taken(thumbnail_queue.THUMBNAILS) as give_back, ThreadPoolExecutor(45) as people:
        waiting = [people.submit(httpx.get, address, params={"width": 200}, timeout=60) for _ in range(45)]
        until(lambda: thumbnail_queue._running)
        assert httpx.get(address.split("/pages/")[0] + "/projects", timeout=60).status_code == 200
        give_back()
        assert {answer.result().status_code for answer in waiting} == {200}
    assert thumbnail_queue._running == {}

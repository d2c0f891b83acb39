"""Failures of files, disk and database end a command with one sentence."""

import errno
from pathlib import Path

import pytest
import typer
from sqlalchemy import text
from typer.testing import CliRunner

from db.session import Database
from engine.cli import app
from engine.commands.failures import sentence_of
from engine.commands.late_import import CommandsByName


def sentence(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, SystemExit) and result.exit_code == 1, result.exception
    return " ".join(result.stderr.split())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)


@pytest.mark.parametrize("command", [("synth", "--pages", 1), ("pretrain", "--stages", "mlm=1")])
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, command: tuple[object, ...]) -> None:
    (tmp_path / "file").touch()
    name, *options = command
    assert f"{tmp_path}/file/out cannot be used: not a directory." in sentence(
        name, tmp_path / "file" / "out", *options
    )


def test_a_file_that_is_no_database_and_one_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be asked for its first page " * 20)
    monkeypatch.setenv("GLOSSATOR_DATABASE_URL", f"sqlite:///{tmp_path}/notes.txt")
    assert sentence("status") == "The database cannot be used: file is not a database."
    monkeypatch.setenv("GLOSSATOR_DATABASE_URL", "postgresql+psycopg://me:hidden@127.0.0.1:1/none")
    said = sentence("status")
    assert said.startswith("The database cannot be used: ") and "port 1" in said and "hidden" not in said


def test_a_full_disk_is_called_so() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "out/pages.jsonl")
    assert sentence_of(full) == "The disk of out/pages.jsonl is full. Free disk space, then run the command again."


def test_a_statement_that_the_database_refuses_keeps_its_traceback(tmp_path: Path) -> None:
    """It is a fault of the program, and so is an error of any other kind."""
    faulty = typer.Typer(cls=CommandsByName)
    database = Database(f"sqlite:///{tmp_path}/kept.db")

    @faulty.command()
    def twice() -> None:
        with database.write() as session:
            session.execute(text("CREATE TABLE once (id INTEGER PRIMARY KEY)"))
            session.execute(text("INSERT INTO once VALUES (1), (1)"))

    @faulty.command()
    def other() -> None:
        raise KeyError("gone")

    assert "UNIQUE" in str(CliRunner().invoke(faulty, ["twice"]).exception)
    assert isinstance(CliRunner().invoke(faulty, ["other"]).exception, KeyError)
    database.dispose()

"""The files of an open SQLite database are opened by SQLite alone."""

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from db.session import Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    opened = Database(f"sqlite:///{tmp_path / 'kept.db'}")
    with opened.write() as session:
        session.execute(text("CREATE TABLE kept (number INTEGER)"))
    return opened


def test_nothing_but_sqlite_opens_an_open_database(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    (tmp_path / "other name").symlink_to(file)
    os.link(file, tmp_path / "hard link")
    descriptor_free = [file, Path(f"{file}-wal"), Path(f"{file}-shm"), tmp_path / "other name", tmp_path / "hard link"]
    for path in descriptor_free:
        with pytest.raises(PermissionError, match="only SQLite"):
            path.read_bytes()
        with pytest.raises(PermissionError, match="only SQLite"):
            os.open(path, os.O_RDONLY)
        with pytest.raises(PermissionError, match="only SQLite"):
            shutil.copyfile(path, tmp_path / "copy")
    with database.write() as session:
        session.execute(text("INSERT INTO kept VALUES (1)"))
    with database.read() as session:
        assert session.execute(text("SELECT number FROM kept")).scalar() == 1


def test_other_files_open_as_ever(database: Database, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("a note")
    assert (tmp_path / "note.txt").read_text() == "a note"
    with pytest.raises(FileNotFoundError):
        (tmp_path / "nothing").read_text()


def test_a_closed_database_is_a_file_like_others(database: Database, tmp_path: Path) -> None:
    database.dispose()
    assert (tmp_path / "kept.db").read_bytes().startswith(b"SQLite format 3")

"""What is left of deleted texts and bytes: in any column of the database, and in any file of an installation."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import inspect, text

from engine.workspace import Workspace


def columns_with(workspace: Workspace, signs: Sequence[str]) -> list[str]:
    """Return the columns that have one of the signs, as table.column."""
    having = set()
    with workspace.database.read() as session:
        for table in inspect(session.connection()).get_table_names():
            for row in session.execute(text(f'SELECT * FROM "{table}"')).mappings():
                having |= {f"{table}.{name}" for name, value in row.items() for sign in signs if sign in str(value)}
    return sorted(having)


def files_with(workspace: Workspace, signs: Sequence[bytes]) -> list[str]:
    """Return the files of the data folder, and of the database with its log, that have one of the signs."""
    folders = {workspace.settings.data_dir}
    if workspace.database.dialect == "sqlite":
        folders.add(Path(str(workspace.database.url.database)).parent)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    # By another process: only SQLite may open the files of an open database.
    contents = {path.name: subprocess.run(["cat", path], stdout=subprocess.PIPE, check=True).stdout for path in files}
    return sorted({name for name, content in contents.items() for sign in signs if sign in content})

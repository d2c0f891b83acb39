"""What a unit of work told open screens, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from db.changes import Told
from db.tables import Change
from engine.workspace import Workspace


@contextmanager
def heard(workspace: Workspace) -> Iterator[list[Told]]:
    """Fill a list with the changes that are stored while the block runs, in order."""
    with workspace.database.read() as session:
        before = session.scalar(select(func.max(Change.id))) or 0
    told: list[Told] = []
    yield told
    columns = Change.project_id, Change.topic, Change.subject_id, Change.question_id, Change.author_id
    with workspace.database.read() as session:
        rows = session.execute(select(*columns).where(Change.id > before).order_by(Change.id))
        told += [Told(*row) for row in rows.tuples()]  # type: ignore[arg-type]

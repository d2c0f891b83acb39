"""Files of a bucket: which of them a project has not taken in yet, by ETag or by time and size."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from sqlalchemy import select

from db.tables import BucketObject
from engine.storage.object_store import StoredObject
from engine.workspace import Workspace

_AT_ONCE = 500  # places in one statement


def new_objects(
    workspace: Workspace, project_id: str, address: str, objects: Iterable[StoredObject], *, refused: bool = False
) -> Iterator[StoredObject]:
    """Yield the objects that are new or changed since they were taken in.

    Args:
        workspace: Open workspace.
        project_id: Project that they go into.
        address: Address that their keys are below.
        objects: Listing of the bucket.
        refused: Yield those that were refused, too.
    """
    waiting = iter(objects)
    while part := list(islice(waiting, _AT_ONCE)):
        places = {_place(address, line.key): line for line in part}
        known = select(BucketObject.place, BucketObject.mark).where(
            BucketObject.project_id == project_id, BucketObject.place.in_(places)
        )
        if refused:
            known = known.where(BucketObject.outcome == "document")
        with workspace.database.read() as session:
            marks = dict(session.execute(known).tuples().all())
        yield from (line for place, line in places.items() if marks.get(place) != line.mark[:200])


def note_object(
    workspace: Workspace, project_id: str, address: str, line: StoredObject, document_id: str | None
) -> None:
    """Note that an object was taken in as a document, or refused (None)."""
    outcome = "refused" if document_id is None else "document"
    with workspace.database.write() as session:
        session.merge(
            BucketObject(
                project_id=project_id,
                place=_place(address, line.key),
                mark=line.mark[:200],
                outcome=outcome,
                document_id=document_id,
            )
        )


def _place(address: str, key: str) -> str:
    return hashlib.sha256(f"{address}/{key}".encode()).hexdigest()

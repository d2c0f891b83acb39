"""Check what is stored once: pages of the database, references, places of followers, and the files."""

from dataclasses import dataclass

from sqlalchemy import func, select, text

from db.tables import Change, FollowerPosition
from engine.followers.registry import FOLLOWERS
from engine.lifecycle.database_copies import sqlite_faults
from engine.storage import whole_store
from engine.storage.named_blobs import named_blobs, needed_blobs
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class StoredCheck:
    """What a check saw.

    Attributes:
        database: sentences on damaged pages, indexes and references; PostgreSQL refuses wrong references itself.
        followers: sentences on followers that have no place, or a wrong one, or fail.
        files: blobs, with damaged and missing ones.
    """

    database: list[str]
    followers: list[str]
    files: whole_store.Checked

    @property
    def has_faults(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self.database or self.followers or self.files.damaged or self.files.missing)


def check_stored(workspace: Workspace, *, read: bool, on_blob: whole_store.OnBlob) -> StoredCheck:
    """Check database, followers and files; nothing is changed.

    Args:
        workspace: what is checked.
        read: read all files and compare each with its SHA-256; otherwise only their names are compared.
        on_blob: called with each blob.
    """
    with workspace.database.snapshot_read() as session:
        faults = []
        if workspace.database.dialect == "sqlite":
            faults = sqlite_faults(lambda statement: session.execute(text(statement)).tuples())
        places = {place.name: place for place in session.scalars(select(FollowerPosition))}
        newest = session.scalar(select(func.max(Change.id)))
        needed = needed_blobs(session)
        named = named_blobs(session, workspace.blobs) | needed
    followers = []
    for follower in FOLLOWERS:
        place = places.get(follower.name)
        if place is None:
            followers.append(f"The follower {follower.name} has no place in the changes.")
        elif newest is not None and place.cursor > newest:
            followers.append(f"The follower {follower.name} is at change {place.cursor}; the newest is {newest}.")
        elif place.attempts:
            followers.append(f"The follower {follower.name} fails at a change: {place.error}")
    return StoredCheck(faults, followers, whole_store.check(workspace.blobs, named, needed, read=read, on_blob=on_blob))

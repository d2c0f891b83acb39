"""Whether the parts that Glossator stands on are there: the database, the folder of files, room on the disk, a worker."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from db.probe import Probe
from engine.jobs import presence
from engine.settings import MEGABYTE
from engine.workspace import Workspace

LEAST_FREE_BYTES = 50 * MEGABYTE  # below it any save may be the one that fails
CONNECT_SECONDS = 2
NEEDED = (
    "blobs",
    "disk",
    "database",
)  # in the order in which they are looked at; without a worker people can still work
PARTS = (*NEEDED, "worker")


@dataclass(frozen=True, slots=True)
class Part:
    """Whether a part is well, in one sentence for anybody; and for admins: names, places, what an error says."""

    ok: bool
    sentence: str
    details: str = ""


class Look:
    """Looks at each part once. What it costs does not depend on how much there is."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._probe = Probe(workspace.database, CONNECT_SECONDS)

    def all(self, tell: Callable[[str, Part], None]) -> None:
        """Look at the parts in the order of `PARTS` and tell each as soon as it is known: the next one may never answer."""
        tell("blobs", self._blobs())
        tell("disk", self._disk())
        try:
            with self._probe.read() as session:
                found = presence.seen(session)
        except (SQLAlchemyError, OSError) as error:
            cause = getattr(error, "orig", None) or error
            tell("database", Part(False, "The database does not answer.", f"{type(cause).__name__}: {cause}".strip()))
            tell("worker", Part(False, "Nobody knows whether a worker is there: the database would tell."))
            return
        where = self._workspace.database.url.render_as_string(hide_password=True)
        tell("database", Part(True, "The database answers.", where))
        tell("worker", Part(bool(found.living), presence.told(found), ", ".join(found.living)))

    def _blobs(self) -> Part:
        folder = self._workspace.blobs.folder
        try:
            descriptor, name = tempfile.mkstemp(dir=folder, prefix=".new-")
            try:
                os.write(descriptor, b"?")  # a full disk makes files, and takes no content
            finally:
                os.close(descriptor)
                Path(name).unlink(missing_ok=True)
        except OSError as error:
            return Part(False, "The folder of files cannot be written to.", f"{folder}: {error.strerror}")
        return Part(True, "The folder of files can be written to.", str(folder))

    def _disk(self) -> Part:
        try:
            free = self._workspace.blobs.free_bytes()
        except OSError as error:
            return Part(False, "Nobody knows how much room the disk has.", str(error.strerror))
        details = f"{free / MEGABYTE:,.0f} MB are free."
        if free < LEAST_FREE_BYTES:
            return Part(
                False, "The disk is full.", f"{details} At least {LEAST_FREE_BYTES / MEGABYTE:,.0f} are needed."
            )
        return Part(True, "The disk has room.", details)

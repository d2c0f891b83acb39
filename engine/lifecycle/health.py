"""Health checks of the parts: networks, database, data folder, disk space, worker, figures."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from db.blobs import BlobFolder, StoreUnavailable
from db.probe import Probe
from engine.annotation.predictors import Predictors
from engine.followers import Freshness, freshness
from engine.jobs import presence
from engine.settings import GIGABYTE, MEGABYTE
from engine.workspace import Workspace

LEAST_FREE_BYTES = 50 * MEGABYTE  # with less free space, any save may fail
CONNECT_SECONDS = 2
NEEDED = (
    "blobs",
    "disk",
    "database",
)  # in the order of the checks; people can work without a worker
PARTS = (*NEEDED, "worker", "figures", "networks")
LATE_SECONDS = 10.0  # after so long without being counted, changes wait for a follower that does not run


@dataclass(frozen=True, slots=True)
class Part:
    """State of a part.

    Attributes:
        ok: whether it works.
        sentence: the state, for everybody.
        details: names, paths and errors, for admins only.
        warning: whether it works, but not for long.
    """

    ok: bool
    sentence: str
    details: str = ""
    warning: bool = False


class Look:
    """Checks each part once, at a cost independent of the amount of data.

    Args:
        workspace: workspace whose parts are checked.
        predictors: predictors of the same process.
    """

    def __init__(self, workspace: Workspace, predictors: Predictors) -> None:
        self._workspace = workspace
        self._predictors = predictors
        self._probe = Probe(workspace.database, CONNECT_SECONDS)

    def all(self, report: Callable[[str, Part], None]) -> None:
        """Check the parts in the order of `PARTS`.

        Args:
            report: called with name and state of each part as soon as it is known; the next check may hang.
        """
        report("networks", self._networks())
        report("blobs", self._blobs())
        report("disk", self._disk())
        try:
            with self._probe.read() as session:
                workers, figures = presence.load_presence(session), freshness(session)
        except (SQLAlchemyError, OSError) as error:
            cause = getattr(error, "orig", None) or error
            report(
                "database", Part(False, "The database does not respond.", f"{type(cause).__name__}: {cause}".strip())
            )
            report("worker", Part(False, "The worker's state is unknown: the database does not respond."))
            report("figures", Part(False, "The state of the figures is unknown: the database does not respond."))
            return
        where = self._workspace.database.url.render_as_string(hide_password=True)
        report("database", Part(True, "The database responds.", where))
        report("worker", Part(bool(workers.living), presence.presence_sentence(workers), ", ".join(workers.living)))
        report("figures", _figures(figures))

    def _networks(self) -> Part:
        if self._predictors.is_ready:
            return Part(True, "The networks are loaded.")
        if error := self._predictors.import_error:
            return Part(False, "The networks cannot be loaded, so no question is answered. See the server log.", error)
        return Part(True, "The networks are not loaded yet; the first question waits for them.")

    def _blobs(self) -> Part:
        blobs = self._workspace.blobs
        try:
            blobs.check_writable()
        except StoreUnavailable as error:
            return Part(False, "The object store of the files does not answer.", str(error))
        except OSError as error:
            return Part(False, "The data folder cannot be written to.", f"{blobs.folder}: {error.strerror}")
        if isinstance(blobs, BlobFolder):
            return Part(True, "The data folder can be written to.", blobs.address)
        return Part(True, "The object store of the files answers.", blobs.address)

    def _disk(self) -> Part:
        try:
            free = free_bytes(self._workspace)
        except OSError as error:
            return Part(False, "The free disk space is unknown.", str(error.strerror))
        details = f"{free / MEGABYTE:,.0f} MB free."
        if free < LEAST_FREE_BYTES:
            return Part(
                False, "The disk is full.", f"{details} At least {LEAST_FREE_BYTES / MEGABYTE:,.0f} MB are needed."
            )
        if free < self._workspace.settings.disk_warning_gb * GIGABYTE:
            sentence = "The disk is almost full. Free space before uploads, exports and saving are refused."
            return Part(True, sentence, details, warning=True)
        return Part(True, "The disk has free space.", details)


def free_bytes(workspace: Workspace) -> int:
    """Return the free space of the fullest disk: of the data folder, with the database on SQLite, and of the files."""
    return min(workspace.blobs.free_bytes(), shutil.disk_usage(workspace.settings.data_dir).free)


def _figures(figures: Freshness) -> Part:
    lag = f"{figures.lag_seconds:.1f} seconds behind; {figures.skipped} changes skipped."
    if figures.skipped:
        sentence = "Some changes could not be counted in the figures. Run: glossator check --rebuild"
        return Part(False, sentence, lag)
    if figures.lag_seconds > LATE_SECONDS:
        return Part(False, f"The figures are {figures.lag_seconds:.0f} seconds behind.", lag)
    return Part(True, "The figures are up to date.", lag)

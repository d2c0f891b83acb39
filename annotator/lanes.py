"""The lanes of a server: they run the jobs that people wait for, and let tasks follow changes, without a worker."""

from annotator.task_follower import TaskFollower
from engine import changes
from engine.documents import read_jobs
from engine.documents.reading_state import READ
from engine.interchange import export_files, export_jobs, import_jobs, uploaded_sets
from engine.jobs.lane import Lane
from engine.tasks import read_again
from engine.workspace import Workspace


class Lanes:
    """The lanes of a server, one for each kind of job: two imports, two exports, two long documents at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self.imports = Lane(
            workspace, {uploaded_sets.IMPORT: import_jobs.run}, at_once=2, afterwards=uploaded_sets.forget
        )
        self.exports = Lane(
            workspace, {export_files.EXPORT: export_jobs.run}, at_once=2, afterwards=export_files.forget
        )
        self.reading = Lane(
            workspace, {READ: read_jobs.run, read_again.READ_AGAIN: read_again.run}, at_once=2, afterwards=changes.prune
        )
        self._tasks = TaskFollower(workspace)
        self._all = (self.imports, self.exports, self.reading)

    def start(self) -> None:
        """Take jobs from now on."""
        for lane in self._all:
            lane.start()
        self._tasks.start()

    def stop(self) -> None:
        """Stop the jobs at their next step; they go on when a server runs again."""
        for lane in self._all:
            lane.ask_to_stop()
        for lane in self._all:
            lane.stop()
        self._tasks.stop()

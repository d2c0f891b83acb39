"""The lanes of a server: the jobs that people wait for are done here and never wait for a worker."""

from engine.interchange import import_jobs, uploaded_sets
from engine.jobs.lane import Lane
from engine.workspace import Workspace


class Lanes:
    """One lane a kind of job: two imports at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self.imports = Lane(
            workspace, {uploaded_sets.IMPORT: import_jobs.run}, at_once=2, afterwards=uploaded_sets.forget
        )

    def start(self) -> None:
        """Take jobs from now on."""
        self.imports.start()

    def stop(self) -> None:
        """Stop the jobs at their next step; they go on when a server runs again."""
        self.imports.stop()

"""In-process workers of a server: they run jobs that people wait for, let figures follow, and send webhooks."""

from annotator.task_follower import TaskFollower
from engine import changes
from engine.documents.reading import read_jobs
from engine.documents.reading.reading_state import READ, READ_AGAIN
from engine.followers import FollowerRunner
from engine.interchange import export_files, export_jobs, import_jobs, uploaded_sets
from engine.jobs.in_process_worker import InProcessWorker
from engine.lifecycle.transfers import TRANSFER, run_transfer
from engine.proposers import jobs as proposals
from engine.proposers.proposer import PROPOSE
from engine.read_again import jobs as read_again
from engine.webhooks import Sender
from engine.workspace import Workspace


class InProcessWorkers:
    """In-process workers of a server: at a time one transfer, and two imports, exports, documents, and models asked."""

    def __init__(self, workspace: Workspace) -> None:
        self.imports = InProcessWorker(
            workspace, {uploaded_sets.IMPORT: import_jobs.run_import}, at_once=2, afterwards=uploaded_sets.forget
        )
        self.exports = InProcessWorker(
            workspace, {export_files.EXPORT: export_jobs.run_export}, at_once=2, afterwards=export_files.forget
        )
        self.reading = InProcessWorker(
            workspace,
            {READ: read_jobs.read_further_pages, READ_AGAIN: read_again.read_job_pages},
            at_once=2,
            afterwards=changes.prune,
        )
        self.proposals = InProcessWorker(workspace, {PROPOSE: proposals.run_proposals}, at_once=2)
        self.transfers = InProcessWorker(workspace, {TRANSFER: run_transfer}, at_once=1)
        self._tasks = TaskFollower(workspace)
        self._followers = FollowerRunner(workspace)
        self._sender = Sender(workspace)
        self._all = (self.imports, self.exports, self.reading, self.proposals, self.transfers)

    def start(self) -> None:
        """Take jobs from now on."""
        for worker in self._all:
            worker.start()
        self._tasks.start()
        self._followers.start()
        self._sender.start()

    def stop(self) -> None:
        """Stop the jobs at their next step; they go on when a server runs again."""
        for worker in self._all:
            worker.ask_to_stop()
        for worker in self._all:
            worker.stop()
        self._tasks.stop()
        self._followers.stop()
        self._sender.stop()

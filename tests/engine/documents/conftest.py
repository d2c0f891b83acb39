"""Reading a made document the way the product does: through the child process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading import read_jobs
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadDocument
from engine.documents.reading.reading_state import READ
from engine.jobs.in_process_worker import InProcessWorker
from engine.workspace import Workspace

Read = Callable[..., ReadDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """read(path, **limits): the document; its pages lie in tmp_path / "pages"."""

    def read_it(path: Path, **limits: Any) -> ReadDocument:
        return read_document(path, name=path.name, limits=ReadLimits(**limits), out_dir=tmp_path / "pages")

    return read_it


@pytest.fixture
def worker(workspace: Workspace) -> Iterator[InProcessWorker]:
    """Goes on with what this process has begun; takes no job of its own accord."""
    worker = InProcessWorker(workspace, {READ: read_jobs.read_further_pages}, at_once=2)
    yield worker
    worker.stop()

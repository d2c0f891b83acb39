"""Changes that tasks follow one document at a time, and whose requests do the first batch alone."""

import pytest

from db import presence
from engine.tasks.opening import task_changes


@pytest.fixture
def one_document_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of one document follow with the request; the rest waits, as after a kill -9 of its server."""
    monkeypatch.setattr(task_changes, "FIRST", 1)
    monkeypatch.setattr(task_changes, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(task_changes, "STUCK_SECONDS", 0.0)
    monkeypatch.setattr(presence, "FEW", 0)

"""Readers of files are forked in tests, as servers do it: a new interpreter imports for half a second.

Tests of how a reading process is started use the mark `own_readers`.
"""

from collections.abc import Iterator

import pytest

from engine.documents.reading.forked_readers import FORKS


@pytest.fixture(scope="session", autouse=True)
def _forks() -> Iterator[None]:
    yield
    FORKS.close()


@pytest.fixture(autouse=True)
def _own_readers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start readers as commands do, where a test says so."""
    if request.node.get_closest_marker("own_readers") is None:
        FORKS.enable()
    yield
    FORKS.enabled = False

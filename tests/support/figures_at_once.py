"""Figures that follow each unit of work at once, for tests that read them after a change."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy.orm import Session

from engine.followers.following import Following
from engine.followers.registry import FOLLOWERS
from engine.workspace import Workspace


@pytest.fixture
def figures_at_once(request: pytest.FixtureRequest) -> None:
    """Let the followers follow each unit of work of the test's workspace right after its commit."""
    for name in ("workspace", "sqlite_workspace"):
        if name in request.fixturenames:
            follow_at_once(request.getfixturevalue(name))


def follow_at_once(workspace: Workspace) -> None:
    """Let the followers follow each unit of work right after its commit, as a server's thread does a moment later."""
    database, following = workspace.database, Following(workspace, FOLLOWERS)
    write, at_work, own = database.write, threading.Lock(), threading.local()

    @contextmanager
    def write_and_follow() -> Iterator[Session]:
        with write() as session:
            yield session
        if getattr(own, "follows", False):
            return  # a unit of work of the followers
        own.follows = True
        try:
            with at_work:
                while following.look():
                    pass
        finally:
            own.follows = False

    database.write = write_and_follow  # type: ignore[method-assign]

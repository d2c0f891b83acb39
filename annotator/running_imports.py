"""Imports that are under way in this process: whose, how far, and stopping them."""

import threading
from dataclasses import dataclass, field
from datetime import datetime

from db.base import now
from db.ids import new_id
from engine.errors import NotFound


@dataclass(slots=True)
class UnderWay:
    """An import at work, or waiting for its turn. `of`: 0 while nobody knows how much there is; `stopping`: set when it should end."""

    project_id: str
    name: str
    by: str
    id: str = field(default_factory=new_id)
    began_at: datetime = field(default_factory=now)
    doing: str = "Starting"
    done: int = 0
    of: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    def step(self, doing: str, done: int, of: int) -> None:
        """Note what is done, how far, of how much."""
        self.doing, self.done, self.of = doing, done, of


_all: dict[str, UnderWay] = {}


def begin(one: UnderWay) -> None:
    """Show an import to whoever asks, until it ends."""
    _all[one.id] = one


def end(one: UnderWay) -> None:
    """Show it no more."""
    _all.pop(one.id, None)


def of_project(project_id: str) -> list[UnderWay]:
    """Return the imports of a project, oldest first."""
    found = [one for one in list(_all.values()) if one.project_id == project_id]
    return sorted(found, key=lambda one: (one.began_at, one.id))


def stop(project_id: str, import_id: str) -> UnderWay:
    """Ask an import to end at its next step. NotFound when it has ended, or is another project's."""
    one = _all.get(import_id)
    if one is None or one.project_id != project_id:
        raise NotFound("This import is not running. It may have ended; reload the list.")
    one.stopping.set()
    return one

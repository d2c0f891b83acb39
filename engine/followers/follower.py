"""What a follower is: derived tables, and what else follows from their differences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from sqlalchemy.orm import Session

from db.changes import Topic
from engine.followers.derived_table import DerivedTable, Difference
from engine.followers.positions import DirtyChange

AT_ONCE = 200  # documents of one transaction
Differences = dict[DerivedTable, Difference]


class Consequence(Protocol):
    """Stores what follows from the differences of a follower's tables, in the same transaction."""

    def __call__(self, session: Session, differences: Differences, days: Mapping[str, date]) -> None:
        """Store it; `days`: UTC day of each document's change."""


class Mismatches(Protocol):
    """Compares what a consequence has stored with what the tables of a project say."""

    def __call__(self, session: Session, project_id: str) -> list[str]:
        """Return the ids of what differs: of questions, or of the project."""


class Repair(Protocol):
    """Computes anew what a consequence keeps of a project."""

    def __call__(self, session: Session, project_id: str) -> Callable[[Session], None]:
        """Compute it, and return the function that stores it in a unit of work."""


class Announcement(Protocol):
    """Finds what changes have made happen, where something is to be written once and never derived anew."""

    def __call__(
        self, session: Session, changes: Sequence[DirtyChange], documents: Sequence[str]
    ) -> Callable[[Session], None] | None:
        """Return the function that writes it in the transaction of the follower's place; None without anything.

        It must write nothing twice: after a crash it sees the same changes again.
        """


@dataclass(frozen=True, slots=True)
class Follower:
    """Figures derived from documents after the commit of each change.

    Attributes:
        name: Key of its row in the table `followers`; never changed.
        tables: Derived tables, in the order in which they are stored.
        then: Stores what else follows.
        announce: Finds what is to be written once.
        mismatches: Checks what `then` has stored.
        repair: Corrects it.
        topics: Changes of these topics make their documents dirty too, for this follower alone.
        publishes: Topic under which the documents whose rows changed are published.
        pause_seconds: Between two looks of a server, so that changes of the same document are followed together.
        at_once: Most documents of one transaction.
    """

    name: str
    tables: tuple[DerivedTable, ...]
    then: Consequence | None = None
    announce: Announcement | None = None
    mismatches: Mismatches | None = None
    repair: Repair | None = None
    topics: frozenset[str] = frozenset()
    publishes: Topic = "figures"
    pause_seconds: float = 0.0
    at_once: int = AT_ONCE

"""One look of the followers: what became dirty is derived anew, and stored with their places."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from time import monotonic

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.changes import Topic
from engine.followers import positions
from engine.followers.follower import Differences, Follower
from engine.followers.positions import DirtyChange, Position, Reading
from engine.workspace import Workspace

MOST_CHANGES = 2000  # that one look reads
_PASSED_CHANGES = 100  # without dirty documents, before a place moves: each look reads them again until then
_log = logging.getLogger(__name__)


class Following:
    """The followers of one process, with what they followed behind their places.

    Args:
        workspace: Where changes and figures are.
        followers: What follows.
        pauses: Whether followers rest between two looks as they say (Follower.pause_seconds).
    """

    def __init__(self, workspace: Workspace, followers: Sequence[Follower], *, pauses: bool = False) -> None:
        self._workspace, self._followers = workspace, followers
        self._pauses = pauses
        self._rests_until: dict[str, float] = {}  # by name, by the monotonic clock
        # On PostgreSQL a gap in the ids may still be filled, so a place stops before it (engine.changes). What was
        # followed behind the place is not followed again.
        self._followed: dict[str, set[int]] = {follower.name: set() for follower in followers}

    def is_behind(self) -> bool:
        """Return whether a look would find something to do; one short statement or two."""
        with self._workspace.database.autocommit_read() as session:
            return bool(self._read_groups(session))

    def look(self) -> bool:
        """Follow what became dirty since the last look; return whether there was anything.

        A change that cannot be followed is tried again later, and skipped after several attempts; the other followers
        go on. Raises what the database raises when it cannot be reached.
        """
        with self._workspace.database.autocommit_read() as session:
            groups = self._read_groups(session)
        for followers, places, reading in groups:
            self._rests_until |= {each.name: monotonic() + each.pause_seconds for each in followers}
            try:
                self._follow(followers, places, reading.dirty, reading)
            except positions.Overtaken:
                return True
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                if len(followers) > 1 or len(reading.dirty) > 1:
                    _log.exception("figures could not follow the changes together; following each by itself")
                with suppress(positions.Overtaken):
                    self._follow_singly(followers, places, reading)
        return bool(groups)

    def _read_groups(self, session: Session) -> list[tuple[list[Follower], list[Position], Reading]]:
        """Return the followers that have something to do, in groups that stand at one place."""
        found = positions.read_positions(session)
        moment = now()
        groups: dict[tuple[int, frozenset[int], frozenset[str]], list[Follower]] = {}
        for follower in self._followers:
            position = found[follower.name]
            rests = self._pauses and self._rests_until.get(follower.name, 0.0) > monotonic()
            if not rests and (position.retry_at is None or position.retry_at <= moment):
                behind_it = {number for number in self._followed[follower.name] if number > position.cursor}
                self._followed[follower.name] = behind_it
                groups.setdefault((position.cursor, frozenset(behind_it), follower.topics), []).append(follower)
        behind = []
        for (cursor, followed, topics), followers in groups.items():
            reading = positions.read_dirty(session, cursor, followed, MOST_CHANGES, topics)
            moves = reading.settled - cursor
            if reading.dirty or (followed and moves) or moves >= _PASSED_CHANGES:
                behind.append((followers, [found[follower.name] for follower in followers], reading))
        return behind

    def _follow_singly(self, followers: Sequence[Follower], places: Sequence[Position], reading: Reading) -> None:
        """Follow each change by itself, one follower after the other; the one that fails is noted."""
        for follower, place in zip(followers, places, strict=True):
            position = place
            for change in reading.dirty:
                upto = Reading([change], min(reading.settled, change.id), change.id)
                try:
                    [position] = self._follow([follower], [position], [change], upto)
                except (positions.Overtaken, OperationalError, InterfaceError):
                    raise
                except Exception as error:
                    if not self._give_up(follower, position, change, upto, error):
                        break
                    with self._workspace.database.autocommit_read() as session:
                        position = positions.read_positions(session)[follower.name]

    def _give_up(
        self, follower: Follower, position: Position, change: DirtyChange, upto: Reading, error: Exception
    ) -> bool:
        """Note a failed attempt; return whether it was the last one, so that the change is skipped."""
        last = position.attempts + 1 >= positions.MOST_ATTEMPTS
        with self._workspace.database.write() as session:
            if last:
                positions.claim(session, position, upto.settled)
                positions.skip(session, follower.name, change, error)
            else:
                positions.note_failure(session, position, error)
        if last:
            self._followed[follower.name].add(change.id)
            _log.error(
                "%s skips change %s after %s attempts: %s", follower.name, change.id, position.attempts + 1, error
            )
        else:
            _log.warning("%s cannot follow change %s, trying again: %s", follower.name, change.id, error)
        return last

    def _follow(
        self,
        followers: Sequence[Follower],
        places: Sequence[Position],
        dirty: Sequence[DirtyChange],
        reading: Reading,
    ) -> list[Position]:
        """Store what the documents of some changes say; return the new places."""
        days = {document: change.day for change in dirty for document in change.documents}
        documents = sorted(days)
        held = list(places)
        at_once = min(follower.at_once for follower in followers)
        for start in range(0, max(len(documents), 1), at_once):
            batch = documents[start : start + at_once]
            last = start + at_once >= len(documents)
            # Computed before the turn to write. What is committed meanwhile makes its documents dirty again.
            with self._workspace.database.snapshot_read() as session:
                compared = [compare(session, follower, batch) for follower in followers] if batch else []
                announced = [each.announce(session, dirty, batch) for each in followers if each.announce is not None]
            if not last and not any(any(differences.values()) for differences in compared) and not any(announced):
                continue
            with self._workspace.database.write() as session:
                held = [positions.claim(session, place, reading.settled if last else place.cursor) for place in held]
                for follower, differences in zip(followers, compared, strict=False):
                    store(session, follower, differences, days)
                for write in announced:
                    if write is not None:
                        write(session)
        for follower in followers:
            self._followed[follower.name] |= {change.id for change in dirty if change.id > reading.settled}
        return held


def compare(session: Session, follower: Follower, documents: Collection[str]) -> Differences:
    """Return how the rows of some documents differ from what pages, tasks and answers say."""
    return {table: table.compare(session, documents) for table in follower.tables}


def store(session: Session, follower: Follower, differences: Differences, days: Mapping[str, date]) -> None:
    """Store the differences of a follower's tables and what follows from them, and publish whose figures changed."""
    if not any(differences.values()):
        return
    changed: dict[tuple[str, str], None] = {}
    for table, difference in differences.items():
        if difference:
            table.store(session, difference)
            changed.update(dict.fromkeys(table.documents_of(difference)))
    if follower.then is not None:
        follower.then(session, differences, days)
    publish(session, follower.publishes, changed)


def publish(session: Session, topic: Topic, changed: Iterable[tuple[str, str]]) -> None:
    """Publish the documents, as (project, document), whose figures changed."""
    for project_id, document_id in changed:
        changes.publish(session, topic, project_id, document_id)

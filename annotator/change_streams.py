"""Streams of changes to browsers: one reader a process, which looks while somebody listens.

The reader asks the database every half second what was changed, by whichever process, and hands each stream what its
person may see. What a slow browser has not taken yet is kept as one line for each topic of a project.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from db.changes import MOST_SUBJECTS, Topic
from db.tables import User
from engine import changes
from engine.accounts import change_rights, sessions
from engine.accounts.change_rights import ChangesView, Rights
from engine.changes import StoredEvent
from engine.errors import TooMany
from engine.workspace import Workspace

LOOK_SECONDS = 0.5
RIGHTS_SECONDS = 30.0  # after so long, login and rights of a stream are checked again, whatever was published
OF_ONE = 16  # streams of one person: one for each browser that holds one for its windows, or one a window
_WAIT_SECONDS = 30  # Retry-After of a refused stream
_log = logging.getLogger(__name__)


class Subscription:
    """What one stream has yet to send. Changes come from the reader's thread, and are taken on the event loop."""

    def __init__(self, user: User, rights: Rights, token: str | None, notify: Callable[[], object]) -> None:
        self.user, self.rights, self.token = user, rights, token
        self.checked_at = time.monotonic()
        self.ended = self.logged_out = False
        self._notify = notify
        self._lock = threading.Lock()
        self._lines: dict[tuple[str | None, Topic], dict[str | None, None]] = {}
        self._all = False
        self._next = self._begins = 0

    def begin(self, events: Sequence[StoredEvent], cursor: int, shown: int, *, everything: bool) -> None:
        """Note what the person does not know yet; the reader, which may lag, need not send it again.

        `shown`: the cursor that the person is told (change_rights.shown_cursor).
        """
        with self._lock:
            self._next = shown
        self.add(events, shown, everything=everything)
        self._begins = cursor

    def add(self, events: Sequence[StoredEvent], cursor: int, *, everything: bool = False) -> None:
        """Note changes, and where the stream goes on after them."""
        with self._lock:
            last = max((event.id for event in events if event.id <= cursor), default=self._next)
            # As change_rights.shown_cursor: a cursor that always moved would count what the person may not see.
            near = not everything and cursor - last <= change_rights.HELD
            self._next = max(self._next, last if near else cursor) if not everything else cursor
            self._all = self._all or everything
            self._begins = 0 if everything else self._begins
            for event in (event for event in events if event.id > self._begins):
                subjects = self._lines.setdefault((event.project_id, event.topic), {})
                if len(subjects) <= MOST_SUBJECTS or event.subject_id is None:  # more are not named
                    subjects[event.subject_id] = None
        if events or everything:
            self._notify()

    def end(self, *, logged_out: bool = False) -> None:
        """End the stream; `logged_out`: its person must log in again."""
        self.ended, self.logged_out = True, logged_out
        self._notify()

    def take(self) -> ChangesView:
        """Return what was noted since the last time; it may be nothing but the cursor."""
        with self._lock:
            lines, self._lines = self._lines, {}
            everything, self._all = self._all, False
            changed = [change_rights.line_of(*key, subjects) for key, subjects in lines.items()]
            return ChangesView(next=self._next, all=everything, changes=[] if everything else changed)


class ChangeStreams:
    """The streams of one process.

    Args:
        workspace: where changes are stored.
        most: most streams at a time.
    """

    def __init__(self, workspace: Workspace, most: int) -> None:
        self._workspace, self._most = workspace, most
        self._lock = threading.Lock()  # guards the fields below
        self._streams: list[Subscription] = []
        self._of: Counter[str] = Counter()
        self._cursor = 0
        self._sent_ahead: set[int] = set()  # ids behind the cursor that were sent already (see engine.changes)
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def open(self, user: User, token: str | None, since: int | None, notify: Callable[[], object]) -> Subscription:
        """Begin a stream; `close` ends it. Blocks for some queries.

        Args:
            user: the person who listens.
            token: of their login.
            since: cursor up to which they know everything; None: they have just loaded the page.
            notify: called from any thread when there is something to take, or when the stream has ended.

        Raises:
            TooMany: the person, or the server, has too many streams.
        """
        with self._workspace.database.read() as session:
            rights = change_rights.rights_of(session, user)
        stream = Subscription(user, rights, token, notify)
        with self._lock:
            if self._of[user.id] >= OF_ONE:
                raise TooMany("Glossator is open in too many windows. Close some of them.", _WAIT_SECONDS)
            if len(self._streams) >= self._most:
                sentence = "Too many change streams are open on this server. Use GET /api/changes/since instead."
                raise TooMany(sentence, _WAIT_SECONDS)
            if self._thread is None:
                self._begin()
            self._of[user.id] += 1
            self._streams.append(stream)
        try:  # behind the registration: nothing falls between the two
            with self._workspace.database.read() as session:
                cursor = changes.newest(session, changes.LOADING) if since is None else since
                missed = changes.since(session, cursor)
                events = change_rights.events_for_user(session, rights, missed.events)
                shown = change_rights.shown_cursor(session, rights, missed, events, since)
            stream.begin(events, missed.next, shown, everything=missed.all)
        except BaseException:
            self.close(stream)
            raise
        return stream

    def close(self, stream: Subscription) -> None:
        """Forget a stream."""
        with self._lock:
            if stream in self._streams:
                self._streams.remove(stream)
                self._of[stream.user.id] -= 1
                self._of += Counter()  # drops the zeros

    def stop(self) -> None:
        """End all streams, and accept no more."""
        self._stopped.set()
        with self._lock:
            self._most = 0
            streams, thread = list(self._streams), self._thread
        for stream in streams:
            stream.end()
        if thread is not None:
            thread.join(timeout=5)

    def _begin(self) -> None:
        with self._workspace.database.autocommit_read() as session:
            self._cursor = changes.newest(session)
        self._sent_ahead = set()
        thread = threading.Thread(target=self._follow, name="follow-changes", daemon=True)
        thread.start()
        self._thread = thread

    def _follow(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            with self._lock:
                if not self._streams:
                    self._thread = None
                    return
                streams = list(self._streams)
            try:
                self._send_new(streams)
            except Exception:
                _log.exception("changes could not be read; trying again")

    def _send_new(self, streams: Sequence[Subscription]) -> None:
        with self._workspace.database.autocommit_read() as session:
            batch = changes.since(session, self._cursor)
        events = [event for event in batch.events if event.id not in self._sent_ahead]
        self._check_rights(streams, events)
        if events or batch.next != self._cursor:
            with self._workspace.database.read() as session:
                hidden = change_rights.comparable_answers(session, events)
                for stream in streams:
                    visible = change_rights.visible_events(session, stream.rights, events, hidden)
                    stream.add(visible, batch.next, everything=batch.all)
        self._cursor = batch.next
        self._sent_ahead = {event.id for event in batch.events if event.id > batch.next}

    def _check_rights(self, streams: Sequence[Subscription], events: Sequence[StoredEvent]) -> None:
        """Check login and rights of the persons whom a change concerns, and of the others once in a while."""
        of_people = [event.subject_id for event in events if event.topic in ("members", "users")]
        for stream in streams:
            concerned = stream.user.id in of_people or None in of_people
            if not concerned and time.monotonic() - stream.checked_at < RIGHTS_SECONDS:
                continue
            user = self._still(stream)
            if user is None:
                stream.end(logged_out=True)
                continue
            with self._workspace.database.read() as session:
                stream.rights = change_rights.rights_of(session, user)
            stream.checked_at = time.monotonic()

    def _still(self, stream: Subscription) -> User | None:
        """Return the person of a stream as they are now; None when the login has ended."""
        if self._workspace.settings.auth == "local":
            return stream.user
        return sessions.user_of_token(self._workspace, stream.token or "")

"""Owners of Gradio's sessions: results of events reach no other person, and what one person leaves unread is bounded.

Gradio returns unread results to any request that names a session. Here a session belongs to the user who used it first,
and the number of sessions of one user is bounded.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr

SESSIONS = 24  # per user: one for each loaded page; the least recently used ones are dropped
UNREAD = 256  # events of one user with unread results; opening the page sends about fifty
STREAMS = 64  # connections of one user that read results: two for each open page, at most a quarter of all connections

Owner = str


class Rejected(Exception):
    """A refused request: a status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Sessions:
    """Owners of Gradio's sessions. Used on the event loop only.

    Args:
        page: the Gradio page.
        most_streams: most connections of one user that read results.
    """

    def __init__(self, page: gr.Blocks, most_streams: int = STREAMS) -> None:
        self._page = page
        self._most_streams = most_streams
        self._streams_of: Counter[Owner] = Counter()
        self._owner_of: dict[str, Owner] = {}
        self._sessions_of: dict[Owner, OrderedDict[str, None]] = {}  # oldest first
        self._streams: Counter[str] = Counter()

    async def claim(self, session: str, owner: Owner) -> None:
        """Record that a user uses a session.

        Raises:
            Rejected: the session belongs to another user, or too many results are unread.
        """
        self.check(session, owner)
        own = self._sessions_of.setdefault(owner, OrderedDict())
        if sum(map(self._count_unread, own)) >= UNREAD:
            for abandoned in [name for name in own if name not in self._streams]:
                await self.forget(abandoned)
            if sum(map(self._count_unread, own)) >= UNREAD:
                raise Rejected(429, "Too many of your requests are waiting. Wait a moment, then try again.")
        self._owner_of[session] = owner
        own[session] = None
        own.move_to_end(session)
        while len(own) > SESSIONS:
            await self.forget(next(iter(own)))

    def check(self, session: str, owner: Owner) -> None:
        """Check that no other user owns a session.

        Raises:
            Rejected: another user owns it.
        """
        if self._owner_of.get(session, owner) != owner:
            raise Rejected(404, "This page belongs to another user's session. Reload the page.")

    @contextmanager
    def streaming(self, session: str, owner: Owner) -> Iterator[None]:
        """Count a connection that reads the results of a session.

        Raises:
            Rejected: the user has too many such connections.
        """
        self.check(session, owner)
        if self._streams_of[owner] >= self._most_streams:
            raise Rejected(429, "You have too many pages open. Close some of them.")
        counts: tuple[tuple[Counter[str], str], ...] = ((self._streams, session), (self._streams_of, owner))
        for count, key in counts:
            count[key] += 1
        try:
            yield
        finally:
            for count, key in counts:
                count[key] -= 1
                if not count[key]:
                    del count[key]

    def is_known(self, session: str) -> bool:
        """Return whether a session has sent an event."""
        return session in self._owner_of

    async def forget(self, session: str) -> None:
        """Drop a session and everything that Gradio keeps for it."""
        owner = self._owner_of.pop(session, None)
        if owner is not None:
            self._sessions_of[owner].pop(session, None)
        queue, states = self._page._queue, self._page.state_holder
        await queue.clean_events(session_hash=session)  # what waits never runs; what runs sends its result nowhere
        for kept_by_session in (
            queue.pending_event_ids_session,
            queue.pending_messages_per_session,
            states.session_data,
            states.time_last_used,
        ):
            kept_by_session.pop(session, None)

    def _count_unread(self, session: str) -> int:
        return len(self._page._queue.pending_event_ids_session.get(session, ()))

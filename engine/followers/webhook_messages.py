"""Messages of webhooks: written after the commit of what happened, in order, each once."""

from db.changes import EVENT_FOLLOWER, OF_EVENTS
from engine.followers.follower import Follower
from engine.webhooks.messages import announce_events

PAUSE_SECONDS = 1.0  # between two looks: a running job publishes its progress every second
AT_ONCE = 2000  # documents whose events are sorted together

FOLLOWER = Follower(
    EVENT_FOLLOWER,
    (),
    announce=announce_events,
    topics=frozenset(OF_EVENTS),
    pause_seconds=PAUSE_SECONDS,
    at_once=AT_ONCE,
)

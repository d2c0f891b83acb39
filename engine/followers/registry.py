"""All followers. A new one is added here, and gets its row in the table `followers` by a migration."""

from engine.followers import (
    document_figures,
    extraction_callbacks,
    field_values,
    finished_work,
    question_uses,
    queue_days,
    waiting_reviews,
    webhook_messages,
)
from engine.followers.follower import Follower

FOLLOWERS: tuple[Follower, ...] = (
    document_figures.FOLLOWER,
    finished_work.FOLLOWER,
    queue_days.FOLLOWER,
    question_uses.FOLLOWER,
    waiting_reviews.FOLLOWER,
    field_values.FOLLOWER,
    webhook_messages.FOLLOWER,
    extraction_callbacks.FOLLOWER,
)

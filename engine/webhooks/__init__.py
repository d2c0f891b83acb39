"""Webhooks: events of a project, and callbacks of single requests, sent as signed messages.

A follower (engine.followers.webhook_messages) writes messages after the commit of what happened; threads of servers and
workers send them.

Other rooms may import what stands here.
"""

from db.tables.webhooks import LONGEST_ADDRESS
from engine.webhooks import deliveries, messages, webhooks
from engine.webhooks.deliveries import DeliveryView
from engine.webhooks.events import EVENT_TYPES, EventType
from engine.webhooks.messages import check_callback, send_once
from engine.webhooks.sender import Sender
from engine.webhooks.webhooks import CallbackSecretView, NewWebhookView, WebhookView

__all__ = [
    "EVENT_TYPES",
    "LONGEST_ADDRESS",
    "CallbackSecretView",
    "DeliveryView",
    "EventType",
    "NewWebhookView",
    "Sender",
    "WebhookView",
    "check_callback",
    "deliveries",
    "messages",
    "send_once",
    "webhooks",
]

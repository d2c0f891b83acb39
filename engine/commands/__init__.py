"""The commands, one file a group. Each file has `register(app)`; what is heavy is imported when a command runs."""

from engine.commands import documents, people, serve

GROUPS = (serve, documents, people)

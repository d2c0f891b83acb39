"""Processes that start together do one after the other what only one of them must do."""

from sqlalchemy import Connection, func, select

_NAME = "glossator: start"


def wait_for_turn(connection: Connection) -> None:
    """Wait until no other process is at its start; the turn ends with the caller's transaction.

    SQLite needs none: its writing transactions come one after the other. The lock is one of the transaction, not of the
    session, so that it works through a pooler that gives each transaction another connection.

    Args:
        connection: a connection in a transaction that writes.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(_NAME))))

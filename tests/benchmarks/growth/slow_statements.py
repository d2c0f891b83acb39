"""Statements that took long, with how PostgreSQL runs them: EXPLAIN (ANALYZE, BUFFERS)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from sqlalchemy import Engine, event

SLOW = 0.1  # seconds
AT_MOST = 40


@dataclass(slots=True)
class Slow:
    """A statement with the parameters of its slowest run; `seconds` of all runs beyond SLOW."""

    statement: str
    parameters: Any
    seconds: list[float] = field(default_factory=list)


@contextmanager
def slow_statements() -> Iterator[dict[str, Slow]]:
    """Yield the statements of all engines of this process that take more than SLOW meanwhile, by their text."""
    slow: dict[str, Slow] = {}

    def begin(_connection: Any, _cursor: Any, _statement: str, _parameters: Any, context: Any, _many: bool) -> None:
        context.glossator_began = time.perf_counter()

    def end(_connection: Any, _cursor: Any, statement: str, parameters: Any, context: Any, _many: bool) -> None:
        seconds = time.perf_counter() - context.glossator_began
        if seconds > SLOW:
            known = slow.setdefault(statement, Slow(statement, parameters))
            if seconds > max(known.seconds, default=0.0):
                known.parameters = parameters
            known.seconds.append(seconds)

    event.listen(Engine, "before_cursor_execute", begin)
    event.listen(Engine, "after_cursor_execute", end)
    try:
        yield slow
    finally:
        event.remove(Engine, "before_cursor_execute", begin)
        event.remove(Engine, "after_cursor_execute", end)


def plans(address: str, slow: dict[str, Slow]) -> Iterator[str]:
    """Yield the slowest statements with their plans; nothing is changed.

    Args:
        address: of the database.
        slow: from `slow_statements`.
    """
    ordered = sorted(slow.values(), key=lambda entry: -sum(entry.seconds))[:AT_MOST]
    with psycopg.connect(address) as connection:
        for entry in ordered:
            head = f"{len(entry.seconds)} runs, {sum(entry.seconds):.2f} s, longest {max(entry.seconds):.2f} s"
            text = [head, " ".join(entry.statement.split())[:6000]]
            try:
                rows = connection.execute(f"EXPLAIN (ANALYZE, BUFFERS) {entry.statement}", entry.parameters)
                text += [line for (line,) in rows]
            except psycopg.Error as error:
                text.append(f"no plan: {error}")
            connection.rollback()
            yield "\n".join(text) + "\n"

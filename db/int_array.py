"""Filter by a list of integers with one statement for lists of every length.

The statement is compiled and planned once.
"""

from typing import Any

from sqlalchemy import ARRAY, JSON, Boolean, ColumnElement, Dialect, Integer, TypeDecorator, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class Numbers(TypeDecorator[list[int]]):
    """List of integers as a parameter: an array on PostgreSQL, JSON on SQLite."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """Return the column type of the dialect."""
        return dialect.type_descriptor(ARRAY(Integer()) if dialect.name == "postgresql" else JSON())


class in_array(FunctionElement[bool]):
    """SQL condition: a number is in the list parameter `name`."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, number: ColumnElement[int] | Any, name: str) -> None:
        super().__init__(number, bindparam(name, type_=Numbers()))


@compiles(in_array, "postgresql")
def _any_of_array(element: in_array, compiler: Any, **how: Any) -> str:
    number, listed = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{number} = ANY ({listed})"


@compiles(in_array, "sqlite")
def _in_json(element: in_array, compiler: Any, **how: Any) -> str:
    number, listed = (compiler.process(clause, **how) for clause in element.clauses)
    return f"{number} IN (SELECT value FROM json_each({listed}))"

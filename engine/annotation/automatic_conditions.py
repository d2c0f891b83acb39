"""Which tasks need no person, because an automatic answer stands for theirs."""

from sqlalchemy import ColumnElement, and_, exists

from db.tables import AutomaticAnswer, Task


def settled() -> ColumnElement[bool]:
    """Return the condition that the task of the row needs no person: answered automatically, drawn for no check."""
    return exists().where(AutomaticAnswer.task_id == Task.id, settles())


def settles() -> ColumnElement[bool]:
    """Return the condition that an automatic answer stands for a person's: it stands, and was drawn for no check."""
    return and_(standing(), AutomaticAnswer.audit.is_(False))


def standing() -> ColumnElement[bool]:
    """Return the condition that an automatic answer stands: not taken back, and not answered by a person since."""
    return and_(AutomaticAnswer.withdrawn_at.is_(None), AutomaticAnswer.verdict.is_(None))

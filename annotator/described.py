"""Limits that the engine keeps, for the schemas of bodies: what breaks them is refused with a sentence better than a schema's."""

from typing import Any

from db.tables.people import ROLES
from engine.accounts import passwords
from engine.annotation.answer_service import LONGEST_QUESTION

ROLE: dict[str, Any] = {"enum": list(ROLES)}
ROLE_OR_NONE: dict[str, Any] = {"enum": [*ROLES, None]}
QUESTION: dict[str, Any] = {"minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"\S"}
PASSWORD: dict[str, Any] = {"minLength": passwords.SHORTEST}

"""What a check says: a sentence, and how to mend what is wrong."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check.

    Attributes:
        name: what was checked, a noun.
        state: "warning": people can work, but something is missing or risky. "broken": mend it first.
        sentence: what is so.
        mend: what to do; empty when nothing is wrong.
    """

    name: str
    state: State
    sentence: str
    mend: str = ""


def ok(name: str, sentence: str) -> Finding:
    """Return a finding that is well."""
    return Finding(name, "ok", sentence)


def warning(name: str, sentence: str, mend: str) -> Finding:
    """Return a finding that people can live with."""
    return Finding(name, "warning", sentence, mend)


def broken(name: str, sentence: str, mend: str) -> Finding:
    """Return a finding that stops people from working, or loses what they do."""
    return Finding(name, "broken", sentence, mend)

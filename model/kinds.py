"""Kinds of values that a question may want."""

from enum import StrEnum


class Kind(StrEnum):
    """Coarse kind of a value, in the order of the ranker's features: do not reorder."""

    NAME = "name"  # of a person, a company, a thing
    CODE = "code"  # identifying number
    NUMBER = "number"
    AMOUNT = "amount"
    DATE = "date"
    TIME = "time"
    PHONE = "phone"
    ADDRESS = "address"
    TICK = "tick"
    COUNTRY = "country"


KINDS = tuple(Kind)

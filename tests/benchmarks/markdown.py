"""Tables of the benchmarks, as text that can go into docs/benchmarks.md as it is."""

from __future__ import annotations

from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table with aligned columns; the first `left` of them are words, the others figures."""
    widths = [max(3, *(len(row[i]) for row in [heads, *rows])) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(heads), line(rule), *map(line, rows)])


def verdict(found: float, bar: float) -> str:
    """Whether a figure is at most its bar, in words that stand out when it is not."""
    return "met" if found <= bar else f"MISSED (bar {bar:.2g})"

"""Drawing of a generated table: widths of its columns, its lines, and its way over pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.tables.content import LONG, Entry, Writer, is_number
from tests.benchmarks.tables.paper import MARGIN, Paper
from tests.benchmarks.tables.truth import Mark

_NARROWEST, _WIDEST = 95.0, 210.0  # points of a column of long texts
_LEADING = 1.25  # distance of the lines of a cell, in sizes
_PADDINGS = (0.2, 0.35, 0.55, 0.8)  # above and below the lines of a row, in sizes

Marks = dict[str, tuple[Mark, ...]]


@dataclass(slots=True)
class TableDrawing:
    """A table that is being drawn on a paper.

    Args:
        paper: Where; its `y` is the base line of the first line.
        writer: Of the cells.
        headings: Concept -> what is printed over the column.
        entries: The lines of the table.
        page_added: Called after each further page was begun.
    """

    paper: Paper
    writer: Writer
    headings: Mapping[str, str]
    entries: Sequence[Entry]
    page_added: Callable[[], None]
    rows: list[Marks] = field(default_factory=list)
    padding: float = field(init=False)
    left: list[float] = field(init=False)
    right: list[float] = field(init=False)
    _top: float = 0.0
    _sum: float = 0.0

    def __post_init__(self) -> None:
        kind, paper = self.writer.kind, self.paper
        self.padding = self.writer.rng.choice(_PADDINGS)
        widths = [self._width(name) for name in kind.columns]
        gap = kind.gap * paper.size
        room = paper.width - 2 * MARGIN - sum(widths) - gap * len(widths)
        long = [at for at, name in enumerate(kind.columns) if name in LONG]
        for at in long:
            wished = max(paper.length(e.cells.get(kind.columns[at], "")) for e in self.entries)
            widest = min(
                wished, _WIDEST if kind.wraps else wished, _NARROWEST + max(0.0, room / len(long) - _NARROWEST)
            )
            widths[at] = max(_NARROWEST, widest, *map(paper.length, self._heading_lines(kind.columns[at])))
        room = paper.width - 2 * MARGIN - sum(widths) - gap * len(widths)
        between = gap + (max(0.0, room) / len(widths) if kind.spread else 0.0)
        self.left, self.right = [], []
        x = MARGIN + between / 2
        for width in widths:
            self.left.append(x)
            self.right.append(x + width)
            x += width + between

    @property
    def half_gap(self) -> float:
        """Return half of the distance of two columns, in points."""
        return (self.left[1] - self.right[0]) / 2

    def _width(self, name: str) -> float:
        if name in LONG:
            return 0.0
        under = dict(self.writer.kind.under).get(name)
        below = self._width(under) if under else 0.0
        measure = self.paper.length
        apart = measure(f"{self.writer.sign} ") + 4 if self._sign_apart(name) else 0.0
        texts = [e.cells[name] for e in self.entries if name in e.cells]
        body = max([apart + measure(text, bold=True) for text in texts], default=10.0)
        if self.writer.kind.heading == "turned":
            return max(body, self.paper.size)
        return max(body, below, *(measure(line, bold=True) for line in self._heading_lines(name)))

    def _sign_apart(self, name: str) -> bool:
        return self.writer.kind.sign == "apart" and name in ("price", "amount", "trade", "retail", "balance")

    def _heading_lines(self, name: str) -> list[str]:
        kind = self.writer.kind
        if kind.heading == "none" or (kind.unnamed and name == kind.columns[0]):
            return [""]
        text = self.headings[name]
        lines = [text]
        if kind.heading == "two":
            lines = text.split(" ", 1) if " " in text else [text, ""]
        if kind.stacked and name in LONG:
            lines = [*lines, self.headings[kind.stacked]]
        under = dict(kind.under).get(name)
        return [*lines, self.headings[under]] if under else lines

    def draw(self) -> None:
        """Draw the table; `rows` then holds the places of the cells of each row."""
        self.heading()
        striped = False
        for at, entry in enumerate(self.entries):
            lines, height = self._lines_of(entry)
            last = at == len(self.entries) - 1
            if self._full(height) and not (self.writer.kind.breaks and lines > 1 and not self._full(self._height(1))):
                self._next_page()
            striped = not striped and entry.kind == "row"
            if entry.kind == "row":
                self._draw_row(entry, lines, striped)
            else:
                self._draw_other(entry)
            self._sum += entry.value
            if self.writer.kind.rules in ("lines", "grid") and not last:
                self._across(0.4)
        self._close()

    def heading(self) -> None:
        """Draw the heading."""
        paper, kind = self.paper, self.writer.kind
        self._top = paper.y - paper.size - self.padding * paper.size
        if kind.rules == "grid":
            self._across()
        if kind.heading == "turned":
            tall = max(paper.length(self.headings[name]) for name in kind.columns)
            paper.y += tall
            for at, name in enumerate(kind.columns):
                paper.write_turned(self.right[at] - 1, paper.y - paper.size, self.headings[name])
        elif kind.heading != "none":
            if kind.heading == "spanning":
                self._spanning()
            lines = {name: self._heading_lines(name) for name in kind.columns}
            for row in range(max(map(len, lines.values()))):
                for at, name in enumerate(kind.columns):
                    if row < len(lines[name]) and lines[name][row]:
                        self._place(at, name, lines[name][row], bold=True)
                paper.y += _LEADING * paper.size
            paper.y -= _LEADING * paper.size
        if kind.heading != "none":
            paper.y += self._height(1)
            if kind.rules != "none":
                self._across()

    def _spanning(self) -> None:
        paper, numbers = self.paper, [at for at, name in enumerate(self.writer.kind.columns) if is_number(name)][-2:]
        left, right = self.left[numbers[0]], self.right[numbers[1]]
        text = self.writer.words.headings["price"][0]
        paper.write((left + right - paper.length(text, bold=True)) / 2, paper.y, text, bold=True)
        paper.line(left, paper.y + 3, right, paper.y + 3, 0.4)
        paper.y += 1.5 * paper.size

    def _lines_of(self, entry: Entry) -> tuple[int, float]:
        lines = max((len(self._texts(entry, name)) for name in self.writer.kind.columns), default=1)
        lines = max(lines, 2 if self.writer.kind.under and entry.kind == "row" else 1)
        return lines, self._height(lines)

    def _texts(self, entry: Entry, name: str) -> list[str]:
        text = entry.cells.get(name, "")
        if name not in LONG:
            return [text]
        at = self.writer.kind.columns.index(name)
        lines = self.paper.wrap(text, self.right[at] - self.left[at])
        stacked = entry.cells.get(self.writer.kind.stacked, "")
        return [*lines, *entry.details, *([stacked] if stacked else [])]

    def _height(self, lines: int) -> float:
        return (_LEADING * (lines - 1) + 1 + 2 * self.padding) * self.paper.size

    def _full(self, height: float) -> bool:
        carried = self._height(1) if self.writer.kind.carried else 0.0
        return self.paper.y + height + carried > self.paper.bottom

    def _draw_row(self, entry: Entry, lines: int, striped: bool) -> None:
        paper, kind = self.paper, self.writer.kind
        if kind.rules == "zebra" and striped:
            top = paper.y - (1 + self.padding) * paper.size + 1
            box = (self.left[0] - self.half_gap, top, self.right[-1] + self.half_gap, top + self._height(lines))
            paper.ground(box)
        marks: dict[str, list[Mark]] = {}
        texts = {name: self._texts(entry, name) for name in kind.columns if name in entry.cells}
        row_of_value = {"top": 0, "middle": (lines - 1) / 2, "bottom": lines - 1}[kind.align]
        for at, name in enumerate(kind.columns):
            if name in texts and len(texts[name]) == 1:
                marks[name] = self._value(at, name, entry.cells[name], row_of_value)
        below = {above: name for above, name in kind.under if name in entry.cells}
        for number in range(lines):
            if number and self._full(self._height(1)):
                self._next_page()
            for at, name in enumerate(kind.columns):
                several = texts.get(name, ())
                if len(several) > 1 and number < len(several):
                    stacked = kind.stacked in entry.cells and number == len(several) - 1
                    mark = paper.write(self.left[at], paper.y, several[number])
                    marks.setdefault(kind.stacked if stacked else name, []).append(mark)
                if number == 1 and name in below:
                    marks[below[name]] = [self._place(at, name, entry.cells[below[name]])]
            paper.y += _LEADING * paper.size
        paper.y += self._height(1) - _LEADING * paper.size
        self.rows.append({name: tuple(boxes) for name, boxes in marks.items()})

    def _value(self, at: int, name: str, text: str, row: float) -> list[Mark]:
        y = self.paper.y
        self.paper.y += row * _LEADING * self.paper.size
        marks = [self._place(at, name, text)]
        if self._sign_apart(name):
            marks.append(self.paper.write(self.left[at], self.paper.y, self.writer.sign))
        self.paper.y = y
        return marks

    def _place(self, at: int, name: str, text: str, bold: bool = False) -> Mark:
        if is_number(name) and self.writer.kind.numbers == "right":
            return self.paper.write_right(self.right[at], self.paper.y, text, bold=bold)
        return self.paper.write(self.left[at], self.paper.y, text, bold=bold)

    def _draw_other(self, entry: Entry) -> None:
        summed = self.writer.summed_column()
        remark = entry.kind == "remark"  # indented, and over several columns, so that it is no line of a cell
        text = self.paper.wrap(entry.cells[""], self.right[-1] - self.left[0])[0] if remark else entry.cells[""]
        self.paper.write(self.left[0] + remark * 1.5 * self.paper.size, self.paper.y, text, bold=not remark)
        if summed in entry.cells:
            self._place(self.writer.kind.columns.index(summed), summed, entry.cells[summed], bold=True)
        self.paper.y += self._height(1)

    def _next_page(self) -> None:
        texts, kind = self.writer.words.texts, self.writer.kind
        carried = {self.writer.summed_column(): self.writer.number(self._sum)}
        if kind.carried:
            self._draw_other(Entry("subtotal", {"": texts.carried, **carried}))
        self._close()
        self.paper.add_page()
        self.page_added()
        if kind.repeats:
            self.heading()
        else:
            self._top = self.paper.y - (1 + self.padding) * self.paper.size
        if kind.carried:
            self._draw_other(Entry("subtotal", {"": texts.brought, **carried}))

    def _across(self, width: float = 0.7) -> None:
        y = self.paper.y - (1 + self.padding) * self.paper.size + 1
        self.paper.line(self.left[0] - self.half_gap, y, self.right[-1] + self.half_gap, y, width)

    def _close(self) -> None:
        if self.writer.kind.rules in ("grid", "lines", "head"):
            self._across()
        if self.writer.kind.rules in ("grid", "upright"):
            end = self.paper.y - (1 + self.padding) * self.paper.size + 1
            for x in (*(left - self.half_gap for left in self.left), self.right[-1] + self.half_gap):
                self.paper.line(x, self._top + 1, x, end)

"""Generated tables with exact truth: python -m tests.benchmarks.tables.generated FOLDER [--kind NAME] draws some to look at.

Each table stands on a paper of its own, with addresses, sentences, totals and footers around it. A seed gives the same
tables on every machine. Words are those that the application's reading takes from the text layer.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pymupdf

from engine.documents.reading.order import reading_order
from engine.documents.reading.source_words import clip
from engine.documents.text_layer.words import raw_text, read_layer
from engine.synthetic.values import company, person
from engine.synthetic.vocabulary import CITIES, sentence
from tests.benchmarks.tables.content import LONG, Writer, heading_of
from tests.benchmarks.tables.drawing import TableDrawing
from tests.benchmarks.tables.kinds import DEVELOPMENT, HELD_OUT, Kind
from tests.benchmarks.tables.paper import MARGIN, Paper
from tests.benchmarks.tables.truth import (
    MarkedTable,
    TableColumn,
    TablePage,
    TableWord,
    TrueTable,
    text_of,
    true_rows,
)
from tests.benchmarks.tables.wording import TYPES, WORDINGS, Wording

COUNT = 300  # tables of a group
_DPI = 150  # as pages of uploads
_PRINTED, _OWN_LANGUAGE = 0.5, 0.85  # shares of questions: the printed heading; up to there a synonym; else in English


def generated_tables(kinds: Mapping[str, Kind], count: int = COUNT, seed: int = 1) -> Iterator[TrueTable]:
    """Yield tables, one kind after the other and around again."""
    names = list(kinds)
    for number in range(count):
        name = names[number % len(names)]
        rng = random.Random(f"{seed} {name} {number}")
        yield generated_table(name, kinds[name], rng, number)


def generated_table(name: str, kind: Kind, rng: random.Random, number: int = 0) -> TrueTable:
    """Return a table of a kind on a paper of its own."""
    words = WORDINGS[rng.choice(("en", "en", "de", "fr", "es", "it"))]
    printed = {concept: heading_of(concept, words, rng) for concept in kind.concepts}
    pdf, marked = _draw_paper(f"{name} {number}", kind, rng, words, printed)
    pages = pages_of(pdf)
    return TrueTable(marked.name, name, pages, marked.columns, true_rows(marked, pages), pdf)


def pages_of(pdf: bytes) -> tuple[TablePage, ...]:
    """Return the pages of a PDF with the words of its text layer, as the application reads them."""
    pages = []
    matrix = pymupdf.Matrix(_DPI / 72, _DPI / 72)
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        for number, page in enumerate(document, 1):
            size = round(page.rect.width * _DPI / 72), round(page.rect.height * _DPI / 72)
            words: list[TableWord] = []
            for line in reading_order(read_layer(raw_text(page), matrix)):
                first = len(words)
                boxes = ((word.text, clip(word.box, size)) for word in line)
                words.extend(TableWord(text, box, first) for text, box in boxes if box is not None)
            pages.append(TablePage(number, *size, tuple(words)))
    return tuple(pages)


def _draw_paper(
    name: str, kind: Kind, rng: random.Random, words: Wording, printed: Mapping[str, str]
) -> tuple[bytes, MarkedTable]:
    paper = _empty_paper(kind, rng)
    writer = Writer(rng, kind, words, sign=rng.choice("€$£"))
    asked = _asked(kind, rng, words, printed)
    entries = list(writer.entries())
    sender, title = company(rng), words.titles[kind.paper]
    paper.add_page()
    paper.paragraph([sender], MARGIN, 2.0, bold=True)
    _head(paper, words, rng)
    paper.paragraph([f"{title} {writer.digits('999999')}"], MARGIN, 2.4, bold=True)
    if kind.other == "before":
        _other_table(paper, words, rng, "before")
    if kind.boxed:
        _boxes(paper, words, rng)
    for line in () if kind.boxed else paper.wrap(sentence(rng, 8, 40), paper.width - 2 * MARGIN)[:3]:
        paper.paragraph([line], MARGIN)
    paper.y += 1.5 * paper.size
    _footer(paper, words, sender)
    drawing = TableDrawing(paper, writer, printed, entries, lambda: _next_head(paper, words, sender, title))
    drawing.draw()
    _end(paper, kind, words, rng, drawing, sum(entry.value for entry in entries))
    paper.finish()
    pdf = paper.document.tobytes(deflate=True, no_new_id=True)
    paper.document.close()
    names = {column.name for column in asked}
    rows = tuple({name: marks for name, marks in row.items() if name in names} for row in drawing.rows)
    return pdf, MarkedTable(name, asked, rows)


def _empty_paper(kind: Kind, rng: random.Random) -> Paper:
    face = "cour" if kind.mono else rng.choice(("helv", "helv", "tiro"))
    size = rng.choice((kind.size, kind.size - 0.5, kind.size + 0.5))
    width, height = (842.0, 595.0) if kind.landscape else (595.0, 842.0)
    return Paper(face, size, width, height)


def _asked(kind: Kind, rng: random.Random, words: Wording, printed: Mapping[str, str]) -> tuple[TableColumn, ...]:
    """Return the columns that are asked for, in their order on the page; at least three, and one of texts."""
    some = [name for name in printed if name in LONG or rng.random() > kind.unasked]
    names = some if len(some) >= 3 else list(printed)
    columns = []
    for name in names:
        chance = rng.random()
        language = words if chance < _OWN_LANGUAGE else WORDINGS["en"]
        question = printed[name] if chance < _PRINTED else heading_of(name, language, rng)
        columns.append(TableColumn(name, question, TYPES[name]))
    return tuple(columns)


def _head(paper: Paper, words: Wording, rng: random.Random) -> None:
    """Write addresses on the left, and numbers and dates of the paper on the right."""
    top = paper.y
    town = f"{rng.randint(10000, 99999)} {rng.choice(CITIES)}"
    paper.paragraph([person(rng), f"{rng.choice(words.nouns).capitalize()} {rng.randint(1, 99)}", town], MARGIN)
    below, paper.y = paper.y, top
    for label, value in (
        (words.texts.number, str(rng.randint(10000, 99999))),
        (words.texts.date, words.day(rng.randint(0, 300))),
        (words.headings["person"][0], person(rng)),
    ):
        paper.write(paper.width - MARGIN - 190, paper.y, f"{label}:")
        paper.write(paper.width - MARGIN - 110, paper.y, value)
        paper.y += 1.4 * paper.size
    paper.y = max(below, paper.y) + 2 * paper.size


def _boxes(paper: Paper, words: Wording, rng: random.Random) -> None:
    """Write boxes of fields beside each other: a name, then its value."""
    wide = (paper.width - 2 * MARGIN) / 3
    top = paper.y
    for box in range(3):
        left, paper.y = MARGIN + box * wide, top
        for name in rng.sample(("code", "person", "document", "date", "due", "batch", "unit"), 4):
            value = {
                "person": person(rng),
                "date": words.day(rng.randint(0, 99)),
                "due": words.day(rng.randint(99, 200)),
            }
            paper.write(left + 4, paper.y, f"{words.headings[name][0]}:")
            paper.write(left + 0.5 * wide, paper.y, value.get(name, str(rng.randint(1000, 99999))))
            paper.y += 1.3 * paper.size
        for y in (top - 1.1 * paper.size, paper.y - 0.9 * paper.size):
            paper.line(left, y, left + wide - 6, y)
    paper.y += 0.5 * paper.size


def _next_head(paper: Paper, words: Wording, sender: str, title: str) -> None:
    paper.paragraph([f"{sender} - {title}"], MARGIN, 3.0)
    _footer(paper, words, sender)


def _footer(paper: Paper, words: Wording, sender: str) -> None:
    y = paper.height - MARGIN
    paper.write(MARGIN, y, sender, size=0.8 * paper.size)
    paper.write(paper.width - MARGIN - 60, y, f"{words.texts.page} {paper.number}", size=0.8 * paper.size)


def _other_table(paper: Paper, words: Wording, rng: random.Random, place: str) -> None:
    """Write a small table that nobody asks for."""
    names = ("document", "date", "due") if place == "before" else ("tax", "quantity", "amount")
    rows = [[rng.choice(words.headings[name]) for name in names]]
    for _ in range(1 if place == "before" else 2):
        value = {
            "document": str(rng.randint(1000, 9999)),
            "date": words.day(rng.randint(0, 100)),
            "due": words.day(rng.randint(100, 200)),
            "tax": words.amount(rng.choice((7, 19, 21)), 0),
            "quantity": words.amount(rng.randint(1, 90), 0),
            "amount": words.amount(rng.uniform(10, 900)),
        }
        rows.append([value[name] for name in names])
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            paper.write(MARGIN + 100 * column, paper.y, text, bold=not at)
        paper.y += 1.6 * paper.size
    paper.y += 1.5 * paper.size


def _end(paper: Paper, kind: Kind, words: Wording, rng: random.Random, drawing: TableDrawing, total: float) -> None:
    """Write what follows a table: totals below its last column, another table, a sentence."""
    if paper.y + 14 * paper.size > paper.bottom:
        paper.add_page()
    if kind.total:
        paper.y += 0.4 * paper.size
        texts = words.texts
        for label, value in ((texts.net, total), (texts.tax, 0.19 * total), (texts.total, 1.19 * total)):
            right = drawing.right[-1]
            paper.write_right(right, paper.y, drawing.writer.money(value), bold=label == texts.total)
            paper.write_right(right - 75, paper.y, label, bold=label == texts.total)
            paper.y += 1.6 * paper.size
    paper.y += 1.5 * paper.size
    if kind.other == "after":
        _other_table(paper, words, rng, "after")
    paper.paragraph([words.texts.thanks, *paper.wrap(sentence(rng, 5, 25), paper.width - 2 * MARGIN)[:2]], MARGIN)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=[*DEVELOPMENT, *HELD_OUT], action="append", help="default: all")
    parser.add_argument("--count", type=int, default=1, help="tables of a kind")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    kinds = {**DEVELOPMENT, **HELD_OUT}
    for name in chosen.kind or kinds:
        for table in generated_tables({name: kinds[name]}, chosen.count, chosen.seed):
            draw(table, chosen.folder)


def draw(table: TrueTable, folder: Path) -> None:
    """Write pictures of a table's pages with its cells, and print its columns and first rows."""
    print(f"\n{table.name}: {len(table.rows)} rows; {[f'{c.name}={c.question}' for c in table.columns]}")
    for row in table.rows[:4]:
        print("  ", {name: text_of(cell, table.pages) for name, cell in row.items()})
    with pymupdf.open(stream=table.pdf, filetype="pdf") as document:
        for page, drawn in zip(table.pages, document, strict=True):
            for at, row in enumerate(table.rows):
                for name, cell in row.items():
                    colour = pymupdf.utils.getColor(("red", "blue", "darkgreen")[[*row].index(name) % 3])
                    for box in (page.words[word].box for number, word in cell if number == page.number):
                        place = pymupdf.Rect(*(side * 72 / _DPI for side in box))
                        drawn.draw_rect(place, color=colour, width=0.4 + at % 2)
            drawn.get_pixmap(dpi=90).save(folder / f"{table.name.replace(' ', '-')}-{page.number}.png")


if __name__ == "__main__":
    main()

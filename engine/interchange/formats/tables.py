"""CSV and XLSX: questions and the texts of their answers, a line an answer, without images and places."""

import csv
from collections.abc import Iterator
from datetime import datetime

import xlsxwriter

from engine.datasets.manifest import FrozenItem
from engine.interchange.cells import harmless
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import Release, licence_of
from engine.interchange.snapshot_figures import SPLITS

CSV_FILE, XLSX_FILE = "answers.csv", "answers.xlsx"
COLUMNS = (
    "document", "question", "answer", "answered", "pages", "status", "author", "source", "model_version", "weight",
    "split", "licence", "document_sha256", "annotation_id", "instead_of",
)  # fmt: skip
_WIDTHS = {"document": 32, "question": 40, "answer": 48}
_MOST_LETTERS = 32_767  # of a cell of XLSX
_MOST_ROWS = 1_048_575  # of a sheet of XLSX, less its head


def write_csv(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write answers.csv in UTF-8 with a byte order mark, by which Excel recognises it.

    A text that a spreadsheet would take for a formula gets an apostrophe in front, and so does a part of a text that a
    spreadsheet of another locale would make a cell.
    """
    counts = {"documents": 0, "answers": 0, "no_answer": 0}
    with to.text(CSV_FILE) as file:
        file.write("\ufeff")
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for row in _rows(release, counts, tick):
            table.writerow([harmless(value) for value in row])
    return Outcome(counts)


def write_xlsx(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write answers.xlsx, a sheet for each million of answers.

    Cells are texts and numbers, never formulas.
    """
    counts = {"documents": 0, "answers": 0, "no_answer": 0}
    with to.file(XLSX_FILE) as target:
        options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        with xlsxwriter.Workbook(str(target), options) as book:
            # A fixed date, so that the same snapshot gives the same bytes.
            book.set_properties({"title": release.project, "created": datetime(2000, 1, 1)})
            bold = book.add_format({"bold": True})
            sheet, at = None, 0
            for row in _rows(release, counts, tick):
                if sheet is None or at > _MOST_ROWS:
                    sheet, at = book.add_worksheet(), 1
                    sheet.freeze_panes(1, 0)
                    for place, name in enumerate(COLUMNS):
                        sheet.set_column(place, place, _WIDTHS.get(name, 14))
                        sheet.write_string(0, place, name, bold)
                for place, value in enumerate(row):
                    if isinstance(value, str):
                        sheet.write_string(at, place, value[:_MOST_LETTERS])
                    else:
                        sheet.write_number(at, place, value)
                at += 1
    return Outcome(counts)


def _rows(release: Release, counts: dict[str, int], tick: Tick) -> Iterator[list[str | float]]:
    for _, items in release.documents():
        counts["documents"] += 1
        for item in items:
            yield _row(release, item, counts)
            tick()


def _row(release: Release, item: FrozenItem, counts: dict[str, int]) -> list[str | float]:
    marked = release.marked_values(item)
    counts["answers" if marked else "no_answer"] += 1
    document = item.document
    return [
        document.name,
        item.question,
        "\n".join(one.text for one in marked if one.text),
        "yes" if marked else "no",
        ", ".join(dict.fromkeys(str(one.page.number) for one in marked)),
        item.status,
        item.author,
        item.source,
        item.model_version or "",
        item.weight,
        SPLITS[document.split],
        licence_of(document),
        document.sha256,
        item.annotation_id,
        "\n".join(f"{answer.author}: {answer.why}" for answer in item.instead_of),
    ]


_TEXTS = "Texts only; page images and positions are left out."
_APOSTROPHES = (
    "An apostrophe stands before =, +, - and @, full-width ones too, where a spreadsheet would run what follows as a "
    "formula: at the beginning of a text that is no number, and after a semicolon, comma, bar, tab or line break."
)
FORMATS = (
    Format("csv", "CSV of questions and answers", write_csv, lossy=f"{_TEXTS} {_APOSTROPHES}", pages=False),
    Format("xlsx", "XLSX of questions and answers", write_xlsx, lossy=_TEXTS, pages=False),
)

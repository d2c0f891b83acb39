"""Words of writing that programs take apart: right to left, vertical, spaced letters, fonts of symbols."""

from pathlib import Path

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading.order import reading_order
from engine.documents.reading.render import PdfPages
from engine.documents.reading.source_words import is_right_to_left
from tests.support import made_writing as made


def rows_of(path: Path) -> list[str]:
    """Return the words of each line of the first page, with blanks between them."""
    sheet = PdfPages(path, ReadLimits()).read_page(1)
    return [" ".join(word.text for word in row) for row in reading_order(sheet.lines)]


@pytest.mark.parametrize(
    "words",
    [
        ["المبلغ", "1250", "ريال"],
        ["السعر", "١٢٣٫٥", "درهم"],
        ["رقم", "HV-20418", "تاريخ", "2024/05/17"],
        ["تاريخ", "٢٠٢٤/٠٥/١٧"],
        ["مبلغ", "۱۲۵۰"],
        ["סך", "12.50"],
    ],
)
def test_numbers_in_right_to_left_lines_are_words_of_their_own(tmp_path: Path, words: list[str]) -> None:
    printed = " ".join(word[::-1] if is_right_to_left(word) else word for word in reversed(words))
    (row,) = rows_of(made.mapped_pdf(tmp_path / "right.pdf", [printed]))
    assert row.split() == words


def test_vertical_writing_of_single_characters_is_read_down_then_leftwards(tmp_path: Path) -> None:
    columns = ["吾輩は猫である。", "名前はまだ無い。", "どこで生れたか", "です"]
    path = made.columns_pdf(tmp_path / "vertical.pdf", columns, heading="見出しの文字")
    rows = ["".join(row.split()) for row in rows_of(path)]
    assert [row for row in rows if row != "見出しの文字"] == columns
    assert "見出しの文字" in rows


def test_tables_of_single_characters_are_read_row_by_row(tmp_path: Path) -> None:
    path = made.table_of_single_characters_pdf(tmp_path / "table.pdf")
    assert rows_of(path) == ["合 計 12500 円"] * 6


def test_evenly_spaced_letters_are_one_word(tmp_path: Path) -> None:
    spaces = (0.2, 0.25, 0.4, 0.75)
    rows = [("INVOICE No 12", space) for space in spaces] + [("I N V O I C E  O F", 0)]
    words = rows_of(made.spaced_pdf(tmp_path / "spaced.pdf", rows))
    assert words == ["INVOICE No 12"] * len(spaces) + ["INVOICE OF"]


def test_evenly_spaced_letters_of_a_turned_page_are_one_word(tmp_path: Path) -> None:
    path = made.spaced_pdf(tmp_path / "turned.pdf", [("INVOICE", 0.3), ("TOTAL DUE", 0.5)], rotation=90)
    assert rows_of(path) == ["INVOICE", "TOTAL DUE"]


def test_lists_of_letters_and_of_digits_stay_apart(tmp_path: Path) -> None:
    rows = ["A B C D E", "1 2 3 4 5", "a leader . . . . . . 7", "I am a B or a C", "x = 2 y + 3"]
    assert rows_of(made.spaced_pdf(tmp_path / "lists.pdf", [(row, 0) for row in rows])) == rows
    assert rows_of(made.spaced_pdf(tmp_path / "digits.pdf", [("5   0   2   7", 0)])) == ["5 0 2 7"]


def test_ticks_of_symbol_fonts_are_no_letters(tmp_path: Path) -> None:
    assert rows_of(made.symbols_pdf(tmp_path / "ticks.pdf")) == ["Smoker", "Tenant 3"]

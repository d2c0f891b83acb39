"""Reading order, and which characters can be read at all."""

from engine.documents.reading.order import reading_order
from engine.documents.reading.source_words import FoundLine, FoundWord
from engine.documents.text_layer.legible import clean, unreadable_characters


def line(text: str, x: float, y: float, *, from_right: bool = False, height: float = 10) -> FoundLine:
    """Words of six units a character; `from_right` puts the first word at the right, as Arabic is written."""
    words = text.split()
    words = words[::-1] if from_right else words
    found = []
    for word in words:
        found.append(FoundWord(word, (x, y, x + 6 * len(word), y + height)))
        x += 6 * len(word) + 4
    return FoundLine(tuple(found))


def read(*lines: FoundLine) -> list[str]:
    return [" ".join(word.text for word in row) for row in reading_order(lines)]


def test_a_key_is_followed_by_its_value_across_the_row() -> None:
    assert read(line("40718", 300, 0), line("Total", 0, 20), line("Invoice number", 0, 1), line("12.50", 300, 21)) == [
        "Invoice number 40718",
        "Total 12.50",
    ]


def test_a_table_is_read_row_by_row() -> None:
    rows = [[line(f"{name}{row}", x, 20 * row) for name, x in (("a", 0), ("b", 100), ("c", 200))] for row in range(5)]
    assert read(*(cell for row in rows for cell in row)) == [f"a{row} b{row} c{row}" for row in range(5)]


def test_a_skewed_row_stays_one_row() -> None:
    words = tuple(FoundWord(f"w{i}", (60 * i, 3 * i, 60 * i + 50, 3 * i + 10)) for i in range(8))
    lines = [FoundLine((word,)) for word in words]
    assert read(*lines) == ["w0 w1 w2 w3 w4 w5 w6 w7"]


def test_a_headline_comes_before_the_columns_below_it_and_a_footer_after() -> None:
    left = [line(f"left column line {row}", 0, 40 + 14 * row) for row in range(6)]
    right = [line(f"right column line {row}", 170, 40 + 14 * row) for row in range(6)]
    head, foot = (
        line("a headline that goes over both columns here", 0, 0),
        line("page 3 of the whole report goes over both", 0, 160),
    )
    ordered = read(*right, foot, *left, head)
    assert ordered[0].startswith("a headline") and ordered[-1].startswith("page 3")
    assert [text.split()[0] for text in ordered[1:-1]] == ["left"] * 6 + ["right"] * 6


def test_three_columns_are_read_from_left_to_right() -> None:
    columns = [
        [line(f"{name} has a line {row}", x, 14 * row) for row in range(5)]
        for name, x in (("one", 0), ("two", 160), ("three", 320))
    ]
    ordered = read(*(entry for column in columns for entry in column))
    assert [text.split()[0] for text in ordered] == ["one"] * 5 + ["two"] * 5 + ["three"] * 5


def test_arabic_is_read_right_to_left_and_latin_within_it_left_to_right() -> None:
    # As it stands on the page, from left to right: "Python and R" stands as such inside an Arabic line.
    stands = ["البرمجة", "Python", "and", "R", "بلغة"]
    x, words = 0.0, []
    for text in stands:
        words.append(FoundWord(text, (x, 0, x + 40, 10)))
        x += 45
    arabic = line("تحسين الإنتاجية وحل المشكلات", 0, 20, from_right=True)
    assert read(FoundLine(tuple(words)), arabic) == ["بلغة Python and R البرمجة", "تحسين الإنتاجية وحل المشكلات"]


def test_a_date_in_pieces_inside_arabic_is_one_word() -> None:
    pieces, x = [], 0.0
    for text in ("1403", "/", "09", "/", "19"):
        pieces.append(FoundLine((FoundWord(text, (x, 0, x + 6 * len(text), 10)),)))
        x += 6 * len(text)
    (row,) = reading_order([*pieces, line("تاريخ الوثيقة", 100, 0, from_right=True)])
    assert [word.text for word in row] == ["تاريخ", "الوثيقة", "1403/09/19"]
    assert row[-1].box == (0, 0, 60, 10)


def test_numbers_that_stand_apart_stay_apart() -> None:
    assert [len(row) for row in reading_order([line("12 34 - 56 , 78", 0, 0)])] == [6]


def test_hebrew_inside_an_english_line_is_turned_alone() -> None:
    stands = ["the", "name", "כהן", "דוד", "is", "written", "so"]
    words = tuple(FoundWord(text, (45.0 * i, 0, 45.0 * i + 40, 10)) for i, text in enumerate(stands))
    assert read(FoundLine(words)) == ["the name דוד כהן is written so"]


def test_sideways_text_comes_after_the_page_and_in_its_own_direction() -> None:
    up = FoundLine((FoundWord("second", (0, 100, 10, 140)), FoundWord("first", (0, 150, 10, 190))), heading=270)
    assert read(up, line("the body of the page", 50, 300)) == ["the body of the page", "first second"]


def test_vertical_columns_of_japanese_go_from_right_to_left() -> None:
    columns = [
        FoundLine(tuple(FoundWord(c, (x, 12.0 * i, x + 10, 12.0 * i + 10)) for i, c in enumerate(text)), heading=90)
        for text, x in (("後の行", 0), ("先の行", 20))
    ]
    assert read(*columns) == ["先 の 行", "後 の 行"]


def test_ligatures_and_shaped_letters_become_plain_ones() -> None:
    assert clean("ﬁnal oﬀer") == "final offer"
    assert clean("ﻻ") == "لا"
    assert clean("\uf0b7") == "•"
    assert clean("so\u00adft\x07") == "soft"
    assert clean("\ufffd\ue123") == ""


def test_characters_without_letters_are_counted_and_symbols_are_not() -> None:
    assert unreadable_characters("\ufffd\ufffdab") == 2
    assert unreadable_characters("of\ufffdce") == 1
    assert (
        unreadable_characters("\uf0b7") == unreadable_characters("\ue123") == unreadable_characters("po\u00adlite") == 0
    )

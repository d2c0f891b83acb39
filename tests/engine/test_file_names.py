"""Names of files that people send."""

import pytest

from engine.text import LONGEST_FILE_NAME, file_name


@pytest.mark.parametrize("given", [None, "", ".", "..", "...", "/", "a/..", "..\\..", " ", "\u2028/."])
def test_what_is_no_name_becomes_the_other_one(given: str | None) -> None:
    assert file_name(given, "set.zip") == "set.zip"


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\set.zip", "set.zip"),
        ("a\0b\nc\x7f.pdf", "ab c.pdf"),
        ("invoice\u202egpj.exe", "invoicegpj.exe"),
        ("half\ud800.pdf", "half.pdf"),
        ("فاتورة \u200fمی\u200cخواهم.pdf", "فاتورة می\u200cخواهم.pdf"),
        (".hidden", ".hidden"),
    ],
)
def test_a_name_keeps_what_is_harmless(given: str, stored: str) -> None:
    assert file_name(given, "document") == stored


@pytest.mark.parametrize("letter", ["x", "é", "あ", "🙂"])
def test_a_long_name_is_cut_to_what_a_file_system_takes_and_keeps_its_ending(letter: str) -> None:
    name = file_name(letter * 300 + ".pdf", "document")
    assert name.endswith("....pdf") and LONGEST_FILE_NAME - 4 < len(name.encode()) <= LONGEST_FILE_NAME
    assert len(file_name("a." + letter * 300, "document").encode()) <= LONGEST_FILE_NAME

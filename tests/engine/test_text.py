"""What names may hold of what nobody sees, and what is left of the names of files."""

import pytest

from engine.errors import Refused
from engine.text import check_name, check_question, clean_file_name, is_blank

OVERRIDES = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)]
WIDTHLESS = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e", "\U000e0041"]
CONTROLS = ["\0", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"]
BLANK = [
    "",
    " ",
    "   ",
    "\u00a0",
    "\u2003\u3000",
    "\u3164",
    "\u2800\u2800",
    "\u115f\u1160",
    "\uffa0",
    "\u0301",
    "\u200b",
]
# Arabic, Hebrew, Persian with a joiner, Hindi with a virama and a joiner, Chinese, an emoji, quotes and brackets.
GOOD = ["فواتير", "חשבוניות 2026", "صورت‌حساب‌ها", "क्‍ष", "发票", "Rechnungen ❤️", 'Müller & "Söhne" <Nord>', "a"]


@pytest.mark.parametrize("name", [f"bills{each}2026" for each in (*OVERRIDES, *WIDTHLESS, *CONTROLS)])
def test_a_name_with_what_nobody_sees_is_refused_and_told_what(name: str) -> None:
    with pytest.raises(Refused, match=r"A project's name must not contain the invisible character U\+[0-9A-F]{4}"):
        check_name(name, "A project's name", longest=100)


@pytest.mark.parametrize("name", BLANK)
def test_a_name_of_which_nothing_is_to_be_seen_is_refused(name: str) -> None:
    assert is_blank(name)
    with pytest.raises(Refused, match="A project's name"):
        check_name(name, "A project's name", longest=100)
    with pytest.raises(Refused, match="The question is empty"):
        check_question(name)


@pytest.mark.parametrize("name", GOOD)
def test_names_in_every_script_are_taken(name: str) -> None:
    check_name(name, "A project's name", longest=100)
    check_question(f"{name}?")
    assert clean_file_name(f"{name}.pdf", "document") == f"{name}.pdf"


def test_a_joiner_is_taken_between_letters_that_need_it_alone() -> None:
    for name in ("bi\u200clls", "\u200cفواتير", "فواتير\u200d", "ف \u200c واتير"):
        with pytest.raises(Refused, match="invisible"):
            check_name(name, "A project's name", longest=100)
    with pytest.raises(Refused, match="invisible"):
        check_name("صورت‌حساب", "A user's name", longest=100, joiners=False)


@pytest.mark.parametrize("each", sorted(OVERRIDES[:9]))
def test_a_question_that_turns_the_direction_of_text_is_refused(each: str) -> None:
    with pytest.raises(Refused, match="A question must not contain the invisible character"):
        check_question(f"What is {each}the total?")


def test_the_name_of_a_file_is_cleaned_and_never_empty() -> None:
    assert clean_file_name("invoice\u202efdp.exe", "document") == "invoicefdp.exe"
    assert clean_file_name("a\nb\tc\x07\u200b\u2066.pdf", "document") == "a b c.pdf"
    assert clean_file_name("صورت‌حساب.pdf", "document") == "صورت‌حساب.pdf"
    for name in BLANK:
        assert clean_file_name(name, "document") == "document"
    for each in (*OVERRIDES, *WIDTHLESS, *CONTROLS):
        assert each not in clean_file_name(f"x{each}y", "document")

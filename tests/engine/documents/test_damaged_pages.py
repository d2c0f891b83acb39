"""PDFs with damaged pages, and PDFs whose pages are not what they hold: each says so in a sentence."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pymupdf
import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading.render import PdfPages
from engine.documents.refusal import Unreadable
from tests.support import made_damage as made


def read(path: Path) -> tuple[list[list[str]], list[str]]:
    """Return the words of each page, and the warnings."""
    pages = PdfPages(path, ReadLimits())
    sheets = [pages.read_page(number) for number in range(1, pages.count + 1)]
    return [[word.text for line in sheet.lines for word in line.words] for sheet in sheets], pages.warnings


@pytest.mark.parametrize(
    "make", [made.lost_content_pdf, made.no_page_pdf, partial(made.no_page_pdf, instead="999 0 R")]
)
def test_a_broken_page_is_named_and_the_others_are_read(tmp_path: Path, make: Callable[..., Path]) -> None:
    words, warnings = read(make(tmp_path / "broken.pdf", pages=5, lost=4))
    assert words == [["Page", "number", str(number)] if number != 4 else [] for number in range(1, 6)]
    assert len(warnings) == 1 and warnings[0].startswith("Page 4 is damaged")


def test_a_page_with_a_picture_cut_in_half_is_named(tmp_path: Path) -> None:
    words, warnings = read(made.cut_picture_pdf(tmp_path / "cut.pdf"))
    assert words == [["A", "picture", "below"]]
    assert warnings == ["Page 1 is damaged: a picture or another part is cut off. Compare it with the original."]


def test_a_dynamic_form_is_refused_and_a_static_one_is_read(tmp_path: Path) -> None:
    for rendering in (True, False):
        with pytest.raises(Unreadable, match=r"dynamic XFA form.*print it to a PDF"):
            PdfPages(made.xfa_pdf(tmp_path / "dynamic.pdf", made.NOTICE, rendering=rendering), ReadLimits())
    lines = ["Name of the tenant", "Harbour Street 12"]
    words, warnings = read(made.xfa_pdf(tmp_path / "static.pdf", lines, rendering=False))
    assert (words, warnings) == ([" ".join(lines).split()], [])


def test_attachments_are_named_and_a_portfolio_is_called_one(tmp_path: Path) -> None:
    _, warnings = read(made.attached_pdf(tmp_path / "one.pdf", ["prices.xlsx"]))
    assert warnings == ["The file has 1 attachment, which was not read: prices.xlsx."]
    _, warnings = read(made.attached_pdf(tmp_path / "two.pdf", ["prices.xlsx"], pinned="plan.pdf"))
    assert warnings == ["The file has 2 attachments, which were not read: prices.xlsx, plan.pdf."]
    _, warnings = read(made.attached_pdf(tmp_path / "portfolio.pdf", ["a.pdf", "b.pdf"], portfolio=True))
    assert warnings == [
        "The file is a portfolio, and only its cover was read. Upload the files in it one by one: a.pdf, b.pdf."
    ]
    assert read(made.attached_pdf(tmp_path / "invoice.pdf", ["factur-x.xml"]))[1] == []


def test_a_roll_is_drawn_by_its_pixels_and_a_huge_page_says_so(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        document.new_page(width=226, height=6000).insert_text((20, 40), "Harbour Museum", fontsize=9)
        document.new_page(width=9000, height=9000).insert_text((20, 40), "Harbour Museum", fontsize=9)
        document.save(tmp_path / "roll.pdf")
    pages = PdfPages(tmp_path / "roll.pdf", ReadLimits())
    roll = pages.read_page(1).image
    assert roll.width > 400 and roll.width * roll.height <= 3000 * 3000 / 2 * 1.01
    assert pages.warnings == []
    assert max(pages.read_page(2).image.size) == 3000
    assert pages.warnings == [
        "Page 2 is so large that it is drawn at 24 dots an inch: small print on it may be illegible."
    ]

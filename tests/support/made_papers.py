"""PDF files with a text layer, made in memory."""

from collections.abc import Sequence

import pymupdf


def pdf_of(*pages: Sequence[str]) -> bytes:
    """A PDF with the lines of each page, 12 points high, two centimetres apart."""
    with pymupdf.open() as document:
        for lines in pages:
            page = document.new_page(width=420, height=300)
            for at, line in enumerate(lines):
                page.insert_text((40, 60 + 56 * at), line, fontsize=12)
        return bytes(document.tobytes(no_new_id=True))


def bill_pdf(number: int, total: str = "1,250.50 EUR") -> bytes:
    """A bill with a number, a total and a customer."""
    return pdf_of([f"Bill number: B{number}", f"Total due: {total}", f"Customer: Nordlicht{number}"])

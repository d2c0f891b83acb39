"""PDFs whose pages are not what they hold: dynamic forms, portfolios, and files with attachments."""

import re
from collections.abc import Sequence

import pymupdf

from engine.documents.refusal import Reason, Unreadable

_MOST_PAGES, _MOST_LETTERS = 2, 1500  # of the notice that stands for a dynamic form
_NOTICE = ("adobe", "acrobat")  # which the notice names as the program to open the form with
_MOST_NAMED = 10
# An electronic invoice says in such a file what its pages say: nothing is missed.
_SAME_AS_PAGES = re.compile(r"(factur|zugferd|xrechnung|invoice|order|ubl|cii).*\.xml$", re.IGNORECASE)


def refuse_dynamic_form(document: pymupdf.Document) -> None:
    """Raise Unreadable for a dynamic XFA form, whose only page is a notice to open it with another program.

    A static XFA form has its pages in the PDF as well, and passes.
    """
    catalog = document.pdf_catalog()
    if document.xref_get_key(catalog, "AcroForm/XFA")[0] == "null" or document.page_count > _MOST_PAGES:
        return
    if any(page.first_widget for page in document):
        return
    text = "".join(page.get_text() for page in document)
    needs_program = document.xref_get_key(catalog, "NeedsRendering")[1] == "true"
    has_notice = any(name in text.lower() for name in _NOTICE)
    if sum(c.isalpha() for c in text) <= _MOST_LETTERS and (needs_program or has_notice):
        raise Unreadable(
            Reason.NOT_SUPPORTED,
            "is a dynamic XFA form, whose pages only Adobe Acrobat and Reader can show; open it there, print it to a"
            " PDF, and upload that.",
        )


def is_portfolio(document: pymupdf.Document) -> bool:
    """Return whether a PDF is a portfolio: a cover around other files."""
    return bool(document.xref_get_key(document.pdf_catalog(), "Collection")[0] != "null")


def is_page(page: pymupdf.Page) -> bool:
    """Return whether the file has a page where its tree of pages names one; MuPDF shows a blank page instead."""
    document = page.parent
    if not 0 < page.xref < document.xref_length():
        return False
    kinds = [document.xref_get_key(page.xref, key) for key in ("Type", "Contents")]
    return bool(kinds[0][1] == "/Page" or kinds[1][0] != "null")


def embedded_names(document: pymupdf.Document) -> list[str]:
    """Return the names of the files in a PDF, without those that say what its pages say."""
    names = []
    for at in range(document.embfile_count()):
        info = document.embfile_info(at)
        names.append(str(info.get("ufilename") or info.get("filename") or info.get("name") or "without a name"))
    return [name for name in names if not _SAME_AS_PAGES.search(name)]


def attached_names(page: pymupdf.Page) -> list[str]:
    """Return the names of the files that are pinned to a page."""
    pinned = page.annots(types=[pymupdf.PDF_ANNOT_FILE_ATTACHMENT]) if page.first_annot else ()
    return [str(annotation.file_info.get("filename") or "without a name") for annotation in pinned]


def attachments_warning(names: Sequence[str], *, portfolio: bool) -> str | None:
    """Return the sentence about files in a PDF that are not read; None where nothing is missed."""
    if not names and not portfolio:
        return None
    shown = ["".join(c for c in name if c.isprintable())[:100] for name in names[:_MOST_NAMED]]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = f": {', '.join(shown)}{more}" if shown else ""
    if portfolio:
        return f"The file is a portfolio, and only its cover was read. Upload the files in it one by one{listed}."
    files = "1 attachment, which was" if len(names) == 1 else f"{len(names)} attachments, which were"
    return f"The file has {files} not read{listed}."

"""Sentences about pages that OCR did not read, and how they end when it has read them."""

import re
from collections.abc import Sequence

_MOST = 20  # numbers of pages that are named
_PAGES = re.compile(r"pages? (\d+(?:, \d+)*)(?: and (\d+) more)?")
_LATER = ("The time for OCR", "The OCR engine")
_ENGINE = ("Tesseract is not installed, so scanned pages", "Tesseract has no language")


def out_of_time(numbers: Sequence[int], seconds: float) -> str:
    """Return the warning about pages that the time for OCR did not reach; `seconds`: the time of a page."""
    return f"The time for OCR ran out ({seconds:g} s a page) before {list_pages(numbers)}."


def engine_failed(numbers: Sequence[int]) -> str:
    """Return the warning about pages on which the OCR engine failed."""
    return f"The OCR engine failed on {list_pages(numbers)}."


def promise_another(warnings: Sequence[str]) -> list[str]:
    """Return warnings of a document whose unread pages are read again by a job."""
    again = " That is tried again by itself; you can also read the document again with OCR."
    return [warning + again if warning.startswith(_LATER) else warning for warning in warnings]


def unknown_script(script: str, numbers: Sequence[int], language: str) -> str:
    """Return the warning about pages in a script that the language of OCR does not cover."""
    return (
        f"OCR cannot read the {script} script on {list_pages(numbers)}: the OCR language {language} does not cover it."
    )


def list_pages(numbers: Sequence[int]) -> str:
    """Return "page 3", or "pages 1, 2, 3"."""
    numbers = sorted(numbers)
    named = ", ".join(map(str, numbers[:_MOST])) + (f" and {len(numbers) - _MOST} more" if len(numbers) > _MOST else "")
    return f"page {named}" if len(numbers) == 1 else f"pages {named}"


def without_page(warnings: Sequence[str], number: int, *, last: bool) -> list[str]:
    """Return the warnings of a document after OCR has read one of its pages: each ends with its last page.

    Args:
        warnings: Sentences about the reading of the document.
        number: Of the page, from 1.
        last: Whether no page of the document is left without words.
    """
    left = []
    for warning in warnings:
        if warning.startswith(_ENGINE):
            if not last:
                left.append(warning)
            continue
        listed = _PAGES.search(warning)
        if listed is None or not warning.startswith((*_LATER, "OCR cannot read")):
            left.append(warning)
            continue
        named = [int(page) for page in listed[1].split(", ")]
        more = int(listed[2] or 0)
        if number in named:
            named.remove(number)
        elif more:
            more -= 1
        if more and not named:
            left.append(warning[: listed.start()] + f"{more} more pages" + warning[listed.end() :])
        elif named:
            pages = list_pages(named) + (f" and {more} more" if more else "")
            left.append(warning[: listed.start()] + pages + warning[listed.end() :])
    return left

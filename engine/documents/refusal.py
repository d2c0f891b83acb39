"""Reasons for which a file is refused, each with one sentence."""

from enum import StrEnum

from engine.text import quote_file_name


class Reason(StrEnum):
    """Reason of a refusal."""

    EMPTY = "empty"
    BROKEN = "broken"
    ENCRYPTED = "encrypted"
    TOO_LARGE = "too_large"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_MANY_PIXELS = "too_many_pixels"
    TOO_SLOW = "too_slow"
    TOO_MUCH_MEMORY = "too_much_memory"
    NOT_SUPPORTED = "not_supported"
    NO_PAGES = "no_pages"


class DocumentRefused(ValueError):
    """Raised for a file that cannot become a document; `str()` names the file and says what to do."""

    def __init__(self, reason: Reason, name: str, why: str) -> None:
        """Create a refusal; `why` continues the sentence after the file's name."""
        self.reason = reason
        self.name = name
        self.why = why
        super().__init__(f"{quote_file_name(name)} {why}")

    def __reduce__(self) -> tuple[type["DocumentRefused"], tuple[Reason, str, str]]:
        return DocumentRefused, (self.reason, self.name, self.why)


class Unreadable(Exception):
    """Raised in the reading process, which does not know the file's name."""

    def __init__(self, reason: Reason, why: str) -> None:
        self.reason = reason
        self.why = why
        super().__init__(f"{reason}: {why}")


def empty() -> Unreadable:
    """Return the refusal of an empty file."""
    return Unreadable(Reason.EMPTY, "is empty (0 bytes); save it again and upload the new copy.")


def damaged_file(kind: str, part: str = "") -> Unreadable:
    """Return the refusal of a damaged file; `part` names where, if known."""
    where = f" at {part}" if part else ""
    return Unreadable(
        Reason.BROKEN, f"is damaged{where} and cannot be read as a {kind}; save it again and upload the new copy."
    )


def protected_file() -> Unreadable:
    """Return the refusal of a file with a password."""
    return Unreadable(Reason.ENCRYPTED, "is protected by a password; save it without one and upload the new copy.")


def too_large(size: int, limit: int) -> Unreadable:
    """Return the refusal of a file that is too large; sizes in bytes."""
    return Unreadable(
        Reason.TOO_LARGE,
        f"has {_megabytes(size)}, more than the {_megabytes(limit)} allowed; split it or save it smaller.",
    )


def too_many_words(limit: int) -> Unreadable:
    """Return the refusal of a document with too many words."""
    return Unreadable(Reason.TOO_LARGE, f"has more than the {limit:,} words allowed; split it and upload the parts.")


def too_many_pages(count: int, limit: int) -> Unreadable:
    """Return the refusal of a document with too many pages."""
    return Unreadable(
        Reason.TOO_MANY_PAGES, f"has {count:,} pages, more than the {limit:,} allowed; split it and upload the parts."
    )


def too_many_pixels(page: int, width: int, height: int, limit: int) -> Unreadable:
    """Return the refusal of a page with too many pixels."""
    return Unreadable(
        Reason.TOO_MANY_PIXELS,
        f"has {width:,} x {height:,} pixels on page {page}, more than the {limit:,} allowed; "
        "save it at a lower resolution and upload the new copy.",
    )


def too_slow(seconds: float, read: int, pages: int | None) -> Unreadable:
    """Return the refusal of a document that takes too long; `pages` None when unknown."""
    so_far = f", with {read} of {pages} pages read" if pages else ""
    return Unreadable(
        Reason.TOO_SLOW,
        f"could not be read within the {seconds:g} seconds allowed{so_far}; split it or print it to a simpler PDF.",
    )


def too_much_memory(limit_mb: int) -> Unreadable:
    """Return the refusal of a file that needs too much memory."""
    return Unreadable(
        Reason.TOO_MUCH_MEMORY,
        f"needs more than the {limit_mb:,} MB of memory allowed; save it at a lower resolution or split it.",
    )


def not_supported(what: str) -> Unreadable:
    """Return the refusal of a file of an unsupported kind."""
    return Unreadable(
        Reason.NOT_SUPPORTED,
        f"is {what}, which cannot be read; save it as PDF, PNG or JPEG and upload the new copy.",
    )


def no_pages() -> Unreadable:
    """Return the refusal of a file without pages."""
    return Unreadable(Reason.NO_PAGES, "has no pages; save it again from its program and upload the new copy.")


def _megabytes(size: int) -> str:
    mb = size / (1024 * 1024)
    return f"{mb:.0f} MB" if mb >= 10 else f"{mb:.1f} MB" if mb >= 0.1 else f"{size:,} bytes"

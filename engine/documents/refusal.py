"""Why a file is not taken, in one sentence."""

from enum import StrEnum

from engine.text import quoted


class Reason(StrEnum):
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
    """A file that cannot become a document. `str()` is one sentence that names the file and says what to do."""

    def __init__(self, reason: Reason, name: str, why: str) -> None:
        """`why` continues the sentence after the file's name: 'is empty; upload it again.'"""
        self.reason = reason
        self.name = name
        self.why = why
        super().__init__(f"{quoted(name)} {why}")

    def __reduce__(self) -> tuple[type["DocumentRefused"], tuple[Reason, str, str]]:
        return DocumentRefused, (self.reason, self.name, self.why)


class Unreadable(Exception):
    """The same refusal inside the reading process, which does not know the name the file was uploaded under."""

    def __init__(self, reason: Reason, why: str) -> None:
        self.reason = reason
        self.why = why
        super().__init__(f"{reason}: {why}")


def empty() -> Unreadable:
    return Unreadable(Reason.EMPTY, "is empty (0 bytes); copy or save it anew and upload that.")


def broken(kind: str, part: str = "") -> Unreadable:
    where = f" at {part}" if part else ""
    return Unreadable(
        Reason.BROKEN, f"is damaged{where} and cannot be read as a {kind}; save it anew and upload the new copy."
    )


def encrypted() -> Unreadable:
    return Unreadable(Reason.ENCRYPTED, "is protected by a password; save it without one and upload that.")


def too_large(size: int, limit: int) -> Unreadable:
    return Unreadable(
        Reason.TOO_LARGE,
        f"has {_megabytes(size)}, more than the {_megabytes(limit)} allowed; split it or save it smaller.",
    )


def too_many_words(limit: int) -> Unreadable:
    return Unreadable(Reason.TOO_LARGE, f"has more than the {limit:,} words allowed; split it and upload the parts.")


def too_many_pages(count: int, limit: int) -> Unreadable:
    return Unreadable(
        Reason.TOO_MANY_PAGES, f"has {count:,} pages, more than the {limit:,} allowed; split it and upload the parts."
    )


def too_many_pixels(page: int, width: int, height: int, limit: int) -> Unreadable:
    return Unreadable(
        Reason.TOO_MANY_PIXELS,
        f"has {width:,} x {height:,} pixels on page {page}, more than the {limit:,} allowed; "
        "save it at a lower resolution and upload that.",
    )


def too_slow(seconds: float, read: int, pages: int | None) -> Unreadable:
    so_far = f", with {read} of {pages} pages read" if pages else ""
    return Unreadable(
        Reason.TOO_SLOW,
        f"could not be read within the {seconds:g} seconds allowed{so_far}; split it or print it to a simpler PDF.",
    )


def too_much_memory(limit_mb: int) -> Unreadable:
    return Unreadable(
        Reason.TOO_MUCH_MEMORY,
        f"needs more than the {limit_mb:,} MB of memory allowed; save it at a lower resolution or split it.",
    )


def not_supported(what: str) -> Unreadable:
    return Unreadable(
        Reason.NOT_SUPPORTED, f"is {what}, which cannot be read; save it as PDF, PNG, JPEG or TIFF and upload that."
    )


def no_pages() -> Unreadable:
    return Unreadable(Reason.NO_PAGES, "has no pages; save it anew from the program it came from and upload that.")


def _megabytes(size: int) -> str:
    mb = size / (1024 * 1024)
    return f"{mb:.0f} MB" if mb >= 10 else f"{mb:.1f} MB" if mb >= 0.1 else f"{size:,} bytes"

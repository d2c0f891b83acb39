"""Reading of untrusted files: a child process opens the file, and this side supervises it."""

import contextlib
import dataclasses
import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.confinement import NotConfined
from engine.documents import refusal
from engine.documents.kinds import media_type_of
from engine.documents.limits import OCR_PATIENCE, ReadLimits
from engine.documents.reading.forked_readers import FORKS
from engine.documents.reading.page import Beginning, ReadDocument, ReadPage, page_from_wire
from engine.documents.reading.subprocess_guard import Ended, run_guarded
from engine.documents.reading.work_clock import STRETCH
from engine.documents.refusal import DocumentRefused, Reason, Unreadable
from engine.metrics import measure
from engine.metrics.counted import FILES_REFUSED, OCR_SECONDS, PAGES_READ, READ_SECONDS
from engine.version import ROOT

_log = logging.getLogger(__name__)

# The child gets no other variables: no database URL, no passwords.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "TESSDATA_PREFIX", "LD_LIBRARY_PATH")
_COMMAND = (sys.executable, "-P", "-m", "engine.documents.reading.child")  # -P: never import from the working folder
_LONGEST = 300  # characters of a child's words in the log
_LINK = "source"  # in the folder of the pages
_ONE_HEAP = {"MALLOC_ARENA_MAX": "2"}  # heaps of threads count against the limit on address space, too
_MEMORY_SIGNS = ("MemoryError", "bad_alloc", "malloc", "Cannot allocate", "out of memory", "failed to map segment")


def read_document(
    source: Path,
    *,
    name: str,
    limits: ReadLimits,
    out_dir: Path,
    on_page: Callable[[int, int], None] | None = None,
    on_read: Callable[[ReadPage, Beginning], None] | None = None,
    on_look: Callable[[], None] = lambda: None,
) -> ReadDocument:
    """Read a file of `kinds.KINDS`; writes one image a page into `out_dir`.

    The file is opened in a child process with limits on time, memory, pages and pixels. PDF pages are rendered at
    `limits.dpi`, or less when `limits.long_side` requires it. A single upright PNG or JPEG is kept byte for byte.

    Args:
        source: File to read.
        name: File name given by its owner.
        limits: Limits on the reading.
        out_dir: Folder for the images of pages.
        on_page: Called as on_page(done, pages) for each finished page.
        on_read: Called with each page in order of completion.
        on_look: Called twice a second. An exception of any of these callbacks stops the reading.

    Raises:
        DocumentRefused: The file is refused, with a sentence for its owner; `out_dir` then holds no pages.
        NotConfined: The limits require a confined process, and the machine does not allow it.
        OSError: `source` cannot be read or `out_dir` not be written, or somebody ended the child process.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    telling = _Telling(out_dir, limits, on_page, on_read)
    link = out_dir.resolve() / _LINK
    try:
        _check_size(source, limits)
        media_type_of(source)  # refuses unknown kinds before a child process is started
        request = _request(_utf8_path(source, link), out_dir, limits)
        with measure("read", READ_SECONDS, "read", refusals=(Unreadable,)):
            ended = run_guarded(
                [*_COMMAND, json.dumps(request)],
                environment=environment(),
                started=FORKS.start(request, environment()),
                seconds=limits.seconds,
                on_line=telling.hear,
                on_look=on_look,
                more_seconds=lambda: telling.more_seconds,
            )
            return telling.document(ended)
    except BaseException as error:
        for left in out_dir.glob("page-[0-9]*"):
            with contextlib.suppress(OSError):
                left.unlink()
        if isinstance(error, Unreadable):
            FILES_REFUSED.labels(error.reason.value).inc()
            raise DocumentRefused(error.reason, name, error.why) from None
        raise
    finally:
        link.unlink(missing_ok=True)


def _utf8_path(source: Path, link: Path) -> str:
    """Return the path of a file; of a link to it where the path is no UTF-8, which MuPDF and JSON do not take."""
    path = source.resolve()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        link.symlink_to(path)
        return str(link)
    return str(path)


def _check_size(source: Path, limits: ReadLimits) -> None:
    if source.is_dir():
        raise refusal.not_supported("a folder")
    size = source.stat().st_size
    if size == 0:
        raise refusal.empty()
    if size > limits.bytes:
        raise refusal.too_large(size, limits.bytes)


def _request(source: str, out_dir: Path, limits: ReadLimits) -> dict[str, Any]:
    return {"source": source, "out_dir": str(out_dir.resolve()), "limits": dataclasses.asdict(limits)}


def environment() -> dict[str, str]:
    """Return the environment of a child process: enough to start, nothing confidential."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # One thread each: thread stacks and arenas count against the limit on address space.
    return (
        passed
        | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}
        | _ONE_HEAP
    )


class _Telling:
    """Collected reports of the child, one JSON object a line."""

    def __init__(
        self,
        out_dir: Path,
        limits: ReadLimits,
        on_page: Callable[[int, int], None] | None,
        on_read: Callable[[ReadPage, Beginning], None] | None,
    ) -> None:
        self._out_dir = out_dir
        self._limits = limits
        self._on_page = on_page
        self._on_read = on_read
        self._opened: Beginning | None = None
        self._pages: dict[int, ReadPage] = {}
        self._warnings: list[str] = []
        self._unread: tuple[int, ...] = ()
        self._try_again: tuple[int, ...] = ()
        self._finished = False
        self._less_confined = ""
        self.more_seconds = 0.0  # beyond the limit, for the pages that OCR looks at

    def hear(self, line: bytes) -> None:
        """Handle one line of the child."""
        message: dict[str, Any] = json.loads(line)
        if "not_confined" in message:
            raise NotConfined(message["not_confined"])
        if "less_confined" in message:
            self._less_confined = str(message["less_confined"])[:_LONGEST]
        if "refused" in message:
            raise Unreadable(Reason(message["refused"]), message["why"])
        if "opened" in message:
            self._opened = Beginning(**message["opened"])
        elif "page" in message:
            page = page_from_wire(message["page"], self._out_dir)
            self._pages[page.number] = page
            PAGES_READ.labels(page.text_source).inc()
            if self._on_page and self._opened:
                self._on_page(len(self._pages), self._opened.pages)
            if self._on_read and self._opened:
                self._on_read(page, self._opened)
        elif "more_seconds" in message:
            # A child that a file has taken over grants itself no more than all pages may have.
            most = STRETCH * (self._limits.seconds + self._limits.ocr_seconds * self._limits.pages)
            self.more_seconds = min(float(message["more_seconds"]), most) + OCR_PATIENCE
        elif "ocr_page" in message:
            outcome = "read" if message["ocr_page"] == "read" else "failed"  # it may have been taken over, too
            OCR_SECONDS.labels(outcome).observe(float(message["seconds"]))
        elif "warning" in message:
            self._warnings.append(message["warning"])
        elif "unread" in message:
            self._unread = tuple(int(number) for number in message["unread"])
            self._try_again = tuple(int(number) for number in message["try_again"])
        elif "finished" in message:
            self._finished = True

    def document(self, ended: Ended) -> ReadDocument:
        """Return the document of a finished child. Raises Unreadable with the likeliest cause otherwise."""
        opened, limits = self._opened, self._limits
        if self._less_confined:  # at the end, and so once: a child that a file has taken over could say it for ever
            _log.warning("The reading process is not kept from %s.", self._less_confined)
        if self._finished and opened and len(self._pages) == opened.pages:
            pages = tuple(self._pages[number] for number in sorted(self._pages))
            return ReadDocument(
                opened.media_type, pages, opened.title, tuple(self._warnings), self._unread, self._try_again
            )
        if ended.late or ended.code == -signal.SIGXCPU:
            allowed = limits.seconds + self.more_seconds
            raise refusal.too_slow(allowed, len(self._pages), opened.pages if opened else None)
        if -ended.code in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # not the file's fault: the server ends, too
            raise InterruptedError(f"The reading process was ended by {signal.Signals(-ended.code).name}.")
        # SIGKILL that was not ours comes from the kernel, when the machine itself runs out of memory.
        if ended.code == -signal.SIGKILL or any(sign in ended.stderr for sign in _MEMORY_SIGNS):
            raise refusal.too_much_memory(limits.memory_mb)
        # The owner of the file gets a sentence; the operator gets the child's messages in the log.
        _log.error("the reading process ended with status %d: %s", ended.code, ended.stderr.strip() or "no message")
        raise refusal.damaged_file("document")

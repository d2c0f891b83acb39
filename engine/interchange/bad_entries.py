"""Entries of a set that cannot be imported: each named in a sentence, all counted, left out where somebody wishes it.

A set is read twice. While it is checked, what is wrong is noted and the reading goes on; while it is stored, the same
documents and answers are left out. A document comes in with all its pages or not at all: a page less would number the
others anew, and an answer less its mark on that page would be another answer.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from engine.errors import Refused
from engine.text import storable

MOST_NAMED = 20  # bad entries whose sentences are kept; the others are counted
# Errors of a reader on values it does not check, since a file may hold any types.
UNTHOUGHT = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)


class BadEntry(Refused):
    """Raised for an entry that cannot be imported.

    Attributes:
        fault: The file, the entry and the reason, as a sentence without its full stop.
    """

    def __init__(self, fault: str, more: str = "") -> None:
        self.fault = storable(fault)  # a file's name may be no UTF-8
        super().__init__(f"{self.fault}. Nothing was imported.{more}")


def bad(where: str, why: str) -> NoReturn:
    """Raise BadEntry.

    Args:
        where: The file, and the entry in it.
        why: The reason, as the end of a sentence.
    """
    raise BadEntry(f"{where}: {why}")


class BadEntries:
    """The entries of a set that cannot come in.

    Attributes:
        count: Their number.
        named: Sentences of the first MOST_NAMED, without full stops.
    """

    def __init__(self) -> None:
        self.count = 0
        self.named: list[str] = []
        self._checked = False
        self._documents: set[bytes] = set()
        self._answers: set[bytes] = set()
        self._pages: Counter[bytes] = Counter()

    @contextmanager
    def leave_out(self, where: str, *, document: str | None = None, question: str | None = None) -> Iterator[None]:
        """Note an error of an entry instead of raising it.

        Args:
            where: The file and entry, for errors that do not say it.
            document: Name of the document that is left out with the entry.
            question: Text of the question whose answer in this document is left out alone.
        """
        try:
            yield
        except BadEntry as error:
            self._note(error.fault, document, question)
        except UNTHOUGHT as error:
            self._note(f"{where}: it cannot be read ({type(error).__name__}: {error})", document, question)

    def add_page(self, document: str) -> None:
        """Count a page that was checked."""
        self._pages[_key(document)] += 1

    def end_check(self) -> int:
        """End the check, after which nothing is noted any more, and return the number of pages that can come in."""
        self._checked = True
        pages = sum(number for key, number in self._pages.items() if key not in self._documents)
        self._pages.clear()
        return pages

    def has_document(self, document: str) -> bool:
        """Return whether a document is left out; False until the check has ended."""
        return self._checked and bool(self._documents) and _key(document) in self._documents

    def has_answer(self, document: str, question: str) -> bool:
        """Return whether the answer of a document to a question is left out; False until the check has ended."""
        return self._checked and bool(self._answers) and _key(document, question) in self._answers

    def sentences(self, folder: str, name: str) -> list[str]:
        """Return the sentences of the first bad entries.

        Args:
            folder: Where the set was unpacked, which no sentence names.
            name: Name of the set.
        """
        return [sentence.replace(folder, name) for sentence in self.named]

    def refuse(self, folder: str, name: str, *, rest: bool) -> None:
        """Raise the first error, with what else is wrong, if there is any.

        Args:
            folder: Where the set was unpacked, which no sentence names.
            name: Name of the set.
            rest: Whether anything can be imported without the bad entries.

        Raises:
            BadEntry: Something cannot come in.
        """
        if not self.count:
            return
        first, *others = self.sentences(folder, name)
        more = ""
        if others:
            unnamed = self.count - len(self.named)
            further = f"; and {unnamed:,} more" if unnamed else ""
            more = f" {self.count:,} entries are bad. The others: {'; '.join(others)}{further}."
        raise BadEntry(first, more + (" Skip bad entries to import the rest." if rest else ""))

    def _note(self, fault: str, document: str | None, question: str | None) -> None:
        if self._checked:
            return
        self.count += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(fault)
        if document is not None and question is not None:
            self._answers.add(_key(document, question))
        elif document is not None:
            self._documents.add(_key(document))


def _key(*names: str) -> bytes:
    return hashlib.sha256("\0".join(names).encode("utf-8", "replace")).digest()[:12]

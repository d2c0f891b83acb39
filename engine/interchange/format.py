"""What a format of datasets is: its names, what it can hold, its writer and its reader."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.interchange.bad_entries import BadEntries
from engine.interchange.import_entries import Set
from engine.interchange.outcome import Writer
from engine.interchange.snapshot_figures import Figures


@dataclass(frozen=True, slots=True)
class Format:
    """A format that answers can be written in, and perhaps read from.

    Attributes:
        name: Name in commands and REST.
        title: Name for people.
        write: Its writer.
        open_set: Its reader; None where it does not hold enough to be imported.
        lossy: What it cannot hold, as a sentence; empty where it holds everything.
        pages: Whether the images of pages are written too.
        words: Whether it has a place for the words of a page.
        marks_automatic: Whether it can mark an answer as automatic.
        files: Names of files by which a folder in this format is recognised.
        card_lines: Lines for the head of the dataset card, from the figures of the snapshot.
    """

    name: str
    title: str
    write: Writer
    open_set: Callable[[Path, BadEntries], Set] | None = None
    lossy: str = ""
    pages: bool = True
    words: bool = True
    marks_automatic: bool = True
    files: tuple[str, ...] = ()
    card_lines: Callable[[Figures], Iterable[str]] | None = None

"""Detect the format of a set by the names of its files and the beginnings of their contents."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from engine.interchange.bad_entries import BadEntry, bad
from engine.interchange.destination import MANIFEST_FILE
from engine.interchange.formats import FORMATS
from engine.interchange.json_entries import ALONE, entries
from engine.interchange.set_files import iter_files

_BEGINNING = 65_536  # characters
_LOOKED_INTO = 1_000  # files of a kind at most: a set begins with its own
_CHECKED_EVERY = 100  # files


def detect_format(path: Path, check: Callable[[], None] = lambda: None) -> str:
    """Return the name of the format of a file or folder.

    Args:
        path: The file or folder.
        check: Called now and then; an error that it raises ends the search.

    Raises:
        BadEntry: The format is unknown, or holds no places of answers.
    """
    form = _of_file(path) if path.is_file() else _of_folder(path, check)
    if form is None:
        bad(str(path), "its format was not recognised; choose the format (--format on the command line)")
    return form


def _of_folder(folder: Path, check: Callable[[], None]) -> str | None:
    kind = _format_of_manifest(folder / MANIFEST_FILE)
    if kind is not None:
        return kind
    for form in FORMATS.values():
        if any((folder / name).is_file() for name in form.files):
            return form.name
    if any(_files(folder, ".parquet", check)):
        return "parquet"
    annotations = (file for file in _files(folder, ".json", check) if file.parent.name == "annotations")
    if any(_of_file(file) == "funsd" for file in islice(annotations, _LOOKED_INTO)):
        return "funsd"
    if any(_of_file(file) == "page-xml" for file in islice(_files(folder, ".xml", check), _LOOKED_INTO)):
        return "page-xml"
    beside = (file for file in _files(folder, ".json", check) if file.parent == folder and file.name != MANIFEST_FILE)
    several = list(islice(beside, 2))
    return _of_file(several[0]) if len(several) == 1 else None


def _files(folder: Path, ending: str, check: Callable[[], None]) -> Iterator[Path]:
    """Yield every file in a folder and its subfolders whose name has that ending."""
    for number, file in enumerate(iter_files(folder)):
        if number % _CHECKED_EVERY == 0:
            check()
        if file.suffix.lower() == ending:
            yield file


def _format_of_manifest(manifest: Path) -> str | None:
    """Return the format that the manifest of a Glossator export names; None for any other file.

    The name stands before the list of files, so a long manifest is not read to its end.
    """
    ours = False
    try:
        for name, at, value in entries(manifest):
            ours |= name == "format" and at == ALONE and str(value).startswith("glossator-export")
            if name == "kind" and ours:
                break
        else:
            return None
    except BadEntry:
        return None
    if value in FORMATS and FORMATS[str(value)].open_set is None:
        bad(manifest.name, f"it is an export as {value}, which is incomplete and cannot be imported")
    return str(value)


def _of_file(file: Path) -> str | None:
    if file.suffix == ".parquet":
        return "parquet"
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            begins = opened.read(_BEGINNING).lstrip("\ufeff \t\r\n")
    except OSError:
        return None
    if file.suffix == ".xml":
        return "page-xml" if "PcGts" in begins else None
    if file.suffix == ".jsonl":
        first = begins.split("\n", 1)[0]
        marks = (('"page_id"', "grounded"), ('"Q&A"', "boundingdocs"), ('"masks": [{', "png"), ('"no_answer"', "png"))
        return next((form for mark, form in marks if mark in first), None)
    if begins.startswith("["):
        return "label-studio"
    if begins.startswith("{"):
        return "funsd" if '"form"' in begins[:200] else "coco"
    return None

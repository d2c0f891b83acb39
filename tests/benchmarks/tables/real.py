"""Real tables, marked by hand in real_tables.json, with the words that the application reads from their files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from tests.benchmarks.tables.truth import (
    TablePage,
    TableWord,
    TrueTable,
    file_of,
    stored_tables,
    table_from_json,
    true_rows,
)

_LIMITS = ReadLimits(seconds=240.0, ocr_seconds=60.0)  # other work may share the cores
SCAN = "scan"  # note of a table that OCR reads


def real_tables(data: Path, readings: Path | None = None, warn: Callable[[str], object] = print) -> Iterator[TrueTable]:
    """Yield the real tables whose files are below `data`; `warn` is told of the others.

    Args:
        data: Folder with `pdfs` and `unlabelled`.
        readings: Folder where the words of each file are kept between runs; they are read again without it.
        warn: Called with a sentence.
    """
    for stored in stored_tables():
        try:
            path = file_of(stored, data)
        except FileNotFoundError as missing:
            warn(f"{stored['name']} is left out: {missing}")
            continue
        table = table_from_json(stored)
        pages = _pages_of(path, str(stored["sha256"]), readings)
        kind = SCAN if SCAN in table.notes else "text layer"
        yield TrueTable(table.name, kind, pages, table.columns, true_rows(table, pages), path.read_bytes())


def _pages_of(path: Path, sha256: str, readings: Path | None) -> tuple[TablePage, ...]:
    kept = readings / f"{sha256}.json" if readings is not None else None
    if kept is not None and kept.is_file():
        return tuple(
            TablePage(number, width, height, tuple(TableWord(text, tuple(box), line) for text, box, line in words))
            for number, width, height, words in json.loads(kept.read_text("utf-8"))
        )
    with tempfile.TemporaryDirectory(prefix="glossator-tables-") as folder:
        read = read_document(path, name=path.name, limits=_LIMITS, out_dir=Path(folder))
    pages = tuple(
        TablePage(
            page.number,
            page.width,
            page.height,
            tuple(TableWord(word.text, word.box, word.line) for word in page.words),
        )
        for page in read.pages
    )
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        stored = [[p.number, p.width, p.height, [[w.text, w.box, w.line] for w in p.words]] for p in pages]
        kept.write_text(json.dumps(stored), "utf-8")
    return pages

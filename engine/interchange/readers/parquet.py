"""Parquet files as they are exported for Hugging Face datasets: a row a page, its image inside."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from engine.interchange.incoming import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    bad,
    box_of,
    decoded,
    listed,
    mapped,
    text_of,
    whole,
)
from engine.statuses import AUTOMATIC

_AT_ONCE = 8  # rows in memory, each with its image


def open_set(path: Path) -> Set:
    """Open a folder with data/*.parquet, or one such file."""
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    if not files:
        bad(str(path), "it holds no *.parquet")
    rows = 0
    for file in files:
        try:
            opened = pq.ParquetFile(file)
        except (OSError, pa.ArrowException) as error:
            bad(file.name, f"it is no whole parquet file ({error})")
        missing = {"image", "page_id", "words", "answers", "width", "height"} - set(opened.schema_arrow.names)
        if missing:
            bad(file.name, f"it has no column {', '.join(sorted(missing))}")
        rows += opened.metadata.num_rows

    def pages() -> Iterator[IncomingPage]:
        with tempfile.TemporaryDirectory(prefix="glossator-import-") as folder:
            for file in files:
                number = 0
                try:
                    for batch in pq.ParquetFile(file).iter_batches(_AT_ONCE):
                        for row in batch.to_pylist():
                            number += 1
                            yield _page(row, Path(folder), f"{file.name}, row {number}")
                except (OSError, pa.ArrowException) as error:
                    bad(f"{file.name}, after row {number}", f"it cannot be read ({error})")

    return Set(pages, rows)


def _page(row: dict[str, Any], folder: Path, where: str) -> IncomingPage:
    content = (row.get("image") or {}).get("bytes")
    if not isinstance(content, bytes):
        bad(where, "it holds no image")
    image = folder / "page"
    image.write_bytes(content)
    width, height = whole(row.get("width"), '"width"', where, 1), whole(row.get("height"), '"height"', where, 1)
    words = [mapped(one, "a word", where) for one in listed(row.get("words"), '"words"', where)]
    answers = [
        _answer(mapped(one, "an answer", where), (height, width), where)
        for one in listed(row.get("answers"), '"answers"', where)
    ]
    licence = row.get("licence")
    return IncomingPage(
        document=str(row.get("document_sha256") or row["page_id"]),
        number=whole(row.get("page") or 1, '"page"', where, 1),
        image=image,
        width=width,
        height=height,
        where=where,
        name=str(row.get("document") or row["page_id"]),
        words=tuple(
            IncomingWord(text_of(one.get("text"), "a word", where), box_of(one.get("box"), (width, height), where))
            for one in words
        ),
        answers=tuple(answers),
        licence=licence if isinstance(licence, str) else None,
    )


def _answer(stored: dict[str, Any], size: tuple[int, int], where: str) -> IncomingAnswer:
    question = text_of(stored.get("question"), '"question"', where)
    rle = stored.get("mask")
    mask = partial(decoded, rle, size, where) if rle else None
    return IncomingAnswer(question, where, mask=mask, automatic=stored.get("status") == AUTOMATIC)

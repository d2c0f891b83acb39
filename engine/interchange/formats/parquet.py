"""Hugging Face datasets: parquet files by split, one row a page, with the image's bytes inside.

`datasets.load_dataset(FOLDER)` takes the splits from the names of the files, and the features from their metadata. A
row holds a page's words and all its answers; masks are COCO's compressed run lengths.
"""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from db.statuses import AUTOMATIC
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.import_entries import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    box_of,
    check_list,
    check_object,
    decode_mask,
    text_of,
    whole,
)
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import Marked, Release, attributes_of, image_name, licence_of
from engine.interchange.set_files import iter_files
from engine.interchange.snapshot_figures import SPLITS, Figures

_GROUP_BYTES, _GROUP_ROWS = 32_000_000, 100  # of a row group: what is held in memory
_FILE_BYTES = 500_000_000
_WORD = pa.struct([("text", pa.string()), ("box", pa.list_(pa.int32()))])
_MASK = pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.string())])
_ANSWER = pa.struct(
    [
        ("question", pa.string()),
        ("value", pa.int32()),
        ("no_answer", pa.bool_()),
        ("text", pa.string()),
        ("words", pa.list_(pa.int32())),
        ("box", pa.list_(pa.int32())),
        ("mask", _MASK),
        ("annotation_id", pa.string()),
        ("status", pa.string()),
        ("author", pa.string()),
        ("source", pa.string()),
        ("model_version", pa.string()),
        ("weight", pa.float64()),
    ]
)
_COLUMNS = [
    ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
    ("page_id", pa.string()),
    ("document", pa.string()),
    ("document_sha256", pa.string()),
    ("page", pa.int32()),
    ("width", pa.int32()),
    ("height", pa.int32()),
    ("licence", pa.string()),
    ("words", pa.list_(_WORD)),
    ("answers", pa.list_(_ANSWER)),
]


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write data/SPLIT-00000.parquet and so on. Memory holds one group of rows."""
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0}
    with _Files(to) as files:
        for document, items in release.documents():
            counts["documents"] += 1
            by_page, unanswered = release.by_page(items, tick)
            counts["answers"] += len(items) - len(unanswered)
            counts["no_answer"] += len(unanswered)
            for page in document.pages:
                if page.id in by_page or unanswered:
                    counts["pages"] += 1
                    row = _row(release, document, page, by_page.get(page.id, []), unanswered)
                    files.add(SPLITS[document.split], row)
    return Outcome(counts)


class _Files:
    """The files of all splits while they grow, one open file a split."""

    def __init__(self, to: Destination) -> None:
        self._to, self._splits = to, dict[str, _Split]()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for split in self._splits.values():
            split.close(whole=error is None)

    def add(self, split: str, row: dict[str, Any]) -> None:
        if split not in self._splits:
            self._splits[split] = _Split(self._to, split)
        self._splits[split].add(row)


class _Split:
    def __init__(self, to: Destination, name: str) -> None:
        self._to, self._name, self._number = to, name, 0
        self._rows: list[dict[str, Any]] = []
        self._bytes, self._of_file = 0, 0
        self._open: Any = None

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        self._bytes += len(row["image"]["bytes"])
        if self._bytes >= _GROUP_BYTES or len(self._rows) >= _GROUP_ROWS:
            self._flush()
            if self._of_file >= _FILE_BYTES:
                self.close(whole=True)

    def close(self, *, whole: bool) -> None:
        if whole and self._rows:
            self._flush()
        if self._open is not None:
            writer, context = self._open
            self._open, self._of_file = None, 0
            writer.close()
            if whole:
                context.__exit__(None, None, None)

    def _flush(self) -> None:
        if self._open is None:
            context = self._to.file(f"data/{self._name}-{self._number:05d}.parquet")
            self._number += 1
            self._open = pq.ParquetWriter(str(context.__enter__()), _SCHEMA, compression="zstd"), context
        self._open[0].write_table(pa.Table.from_pylist(self._rows, schema=_SCHEMA))
        self._of_file += self._bytes
        self._rows, self._bytes = [], 0


def _row(
    release: Release, document: FrozenDocument, page: FrozenPage, marked: list[Marked], unanswered: list[FrozenItem]
) -> dict[str, Any]:
    words = release.words(page)
    place = {word.number: at for at, word in enumerate(words)}
    image = image_name(document, page)
    answers = [
        {
            **_about(answer.item),
            "value": answer.value,
            "no_answer": False,
            "text": answer.text,
            "words": [place[word.number] for word in answer.words],
            "box": list(answer.box),
            "mask": answer.rle,
        }
        for answer in marked
    ]
    nothing = {"value": 0, "no_answer": True, "text": "", "words": [], "box": [], "mask": None}
    return {
        "image": {"bytes": release.workspace.blobs.read(page.image_sha256), "path": image},
        "page_id": image.rsplit(".", 1)[0],
        "document": document.name,
        "document_sha256": document.sha256,
        "page": page.number,
        "width": page.width,
        "height": page.height,
        "licence": licence_of(document),
        "words": [{"text": word.text, "box": list(word.box)} for word in words],
        "answers": answers + [{**_about(item), **nothing} for item in unanswered],
    }


def _about(item: FrozenItem) -> dict[str, Any]:
    attributes = attributes_of(item)
    columns = ("annotation_id", "status", "author", "source", "model_version", "weight")
    return {"question": item.question, **{name: attributes[name] for name in columns}}


def _feature(kind: pa.DataType) -> Any:
    """Return a type as the library `datasets` writes it into the schema's metadata."""
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    names = {pa.bool_(): "bool", pa.float64(): "float64"}
    return {"dtype": names.get(kind, str(kind)), "_type": "Value"}


_FEATURES = {name: {"_type": "Image"} if name == "image" else _feature(kind) for name, kind in _COLUMNS}
_SCHEMA = pa.schema(_COLUMNS, metadata={"huggingface": json.dumps({"info": {"features": _FEATURES}})})


_AT_ONCE = 8  # rows in memory, each with its image


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a folder with data/*.parquet, or one such file.

    Raises:
        BadEntry: There is no such file, it is damaged, or it lacks a column.
    """
    files = [path] if path.is_file() else sorted(iter_files(path, ".parquet"))
    if not files:
        bad(str(path), "it holds no *.parquet")
    rows = 0
    for file in files:
        try:
            opened = pq.ParquetFile(file)
        except (OSError, pa.ArrowException) as error:
            bad(file.name, f"it is damaged or not a parquet file ({error})")
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
                            where, page = f"{file.name}, row {number}", None
                            with bad_entries.leave_out(where, document=_document(row)):
                                page = _page(row, Path(folder), where, bad_entries)
                            if page is not None:
                                yield page
                except (OSError, pa.ArrowException) as error:
                    bad(f"{file.name}, after row {number}", f"it cannot be read ({error})")

    return Set(pages, rows)


def _document(row: dict[str, Any]) -> str:
    return str(row.get("document_sha256") or row.get("page_id"))


def _page(row: dict[str, Any], folder: Path, where: str, bad_entries: BadEntries) -> IncomingPage:
    content = (row.get("image") or {}).get("bytes")
    if not isinstance(content, bytes):
        bad(where, "it holds no image")
    image = folder / "page"
    image.write_bytes(content)
    width, height = whole(row.get("width"), '"width"', where, 1), whole(row.get("height"), '"height"', where, 1)
    words = [check_object(entry, "a word", where) for entry in check_list(row.get("words"), '"words"', where)]
    answers = []
    for entry in check_list(row.get("answers"), '"answers"', where):
        with bad_entries.leave_out(where):
            answers.append(_answer(check_object(entry, "an answer", where), (height, width), where))
    licence = row.get("licence")
    return IncomingPage(
        document=_document(row),
        number=whole(row.get("page") or 1, '"page"', where, 1),
        image=image,
        width=width,
        height=height,
        where=where,
        name=str(row.get("document") or row["page_id"]),
        words=tuple(
            IncomingWord(text_of(entry.get("text"), "a word", where), box_of(entry.get("box"), (width, height), where))
            for entry in words
        ),
        answers=tuple(answers),
        licence=licence if isinstance(licence, str) else None,
    )


def _answer(stored: dict[str, Any], size: tuple[int, int], where: str) -> IncomingAnswer:
    question = text_of(stored.get("question"), '"question"', where)
    rle = stored.get("mask")
    mask = partial(decode_mask, rle, size, where) if rle else None
    automatic, value = stored.get("status") == AUTOMATIC, str(stored.get("value") or "")
    return IncomingAnswer(question, where, mask=mask, automatic=automatic, value=value)


def _card_lines(figures: Figures) -> Iterator[str]:
    """Yield which files hold which split, for `datasets.load_dataset`."""
    yield "configs:\n- config_name: default\n  data_files:\n"
    for split in SPLITS.values():
        if figures.documents[split]:
            yield f"  - split: {split}\n    path: data/{split}-*.parquet\n"


FORMATS = (Format("parquet", "Hugging Face datasets, images inside", write, open_set, card_lines=_card_lines),)

"""Hugging Face datasets: parquet files by split, a row a page, with the image's bytes inside.

`datasets.load_dataset(FOLDER)` finds the splits by the files' names, and the features, an image that is decoded among them, in the files'
metadata. A row holds a page's words and all its answers; masks are COCO's compressed run lengths.
"""

import json
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import SPLITS, Marked, Release, attributes_of, image_name, licence_of
from engine.run_lengths import encode_rle

_GROUP_BYTES, _GROUP_ROWS = 32_000_000, 100  # of a row group: what is held in memory
_FILE_BYTES = 500_000_000
_WORD = pa.struct([("text", pa.string()), ("box", pa.list_(pa.int32()))])
_MASK = pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.string())])
_ANSWER = pa.struct(
    [
        ("question", pa.string()),
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
            **_about(one.item),
            "no_answer": False,
            "text": one.text,
            "words": [place[word.number] for word in one.words],
            "box": list(one.box),
            "mask": encode_rle(one.mask),
        }
        for one in marked
    ]
    nothing = {"no_answer": True, "text": "", "words": [], "box": [], "mask": None}
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
    kept = ("annotation_id", "status", "author", "source", "model_version", "weight")
    return {"question": item.question, **{name: attributes[name] for name in kept}}


def _feature(kind: pa.DataType) -> Any:
    """A type as the library `datasets` writes it into the schema's metadata."""
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    names = {pa.bool_(): "bool", pa.float64(): "float64"}
    return {"dtype": names.get(kind, str(kind)), "_type": "Value"}


_FEATURES = {name: {"_type": "Image"} if name == "image" else _feature(kind) for name, kind in _COLUMNS}
_SCHEMA = pa.schema(_COLUMNS, metadata={"huggingface": json.dumps({"info": {"features": _FEATURES}})})

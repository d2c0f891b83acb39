"""Writer of a snapshot's manifest: rows of documents, pages, words, answers, and answers left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.statuses import AUTOMATIC
from db.tables import Document, Page
from engine.annotation.state import dump_state
from engine.datasets.async_blob_writer import AsyncBlobWriter
from engine.datasets.frozen_words import WordsWriter, living_words
from engine.datasets.labels import AutomaticLabel, Chosen, Label, reason_of_choice
from engine.datasets.manifest import FORMAT, canonical, ends_after
from engine.datasets.weights import Reliability
from engine.models import registry

QUARANTINED = "quarantined"  # stored in place of the split of a document excluded from training and evaluation
PART_GROUPS = 128  # groups of documents in a part, on average
MOST_ROWS = 2000  # answers at which a file is full; the last group of documents is completed
WEIGHT = 0.0001  # step of weights
_AT_ONCE = 500  # documents of one statement
_LEFT_OUT_GROUPS = 4096  # groups of documents in a file of answers left out, on average


class Counts(TypedDict):
    """Counts of a snapshot."""

    annotations: int
    documents: int
    by_split: dict[str, int]
    left_out: dict[str, int]  # check -> answers; one answer may fail several
    reduced: int  # people's answers with a weight above 0 and below 1
    weightless: int  # answers of weight 0


class ManifestWriter:
    """Stores a manifest incrementally; its files depend on content only, so equal choices have equal files."""

    def __init__(self, session: Session, blob_writer: AsyncBlobWriter) -> None:
        self._session, self._blob_writer = session, blob_writer
        self._words = WordsWriter(blob_writer)
        self._parts: list[str] = []
        self._begun: dict[str, list[Any]] = _empty()
        self._rows = 0
        self._left_out_rows: list[dict[str, Any]] = []
        self._left_out: list[dict[str, Any]] = []  # files with their numbers of answers
        self._authors: dict[str, list[int]] = {}  # person -> answers, and the sum of their weights in steps of WEIGHT
        self.unfit = 0  # answers left out
        self.counts = Counts(annotations=0, documents=0, by_split={}, left_out={}, reduced=0, weightless=0)

    def add(self, chosen: Chosen) -> None:
        """Add the chosen labels of whole groups of documents, which must come in order of their ids."""
        kinds: tuple[tuple[_Kind, Sequence[Any]], ...] = (
            (_TAKEN, chosen.taken),
            (_AUTOMATIC, chosen.automatic),
            (_LEFT_OUT, chosen.left_out),
            (_PASSED_OVER, chosen.passed_over),
        )
        labels = sorted(((label, kind) for kind, group in kinds for label in group), key=_place)
        taken = dict.fromkeys(label.document.id for label, kind in labels if kind.list == "items")
        pages = _pages_of(self._session, list(taken))
        words = living_words(
            self._session, ((page.id, page.word_count) for document_id in taken for page in pages[document_id])
        )
        for group_id, of_group in groupby(labels, key=lambda label_and_kind: label_and_kind[0].group.id):
            group = list(of_group)
            for document_id, of_document in groupby(group, key=lambda label_and_kind: label_and_kind[0].document.id):
                self._document(list(of_document), pages.get(document_id), words)
            self._end_group(group_id, _split_of(group[0][0]))

    def finish(
        self,
        project_id: str,
        people: Iterable[Reliability],
        skips: Sequence[dict[str, Any]] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> str:
        """Store the head, and return its SHA-256.

        `skips`: files of skipped tasks (engine.datasets.frozen_skips). `fields`: see engine.datasets.frozen_fields.
        """
        self._close_part()
        self._close_left_out()
        head = {
            "format": FORMAT,
            "project_id": project_id,
            "parts": self._parts,
            "words": self._words.finish(),
            "left_out": self._left_out,
            "authors": {
                name: {"answers": answers, "weights": round(weights * WEIGHT, 4)}
                for name, (answers, weights) in self._authors.items()
            },
            "people": {
                row.person: {
                    "reliability": row.reliability,
                    "comparisons": row.comparisons,
                    "gold_questions": row.gold_questions,
                }
                for row in people
            },
            **({"skips": skips} if skips else {}),
            **(fields or {}),
        }
        self._blob_writer.flush()  # the head comes after the files that it names
        sha256 = self._blob_writer.put(canonical(head))
        self._blob_writer.flush()
        return sha256

    def _document(
        self,
        labels: list[tuple[Any, "_Kind"]],
        pages: Sequence[Page] | None,
        words: Iterator[list[list[Any]]],
    ) -> None:
        """Add the labels of a document; `pages` are None where none of them is taken."""
        split = _split_of(labels[0][0])
        if pages is not None:
            rows = [_page_json(page, self._words.add(split, page.id, next(words))) for page in pages]
            self._begun["documents"].append(_document_json(labels[0][0].document, split, rows))
            self.counts["documents"] += 1
        for label, kind in labels:
            (self._left_out_rows if kind is _LEFT_OUT else self._begun[kind.list]).append(kind.row(label))
            self._rows += kind is not _LEFT_OUT
            if kind.list == "items":
                self.counts["annotations"] += 1
                _add(self.counts["by_split"], [split])
            if kind is _TAKEN:
                self.counts["reduced"] += 0 < label.weight < 1
                self.counts["weightless"] += label.weight == 0
                totals = self._authors.setdefault(label.author, [0, 0])
                totals[0], totals[1] = totals[0] + 1, totals[1] + round(label.weight / WEIGHT)
            elif kind is _LEFT_OUT:
                self.unfit += 1
                _add(self.counts["left_out"], label.reasons)

    def _end_group(self, group_id: str, split: str) -> None:
        self._words.end_group(split, group_id)
        if self._rows >= MOST_ROWS or ends_after(group_id, PART_GROUPS):
            self._close_part()
        if len(self._left_out_rows) >= MOST_ROWS or ends_after(group_id, _LEFT_OUT_GROUPS):
            self._close_left_out()

    def _close_part(self) -> None:
        if self._rows:
            self._parts.append(self._blob_writer.put(canonical(self._begun)))
            self._begun, self._rows = _empty(), 0

    def _close_left_out(self) -> None:
        if self._left_out_rows:
            sha256 = self._blob_writer.put(canonical(self._left_out_rows))
            self._left_out.append({"sha256": sha256, "answers": len(self._left_out_rows)})
            self._left_out_rows = []


def _empty() -> dict[str, list[Any]]:
    return {"documents": [], "items": [], "passed_over": []}


def _add(counts: dict[str, int], names: Iterable[str]) -> None:
    for name, number in Counter(names).items():
        counts[name] = counts.get(name, 0) + number


def _place(label_and_kind: tuple[Any, "_Kind"]) -> tuple[str, str, str]:
    label = label_and_kind[0]
    return label.group.id, label.document.id, label.id


def _item_json(label: Label) -> dict[str, Any]:
    return {
        "annotation_id": label.annotation.id,
        "revision_id": label.revision.id,
        "revision": label.revision.number,
        "status": label.revision.status,
        "question_id": label.annotation.question_id,
        "question": label.question,
        "author": label.author,
        "source": label.annotation.source,
        "model_version": label.model_version,
        "document_id": label.document.id,
        "state": dump_state(label.state),
        "weight": label.weight,
        **_chances(label.score, label.answered),
        **({"instead_of": [_passed_over_json(label, other) for other in label.instead_of]} if label.instead_of else {}),
    }


def _passed_over_json(label: Label, other: Label) -> dict[str, str]:
    return {
        "annotation_id": other.annotation.id,
        "revision_id": other.revision.id,
        "author": other.author,
        "why": reason_of_choice(label, other),
    }


def _automatic_json(label: AutomaticLabel) -> dict[str, Any]:
    return {
        "annotation_id": label.id,
        "revision_id": label.id,
        "revision": 0,
        "status": AUTOMATIC,
        "question_id": label.question_id,
        "question": label.question,
        "author": f"model {registry.label(label.version)}",
        "source": AUTOMATIC,
        "model_version": label.version.checkpoint_sha256,
        "document_id": label.document.id,
        "state": dump_state(label.state),
        "weight": round(label.weight, 6),
        **_chances(label.answer.score, label.answer.answered),
    }


def _chances(score: float | None, answered: float | None) -> dict[str, float]:
    """Return what the model said of its proposal; nothing where there was none."""
    return {} if score is None or answered is None else {"score": round(score, 4), "answered": round(answered, 4)}


def _left_out_json(label: Label) -> dict[str, Any]:
    return {
        "annotation_id": label.annotation.id,
        "revision_id": label.revision.id,
        "document_id": label.document.id,
        "document": label.document.name,
        "question": label.question,
        "author": label.author,
        "reasons": label.reasons,
    }


def _revision(label: Label) -> str:
    return label.revision.id


class _Kind(NamedTuple):
    """Destination of a label: the list in the manifest, and the function that makes its row."""

    list: str
    row: Callable[[Any], Any]


_TAKEN, _AUTOMATIC = _Kind("items", _item_json), _Kind("items", _automatic_json)
_LEFT_OUT, _PASSED_OVER = _Kind("left_out", _left_out_json), _Kind("passed_over", _revision)


def _split_of(label: Any) -> str:
    return QUARANTINED if label.group.quarantined_at else str(label.group.split)


def _pages_of(session: Session, document_ids: Sequence[str]) -> dict[str, list[Page]]:
    """Return the pages of documents, by document, in their order."""
    pages: dict[str, list[Page]] = {document_id: [] for document_id in document_ids}
    for start in range(0, len(document_ids), _AT_ONCE):
        chosen = select(Page).where(Page.document_id.in_(document_ids[start : start + _AT_ONCE]))
        for page in session.scalars(chosen.order_by(Page.document_id, Page.number)):
            pages[page.document_id].append(page)
    return pages


def _document_json(document: Document, split: str, pages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": document.id,
        "sha256": document.sha256,
        "name": document.name,
        "split": split,
        "licence": document.licence,
        "source": document.source,
        "pages": pages,
    }


def _page_json(page: Page, words: str) -> dict[str, Any]:
    return {
        "id": page.id,
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "image_sha256": page.image_sha256,
        "image_media_type": page.image_media_type,
        "words": words,
    }

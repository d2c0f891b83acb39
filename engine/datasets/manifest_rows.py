"""Writer of a snapshot's manifest: rows of documents, pages, words, answers, and answers left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page, PageWord
from engine.annotation.state import stored
from engine.datasets.labels import AutomaticLabel, Chosen, Label
from engine.datasets.manifest import FORMAT, canonical
from engine.datasets.weights import Reliability
from engine.models import registry
from engine.statuses import AUTOMATIC
from engine.workspace import Workspace

QUARANTINED = "quarantined"  # stored in place of the split of a document excluded from training and evaluation
PART_ROWS = 500  # answers at which a part is full; the last group of documents is completed


class Counts(TypedDict):
    """Counts of a snapshot."""

    annotations: int
    documents: int
    by_split: dict[str, int]
    left_out: dict[str, int]  # check -> answers; one answer may fail several
    reduced: int  # people's answers with a weight above 0 and below 1
    weightless: int  # answers of weight 0


class ManifestWriter:
    """Stores a manifest incrementally; parts depend on content only, so equal choices have equal parts."""

    def __init__(self, session: Session, workspace: Workspace) -> None:
        self._session, self._workspace = session, workspace
        self._parts: list[str] = []
        self._begun: dict[str, list[Any]] = _empty()
        self._rows = 0
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
        for _, group in groupby(labels, key=lambda one: one[0].group.id):
            for _, of_document in groupby(group, key=lambda one: one[0].document.id):
                self._document(list(of_document))
            if self._rows >= PART_ROWS:
                self._close_part()

    def finish(self, project_id: str, people: Iterable[Reliability]) -> str:
        """Store the head, and return its SHA-256."""
        if self._rows:
            self._close_part()
        head = {
            "format": FORMAT,
            "project_id": project_id,
            "parts": self._parts,
            "people": {
                row.person: {
                    "reliability": row.reliability,
                    "comparisons": row.comparisons,
                    "gold_questions": row.gold_questions,
                }
                for row in people
            },
        }
        return self._workspace.blobs.put(canonical(head))

    def _document(self, labels: list[tuple[Any, "_Kind"]]) -> None:
        label = labels[0][0]
        split = QUARANTINED if label.group.quarantined_at else label.group.split
        if any(kind.list == "items" for _, kind in labels):
            self._begun["documents"].append(_document_json(self._session, self._workspace, label.document, split))
            self.counts["documents"] += 1
        for label, kind in labels:
            self._begun[kind.list].append(kind.row(label))
            self._rows += 1
            if kind.list == "items":
                self.counts["annotations"] += 1
                _add(self.counts["by_split"], [split])
            if kind is _TAKEN:
                self.counts["reduced"] += 0 < label.weight < 1
                self.counts["weightless"] += label.weight == 0
            elif kind is _LEFT_OUT:
                self.unfit += 1
                _add(self.counts["left_out"], label.reasons)

    def _close_part(self) -> None:
        self._parts.append(self._workspace.blobs.put(canonical(self._begun)))
        self._begun, self._rows = _empty(), 0


def _empty() -> dict[str, list[Any]]:
    return {"documents": [], "items": [], "left_out": [], "passed_over": []}


def _add(counts: dict[str, int], names: Iterable[str]) -> None:
    for name, number in Counter(names).items():
        counts[name] = counts.get(name, 0) + number


def _place(one: tuple[Any, "_Kind"]) -> tuple[str, str, str]:
    label = one[0]
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
        "state": stored(label.state),
        "weight": label.weight,
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
        "state": stored(label.state),
        "weight": round(label.weight, 6),
    }


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


def _document_json(session: Session, workspace: Workspace, document: Document, split: str) -> dict[str, Any]:
    pages = session.scalars(select(Page).where(Page.document_id == document.id).order_by(Page.number)).all()
    return {
        "id": document.id,
        "sha256": document.sha256,
        "name": document.name,
        "split": split,
        "licence": document.licence,
        "source": document.source,
        "pages": [
            {
                "id": page.id,
                "number": page.number,
                "width": page.width,
                "height": page.height,
                "image_sha256": page.image_sha256,
                "image_media_type": page.image_media_type,
                "words_sha256": _freeze_words(session, workspace, page.id),
            }
            for page in pages
        ],
    }


def _freeze_words(session: Session, workspace: Workspace, page_id: str) -> str:
    """Store a page's words as a blob: later fixes of OCR must not change a snapshot."""
    columns = (PageWord.number, PageWord.text, PageWord.x0, PageWord.y0, PageWord.x1, PageWord.y1, PageWord.line)
    rows = session.execute(
        select(*columns)
        .where(PageWord.page_id == page_id, PageWord.retired_at.is_(None))
        .order_by(PageWord.position, PageWord.number)
    )
    words = [
        {"number": number, "text": text, "box": [x0, y0, x1, y1], "line": line}
        for number, text, x0, y0, x1, y1, line in rows
    ]
    return workspace.blobs.put(canonical(words))

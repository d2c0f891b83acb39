"""Names of blobs in the database: in columns of their own, in JSON, and in files that name further ones.

A JSON column counts unless it is known to hold no names, so that a new one is never overlooked.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, String, select
from sqlalchemy.orm import Session

from db.base import Base
from db.blobs import BlobMissing, BlobStore
from db.tables import AuditEntry, Document, ModelVersion, Page, RemovedDocument, ReplacedImage, Snapshot

NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_SECRETS = {"token_sha256"}  # hashes of tokens
_LEAVES = (
    Document.sha256, Page.image_sha256, ReplacedImage.image_sha256, ModelVersion.checkpoint_sha256,
    ModelVersion.fold_sha256s,
)  # fmt: skip
_WITHOUT = {
    "automatic_answers.answer", "changes.documents", "outside_answers.answer", "page_signatures.words",
    "predictions.answer", "predictions.prompts", "projects.settings", "revisions.edits", "revisions.interactions",
    "revisions.state", "run_metrics.values", "second_looks.answer", "skipped_changes.documents",
    "survey_answers.answer", "users.preferences",
}  # fmt: skip
Where = Callable[[Any], ColumnElement[bool] | None]
_ROWS = 5_000  # at a time
PRUNED = "models.prune"  # in the audit trail


def named_blobs(session: Session, blobs: BlobStore, where: Where = lambda _: None) -> set[bytes]:
    """Return the SHA-256 of all blobs that the database names, directly or by files; 32 bytes each.

    `where`: condition on the rows of a table that count; None: all of them.
    """
    leaves = {f"{column.class_.__tablename__}.{column.key}" for column in _LEAVES}
    names: set[bytes] = set()
    to_read: set[bytes] = set()
    for name, column in naming_columns():
        (names if name in leaves else to_read).update(names_in_column(session, column, where(column.table)))
    while to_read:
        names |= to_read
        to_read = {further for name in to_read for further in names_in_file(blobs, name.hex())} - names
    return names


def needed_blobs(session: Session) -> set[bytes]:
    """Return the names of documents, page images, weights and snapshots that must be there.

    Left out are pruned weights, and documents that are being erased.
    """
    names: set[bytes] = set()
    pruned = select(AuditEntry.subject).where(AuditEntry.action == PRUNED)
    erasing = select(RemovedDocument.document_id).where(RemovedDocument.erasing)  # its files go before its rows
    conditions: dict[object, ColumnElement[bool]] = {
        ModelVersion: ModelVersion.id.not_in(pruned),
        Document: Document.id.not_in(erasing),
        Page: Page.document_id.not_in(erasing),
        ReplacedImage: ReplacedImage.page_id.not_in(select(Page.id).where(Page.document_id.in_(erasing))),
    }
    for column in (*_LEAVES, Snapshot.sha256):
        where = conditions.get(column.class_)
        names.update(names_in_column(session, column, where))
    return names


def naming_columns() -> Iterator[tuple[str, Column[object]]]:
    """Yield the columns that may name blobs, with the name of their table before theirs."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            name = f"{table.name}.{column.name}"
            by_name = isinstance(column.type, String) and "sha256" in column.name and column.name not in _SECRETS
            if by_name or (isinstance(column.type, JSON) and name not in _WITHOUT):
                yield name, column


def names_in_column(session: Session, column: object, where: object = None) -> Iterator[bytes]:
    """Yield the names in a column, of the rows that fulfil a condition; None: of all."""
    rows = select(column)  # type: ignore[call-overload]
    if where is not None:
        rows = rows.where(where)
    for value in session.scalars(rows.execution_options(yield_per=_ROWS)):
        text = value if isinstance(value, str) else json.dumps(value)
        yield from map(bytes.fromhex, NAME.findall(text))


def names_in_file(blobs: BlobStore, sha256: str) -> set[bytes]:
    """Return the names that a file of JSON holds; none for other files, and for names of no file."""
    try:
        if b"".join(blobs.chunks(sha256, 0, 1)) not in (b"{", b"["):
            return set()
        return {bytes.fromhex(name) for name in NAME.findall(blobs.read(sha256).decode(errors="replace"))}
    except BlobMissing:
        return set()

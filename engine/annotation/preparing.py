"""Preparation of a save outside the write transaction: edits are applied and encoded there.

SQLite has one writer at a time, and a large mask takes long. The transaction checks only the inputs that can change
meanwhile: the words of the pages and the newest proposal. Revisions never change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from db.session import Encoded
from db.tables import Page
from engine.annotation.automatic_checks import Opinion, opinion_of, to_check
from engine.annotation.bounds import check_edits, check_masks, check_strokes, in_line
from engine.annotation.change import Change
from engine.annotation.edits import Edit
from engine.annotation.geometry import NamedPages, named_pages
from engine.annotation.proposal import newest_proposal_id
from engine.annotation.state import AnnotationState
from engine.errors import Refused, TooMany
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Base:
    """State that edits build on: a revision, or the model's proposal before the first revision.

    `proposal`: id of the newest proposal (None: there was none); "" when a revision or a named proposal was used.
    """

    annotation_id: str
    document_id: str
    question_id: str
    state: AnnotationState
    proposal: str | None = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """Revision ready to be stored.

    `opinion`: its verdict on the automatic answer to the same question. `texts`: of its single values.
    """

    state: AnnotationState
    text: str
    edits: Encoded
    stored: Encoded
    opinion: Opinion | None = None
    texts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        state: AnnotationState,
        text: str,
        edits: Sequence[Edit],
        opinion: Opinion | None = None,
        texts: Sequence[str] = (),
    ) -> Self:
        """Return a state, its edits and its texts, encoded for storage."""
        written = ",".join(edit.model_dump_json() for edit in edits)
        return cls(state, text, Encoded(f"[{written}]"), Encoded(state.model_dump_json()), opinion, tuple(texts))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Outcome of a preparation, and the inputs that it depends on."""

    base: Base
    pages: tuple[str, ...]
    words: int  # sum of the word versions of `pages`
    outcome: Ready | Refused

    def stands(self, session: Session) -> bool:
        """Return whether the inputs are unchanged; asked inside the write transaction."""
        if self.pages and session.scalar(_WORDS, {"pages": self.pages}) != self.words:
            return False
        return self.base.proposal == "" or newest_proposal_id(session, self.base.annotation_id) == self.base.proposal

    def ready(self) -> Ready:
        """Return the revision to store. Raises Refused when the edits were refused."""
        if isinstance(self.outcome, Refused):
            raise self.outcome
        return self.outcome


_WORDS = select(func.sum(Page.words_version)).where(Page.id.in_(bindparam("pages", expanding=True)))


def prepare(
    workspace: Workspace, base: Base, edits: Sequence[Edit], *, finished: bool, images: Mapping[str, str] | None = None
) -> Prepared:
    """Apply edits to their base before the write transaction; large ones wait for each other.

    `finished`: the answer must be complete, and is compared with the automatic answer. `images`: versions of the
    pages' images that the person saw. Raises TooMany when the queue is full.
    """
    with workspace.database.autocommit_read() as session:
        pages = named_pages(session, base.document_id, base.state, edits)
        checked = to_check(session, base.document_id, base.question_id) if finished else None
    try:
        _check_seen(pages, images)
        change = _change(base, edits, pages)
        with in_line(workspace, change):  # no database connection is held while waiting
            after = _paint_onto(base, change, finished)
            opinion = opinion_of(checked, after) if checked is not None else None
            with workspace.database.autocommit_read() as session:  # connects only for pages with retired words
                outcome: Ready | Refused = Ready.of(
                    after, pages.text(session, after), edits, opinion, pages.texts(session, after)
                )
    except TooMany:
        raise
    except Refused as refusal:
        outcome = refusal
    return _make_prepared(base, pages, outcome)


def prepare_in(
    session: Session, base: Base, edits: Sequence[Edit], *, finished: bool, images: Mapping[str, str] | None = None
) -> Prepared:
    """Apply edits inside the write transaction, when the base changed since `prepare`."""
    pages = named_pages(session, base.document_id, base.state, edits)
    try:
        _check_seen(pages, images)
        after = _paint_onto(base, _change(base, edits, pages), finished)
        texts = pages.texts(session, after)
        outcome: Ready | Refused = Ready.of(after, pages.text(session, after), edits, texts=texts)
    except Refused as refusal:
        outcome = refusal
    return _make_prepared(base, pages, outcome)


def check_complete(state: AnnotationState) -> None:
    """Check that a state marks something or says "not in the document". Raises Refused."""
    if not state.no_answer and not state.marked_pages():
        raise Refused("Nothing is marked yet: mark the answer, or say that the document does not answer.")


def _check_seen(pages: NamedPages, images: Mapping[str, str] | None) -> None:
    """Check that no page was turned since the person saw it. Raises Refused."""
    for page, image in (images or {}).items():
        number = pages.numbers.get(page)
        if number is not None and image != pages.images[page]:
            raise Refused(
                f"Page {number} was turned meanwhile: discard this change, and mark the page as it stands now."
            )


def _change(base: Base, edits: Sequence[Edit], pages: NamedPages) -> Change:
    check_strokes(edits)
    change = Change.of(base.state, edits, pages.geometry)
    check_edits(base.state, edits, change, pages.geometry)
    return change


def _paint_onto(base: Base, change: Change, finished: bool) -> AnnotationState:
    after = change.apply()
    check_masks(base.state, after)
    if finished:
        check_complete(after)
    return after


def _make_prepared(base: Base, pages: NamedPages, outcome: Ready | Refused) -> Prepared:
    return Prepared(base, tuple(pages.geometry), pages.version, outcome)

"""A save before its turn to write: edits are applied and written out while others may save.

On SQLite everybody waits for the one who writes, and a large mask takes a while. Inside the turn only what may have changed
meanwhile is asked: a revision never does, the words of a page and the newest proposal of the model do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from db.session import Encoded
from db.tables import Page
from engine.annotation.automatic_checks import Opinion, opinion_of, to_check
from engine.annotation.bounds import check_edits, check_masks, in_line
from engine.annotation.geometry import NamedPages, named_pages
from engine.annotation.proposal import newest_proposal_id
from engine.annotation.state import AnnotationState, Change, Edit
from engine.errors import Refused, TooMany
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Base:
    """What edits build on: the state of a revision, or the proposal of the model while there is none.

    `proposal`: its id where the newest one was meant (None: there was none); "" where a revision or a named proposal was.
    """

    annotation_id: str
    document_id: str
    question_id: str
    state: AnnotationState
    proposal: str | None = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A revision as it is stored. `opinion`: what it says about an automatic answer to the same question."""

    state: AnnotationState
    text: str
    edits: Encoded
    stored: Encoded
    opinion: Opinion | None = None

    @classmethod
    def of(cls, state: AnnotationState, text: str, edits: Sequence[Edit], opinion: Opinion | None = None) -> Self:
        """Return a state, the edits that led to it and its text, written out."""
        written = ",".join(edit.model_dump_json() for edit in edits)
        return cls(state, text, Encoded(f"[{written}]"), Encoded(state.model_dump_json()), opinion)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What came of edits, and on what that rests besides a revision."""

    base: Base
    pages: tuple[str, ...]
    words: int  # the versions of the words of `pages`, added up
    outcome: Ready | Refused

    def stands(self, session: Session) -> bool:
        """Return whether what this rests on is still there, in the turn to write."""
        if self.pages and session.scalar(_WORDS, {"pages": self.pages}) != self.words:
            return False
        return self.base.proposal == "" or newest_proposal_id(session, self.base.annotation_id) == self.base.proposal

    def ready(self) -> Ready:
        """Return what is to be stored. Refused where the edits were."""
        if isinstance(self.outcome, Refused):
            raise self.outcome
        return self.outcome


_WORDS = select(func.sum(Page.words_version)).where(Page.id.in_(bindparam("pages", expanding=True)))


def prepare(workspace: Workspace, base: Base, edits: Sequence[Edit], *, handed_in: bool) -> Prepared:
    """Apply edits to their base, outside of the turn to write. Large ones wait for each other; TooMany when too many do.

    `handed_in`: the answer must then say something, and is held against an automatic answer to the same question.
    """
    with workspace.database.look() as session:
        pages = named_pages(session, base.document_id, base.state, edits)
        checked = to_check(session, base.document_id, base.question_id) if handed_in else None
    try:
        change = _change(base, edits, pages)
        with in_line(workspace, change):  # nobody waits here with a connection in hand
            after = _painted(base, change, handed_in)
            opinion = opinion_of(checked, after) if checked is not None else None
            with workspace.database.look() as session:  # opens a connection only where words were mended
                outcome: Ready | Refused = Ready.of(after, pages.text(session, after), edits, opinion)
    except TooMany:
        raise
    except Refused as refusal:
        outcome = refusal
    return _prepared(base, pages, outcome)


def prepare_in(session: Session, base: Base, edits: Sequence[Edit], *, handed_in: bool) -> Prepared:
    """Apply edits as `prepare` does, in the turn to write: for the rare save whose base changed since it was prepared."""
    pages = named_pages(session, base.document_id, base.state, edits)
    try:
        after = _painted(base, _change(base, edits, pages), handed_in)
        outcome: Ready | Refused = Ready.of(after, pages.text(session, after), edits)
    except Refused as refusal:
        outcome = refusal
    return _prepared(base, pages, outcome)


def check_complete(state: AnnotationState) -> None:
    """Refuse a state that says nothing yet."""
    if not state.no_answer and not state.marked_pages():
        raise Refused("Nothing is marked yet: mark the answer, or say that the document does not answer.")


def _change(base: Base, edits: Sequence[Edit], pages: NamedPages) -> Change:
    change = Change.of(base.state, edits, pages.geometry)
    check_edits(base.state, edits, change, pages.geometry)
    return change


def _painted(base: Base, change: Change, handed_in: bool) -> AnnotationState:
    after = change.done()
    check_masks(base.state, after)
    if handed_in:
        check_complete(after)
    return after


def _prepared(base: Base, pages: NamedPages, outcome: Ready | Refused) -> Prepared:
    return Prepared(base, tuple(pages.geometry), pages.version, outcome)

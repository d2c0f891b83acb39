"""Which answers a snapshot takes: as people say it, and as the database is asked for it."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Select, or_
from sqlalchemy.orm import InstrumentedAttribute

from db.tables import DocumentGroup, ModelVersion, Question
from engine.errors import Refused
from engine.statuses import ACCEPTED

_Chosen = TypeVar("_Chosen", bound=Select[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which answers a snapshot takes. None means all.

    `statuses`: of annotations, and AUTOMATIC. `quarantined`: also documents that joined groups of different splits. `unfit`: also
    answers of people that are unfit to teach or to judge. `questions`: their texts. `since`, `until`: when the answer was given its
    present form, ISO 8601, `until` exclusive; a date is its first moment, UTC. `models`: the beginnings of the SHA-256 of the
    versions whose proposals were corrected, or that answered automatically. `agreement`: the least weight (engine.datasets.weights),
    of an automatic answer its confidence. Refused when a moment cannot be read.
    """

    splits: tuple[str, ...] | None = None
    statuses: tuple[str, ...] = ACCEPTED
    quarantined: bool = False
    unfit: bool = False
    questions: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    models: tuple[str, ...] | None = None
    agreement: float | None = None

    def __post_init__(self) -> None:
        for moment in (self.since, self.until):
            if moment is not None:
                _moment(moment)

    def said(self) -> dict[str, Any]:
        """Return them as a snapshot keeps them: those of old always, the others where they leave something out."""
        always = ("splits", "statuses", "quarantined", "unfit")
        return {name: value for name, value in asdict(self).items() if name in always or value is not None}

    def narrowed(self, chosen: _Chosen, given_at: InstrumentedAttribute[datetime]) -> _Chosen:
        """Return a statement over answers with their Question, DocumentGroup and ModelVersion without those that these leave out.

        Statuses and weights are for the caller. `given_at`: when an answer was given its present form.
        """
        if not self.quarantined:
            chosen = chosen.where(DocumentGroup.quarantined_at.is_(None))
        if self.splits is not None:
            chosen = chosen.where(DocumentGroup.split.in_(self.splits))
        if self.questions is not None:
            chosen = chosen.where(Question.text.in_(self.questions))
        if self.since is not None:
            chosen = chosen.where(given_at >= _moment(self.since))
        if self.until is not None:
            chosen = chosen.where(given_at < _moment(self.until))
        if self.models is not None:
            chosen = chosen.where(or_(*(ModelVersion.checkpoint_sha256.startswith(one) for one in self.models)))
        return chosen


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no date; write it as 2026-11-22 or 2026-11-22T14:30.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)

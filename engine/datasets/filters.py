"""Filters of a snapshot: which answers it takes, and the same as conditions for the database."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, or_
from sqlalchemy.orm import InstrumentedAttribute

from db.statuses import ACCEPTED
from db.tables import DocumentGroup, ModelVersion, Question
from engine.errors import Refused

_Chosen = TypeVar("_Chosen", bound=Select[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters of a snapshot; None stands for all.

    Args:
        splits: Splits of documents.
        statuses: Statuses of annotations, and AUTOMATIC.
        quarantined: Also take documents whose duplicates lie in different splits.
        unfit: Also take people's answers that fail a quality check.
        questions: Texts of questions.
        since: Earliest time at which the answer took its present form, ISO 8601; a date is midnight UTC.
        until: End of that time, exclusive.
        models: First digits of the SHA-256 of versions whose proposals were corrected, or that answered automatically.
        agreement: Least weight (engine.datasets.weights); of an automatic answer, its confidence.

    Raises:
        Refused: A time cannot be parsed.
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
        for time in (self.since, self.until):
            if time is not None:
                _parse_time(time)

    def to_json(self) -> dict[str, Any]:
        """Return the filters as a snapshot stores them; newer ones only when they exclude something."""
        always = ("splits", "statuses", "quarantined", "unfit")
        return {name: value for name, value in asdict(self).items() if name in always or value is not None}

    @property
    def is_narrow(self) -> bool:
        """Whether questions, times, models or weights exclude answers."""
        return any(value is not None for value in (self.questions, self.since, self.until, self.models, self.agreement))

    def narrow(self, chosen: _Chosen, given_at: InstrumentedAttribute[datetime]) -> _Chosen:
        """Return the statement over answers with the conditions of these filters, except statuses and weights.

        `chosen`: joins Question, DocumentGroup and ModelVersion. `given_at`: time at which an answer took its present
        form.
        """
        if self.questions is not None:
            chosen = chosen.where(Question.text.in_(self.questions))
        return chosen.where(*self.of_groups(), *self.of_times(given_at), *self.of_models())

    def of_groups(self) -> list[ColumnElement[bool]]:
        """Return the conditions on groups of documents."""
        conditions: list[ColumnElement[bool]] = [] if self.quarantined else [DocumentGroup.quarantined_at.is_(None)]
        return conditions if self.splits is None else [*conditions, DocumentGroup.split.in_(self.splits)]

    def of_times(self, given_at: InstrumentedAttribute[datetime]) -> list[ColumnElement[bool]]:
        """Return the conditions on the time at which an answer took its present form."""
        since = [] if self.since is None else [given_at >= _parse_time(self.since)]
        return since if self.until is None else [*since, given_at < _parse_time(self.until)]

    def of_models(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the version whose proposal was corrected, or that answered."""
        if self.models is None:
            return []
        return [or_(*(ModelVersion.checkpoint_sha256.startswith(digits) for digits in self.models))]


def _parse_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is not a date; write it as 2026-11-22 or 2026-11-22T14:30.") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)

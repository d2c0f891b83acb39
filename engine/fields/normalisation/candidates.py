"""Possible values of a text, and the decision between them: by the text, then a convention, then the locale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.fields.normalisation.context import LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, Value, equal


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One possible value.

    Args:
        value: the value.
        rule: key of the rule that makes it.
        words: its convention in words.
        convention: conventions that lead to it.
        doubtful: keys of its conventions that a locale alone must not decide for it; a remembered convention may.
        by_locale: the locale was needed to make it.
    """

    value: Value
    rule: str
    words: str = ""
    convention: Mapping[str, str] = field(default_factory=dict)
    doubtful: frozenset[str] = frozenset()
    by_locale: bool = False


def decide(
    candidates: Sequence[Candidate],
    context: LocaleContext,
    of_locale: Mapping[str, Callable[[], str | None]] | None = None,
    otherwise: Mapping[str, str] | None = None,
) -> Normalised:
    """Return the value that remains, or the readings that do.

    Args:
        candidates: at least one, all in accord with the text, the more usual first.
        context: remembered conventions go before the locale.
        of_locale: what the locale says for a convention, by its key; asked only when it matters.
        otherwise: conventions where neither memory nor locale says anything.
    """
    left = list(candidates)
    by_locale = False
    for key in dict.fromkeys(key for candidate in candidates for key in candidate.convention):
        if _agree(left):
            break
        remembered = context.conventions.get(key)
        chosen = [candidate for candidate in left if candidate.convention.get(key, remembered) == remembered]
        if remembered is not None and chosen:
            left = chosen
            continue
        usual = of_locale[key]() if of_locale and key in of_locale and context.locale else None
        chosen = [candidate for candidate in left if candidate.convention.get(key, usual) == usual]
        if usual is not None and chosen:
            if not any(key in candidate.doubtful for candidate in chosen):
                by_locale = by_locale or len(chosen) < len(left)
                left = chosen
            continue
        if usual is None and otherwise and key in otherwise:
            left = [c for c in left if c.convention.get(key, otherwise[key]) == otherwise[key]] or left
    if _agree(left):
        first = left[0]
        return Normalised(
            value=first.value, rule=first.rule, locale=context.locale if by_locale or first.by_locale else None
        )
    return Normalised(readings=tuple(_readings(left)))


def _agree(candidates: Sequence[Candidate]) -> bool:
    return all(equal(candidate.value, candidates[0].value) for candidate in candidates)


def _readings(candidates: Sequence[Candidate]) -> list[Reading]:
    readings: list[Reading] = []
    for candidate in candidates:
        if not any(equal(candidate.value, reading.value) for reading in readings):
            readings.append(
                Reading(value=candidate.value, words=candidate.words, convention=dict(candidate.convention))
            )
    return readings

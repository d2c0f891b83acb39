"""Choices of a list: by their printed names, or by the box that is ticked among them."""

from __future__ import annotations

from engine.fields.normalisation.boxes import boxes_of
from engine.fields.normalisation.characters import fold, fold_name
from engine.fields.normalisation.context import CHOICE, LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, unreadable
from engine.fields.types import Choice, FieldOptions

_ALIKE = 80  # of 100, rapidfuzz's ratio: a printed text that is so like a choice is offered, never stored
_MOST = 9  # a person picks with one key
_LONGEST_NAME = 60  # characters of a remembered text


def normalise_choice(text: str, options: FieldOptions, context: LocaleContext) -> Normalised:
    """Return the value of the choice that is printed.

    Case, accents and punctuation do not matter. A text that only resembles choices is ambiguous: a person picks, and
    the pick is remembered as another name.

    Args:
        text: printed text, or choices with boxes of which one is ticked.
        options: the choices.
        context: remembered names.
    """
    named = _choices_named(text, options.choices)
    if len(named) == 1:
        return Normalised(value=named[0].value, rule="choice")
    ticked = [choice for box in boxes_of(text) if box.ticked for choice in _choices_named(box.label, options.choices)]
    if len(ticked) == 1:
        return Normalised(value=ticked[0].value, rule="ticked-choice")
    key = CHOICE + fold_name(text)[:_LONGEST_NAME]
    remembered = context.conventions.get(key)
    if any(choice.value == remembered for choice in options.choices):
        return Normalised(value=remembered, rule="remembered-choice")
    several = named or ticked or _alike(text, options.choices)
    if several:
        return Normalised(
            readings=tuple(
                Reading(value=choice.value, words=f'the choice "{choice.value}"', convention={key: choice.value})
                for choice in several[:_MOST]
            )
        )
    return unreadable("This is none of the choices.")


def _choices_named(text: str, choices: tuple[Choice, ...]) -> list[Choice]:
    """Return the choices with this name: as printed, else without case, else without accents and punctuation."""
    for plain in (fold, lambda name: fold(name).casefold(), fold_name):
        wanted = plain(text)
        matching = [choice for choice in choices if wanted and wanted in map(plain, (choice.value, *choice.names))]
        if matching:
            return matching
    return []


def _alike(text: str, choices: tuple[Choice, ...]) -> list[Choice]:
    from rapidfuzz import fuzz

    wanted = fold_name(text)
    scores = [max(fuzz.ratio(wanted, fold_name(name)) for name in (choice.value, *choice.names)) for choice in choices]
    ranked = sorted(range(len(choices)), key=lambda number: -scores[number])
    return [choices[number] for number in ranked if wanted and scores[number] >= _ALIKE]

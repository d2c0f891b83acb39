"""Tick boxes: marks, and words for yes and no."""

from __future__ import annotations

import re

from engine.fields.normalisation.boxes import EMPTY, TICKED, boxes_of
from engine.fields.normalisation.characters import fold, fold_name
from engine.fields.normalisation.context import TICK, LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, unreadable

_CROSSES = frozenset("×✕✖")  # look like X; in Japan "no"
_CIRCLES = frozenset("○◯〇◎")  # in Japan "yes"; elsewhere an empty bullet
_REFUSALS = frozenset("✗✘❌")  # beside ✓ they say no, alone in a box they tick it
_ENCLOSED = re.compile(r"[\[(]\s*(.)\s*[\])]")
_YES_WORDS = (
    "yes y true on 1 ja wahr oui vrai sí si verdadero sim verdadeiro vero da tak igen ano áno kyllä jo evet "
    "так да ναι نعم اجل بله כן हाँ हां जी はい 有 是 예 네 có ya ใช่ taip jā jah checked ticked selected"
)
_NO_WORDS = (
    "no n false off 0 nein falsch non faux falso não nao nee nej nei nie nem ne ei hayır нет ні не όχι لا "
    "نه לא नहीं नही いいえ 無 否 아니요 아니오 không tidak ไม่ใช่ nē unchecked"
)
_YES = frozenset(map(fold_name, _YES_WORDS.split()))
_NO = frozenset(map(fold_name, _NO_WORDS.split()))
# Letters that say yes in some languages; elsewhere O is a circle, and S and J are initials.
_YES_LETTERS = {"o": ("fr",), "s": ("es", "pt", "it"), "j": ("de", "nl", "da", "nb", "sv")}


def normalise_tick(text: str, context: LocaleContext) -> Normalised:
    """Return whether a box is ticked, or a word says yes.

    Args:
        text: printed text: a mark such as ☒, X or [ ], a word such as ja or non, or both, as ☒ Yes ☐ No.
        context: Japanese papers print ○ for yes; × is ambiguous there, and a tick elsewhere.
    """
    folded = fold(text).lower()
    compact = folded.replace(" ", "")
    enclosed = _ENCLOSED.fullmatch(folded)
    mark = enclosed[1] if enclosed and enclosed[1] not in " _" else compact
    if mark in TICKED:
        return Normalised(value=True, rule="tick")
    if compact in EMPTY:
        return Normalised(value=False, rule="empty-box")
    if mark in _CROSSES | _CIRCLES | _REFUSALS:
        return _mark_of_country(mark, context)
    boxed = boxes_of(text)
    value = _read_boxes(text, context) if boxed else _word(text, context)
    if value is None:
        return unreadable("This is neither a tick nor a word for yes or no.")
    by_letter = not boxed and compact in _YES_LETTERS
    return Normalised(
        value=value, rule="ticked-word" if boxed else "word", locale=context.locale if by_letter else None
    )


def _word(text: str, context: LocaleContext) -> bool | None:
    """Return what a word says, or None where it says neither."""
    word = fold_name(text)
    if word in _YES or context.language in _YES_LETTERS.get(word, ()):
        return True
    return False if word in _NO else None


def _read_boxes(text: str, context: LocaleContext) -> bool | None:
    """Return what boxes with labels say: the word of the ticked one, or whether the only one is ticked."""
    boxes = boxes_of(text)
    if len(boxes) == 1:
        word = _word(boxes[0].label, context)
        if word is False:
            return False if boxes[0].ticked else None
        return boxes[0].ticked
    ticked = [box.label for box in boxes if box.ticked]
    return _word(ticked[0], context) if len(ticked) == 1 else None


def _mark_of_country(mark: str, context: LocaleContext) -> Normalised:
    picked = context.conventions.get(TICK + mark)
    if picked in ("yes", "no"):
        return Normalised(value=picked == "yes", rule="tick")
    if mark in _CIRCLES and context.language == "ja":
        return Normalised(value=True, rule="circle", locale=context.locale)
    if mark in _CROSSES and context.language not in (None, "ja"):
        return Normalised(value=True, rule="tick", locale=context.locale)
    return Normalised(
        readings=(
            Reading(value=True, words=f"{mark} says yes", convention={TICK + mark: "yes"}),
            Reading(value=False, words=f"{mark} says no, or nothing", convention={TICK + mark: "no"}),
        )
    )

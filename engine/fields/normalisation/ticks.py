"""Tick boxes: marks, and words for yes and no."""

from __future__ import annotations

import re

from engine.fields.normalisation.characters import fold, fold_name
from engine.fields.normalisation.context import TICK, LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, unreadable

# A cross in a box ticks it; circles are ticks in Japan, and empty bullets of lists elsewhere.
TICKED = frozenset("✓✔☑☒🗹🗷✗✘☓🗸⊠■●レ") | {"x"}
EMPTY = frozenset("☐□▢⬜❏❑") | {"[]", "()", "[ ]", "( )", "[_]"}
_CROSSED = frozenset("×✕✖❌")  # in Japan "no", elsewhere a tick
_CIRCLES = frozenset("○◯〇◎")
_ENCLOSED = re.compile(r"[\[(]\s*(.)\s*[\])]")
_YES_WORDS = (
    "yes y true on 1 ja j wahr oui o vrai sí si s verdadero sim verdadeiro vero da tak igen ano áno kyllä jo evet "
    "так да ναι نعم اجل بله כן हाँ हां जी はい 有 是 예 네 có ya ใช่ taip jā jah checked ticked selected"
)
_NO_WORDS = (
    "no n false off 0 nein falsch non faux falso não nao nee nej nei nie nem ne ei hayır нет ні не όχι لا "
    "نه לא नहीं नही いいえ 無 否 아니요 아니오 không tidak ไม่ใช่ nē unchecked"
)
_YES = frozenset(map(fold_name, _YES_WORDS.split()))
_NO = frozenset(map(fold_name, _NO_WORDS.split()))


def normalise_tick(text: str, context: LocaleContext) -> Normalised:
    """Return whether a box is ticked, or a word says yes.

    Args:
        text: printed text: a mark such as ☒, X or [ ], or a word such as ja or non.
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
    if mark in _CROSSED or mark in _CIRCLES:
        return _mark_of_country(mark, context)
    word = fold_name(text)
    if word in _YES:
        return Normalised(value=True, rule="word")
    if word in _NO:
        return Normalised(value=False, rule="word")
    return unreadable("This is neither a tick nor a word for yes or no.")


def _mark_of_country(mark: str, context: LocaleContext) -> Normalised:
    picked = context.conventions.get(TICK + mark)
    if picked in ("yes", "no"):
        return Normalised(value=picked == "yes", rule="tick")
    if mark in _CIRCLES and context.language == "ja":
        return Normalised(value=True, rule="circle", locale=context.locale)
    if mark in _CROSSED and context.language not in (None, "ja"):
        return Normalised(value=True, rule="tick", locale=context.locale)
    return Normalised(
        readings=(
            Reading(value=True, words=f"{mark} says yes", convention={TICK + mark: "yes"}),
            Reading(value=False, words=f"{mark} says no, or nothing", convention={TICK + mark: "no"}),
        )
    )

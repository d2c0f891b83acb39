"""Times of day, as ISO 8601: 14:30, 2:30 pm, 14h30, 14.30 Uhr, 午後2時30分."""

from __future__ import annotations

import re

from engine.fields.normalisation import locales
from engine.fields.normalisation.characters import fold, mixes_digits
from engine.fields.normalisation.context import CLOCK, LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, unreadable

_MORNING = ("a.m.", "a. m.", "a.m", "am", "ص", "صباحا", "صباحًا", "午前", "上午", "오전", "पूर्वाह्न", "π.μ.", "ก่อนเที่ยง")
_EVENING = ("p.m.", "p. m.", "p.m", "pm", "م", "مساء", "مساءً", "午後", "下午", "오후", "अपराह्न", "μ.μ.", "หลังเที่ยง")
_BEFORE = re.compile(r"(?:um|kl\.?|klo|at|à|às|as|a las?|alle|ore|om|o|в|godz\.?) (?=\d)|t(?=\d{2})", re.IGNORECASE)
_UNIT = "hs?|uhr|heures?|horas?|hrs?|时|時|시|点|點|uur|u|น"
_CORE = re.compile(
    rf"(?P<hour>\d{{1,2}})"
    rf"(?: ?(?P<unit>:|\.|{_UNIT})\.? ?(?:(?P<minute>\d{{2}}|半)(?: ?(?::|\.|min|m|分|분) ?(?P<second>\d{{2}}))?)?)?"
    rf" ?(?:(?:min|m|分|분|秒|초|s)\.?)? ?(?P<behind>{_UNIT})?\.?",
    re.IGNORECASE,
)
_FOUR = re.compile(r"(?:(?P<hour>\d{2})(?P<minute>\d{2})) ?(?:h|hrs?|hours|uhr)\.?", re.IGNORECASE)
_ZONE = re.compile(r" ?(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2}))$")
_NAMED = {
    **dict.fromkeys(("noon", "12 noon", "midi", "mediodía", "meio-dia", "正午"), "12:00:00"),
    **dict.fromkeys(("midnight", "12 midnight", "minuit", "mitternacht", "medianoche", "meia-noite"), "00:00:00"),
}
_REASON = "This is no time of day, as 14:30 or 2:30 pm."


def normalise_time(text: str, context: LocaleContext) -> Normalised:
    """Return the ISO time of a printed time: "14:30:00", with an offset where one is printed.

    Args:
        text: printed text.
        context: whether hours run to 24. Without, or where they run to 12, 2:30 without am or pm is ambiguous.
    """
    if mixes_digits(text):
        return unreadable("Digits of several scripts stand in one time.")
    folded = " ".join(fold(text).split())
    zone = _ZONE.search(folded)
    if zone is not None:
        folded = folded[: zone.start()]
    if folded.lower() in _NAMED:
        return Normalised(value=_NAMED[folded.lower()], rule="name")
    folded, half = _split_half(_BEFORE.sub("", folded, count=1).lower(), context.locale)
    match = _FOUR.fullmatch(folded) or _CORE.fullmatch(folded)
    if match is None:
        return unreadable(_REASON)
    parts = match.groupdict()
    unit = parts.get("unit") or ""
    named = bool(unit and unit not in ":.") or bool(parts.get("behind")) or match.re is _FOUR
    if not (parts["minute"] or named or half):
        return unreadable(_REASON)
    parts["minute"] = "30" if parts["minute"] == "半" else parts["minute"]
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    if half:
        if hour > 12 and half == "am":
            return unreadable(_REASON)
        hour = hour % 12 + (12 if half == "pm" else 0) if hour <= 12 else hour
    if hour > 23 or minute > 59 or second > 59:
        return unreadable("There is no such time of day.")
    offset = _offset(zone)
    value = f"{hour:02}:{minute:02}:{second:02}{offset}"
    if half:
        return Normalised(value=value, rule="half-day")
    certain = named or bool(offset) or not 1 <= hour <= 12 or parts["hour"].startswith("0")
    clock = context.conventions.get(CLOCK)
    by_locale = clock != "24" and not certain
    if by_locale and (not context.locale or locales.clock(context.locale) != "24"):
        afternoon = f"{(hour + 12) % 24:02}:{minute:02}:{second:02}"
        return Normalised(
            readings=(
                Reading(value=value, words=f"hours run from 0 to 24: {value[:5]}", convention={CLOCK: "24"}),
                Reading(value=afternoon, words=f"the other half of the day: {afternoon[:5]}"),
            )
        )
    return Normalised(value=value, rule="24-hours", locale=context.locale if by_locale else None)


def _split_half(text: str, locale: str | None) -> tuple[str, str]:
    """Return a text without its am or pm, and which of them it was."""
    own = locales.halves_of_day(locale) if locale else {}
    for half, marks in (("am", _MORNING), ("pm", _EVENING)):
        for mark in (*marks, *own.get(half, ())):
            if text.endswith(mark) and text != mark:
                return text.removesuffix(mark).strip(), half
            if text.startswith(mark) and text[len(mark) :].strip()[:1].isdigit():
                return text.removeprefix(mark).strip(), half
    return text, ""


def _offset(zone: re.Match[str] | None) -> str:
    if zone is None:
        return ""
    return "+00:00" if zone["utc"] else f"{zone['sign']}{zone['hours']}:{zone['minutes']}"

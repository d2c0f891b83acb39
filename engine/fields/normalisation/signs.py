"""Signs of amounts and numbers: minus before and behind, parentheses, CR and DR.

Credit and debit have no sign of their own: on an invoice or a card's statement a credit lowers what is owed, on a bank
account's statement it raises what is there. So they are ambiguous until a person says which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from engine.fields.normalisation.context import CREDIT_SIGN, LEADING_DASH, LocaleContext

_PARENTHESES = re.compile(r"\((.*)\)", re.DOTALL)
_CREDIT = re.compile(
    r"(?P<core>.*?\d.*?)\s*\b(?P<word>CR|DR)\b\.?|(?P<word2>CR|DR)\b\.?\s*(?P<core2>.*\d.*)", re.IGNORECASE
)
_GERMAN_CREDIT = re.compile(r"(?P<core>.*?\d.*?) ?(?P<word>[HS])\b")


Meaning: TypeAlias = tuple[bool, str, dict[str, str]]  # negative or not, the convention in words, what to remember


def _credit(minus: bool) -> tuple[Meaning, ...]:
    return (
        (minus, "a credit lowers the amount (invoices, card statements)", {CREDIT_SIGN: "-"}),
        (not minus, "a credit raises the amount (bank accounts)", {CREDIT_SIGN: "+"}),
    )


_MEANINGS = {"CR": _credit(True), "DR": _credit(False)}
# Swiss papers print -.50 for half a franc.
DASH_READINGS: tuple[Meaning, ...] = (
    (False, "the dash stands for no francs", {LEADING_DASH: "0"}),
    (True, "the dash is a minus", {LEADING_DASH: "-"}),
)


@dataclass(frozen=True, slots=True)
class Signed:
    """A text without its sign.

    Args:
        core: the text without it.
        negative: whether a minus, or parentheses, made it negative.
        several: the meanings of an ambiguous sign; empty where the sign is clear.
    """

    core: str
    negative: bool = False
    several: tuple[Meaning, ...] = ()

    @property
    def rule(self) -> str:
        """Part of the rule's key, or ""."""
        return "sign" if self.several else "minus" if self.negative else ""

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """All meanings of the sign, at least one."""
        return self.several or ((self.negative, "", {}),)


def split_sign(text: str, context: LocaleContext, cut: Callable[[str], str] = str) -> Signed | None:
    """Split the sign from a folded text.

    Args:
        text: folded text.
        context: Japanese papers print △ for minus; German bank statements H and S for credit and debit.
        cut: removes a currency that may stand between sign and digits; called after each part that was taken off.

    Returns:
        None when two signs stand there.
    """
    signs: list[str] = []
    core = cut(text.strip().strip("*=").strip())
    while True:
        taken = _take(core, context)
        if taken is None:
            break
        sign, core = taken
        signs.append(sign)
        core = cut(core.strip())
    if len(signs) > 1:
        return None
    sign = signs[0] if signs else ""
    return Signed(core, sign == "-", _MEANINGS.get(sign, ()))


def _take(text: str, context: LocaleContext) -> tuple[str, str] | None:
    """Return one sign and the text without it."""
    enclosed = _PARENTHESES.fullmatch(text)
    if enclosed and "(" not in enclosed[1] and ")" not in enclosed[1]:
        return "-", enclosed[1]
    if text[:1] in ("-", "+"):
        return text[0], text[1:]
    if text[-1:] in ("-", "+") and re.search(r"[^\s.,/+-] ?[-+]$", text):
        return text[-1], text[:-1]
    if context.language == "ja" and text[:1] in ("△", "▲"):
        return "-", text[1:]
    credit = _CREDIT.fullmatch(text)
    if credit is None and context.language == "de":
        credit = _GERMAN_CREDIT.fullmatch(text)
    if credit is None:
        return None
    parts = credit.groupdict()
    word = str(parts["word"] or parts["word2"]).upper()
    return {"H": "CR", "S": "DR"}.get(word, word), str(parts["core"] or parts["core2"])

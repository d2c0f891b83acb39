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
    r"(?P<core>.*?\d.*?)(?<![^\W\d_]) ?(?P<word>CR|DR)\.?|(?P<word2>CR|DR)\.? ?(?![^\W\d_])(?P<core2>.*\d.*)",
    re.IGNORECASE | re.DOTALL,
)
# Letters of bank statements: Haben and Soll, crédito and débito, haber and debe.
_LETTERS = {"de": {"H": "CR", "S": "DR"}, "pt": {"C": "CR", "D": "DR"}, "es": {"H": "CR", "D": "DR"}}
_LETTER = re.compile(r"(?P<core>.*\d.*?)(?<![^\W\d_]) ?(?P<word>[HSCD])", re.DOTALL)


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
        context: Japanese papers print △ for minus; bank statements letters for credit and debit.
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
    if text[-1:] in ("-", "+") and re.search(r"[^\s.,:/+-] ?[-+]$", text):
        return text[-1], text[:-1]
    if context.language == "ja" and text[:1] in ("△", "▲"):
        return "-", text[1:]
    credit = _CREDIT.fullmatch(text)
    if credit is not None:
        return str(credit["word"] or credit["word2"]).upper(), str(credit["core"] or credit["core2"])
    letters = _LETTERS.get(context.language or "", {})
    letter = _LETTER.fullmatch(text) if letters else None
    return (letters[letter["word"]], letter["core"]) if letter and letter["word"] in letters else None

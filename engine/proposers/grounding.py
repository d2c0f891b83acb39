"""Ground plain text to words: the places of a page that print it. Pure: no database.

A place is a run of consecutive words in reading order, over ends of lines too. A text is looked for as it stands, then
by the value that it says ("1250.00" is printed as "1.250,00"), then as misread. A misread place has the same digits:
with others it would be another number. A number itself is never taken for misread: 12.50 is not 1.250.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext, Value, normalise
from engine.fields.normalisation.result import equal
from engine.fields.types import FieldType
from engine.proposers.column_order import column_order
from model.examples import Word

ALIKE = 80.0  # rapidfuzz ratio (0..100) from which a run of words counts as the misread text
_SHORTEST_MISREAD = 4  # letters: shorter texts are like too many words
_LONGEST_MISREAD = 200  # letters: comparing grows with the square of the length
_MORE_LETTERS = 1.25  # a misread text has at most so many times the letters
_NO_CONTEXT = LocaleContext()
_MOST_WORDS_OF_VALUE = 6
_EDGES = " .,;:!?()[]{}\"'“”‘’«»„-–—*"  # signs around words that are no part of what a text says
_VALUED = (
    FieldType.NUMBER,
    FieldType.INTEGER,
    FieldType.CURRENCY,
    FieldType.DATE,
    FieldType.TIME,
    FieldType.PHONE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A run of words that prints a text: indices of the words, and how like they are, 0..1."""

    words: Sequence[int]
    likeness: float


@dataclass(frozen=True, slots=True)
class SoughtText:
    """A text, and the values that it may stand for as the type of its field."""

    text: str
    field: FieldDefinition | None = None
    context: LocaleContext = _NO_CONTEXT

    def places(self, words: Sequence[str]) -> list[Place]:
        """Return the places among the words of a page, in reading order: exact ones, else by value, else misread.

        Places do not overlap.
        """
        letters = [_letters(word) for word in words]
        wanted = _bare(_letters(self.text))
        if not wanted:
            return []
        exact = [Place(run, 1.0) for run in _runs(letters, len(wanted)) if _spells(letters, run, wanted)]
        if exact:
            return _apart(exact)
        by_value = [Place(run, 1.0) for run in self._runs_of_value(words)]
        return _apart(by_value) if by_value else _apart(list(_misread(letters, wanted)))

    def places_on(self, words: Sequence[Word]) -> list[Place]:
        """Return the places on a page: in reading order, else down its columns."""
        texts = [word.text for word in words]
        places = self.places(texts)
        if places or len(self.text.split()) < 2:
            return places
        order = column_order(words)
        down = self.places([texts[at] for at in order])
        return [Place([order[at] for at in place.words], place.likeness) for place in down]

    def _runs_of_value(self, words: Sequence[str]) -> Iterator[range]:
        if self.field is None or self.field.type not in _VALUED:
            return
        meant = self._values(self.text)
        digits = _core_digits(self.text)
        if not meant or not digits:
            return
        may_say = _digits_test(self.field.type, meant, digits)
        for start in range(len(words)):
            for end in range(start + 1, min(start + _MOST_WORDS_OF_VALUE, len(words)) + 1):
                some = " ".join(words[start:end])
                if may_say(_core_digits(some)) and _meet(meant, self._values(some)):
                    yield range(start, end)
                    break  # the shortest run from here

    def _values(self, text: str) -> list[Value]:
        """Return the values that a text may have as the field's type."""
        asked = self.field
        if asked is None:
            return []
        read = normalise(text.strip(), asked.type, asked.options, self.context)
        return [read.value] if read.value is not None else [reading.value for reading in read.readings]


def _digits_test(kind: FieldType, meant: Sequence[Value], digits: str) -> Callable[[str], bool]:
    """Return a quick test whether a run with certain digits may say a value: reading one takes .1 ms."""
    if kind in (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY):
        return lambda here: here == digits
    if kind is FieldType.DATE:
        years = [str(value).split("-")[0][-2:].strip("0") for value in meant]
        return lambda here: bool(here) and any(year in here for year in years)
    return bool


def _letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).casefold()


def _bare(letters: str) -> str:
    return letters.strip(_EDGES) or letters


def _runs(letters: Sequence[str], length: int) -> Iterator[range]:
    """Yield the runs of words with at least `length` letters: the shortest from each word."""
    for start in range(len(letters)):
        total = 0
        for end in range(start, len(letters)):
            total += len(letters[end])
            if total >= length:
                yield range(start, end + 1)
                break


def _spells(letters: Sequence[str], run: range, wanted: str) -> bool:
    spelled = "".join(letters[at] for at in run)
    # A word cut at the end of a line is spelled without its hyphen.
    return _bare(spelled) == wanted or (len(run) > 1 and _bare(_join(letters, run)) == wanted)


def _join(letters: Sequence[str], run: range) -> str:
    return "".join(letters[at].removesuffix("-") if at != run[-1] else letters[at] for at in run)


def _misread(letters: Sequence[str], wanted: str) -> Iterator[Place]:
    """Yield the most alike run from each word that is alike enough and has the same digits."""
    digits = _digits(wanted)
    if not _SHORTEST_MISREAD <= len(wanted) <= _LONGEST_MISREAD or 2 * len(digits) > len(wanted):
        return
    for start in range(len(letters)):
        spelled, best = "", (ALIKE, start)
        for end in range(start, len(letters)):
            spelled += letters[end].removesuffix("-") if len(letters[end]) > 1 else letters[end]
            if len(spelled) > _MORE_LETTERS * len(wanted) + 2:
                break
            likeness = fuzz.ratio(_bare(spelled), wanted, score_cutoff=best[0])
            if likeness >= best[0] and _digits(spelled) == digits and (best[1] == start or likeness > best[0]):
                best = likeness, end + 1
        if best[1] > start:
            yield Place(range(start, best[1]), best[0] / 100)


def _apart(places: list[Place]) -> list[Place]:
    """Return the places that overlap no better one, in reading order; of equal ones, the shorter is better."""
    chosen: list[Place] = []
    for place in sorted(places, key=lambda place: (-place.likeness, len(place.words), place.words[0])):
        if all(place.words[-1] < rival.words[0] or place.words[0] > rival.words[-1] for rival in chosen):
            chosen.append(place)
    return sorted(chosen, key=lambda place: place.words[0])


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def _core_digits(text: str) -> str:
    """Return the digits of a number without the zeros at its ends: 1250.00 and 1.250 have the same."""
    return _digits(unicodedata.normalize("NFKC", text)).strip("0") or ("0" if _digits(text) else "")


def _meet(meant: Sequence[Value], printed: Sequence[Value]) -> bool:
    return any(_same(one, other) for one in meant for other in printed)


def _same(meant: Value, printed: Value) -> bool:
    """Return whether two values are equal; an amount without a currency may be of any."""
    if isinstance(meant, dict) and isinstance(printed, dict):
        amounts = meant.get("amount"), printed.get("amount")
        currencies = {meant.get("currency"), printed.get("currency")} - {None}
        return _plain_number(amounts[0]) == _plain_number(amounts[1]) and len(currencies) < 2
    if isinstance(meant, str) and isinstance(printed, str):
        return _plain_number(meant) == _plain_number(printed)
    return equal(meant, printed)


def _plain_number(value: str | None) -> str | None:
    """Return a decimal without zeros at its end; other texts as they are."""
    if value is None or "." not in value or not value.replace(".", "", 1).lstrip("-").isdigit():
        return value
    return value.rstrip("0").rstrip(".")

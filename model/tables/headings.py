"""Headings of a table: where a page prints the names of the asked columns beside each other."""

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model.tables.parts import AskedColumn, PageLines
from model.tables.wording import likeness, meanings, plain

_LEAST = 0.6  # likeness from which a text may be a heading
_STACKED = 0.8  # the same of texts of several lines: a row below its heading is none
_LONGEST_TEXT = 80  # letters of a heading
_LONGEST = 5  # words of a heading on one line
_SENTENCE = 7  # words for each run of a line, from which it is a sentence
_NEAR = 2.2  # heights between the middles of two lines of one heading
_TWO = 1.5  # sum of likenesses from which lines are a heading; one column alone needs nearly its own words
_PART = 0.78  # of the likeness of words beside which others stand closely
_ACROSS = 0.7  # of the likeness of words with a wide space between them
_SPACE = 0.7  # heights between two headings at least


@dataclass(frozen=True, slots=True)
class HeadingText:
    """Printed heading of a column, asked for or not.

    Attributes:
        left: Left end, pixels.
        right: Right end.
        words: Its words.
        name: Name of the asked column; None of another one.
        likeness: How likely it is that column's heading, 0..1.
    """

    left: float
    right: float
    words: tuple[int, ...]
    name: str | None = None
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Heading:
    """Heading of a table on a page.

    Attributes:
        page: Place of the page.
        first: Place of its first line among the lines of the page.
        last: Place of its last line.
        texts: Headings of its columns, from the left.
        score: Sum of the likenesses.
    """

    page: int
    first: int
    last: int
    texts: tuple[HeadingText, ...]
    score: float

    @property
    def names(self) -> set[str]:
        """Return the names of the asked columns that it has."""
        return {text.name for text in self.texts if text.name is not None}


@dataclass(frozen=True, slots=True)
class _Match:
    column: int
    likeness: float
    words: tuple[int, ...]
    lines: tuple[int, ...]


class _Sought:
    """Headings that are looked for, by what a text must have in common with one to be worth a comparison."""

    def __init__(self, columns: Sequence[AskedColumn]) -> None:
        self._texts = [(column.heading, column.name.replace("_", " ")) for column in columns]
        self._by_part: dict[object, set[int]] = {}
        self._known: dict[str, list[tuple[int, float]]] = {}
        for number, texts in enumerate(self._texts):
            for text in texts:
                for part in _parts(text):
                    self._by_part.setdefault(part, set()).add(number)

    def likenesses(self, text: str) -> list[tuple[int, float]]:
        """Return the columns whose heading a text may be, with how likely it is each, 0..1."""
        if text not in self._known:
            near = set().union(*(self._by_part.get(part, ()) for part in _parts(text))) if text else set()
            alike = (
                (number, max(likeness(heading, text), 0.95 * likeness(name, text)))
                for number, (heading, name) in ((number, self._texts[number]) for number in sorted(near))
            )
            self._known[text] = [(number, worth) for number, worth in alike if worth >= _LEAST]
        return self._known[text]


def _parts(text: str) -> list[object]:
    """Return what two texts have in common that are alike: a word, a meaning, the first letter, or all letters."""
    flat = plain(text)
    words = flat.split()
    if not words or len(flat) > _LONGEST_TEXT:
        return []
    return [*words, *meanings(text), (len(words), flat[:1]), ("letters", "".join(words))]


def find_headings(lines: PageLines, columns: Sequence[AskedColumn]) -> list[Heading]:
    """Return the headings of a page that name asked columns, from the top; they share no line."""
    sought = _Sought(columns)
    chunks_of = [[tuple(chunk) for chunk in lines.chunks(line.words, _SPACE)] for line in lines.lines]
    spans_of = [[lines.span(chunk) for chunk in chunks] for chunks in chunks_of]
    matches: list[list[_Match]] = [[] for _ in lines.lines]
    for at, line in enumerate(lines.lines):
        chunks = chunks_of[at]
        if len(line.words) > _SENTENCE * len(chunks):
            continue
        for words, others in _texts(lines, at, chunks_of, spans_of):
            text = lines.text(words)
            share = 1.0 if others or tuple(words) in chunks else _PART
            if not others and all(not set(words) <= set(chunk) for chunk in chunks):
                share = _ACROSS
            for number, alike in sought.likenesses(text):
                if share * alike >= (_STACKED if others else _LEAST):
                    matches[at].append(_Match(number, share * alike, tuple(words), (at, *others)))
    headings = []
    for at in range(len(lines.lines)):
        heading = _heading_at(lines, at, matches, columns)
        if heading is not None:
            headings.append(heading)
    chosen: list[Heading] = []
    for heading in sorted(headings, key=lambda heading: (-heading.score, heading.last - heading.first, heading.first)):
        if all(heading.last < rival.first or heading.first > rival.last for rival in chosen):
            chosen.append(heading)
    return sorted(chosen, key=lambda heading: heading.first)


def _texts(
    lines: PageLines,
    at: int,
    chunks_of: Sequence[Sequence[tuple[int, ...]]],
    spans_of: Sequence[Sequence[tuple[float, float]]],
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield runs of words of a line, and such that go on in the lines above; with the places of those lines."""
    line = lines.lines[at]
    for start in range(len(line.words)):
        run: list[int] = []
        right = 0.0
        for word in line.words[start : start + _LONGEST]:
            box = lines.words[word].box
            if run and box[0] - right > 1.6 * lines.height:
                break
            run.append(word)
            right = box[2]
            yield list(run), []
    for chunk, span in zip(chunks_of[at], spans_of[at], strict=True):
        stack, places = list(chunk), list[int]()
        bottom = line
        for above in range(at - 1, max(-1, at - 4), -1):
            upper = lines.lines[above]
            if bottom.middle - upper.middle > _NEAR * lines.height:
                break
            # Chunks stand beside each other from the left: those that end before this one begins are passed over.
            over = [
                number
                for number in range(_first_right_of(spans_of[above], span[0]), len(spans_of[above]))
                if spans_of[above][number][0] < span[1] and _covers(span, spans_of[above][number])
            ]
            if len(over) != 1:
                break
            stack, places, bottom = [*chunks_of[above][over[0]], *stack], [*places, above], upper
            yield list(stack), list(places)


def _first_right_of(spans: Sequence[tuple[float, float]], left: float) -> int:
    return bisect.bisect_left(spans, left, key=lambda span: span[1])


def _covers(below: tuple[float, float], above: tuple[float, float]) -> bool:
    """Return whether two texts stand over each other, and neither over much more."""
    common = min(below[1], above[1]) - max(below[0], above[0])
    widths = below[1] - below[0], above[1] - above[0]
    return common > 0.5 * min(widths) and max(widths) < 5 * max(1.0, min(widths))


def _heading_at(
    lines: PageLines, at: int, matches: Sequence[Sequence[_Match]], columns: Sequence[AskedColumn]
) -> Heading | None:
    """Return the heading whose last line is this one; the lines above it belong to it where they name columns."""
    first = at
    while first > 0 and at - first < 3 and lines.lines[at].middle - lines.lines[first - 1].middle < 2.6 * lines.height:
        first -= 1
    near = [match for place in range(first, at + 1) for match in matches[place]]
    if not any(at in match.lines for match in near):
        return None
    taken: set[int] = set()
    named: dict[int, _Match] = {}
    for match in sorted(near, key=lambda match: (-match.likeness, -len(match.words), match.words)):
        if match.column not in named and not taken & set(match.words) and min(match.lines) >= first:
            named[match.column] = match
            taken |= set(match.words)
    if not named:
        return None
    score = sum(match.likeness for match in named.values())
    enough = score >= min(_TWO, 0.85 * len(columns)) and (len(named) > 1 or len(columns) == 1)
    if not enough:
        return None
    top = min(min(match.lines) for match in named.values())
    texts = [
        HeadingText(*lines.span(match.words), match.words, columns[column].name, match.likeness)
        for column, match in named.items()
    ]
    if not _beside(texts):
        return None
    texts += _other_texts(lines, top, at, taken, texts)
    return Heading(lines.page, top, at, tuple(sorted(texts, key=lambda text: text.left + text.right)), score)


def _beside(texts: Sequence[HeadingText]) -> bool:
    """Return whether headings stand beside each other rather than in a column."""
    ordered = sorted(texts, key=lambda text: text.left + text.right)
    over = 0
    for text, next_text in itertools.pairwise(ordered):
        common = min(text.right, next_text.right) - max(text.left, next_text.left)
        over += common > 0.5 * min(text.right - text.left, next_text.right - next_text.left)
    return over == 0 or 2 * over < len(ordered) - 1


def _goes_on(lines: PageLines, text: HeadingText, start: float, end: float, place: int) -> bool:
    """Return whether words of a line go on with a heading on it: a space of a usual width is between them."""
    on_line = set(lines.lines[place].words) & set(text.words)
    if not on_line or text.likeness >= 0.9:
        return False
    gap = max(start - text.right, text.left - end)
    return 0 <= gap <= 0.45 * lines.height


def _other_texts(
    lines: PageLines, top: int, bottom: int, taken: set[int], texts: list[HeadingText]
) -> list[HeadingText]:
    """Return the headings of columns that nobody asks for: what else stands in the lines, clear of the others.

    Words that follow a heading closely are part of it: `texts` are widened by them.
    """
    others: list[HeadingText] = []
    for place in range(top, bottom + 1):
        left = [word for word in lines.lines[place].words if word not in taken]
        for chunk in lines.chunks(left, _SPACE):
            start, end = lines.span(chunk)
            at = next((k for k, text in enumerate(texts) if _goes_on(lines, text, start, end, place)), None)
            if at is not None:
                texts[at] = replace(texts[at], left=min(start, texts[at].left), right=max(end, texts[at].right))
                continue
            over = [
                rival for rival in (*texts, *others)
                if min(end, rival.right) - max(start, rival.left) > 0.25 * min(end - start, rival.right - rival.left)
            ]  # fmt: skip
            if not over:
                others.append(HeadingText(start, end, tuple(chunk)))
            elif len(over) == 1 and over[0] in others:
                others.remove(over[0])
                words = (*over[0].words, *chunk)
                others.append(HeadingText(min(start, over[0].left), max(end, over[0].right), words))
    return others

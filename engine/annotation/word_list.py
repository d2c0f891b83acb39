"""Words of a page as a list in reading order, and the edits that fix it. Pure: no database, no clock.

A word keeps its number forever. Split, merged and removed words are retired and stay in the list, because revisions may
name them. The browser applies the same rules and numbers new words alike, so edits can wait there for the network
(annotator/static/words/words.js).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from engine.documents.reading.source_words import is_right_to_left, overlap
from engine.errors import Refused
from model.boxes import Box

LONGEST_WORD = 500  # characters
# A page of small print has about 2,000 words, and a person adds one at a time. Larger saves would delay other people.
MOST_NEW = 1000  # words of one save
MOST_WORDS = 20_000  # of a page, retired words included; a page with more takes no new words
DOUBTFUL = 0.75  # confidence of the OCR below which a word is worth a look; docs/LOG.md has figures of both engines
_SAME_PLACE = 0.5  # share of the smaller box from which a word counts as the successor of a retired one


@dataclass(slots=True, eq=False)
class ListedWord:
    """Word of a page with its stable number; boxes are pixels, x1 and y1 exclusive. Compared by identity.

    `confidence` is the OCR's, 0..1; None where a text layer or a person wrote the word.
    """

    number: int
    line: int
    text: str
    box: Box
    retired: bool = False
    confidence: float | None = None

    @property
    def doubtful(self) -> bool:
        """Return whether the OCR may have misread the word."""
        return self.confidence is not None and self.confidence < DOUBTFUL


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().replace("\0", "").split())
    if not text:
        raise ValueError("a word needs text; to delete it, remove the word")
    return text


class _Written(_Edit):
    text: str = Field(max_length=LONGEST_WORD, json_schema_extra={"minLength": 1, "pattern": r"\S"})

    _text = field_validator("text")(_one_line)


class WordText(_Written):
    """Replace the text of a word, or confirm it as it stands. Its number stays, and it is doubtful no more."""

    op: Literal["text"]
    number: int
    doubtful: bool = Field(default=False, description="Undo: the confidence of the OCR in this word comes back.")


class Part(_Written):
    """Part of a split word: text and box."""

    box: Box


class WordSplit(_Edit):
    """Split a word into parts, in reading order."""

    op: Literal["split"]
    number: int
    parts: list[Part] = Field(min_length=2, max_length=50)


class WordMerge(_Edit):
    """Merge words into one; their texts are joined without spaces, in reading order."""

    op: Literal["merge"]
    numbers: list[int] = Field(min_length=2, max_length=100)


class WordAdd(_Written):
    """Add a word that OCR missed."""

    op: Literal["add"]
    box: Box


class WordRemove(_Edit):
    """Remove a word that OCR invented."""

    op: Literal["remove"]
    number: int


class WordRestore(_Edit):
    """Restore retired words in place of their successors: the undo of a split or a merge."""

    op: Literal["restore"]
    numbers: list[int] = Field(max_length=100)
    instead: list[int] = Field(default_factory=list, max_length=100)


WordChange = Annotated[WordText | WordSplit | WordMerge | WordAdd | WordRemove | WordRestore, Field(discriminator="op")]


@dataclass(slots=True)
class WordList:
    """All words that a page has ever had, in reading order; `size` is (width, height) in pixels.

    `as_read` holds the OCR's confidence in words that people have written since, by number: an undo brings it back.
    """

    words: list[ListedWord]
    size: tuple[int, int]
    as_read: dict[int, float] = field(default_factory=dict)
    before: list[dict[str, Any]] = field(default_factory=list)  # changed words, as they were
    new: int = 0  # number of added words
    next_number: int = field(init=False)  # number of the next new word
    _by_number: dict[int, ListedWord] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._by_number = {word.number: word for word in self.words}
        self.next_number = max(self._by_number, default=-1) + 1

    def apply(self, edits: Iterable[WordChange]) -> None:
        """Apply edits in order. Raises Refused for an invalid edit; the list is unusable afterwards."""
        for edit in edits:
            if isinstance(edit, WordText):
                self._write(edit)
            elif isinstance(edit, WordSplit):
                self._split_word(edit)
            elif isinstance(edit, WordMerge):
                self._merge(edit)
            elif isinstance(edit, WordAdd):
                self._inside(edit.box)
                place, line = self._place(edit.box, edit.text)
                self._insert(place, line, edit.text, edit.box)
            elif isinstance(edit, WordRemove):
                self._change(self._live(edit.number)).retired = True
            else:
                self._restore(edit)

    @property
    def live(self) -> list[ListedWord]:
        """Return the live words, in reading order."""
        return [word for word in self.words if not word.retired]

    def _write(self, edit: WordText) -> None:
        word = self._change(self._live(edit.number))
        word.text = edit.text
        if edit.doubtful:
            if word.confidence is None:
                word.confidence = self.as_read.get(word.number)
        elif word.confidence is not None:
            self.as_read[word.number] = word.confidence
            word.confidence = None

    def insert_kept(self, word: ListedWord) -> None:
        """Insert a word that has its number already, at its place in reading order."""
        place, line = self._place(word.box, word.text)
        kept = ListedWord(word.number, line, word.text, word.box)
        self.words.insert(place, kept)
        self._by_number[kept.number] = kept
        self.next_number = max(self.next_number, kept.number + 1)

    def _split_word(self, edit: WordSplit) -> None:
        whole = self._change(self._live(edit.number))
        for part in edit.parts:
            self._inside(part.box)
        whole.retired = True
        place = self.words.index(whole)
        for at, part in enumerate(edit.parts, 1):
            self._insert(place + at, whole.line, part.text, part.box)

    def _merge(self, edit: WordMerge) -> None:
        wanted = set(edit.numbers)
        if len(wanted) < 2:
            raise Refused("Choose at least two different words to merge.")
        for number in wanted:
            self._live(number)
        parts = [word for word in self.live if word.number in wanted]
        text = "".join(part.text for part in parts)
        if len(text) > LONGEST_WORD:
            raise Refused(f"The merged word would have {len(text):,} characters; {LONGEST_WORD:,} are allowed.")
        for part in parts:
            self._change(part).retired = True
        box = (
            min(part.box[0] for part in parts),
            min(part.box[1] for part in parts),
            max(part.box[2] for part in parts),
            max(part.box[3] for part in parts),
        )
        place = self.words.index(parts[0]) + 1
        self._insert(place, parts[0].line, text, box)

    def _restore(self, edit: WordRestore) -> None:
        for number in edit.instead:
            self._change(self._live(number)).retired = True
        for number in edit.numbers:
            word = self._find_word(number)
            if not word.retired:
                raise Refused(f"Word {number} is on the page already; reload the page.")
            self._change(word).retired = False

    def _find_word(self, number: int) -> ListedWord:
        word = self._by_number.get(number)
        if word is None:
            raise Refused(f"The page has no word {number}; reload the page.")
        return word

    def _live(self, number: int) -> ListedWord:
        word = self._find_word(number)
        if word.retired:
            raise Refused(f"Word {number} was split, merged or removed before; reload the page.")
        return word

    def _change(self, word: ListedWord) -> ListedWord:
        self.before.append(asdict(word))
        return word

    def _insert(self, place: int, line: int, text: str, box: Box) -> None:
        if self.new == MOST_NEW:
            raise Refused(f"This save adds more than {MOST_NEW:,} new words; save them in several parts.")
        if len(self.words) >= MOST_WORDS:
            raise Refused(f"The page has {len(self.words):,} words, retired ones included; it takes no more.")
        word = ListedWord(self.next_number, line, text, box)
        self.words.insert(place, word)
        self._by_number[word.number] = word
        self.next_number += 1
        self.new += 1

    def _inside(self, box: Box) -> None:
        x0, y0, x1, y1 = box
        width, height = self.size
        if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
            raise Refused(f"The box {x0}, {y0}, {x1}, {y1} is empty or outside the page of {width} x {height} pixels.")

    def _place(self, box: Box, text: str) -> tuple[int, int]:
        """Return the position and the line of a new word: beside its neighbour in the line, else below."""
        live = self.live
        centre, middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        beside = [word for word in live if _share_a_line(word.box, box)]
        if beside:
            near = min(beside, key=lambda word: max(0, word.box[0] - box[2], box[0] - word.box[2]))
            ways = [is_right_to_left(word.text) for word in live if word.line == near.line]
            leftwards, rightwards = ways.count(True), ways.count(False)
            goes_left = leftwards > rightwards or (leftwards == rightwards and is_right_to_left(text) is True)
            is_left = centre < (near.box[0] + near.box[2]) / 2
            return self.words.index(near) + (1 if is_left is goes_left else 0), near.line
        line = max((word.line for word in self.words), default=-1) + 1
        above = [word for word in live if (word.box[1] + word.box[3]) / 2 < middle]
        column = [word for word in above if word.box[0] < box[2] and word.box[2] > box[0]]
        last = max(column or above, key=lambda word: word.box[3], default=None)
        if last is None:
            return 0, line
        # After the whole line of the word above.
        return 1 + max(at for at, word in enumerate(self.words) if word.line == last.line and not word.retired), line


def living(numbers: Iterable[int], words: Sequence[ListedWord]) -> list[ListedWord]:
    """Return the live words that a mark means, in reading order; successors replace retired words.

    `words`: all words of the page in reading order. A retired word without a successor stands for itself.
    """
    named = set(numbers)
    chosen = {word.number for word in words if word.number in named and not word.retired}
    for gone in (word for word in words if word.number in named and word.retired):
        heirs = [word.number for word in words if not word.retired and overlap(gone.box, word.box) >= _SAME_PLACE]
        chosen.update(heirs or [gone.number])
    return [word for word in words if word.number in chosen]


def _share_a_line(one: Box, other: Box) -> bool:
    common = min(one[3], other[3]) - max(one[1], other[1])
    return common >= 0.5 * min(one[3] - one[1], other[3] - other[1])

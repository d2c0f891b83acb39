"""The words of a page as a list in reading order, and how mending changes it. Pure: no database, no clock.

A word keeps its number for ever. Splitting, merging and removing retire words, which stay in the list where they stood:
revisions may still name them. The browser applies the same rules (annotator/static/words.js), new numbers included, so that
several changes can wait there for the network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from engine.annotation.state import Box
from engine.documents.found import is_right_to_left, overlap
from engine.errors import Refused

LONGEST_WORD = 500  # characters
# A page of small print has some 2,000 words, and a person adds one at a time. More than this only keeps others waiting.
MOST_NEW = 1000  # words of one save
MOST_WORDS = 20_000  # of a page, from where on it takes no new ones; retired words count
_SAME_PLACE = 0.5  # of the smaller box: from this overlap on, a word stands where a retired one stood


@dataclass(slots=True, eq=False)
class ListedWord:
    """A word of a page. `number` is stable for ever; boxes are pixels, right and lower edge exclusive. Equal to itself alone."""

    number: int
    line: int
    text: str
    box: Box
    retired: bool = False


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _one_line(text: str) -> str:
    text = " ".join(text.encode("utf-8", "replace").decode().replace("\0", "").split())
    if not text:
        raise ValueError("a word needs text; remove it instead")
    return text


class _Written(_Edit):
    text: str = Field(max_length=LONGEST_WORD, json_schema_extra={"minLength": 1, "pattern": r"\S"})

    _text = field_validator("text")(_one_line)


class WordText(_Written):
    """Write another text; the word stays the same word."""

    op: Literal["text"]
    number: int


class Part(_Written):
    """What a word falls into: a text and its box."""

    box: Box


class WordSplit(_Edit):
    """Split a word into parts, in reading order."""

    op: Literal["split"]
    number: int
    parts: list[Part] = Field(min_length=2, max_length=50)


class WordMerge(_Edit):
    """Make one word of several; their texts follow each other without a space, in reading order."""

    op: Literal["merge"]
    numbers: list[int] = Field(min_length=2, max_length=100)


class WordAdd(_Written):
    """A word that the reader had missed."""

    op: Literal["add"]
    box: Box


class WordRemove(_Edit):
    """Take a word away that is none."""

    op: Literal["remove"]
    number: int


class WordRestore(_Edit):
    """Bring retired words back, instead of those that followed them: what undoing a split or a merge needs."""

    op: Literal["restore"]
    numbers: list[int] = Field(max_length=100)
    instead: list[int] = Field(default_factory=list, max_length=100)


WordChange = Annotated[WordText | WordSplit | WordMerge | WordAdd | WordRemove | WordRestore, Field(discriminator="op")]


@dataclass(slots=True)
class WordList:
    """All words a page has ever had, in reading order. `size` is (width, height) of the page in pixels."""

    words: list[ListedWord]
    size: tuple[int, int]
    before: list[dict[str, Any]] = field(default_factory=list)  # words that were changed, as they were
    new: int = 0  # how many words were added
    next_number: int = field(init=False)  # the number that the next new word gets
    _by_number: dict[int, ListedWord] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._by_number = {word.number: word for word in self.words}
        self.next_number = max(self._by_number, default=-1) + 1

    def apply(self, edits: Iterable[WordChange]) -> None:
        """Apply edits in order. Refused with a sentence for one that cannot be; the list is then of no more use."""
        for edit in edits:
            if isinstance(edit, WordText):
                self._change(self._live(edit.number)).text = edit.text
            elif isinstance(edit, WordSplit):
                self._split(edit)
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
        """The words that stand on the page, in reading order."""
        return [word for word in self.words if not word.retired]

    def _split(self, edit: WordSplit) -> None:
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
            raise Refused("Merging needs two different words.")
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
            word = self._known(number)
            if not word.retired:
                raise Refused(f"The word {number} stands on the page already.")
            self._change(word).retired = False

    def _known(self, number: int) -> ListedWord:
        word = self._by_number.get(number)
        if word is None:
            raise Refused(f"The page has no word {number}.")
        return word

    def _live(self, number: int) -> ListedWord:
        word = self._known(number)
        if word.retired:
            raise Refused(f"The word {number} was split, merged or removed before; load the page again.")
        return word

    def _change(self, word: ListedWord) -> ListedWord:
        self.before.append(asdict(word))
        return word

    def _insert(self, place: int, line: int, text: str, box: Box) -> None:
        if self.new == MOST_NEW:
            raise Refused(f"This makes more than {MOST_NEW:,} new words; save them in several parts.")
        if len(self.words) >= MOST_WORDS:
            raise Refused(f"The page has had {len(self.words):,} words; no new ones fit on it.")
        word = ListedWord(self.next_number, line, text, box)
        self.words.insert(place, word)
        self._by_number[word.number] = word
        self.next_number += 1
        self.new += 1

    def _inside(self, box: Box) -> None:
        x0, y0, x1, y1 = box
        width, height = self.size
        if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
            raise Refused(f"The box {x0}, {y0}, {x1}, {y1} is empty or leaves the page of {width} x {height} pixels.")

    def _place(self, box: Box, text: str) -> tuple[int, int]:
        """Return where in the list, and in which line, a new word belongs: beside its neighbour in a line, else below."""
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
    """Return the words that a mark means, in reading order: those it names, and for a retired one those in its place.

    `words` are all words of the page in reading order. A retired word that nothing replaces stands for itself.
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

"""What goes into a proposed table, and what comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.examples import Word
from model.kinds import Kind

WordAt = tuple[int, int]  # place of the page among the pages, and of the word on it
Row = Mapping[str, Sequence[WordAt]]  # name of the column -> its words in reading order; an empty cell is left out


@dataclass(frozen=True, slots=True)
class AskedColumn:
    """Column that is asked for.

    Attributes:
        name: Its key.
        heading: What the papers print above it, or words that mean the same.
        kind: Kind of its values; None where it may be any text.
    """

    name: str
    heading: str
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Words of a page that stand on one line, from the left; heights in pixels."""

    page: int
    words: tuple[int, ...]
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Return the height of its middle."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class PageLines:
    """Lines of a page from the top; `height` is that of its usual word, in pixels."""

    page: int
    words: Sequence[Word]
    lines: Sequence[Line]
    height: float

    def text(self, words: Sequence[int]) -> str:
        """Return the words, joined."""
        return " ".join(self.words[at].text for at in words)

    def span(self, words: Sequence[int]) -> tuple[float, float]:
        """Return the left and the right end of words, in pixels."""
        boxes = [self.words[at].box for at in words]
        return float(min(box[0] for box in boxes)), float(max(box[2] for box in boxes))

    def chunks(self, words: Sequence[int], gap: float) -> list[list[int]]:
        """Return words of a line in runs; a space wider than `gap` heights parts two of them."""
        runs: list[list[int]] = []
        right = 0.0
        for at in words:
            box = self.words[at].box
            if runs and box[0] - right <= gap * self.height:
                runs[-1].append(at)
                right = max(right, box[2])
            else:
                runs.append([at])
                right = box[2]
        return runs

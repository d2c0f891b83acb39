"""What the network reads and learns from: words, prompts, questions with their answers, pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from model.masks import Mask

Box = tuple[int, int, int, int]
Point = tuple[float, float, bool]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page and its box (x0, y0, x1, y1), pixels of the rendered page, x1 and y1 exclusive."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that the asker has said so far about one question."""

    text: str
    points: tuple[Point, ...] = ()  # (x, y, positive), pixels of the rendered page; negative means "not here"
    box: Box | None = None  # the answer lies inside
    mask: Mask | None = None  # bool [H, W], an earlier answer to start from


@dataclass(frozen=True, slots=True)
class Question:
    """A question with every acceptable answer; with neither words nor masks, it is not answered on the page."""

    text: str
    answers: tuple[tuple[int, ...], ...] = ()  # indices of words
    masks: tuple[Mask, ...] = ()  # bool [H, W], for answers that no words make
    prompt: Prompt | None = None  # what the network is given; None means the text alone

    @property
    def answered(self) -> bool:
        return bool(self.answers or self.masks)

    @property
    def given(self) -> Prompt:
        return self.prompt or Prompt(self.text)


@dataclass(frozen=True, slots=True)
class Example:
    """One page with its questions. ``size`` is (width, height) in pixels; without ``image`` the words alone are read."""

    words: tuple[Word, ...]
    size: tuple[int, int]
    questions: Sequence[Question]
    image: Image.Image | None = None


Source = Callable[[int], Sequence[Example]]  # step -> pages with the same number of questions each; pure

"""Define what the network reads and learns from: words, prompts, questions with answers, pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from model.boxes import Box
from model.kinds import Kind
from model.masks import Mask

Point = tuple[float, float, bool]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page with its box (x0, y0, x1, y1) in pixels; x1 and y1 are exclusive."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything the user has given for one question so far."""

    text: str
    points: tuple[Point, ...] = ()  # (x, y, positive), pixels of the rendered page; negative means "not here"
    box: Box | None = None  # the answer lies inside
    mask: Mask | None = None  # bool [H, W], an earlier answer to start from
    kind: Kind | None = None  # of the value that is wanted, by the type of a field; None where it is not known


@dataclass(frozen=True, slots=True)
class Question:
    """A question with every acceptable answer; without words and masks the page does not answer it."""

    text: str
    answers: tuple[tuple[int, ...], ...] = ()  # indices of words
    masks: tuple[Mask, ...] = ()  # bool [H, W], for answers not made of words
    prompt: Prompt | None = None  # input of the network; None means the text alone

    @property
    def answered(self) -> bool:
        """Whether the page answers the question."""
        return bool(self.answers or self.masks)

    @property
    def effective_prompt(self) -> Prompt:
        """The prompt to use: `prompt`, or the text alone."""
        return self.prompt or Prompt(self.text)


@dataclass(frozen=True, slots=True)
class Example:
    """One page with its questions.

    `size` is (width, height) in pixels. Without `image` only the words are read.
    """

    words: tuple[Word, ...]
    size: tuple[int, int]
    questions: Sequence[Question]
    image: Image.Image | None = None


Source = Callable[[int], Sequence[Example]]  # step -> pages with the same number of questions each; pure

"""Supply of pages to make examples from: generated at once, or prepared before."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from PIL import Image

from engine.grounded import GroundedPage
from engine.synthetic import SyntheticPage, generate


class MadePage(Protocol):
    """Page with its questions, which draws its own image; the image may be smaller than the page."""

    @property
    def page(self) -> GroundedPage:
        """The page, with boxes and masks in its own pixels."""

    def render(self) -> Image.Image:
        """Return the image of the page."""


Pages = Callable[[int], Iterator[MadePage]]  # seed -> endless pages; pure


@dataclass(frozen=True, slots=True)
class PageSupply:
    """Endless pages by a seed. `words`: pages that are read without image; `drawn`: pages with an image."""

    words: Pages = generate
    drawn: Pages = generate


GENERATED = PageSupply()


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """Page that was prepared before. `region_types`: types of all its regions, asked for or not."""

    page: GroundedPage
    region_types: frozenset[str]
    open_image: Callable[[], Image.Image]

    def render(self) -> Image.Image:
        """Return the image of the page; ValueError for a page of words alone."""
        return self.open_image()


def region_types_of(made: MadePage) -> set[str]:
    """Return the types of all regions of a page, asked for or not."""
    if isinstance(made, PreparedPage):
        return set(made.region_types)
    asked = {str(question.region_type) for question in made.page.questions if question.region_type}
    if not isinstance(made, SyntheticPage):
        return asked
    tables = {"table"} if made.canvas.tables else set()
    return tables | asked | {figure.kind for figure in made.canvas.figures}

"""What a model of others is asked, and what it replies, whichever protocol its server speaks."""

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from db.tables import Page
from engine.annotation.page_cache import picture_and_words
from engine.fields.definition import FieldDefinition
from engine.proposers.push import PushedPrediction
from engine.workspace import Workspace
from model.examples import Word

LONGEST_SIDE = 2048  # pixels of a picture that is sent
_QUALITY = 85  # of JPEG


class UnusableReply(Exception):
    """The reply of a model cannot be used. The message is one sentence without words of the paper."""


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A page as it is sent.

    Attributes:
        number: Its number in the document.
        width: Of the page, in its own pixels.
        height: Of the page, in its own pixels.
        image: JPEG as a data URL; smaller than the page where that is large.
        words: Words in reading order, with boxes in pixels of the page.
    """

    number: int
    width: int
    height: int
    image: str
    words: Sequence[Word]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: some fields about some pages of one document."""

    model: str
    prompt: str
    fields: Sequence[FieldDefinition]
    pages: Sequence[AskedPage]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says about the fields that it was asked.

    Attributes:
        predictions: Its answers, by the names of the fields.
        version: Version that its server states; empty where it states none.
        tokens_in: Tokens read, as its server counts them.
        tokens_out: Tokens written.
    """

    predictions: Sequence[PushedPrediction]
    version: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


def asked_page(workspace: Workspace, page: Page) -> AskedPage:
    """Return a page as it is sent."""
    picture, placed = picture_and_words(workspace, page.id)
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=_QUALITY)
    image = "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
    return AskedPage(page.number, page.width, page.height, image, placed.words)


def read_object(content: bytes | str, what: str) -> dict[str, Any]:
    """Return a JSON object. Raises UnusableReply, whose sentence begins with `what`."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        raise UnusableReply(f"{what} is not JSON.") from None
    if not isinstance(read, dict):
        raise UnusableReply(f"{what} is not a JSON object.")
    return read


def token_count(number: Any) -> int:
    """Return a number of tokens; 0 where the server states none."""
    plain = isinstance(number, int) and not isinstance(number, bool)
    return min(number, 1_000_000_000) if plain and number > 0 else 0

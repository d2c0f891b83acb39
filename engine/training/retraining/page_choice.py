"""Pages of accepted answers that are asked: each document gives one before any gives a second."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.grounded import GroundedPage


def choose_spread(pages: Iterable[GroundedPage], documents: Mapping[str, str], most: int) -> list[GroundedPage]:
    """Return at most `most` pages, by hash: stable across runs and new pages.

    `documents`: of each page, by its id. One document of a thousand pages would displace all others, if each page had
    the same chance.
    """
    taken: Counter[str] = Counter()
    in_turn = []
    for page in sorted(pages, key=lambda page: hashlib.sha256(page.page_id.encode()).digest()):
        document = documents[page.page_id]
        in_turn.append((taken[document], page))
        taken[document] += 1
    return [page for _, page in sorted(in_turn, key=lambda turn_and_page: turn_and_page[0])[:most]]  # a stable sort


def of_weight(page: GroundedPage, weights: Mapping[str, Mapping[str, float]]) -> GroundedPage:
    """Return a page without the questions whose answers have a weight of 0; such answers neither teach nor judge."""
    of_page = weights.get(page.page_id, {})
    return replace(page, questions=[question for question in page.questions if of_page.get(question.question_id, 1.0)])

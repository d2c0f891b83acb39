"""Words of a page that was read again, merged with those it had. Pure: no database, no clock.

A word that still stands keeps its number, so answers that name it stay as they are. Words that people added or fixed
stay in any case. All others are retired, and their successors are found by place (`word_list.living`).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.annotation.word_list import MOST_WORDS, ListedWord, WordList
from engine.documents.reading.page import ReadWord
from engine.documents.reading.source_words import overlap
from engine.errors import Refused
from model.boxes import Box

READ_AGAIN = "read_again"  # `op` of the entry in a page's corrections that says so
_SAME_PLACE = 0.5  # share of the smaller box from which two words are at one place


@dataclass(slots=True)
class MergedWords:
    """Words of a page after it was read again, in reading order, retired ones among them.

    `retired`: numbers of words that stood before. `added`: numbers of new words, with the confidence of OCR, 0..1.
    """

    words: list[ListedWord]
    retired: list[int] = field(default_factory=list)
    added: dict[int, float | None] = field(default_factory=dict)


def merge(
    words: Sequence[ListedWord], by_hand: Collection[int], read: Sequence[ReadWord], size: tuple[int, int]
) -> MergedWords:
    """Return the words of a page after it was read again. Raises Refused when the page would have too many.

    Args:
        words: All words that the page has ever had, in reading order; they are not changed.
        by_hand: Numbers of the words that people added, fixed or removed; see `by_hand_of`.
        read: Words as OCR reads them now, in reading order.
        size: Width and height of the page, in pixels.
    """
    live = [word for word in words if not word.retired]
    kept_by_hand = [word for word in live if word.number in by_hand]
    removed = [word for word in words if word.retired and word.number in by_hand]
    free = [word for word in live if word.number not in by_hand]
    following = max((word.number for word in words), default=-1) + 1
    merged = MergedWords([])
    ordered: list[ListedWord] = []
    for read_word in read:
        if any(_at(word.box, read_word.box) for word in kept_by_hand):
            continue
        if any(word.text == read_word.text and _at(word.box, read_word.box) for word in removed):
            continue  # somebody took it away: OCR makes the same mistake again
        same = next((word for word in free if word.text == read_word.text and _at(word.box, read_word.box)), None)
        if same is not None:
            free.remove(same)
            ordered.append(ListedWord(same.number, read_word.line, same.text, same.box))
            continue
        ordered.append(ListedWord(following, read_word.line, read_word.text, read_word.box))
        merged.added[following] = read_word.confidence
        following += 1
    merged.retired = [word.number for word in free]
    if len(words) + len(merged.added) > MOST_WORDS:
        raise Refused(f"The page would have more than {MOST_WORDS:,} words, retired ones included; it keeps its words.")
    placed = WordList(ordered, size)
    for word in kept_by_hand:
        placed.insert_kept(word)
    gone = set(merged.retired)
    merged.words = _with_retired(placed.words, words, gone)
    return merged


def by_hand_of(total: int, corrections: Iterable[Sequence[dict[str, Any]]]) -> set[int]:
    """Return the numbers of the words that people added, fixed or removed.

    Args:
        total: Number of all words that the page has ever had.
        corrections: The edits of each saved correction, oldest first, as stored.
    """
    saves = [list(edits) for edits in corrections]
    # Numbers are given in order, so those of the first reading end where the first correction begins.
    following = total - sum(_new_words(edit) for edits in saves for edit in edits)
    by_hand: set[int] = set()
    for edit in (edit for edits in saves for edit in edits):
        new = range(following, following + _new_words(edit))
        following = new.stop
        if edit["op"] != READ_AGAIN:
            by_hand.update(new)
        if edit["op"] in ("text", "remove"):
            by_hand.add(edit["number"])
    return by_hand


def _new_words(edit: dict[str, Any]) -> int:
    if edit["op"] == READ_AGAIN:
        return int(edit["added"])
    return {"split": len(edit.get("parts", ())), "merge": 1, "add": 1}.get(edit["op"], 0)


def _at(one: Box, other: Box) -> bool:
    return overlap(one, other) >= _SAME_PLACE


def _with_retired(live: list[ListedWord], before: Sequence[ListedWord], gone: Collection[int]) -> list[ListedWord]:
    """Return the live words with the retired ones behind those that they followed before."""
    standing = {word.number for word in live}
    behind: dict[int | None, list[ListedWord]] = {}
    last: int | None = None
    for word in before:
        if word.number in standing:
            last = word.number
        elif word.retired or word.number in gone:
            behind.setdefault(last, []).append(ListedWord(word.number, word.line, word.text, word.box, retired=True))
    whole = behind.get(None, [])
    for word in live:
        whole.append(word)
        whole.extend(behind.get(word.number, ()))
    return whole

"""Label pages that nobody has labelled: ask for the keys on them, and keep the answers on which judges agree.

A model that teaches itself repeats its mistakes, so no label rests on the model alone. An answer is kept where the
lexical baseline finds the same words and the model is sure of them, or where the page itself is plain: key and value
stand in a column of keys and a column of values. In the second case the model may be wrong, and learns most.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.synthetic import questions as phrasing
from engine.training.evaluation import lexical_baseline
from model.inference import Predictor, Word
from model.layout import Layout
from model.ranking.keys import Key, find_keys

BAND_WORDS = 300  # of a labelled page: the cost of a training step grows with the square
_FEWEST_WORDS = 20
_SURE_ANSWERED, _SURE_IOU = 0.8, 0.6  # of an answer that the baseline finds too
_PHRASINGS = 2  # questions for a key
_NEGATIVE = 0.12  # questions for keys of other pages, relative to the labels


@dataclass(frozen=True, slots=True)
class Label:
    """A key with its value, as indices of words, and whether the layout alone shows it."""

    key: Key
    value: tuple[int, ...]
    plain: bool


def label_page(predictor: Predictor, words: Sequence[Word], size: tuple[int, int]) -> tuple[Layout, list[Label]]:
    """Return the layout of a page and the labels that its keys get.

    Args:
        predictor: the model whose agreement counts.
        words: words of the page in reading order.
        size: width and height of the page in pixels.
    """
    page = predictor.encode(None, words, size)
    layout, prepared = page.prepared.layout, lexical_baseline.prepare(words)
    keys = find_keys(layout)
    answers = predictor.ask_in_turn(page, [f"What is the {key.text}?" for key in keys])
    labels = []
    for key, answer in zip(keys, answers, strict=True):
        by_baseline = lexical_baseline.predict(prepared, f"What is the {key.text}?")
        sure = answer.answered > _SURE_ANSWERED and answer.score > _SURE_IOU
        if key.plain and key.has_colon:
            labels.append(Label(key, key.value, True))
        elif by_baseline and set(by_baseline) == set(answer.words) and sure and not set(by_baseline) & set(key.words):
            labels.append(Label(key, tuple(answer.words), False))
    return layout, labels


def bands(
    page_id: str, words: Sequence[Word], size: tuple[int, int], layout: Layout, labels: Sequence[Label], seed: int
) -> Iterator[GroundedPage]:
    """Cut a labelled page into bands of lines, each a page of its own with the labels that lie in it.

    Args:
        page_id: id of the page.
        words: its words.
        size: its width and height in pixels.
        layout: their layout.
        labels: its labels.
        seed: of the phrasings.

    Yields:
        Bands of at most `BAND_WORDS` words that have a label.
    """
    rng = random.Random(f"{seed} {page_id}")
    for number, members in enumerate(_split_lines(layout)):
        place = {word: at for at, word in enumerate(members)}
        inside = [label for label in labels if {*label.value, *label.key.words} <= place.keys()]
        if len(members) < _FEWEST_WORDS or not inside:
            continue
        top = max(0, min(words[word].box[1] for word in members) - 8)
        height = min(size[1] - top, max(words[word].box[3] for word in members) - top + 8)
        name = f"{page_id}-{number}"
        yield GroundedPage(
            name,
            None,
            size[0],
            height,
            [_move_up(words[word], top) for word in members],
            [
                GroundedQuestion(
                    f"{name}-{at}-{form}",
                    phrasing.about(rng, label.key.text),
                    [sorted(place[word] for word in label.value)],
                    True,
                )
                for at, label in enumerate(inside)
                for form in range(_PHRASINGS)
            ],
        )


def with_negatives(pages: Iterable[GroundedPage], seed: int) -> list[GroundedPage]:
    """Return the pages with some questions for keys of other pages, whose words do not stand on them."""
    labelled = list(pages)
    asked = [question.question for page in labelled for question in page.questions]
    rng, finished = random.Random(f"{seed} negatives"), []
    for page in labelled:
        on_page = {token for word in page.words for token in lexical_baseline.tokens(word.text)}
        negatives = []
        for at in range(sum(rng.random() < _NEGATIVE for _ in page.questions)):
            question = rng.choice(asked)
            if not set(lexical_baseline.telling_tokens(question)) & on_page:
                negatives.append(GroundedQuestion(f"{page.page_id}-none-{at}", question, []))
        finished.append(replace(page, questions=[*page.questions, *negatives]))
    return finished


def _split_lines(layout: Layout) -> list[list[int]]:
    """Return words in reading order, cut between lines into parts of about equal length."""
    count = len(layout.texts)
    part_count = -(-count // BAND_WORDS)
    parts: list[list[int]] = [[]]
    for word in layout.order.tolist():
        starts = bool(parts[-1]) and layout.line[word] != layout.line[parts[-1][-1]]
        if starts and len(parts[-1]) >= count / max(1, part_count) and len(parts) < part_count:
            parts.append([])
        parts[-1].append(word)
    return parts


def _move_up(word: Word, top: int) -> GroundedWord:
    x0, y0, x1, y1 = word.box
    return GroundedWord(word.text, (x0, max(0, y0 - top), x1, max(1, y1 - top)))

"""Offer the other values of a key that the page prints more than once.

For each place of the key, the question is asked again as though the key stood there alone: words of the other places
match nothing. All places go through the word head in one batch, and only where the key is repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from model.anchors import find_anchors
from model.answers import Answer
from model.devices import CPU, to_device
from model.drawn_prompts import shows_a_place
from model.examples import Prompt, Word
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, batch_questions
from model.layout import Layout
from model.masks import rasterise
from model.network import GroundingNetwork, PageState
from model.place_names import name_places
from model.printed_text import printed_text
from model.repeated_keys import MOST_PLACES, KeyPlace, column_below, key_places, words_near
from model.vocabulary import Vocabulary, words_of

MOST_ALTERNATIVES = 8  # beside the answer, where the key is repeated
_NEAR = 4.0  # added to the pointing at words right of a key or below it
_BARRED = -40.0  # added at words of the keys themselves: less than any logit
_MOST_WORDS = 4_000  # words of a page times places asked at once, which bounds the time of a long page
_BACK = 3.0  # times as far as a word right of a key counts one left of it
_UP = 3.0  # line heights that a word above a key counts farther away


@dataclass(frozen=True, slots=True)
class _PlaceValue:
    """Words that may be the value of a key at one place."""

    words: tuple[int, ...]  # indices in reading order
    iou: float  # predicted, 0..1
    place: int | None  # index; None where they stand at no place of the key


def with_alternatives(
    answer: Answer,
    row: int,
    prompt: Prompt,
    words: Sequence[Word],
    prepared: PreparedPage,
    state: PageState,
    network: GroundingNetwork,
    vocabulary: Vocabulary,
    pointed: WordAnswer,
) -> Answer:
    """Replace the candidates of an answer by the values at all places of its key, where the key is repeated.

    Args:
        answer: answer to the question, with its own candidates.
        row: index of the question in the batch.
        prompt: prompt of the question; a prompt that shows a place keeps its answer, and so does an answer by pixels.
        words: words of the page.
        prepared: the page as the network read it.
        state: the encoded page.
        network: network that encoded it.
        vocabulary: ids of words.
        pointed: scores of the word path for the whole batch.

    Returns:
        The answer with its place, how often the page prints the key, and up to `MOST_ALTERNATIVES` candidates from the
        top of the page, those of no place last; the same answer where the key stands once.
    """
    by_words = answer.word_mask.any() and np.array_equal(answer.mask, answer.word_mask)
    if shows_a_place(prompt) or len(words) < 2 or not by_words:
        return answer
    layout = prepared.layout
    question = words_of(prompt.text, network.config.prompt.context)
    places = key_places(layout, question)
    if len(places) < 2:
        return answer
    home = _home(layout, places, answer.words)
    elsewhere = [number for number in range(len(places)) if number != home]
    asked = elsewhere[: max(1, min(MOST_PLACES, _MOST_WORDS // len(words)))]
    keys = np.zeros(len(words), bool)
    for place in places:
        keys[list(place.words)] = True
    values_by_place = _ask_each(prompt, question, places, asked, keys, prepared, state, network, vocabulary)
    if home is not None:
        column = column_below(layout, places[home], keys)
        if _is_a_table(layout, answer.words, column):
            values_by_place.append([_PlaceValue(tuple(column), answer.score, home)])
    names = name_places(layout, places, prepared.size)
    chances = pointed.pointing[row, : len(words)].softmax(-1).numpy()
    most = float(chances[answer.words].sum())

    def candidate(value: _PlaceValue) -> Answer:
        """Compose a candidate: its predicted IoU counts as much as the network points to it, as in `choose_words`.

        The first answer is the likeliest, and the ranker may be less sure of it than the network: none stands above it.
        """
        taken = list(value.words)
        mask = rasterise([words[index].box for index in taken], answer.mask.shape)
        score = min(answer.score, value.iou * min(1.0, float(chances[taken].sum()) / max(most, 1e-9)))
        return Answer(
            mask=mask,
            words=taken,
            text=printed_text(words[index] for index in taken),
            score=score,
            answered=answer.answered,
            word_mask=mask,
            pixel_mask=np.zeros_like(mask),
            place="" if value.place is None else names[value.place],
        )

    offered = _in_order(values_by_place, answer)
    others = [
        alternative
        for alternative in answer.candidates
        if alternative.words not in [list(value.words) for value in offered]
    ]
    candidates = [candidate(value) for value in offered][:MOST_ALTERNATIVES]
    return replace(
        answer,
        candidates=[*candidates, *others][:MOST_ALTERNATIVES],
        place="" if home is None else names[home],
        repeated=len(places),
    )


def _ask_each(
    prompt: Prompt,
    question: Sequence[str],
    places: Sequence[KeyPlace],
    asked: Sequence[int],
    keys: NDArray[np.bool_],
    prepared: PreparedPage,
    state: PageState,
    network: GroundingNetwork,
    vocabulary: Vocabulary,
) -> list[list[_PlaceValue]]:
    """Return what may be the value at each of the `asked` places, the likeliest first; `keys` [N] are words of keys."""
    layout = prepared.layout
    anchors = []
    for number in asked:
        others = keys.copy()
        others[list(places[number].words)] = False
        anchors.append(find_anchors(layout, question, others))
    near = np.stack([words_near(layout, places[number]) for number in asked])
    favour = torch.from_numpy((_NEAR * near + _BARRED * keys).astype(np.float32))
    batch = batch_questions([prepared], [[prompt] * len(asked)], vocabulary, network.config, anchors=anchors)
    device = state.words.device
    seen = to_device(network.ask_words(state, to_device(batch, device), 1, favour=favour.to(device)).words, CPU)
    values_by_place = []
    for row, number in enumerate(asked):
        place = places[number]
        taken = np.flatnonzero(seen.taken[row, 0, : len(keys)].numpy() & ~keys).tolist()
        iou = float(seen.iou[row, 0])
        grown = _PlaceValue(tuple(taken), iou, number if near[row, int(seen.seeds[row, 0])] else None)
        column = _PlaceValue(tuple(column_below(layout, place, keys)), iou, number)
        if _is_a_table(layout, grown.words, column.words):
            values = [column, grown]
        elif any(layout.line[index] == place.line for index in taken):
            values = [grown]  # a value beside its key: nothing below it belongs to it
        else:
            values = [grown, column]
        values_by_place.append([value for value in values if value.words])
    return values_by_place


def _is_a_table(layout: Layout, grown: Sequence[int], column: Sequence[int]) -> bool:
    """Return whether the whole column below a key is likelier its value than what was grown: it holds numbers."""
    numbers = sum(any(c.isdigit() for c in layout.texts[index]) for index in column)
    if not column or numbers < 0.6 * len(column):
        return False
    return bool(set(grown) & set(column)) or not any(c.isdigit() for index in grown for c in layout.texts[index])


def _in_order(values_by_place: Sequence[Sequence[_PlaceValue]], answer: Answer) -> list[_PlaceValue]:
    """Choose which values to offer: the first of every place, then second ones; from the top, without repetition."""
    seen = {tuple(answer.words)}
    chosen: list[_PlaceValue] = []
    for turn in range(2):
        for values in values_by_place:
            if len(values) > turn and values[turn].words not in seen and len(chosen) < MOST_ALTERNATIVES:
                seen.add(values[turn].words)
                chosen.append(values[turn])
    return sorted(chosen, key=lambda value: np.inf if value.place is None else value.place)


def _home(layout: Layout, places: Sequence[KeyPlace], words: Sequence[int]) -> int | None:
    """Return the index of the place whose value these words are: most are nearest to it, and one is near it."""
    if not words:
        return None
    distances: NDArray[np.floating] = np.stack([_distances(layout, place, words) for place in places])
    home = int(np.bincount(distances.argmin(0), minlength=len(places)).argmax())
    return home if words_near(layout, places[home])[list(words)].any() else None


def _distances(layout: Layout, place: KeyPlace, words: Sequence[int]) -> NDArray[np.floating]:
    """Return how far each of some words is from a key, in line heights: values stand right of keys, or below."""
    x0, y0, x1, y1 = place.box
    boxes = layout.boxes[list(words)]
    down = np.abs((boxes[:, 1] + boxes[:, 3]) / 2 - (y0 + y1) / 2)
    across = np.maximum(0, np.maximum(boxes[:, 0] - x1, (x0 - boxes[:, 0]) * _BACK))
    far: NDArray[np.floating] = down + 0.15 * across + _UP * (boxes[:, 3] < y0 - 0.3)
    return far

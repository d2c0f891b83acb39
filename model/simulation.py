"""Askers simulated for training: clicks on what the network got wrong, boxes around the answer, earlier answers as masks.

As in SAM (https://arxiv.org/abs/2304.02643, appendix A) clicks are drawn from the error region of the network's own answer.
One round of correction is drawn a step, with one to four clicks, instead of a chain of rounds.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from model.batches import Batch, acceptable_masks, make_batch
from model.devices import moved
from model.examples import Box, Example, Point, Prompt, Question
from model.masks import rasterise
from model.network import GroundingNetwork
from model.presets import NetworkConfig
from model.vocabulary import Vocabulary

_CLICKS, _BOX, _MASK = 0.5, 0.25, 0.25  # shares of prompted questions; a mask comes with clicks
_WORDLESS = 0.15  # of questions with a positive click or a box: the question itself says nothing
_MOST_CLICKS = 4


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the network answered before any prompt."""

    words: frozenset[int]
    pixels: np.ndarray | None  # bool [h / 4, w / 4] on the scaled page


@torch.no_grad()
def with_prompts(
    network: GroundingNetwork,
    batch: Batch,
    vocabulary: Vocabulary,
    rng: random.Random,
    share: float,
    config: NetworkConfig | None = None,
) -> Batch:
    """The batch with points, boxes and masks added to a ``share`` of its questions; ``config`` where its pages were scaled
    otherwise than the network's own says."""
    device = next(network.parameters()).device
    answer = network(moved(batch.pages, device), moved(batch.questions, device))
    chosen = (answer.words.logits.cpu() > 0) & batch.targets.valid
    pixels = None if answer.pixels is None else (answer.pixels.logits[:, 0] > 0).cpu().numpy()
    examples, row = [], 0
    for example in batch.examples:
        questions: list[Question] = []
        for question in example.questions:
            if rng.random() < share:
                seen = _Seen(frozenset(chosen[row].nonzero()[:, 0].tolist()), None if pixels is None else pixels[row])
                question = _prompted(example, question, seen, rng)
            questions.append(question)
            row += 1
        examples.append(replace(example, questions=questions))
    return make_batch(examples, vocabulary, config or network.config, prepared=batch.prepared)


def _prompted(example: Example, question: Question, seen: _Seen, rng: random.Random) -> Question:
    """The question with one acceptable answer, the one meant, and prompts that lead to it."""
    question = _meant(question, seen, rng)
    draw = rng.random()
    if draw < _BOX and question.answered:
        box = _box_around(example, question, rng)
        return replace(question, prompt=Prompt(_text(question, rng), box=box))
    points = _clicks(example, question, seen, rng)
    mask = _earlier(example, question, seen) if draw >= _BOX + _CLICKS else None
    positive = any(point[2] for point in points)
    return replace(question, prompt=Prompt(_text(question, rng) if positive else question.text, points, mask=mask))


def _meant(question: Question, seen: _Seen, rng: random.Random) -> Question:
    if question.answers:
        best = max(question.answers, key=lambda answer: len(seen.words & set(answer)) + rng.random() / 2)
        return replace(question, answers=(best,), masks=())
    return replace(question, masks=(rng.choice(question.masks),)) if question.masks else question


def _text(question: Question, rng: random.Random) -> str:
    return "" if rng.random() < _WORDLESS else question.text


def _clicks(example: Example, question: Question, seen: _Seen, rng: random.Random) -> tuple[Point, ...]:
    if question.masks:
        return _pixel_clicks(question.masks[0], seen, rng)
    wanted = set(question.answers[0]) if question.answers else set()
    errors = [(index, True) for index in sorted(wanted - seen.words)]
    errors += [(index, False) for index in sorted(seen.words - wanted)]
    most = rng.randint(1, _MOST_CLICKS)
    points = [_inside(example.words[index].box, rng, positive) for index, positive in _some(errors, most, rng)]
    if not points and wanted:
        points = [_inside(example.words[rng.choice(sorted(wanted))].box, rng, True)]
    return tuple(points)


def _earlier(example: Example, question: Question, seen: _Seen) -> np.ndarray | None:
    """The network's own answer as the mask to start from, None where it gave none."""
    width, height = example.size
    if question.masks and seen.pixels is not None:
        pixels = enlarged(seen.pixels, (height, width))
        return pixels if pixels.any() else None
    return rasterise([example.words[i].box for i in sorted(seen.words)], (height, width)) if seen.words else None


def _pixel_clicks(mask: np.ndarray, seen: _Seen, rng: random.Random) -> tuple[Point, ...]:
    """The first click lies in the answer, the others in what the network got wrong: missed, or too much."""
    points = [_drawn_from(mask, True, rng)] if mask.any() else []
    if seen.pixels is None or not points:
        return tuple(points)
    found = enlarged(seen.pixels, mask.shape)
    missed, beside = mask & ~found, found & ~mask
    for _ in range(rng.randrange(_MOST_CLICKS)):
        total = int(missed.sum()) + int(beside.sum())
        if not total:
            break
        positive = rng.randrange(total) < missed.sum()
        points.append(_drawn_from(missed if positive else beside, bool(positive), rng))
    return tuple(points)


def _drawn_from(region: np.ndarray, positive: bool, rng: random.Random) -> Point:
    places = np.flatnonzero(region)
    y, x = divmod(int(places[rng.randrange(len(places))]), region.shape[1])
    return (x + 0.5, y + 0.5, positive)


def enlarged(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A mask of cells (bool [h, w], the long side to the long side) at the size of a page."""
    cell = max(shape) / max(cells.shape)
    rows = np.minimum((np.arange(shape[0]) / cell).astype(int), cells.shape[0] - 1)
    columns = np.minimum((np.arange(shape[1]) / cell).astype(int), cells.shape[1] - 1)
    large: np.ndarray = cells[rows][:, columns]
    return large


def _box_around(example: Example, question: Question, rng: random.Random) -> Box:
    """The bounds of the answer, loosened by up to a line height each side."""
    ys, xs = np.nonzero(acceptable_masks(example, question)[0])
    heights = [word.box[3] - word.box[1] for word in example.words] or [12]
    loose = [rng.uniform(0, float(np.median(heights))) for _ in range(4)]
    return (
        round(float(xs.min()) - loose[0]),
        round(float(ys.min()) - loose[1]),
        round(float(xs.max()) + 1 + loose[2]),
        round(float(ys.max()) + 1 + loose[3]),
    )


def _inside(box: Box, rng: random.Random, positive: bool) -> Point:
    x0, y0, x1, y1 = box
    return (x0 + rng.uniform(0.1, 0.9) * (x1 - x0), y0 + rng.uniform(0.1, 0.9) * (y1 - y0), positive)


def _some(errors: Sequence[tuple[int, bool]], most: int, rng: random.Random) -> list[tuple[int, bool]]:
    return rng.sample(errors, min(most, len(errors)))

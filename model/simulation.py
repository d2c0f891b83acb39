"""Simulate users for training: clicks on errors, boxes around the answer, earlier answers as masks.

As in SAM (https://arxiv.org/abs/2304.02643, appendix A), clicks are drawn from the error region of the network's own
answer. A question may go through several rounds. Each round corrects the answer to the clicks so far, sometimes with
that answer as the mask to start from. The first round has one to four clicks, later ones have one each.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from model.batches import Batch, acceptable_masks, make_batch
from model.boxes import Box
from model.devices import to_device
from model.examples import Example, Point, Prompt, Question
from model.heads.mask_decoder import select_mask
from model.inputs import batch_questions
from model.masks import rasterise
from model.network import GroundingNetwork, NetworkAnswer
from model.presets import NetworkConfig
from model.vocabulary import Vocabulary

_CLICKS, _BOX, _MASK = 0.5, 0.25, 0.25  # shares of prompted questions; a mask comes with clicks
_WORDLESS = 0.15  # share of questions with a positive click or box whose text is empty
_MOST_CLICKS = 4
_ROUNDS = (1, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The network's answer to the prompts so far."""

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
    """Add simulated points, boxes and masks to a batch.

    Args:
        network: the network whose answers are corrected.
        batch: questions without prompts.
        vocabulary: ids of words.
        rng: source of all randomness.
        share: share of the questions that get prompts, 0..1.
        config: config under which the pages were scaled, if it is not the network's own.

    Returns:
        A batch of the same pages and questions with prompts.
    """
    device, config = next(network.parameters()).device, config or network.config
    state, questions = network.encode(to_device(batch.pages, device)), batch.questions
    examples = list(batch.examples)
    chosen = [[rng.random() < share for _ in example.questions] for example in examples]
    rounds = rng.choice(_ROUNDS)
    for number in range(rounds):
        if number:
            asked = [[question.effective_prompt for question in example.questions] for example in examples]
            questions = batch_questions(batch.prepared, asked, vocabulary, config)
        seen = _split_answer(network.ask(state, to_device(questions, device)))
        change = _again if number else _add_prompts
        examples = [
            replace(
                example,
                questions=[
                    change(example, question, next(seen), rng) if drawn else _leave(question, next(seen))
                    for question, drawn in zip(example.questions, drawn_here, strict=True)
                ],
            )
            for example, drawn_here in zip(examples, chosen, strict=True)
        ]
    return make_batch(examples, vocabulary, config, prepared=batch.prepared)


def _split_answer(answer: NetworkAnswer) -> Iterator[_Seen]:
    """Yield the network's answer question by question."""
    words = answer.words.taken[:, 0].cpu()
    pixels = None if answer.pixels is None else select_mask(answer.pixels).cpu().numpy()
    for row, chosen in enumerate(words):
        yield _Seen(frozenset(chosen.nonzero()[:, 0].tolist()), None if pixels is None else pixels[row])


def _leave(question: Question, _: _Seen) -> Question:
    return question


def _add_prompts(example: Example, question: Question, seen: _Seen, rng: random.Random) -> Question:
    """Return the question with one acceptable answer and prompts that lead to it."""
    question = _meant(question, seen, rng)
    draw = rng.random()
    if draw < _BOX and question.answered:
        box = _box_around(example, question, rng)
        return replace(question, prompt=Prompt(_text(question, rng), box=box))
    points = _clicks(example, question, seen, rng)
    mask = _earlier(example, question, seen) if draw >= _BOX + _CLICKS else None
    positive = any(point[2] for point in points)
    return replace(question, prompt=Prompt(_text(question, rng) if positive else question.text, points, mask=mask))


def _again(example: Example, question: Question, seen: _Seen, rng: random.Random) -> Question:
    """Return the question with one more click on a remaining error, if there is one."""
    prompt = question.effective_prompt
    points = _clicks(example, question, seen, rng, later=True)
    if not points:
        return question
    mask = _earlier(example, question, seen) if rng.random() < _MASK else prompt.mask
    return replace(question, prompt=replace(prompt, points=prompt.points + points[:1], mask=mask))


def _meant(question: Question, seen: _Seen, rng: random.Random) -> Question:
    if question.answers:
        best = max(question.answers, key=lambda answer: len(seen.words & set(answer)) + rng.random() / 2)
        return replace(question, answers=(best,), masks=())
    return replace(question, masks=(rng.choice(question.masks),)) if question.masks else question


def _text(question: Question, rng: random.Random) -> str:
    return "" if rng.random() < _WORDLESS else question.text


def _clicks(
    example: Example, question: Question, seen: _Seen, rng: random.Random, *, later: bool = False
) -> tuple[Point, ...]:
    if question.masks:
        return _pixel_clicks(question.masks[0], seen, rng, later)
    wanted = set(question.answers[0]) if question.answers else set()
    errors = [(index, True) for index in sorted(wanted - seen.words)]
    errors += [(index, False) for index in sorted(seen.words - wanted)]
    most = rng.randint(1, _MOST_CLICKS)
    points = [_inside(example.words[index].box, rng, positive) for index, positive in _some(errors, most, rng)]
    if not points and wanted and not later:
        points = [_inside(example.words[rng.choice(sorted(wanted))].box, rng, True)]
    return tuple(points)


def _earlier(example: Example, question: Question, seen: _Seen) -> np.ndarray | None:
    """Return the network's own answer as the mask to start from; None if it is empty."""
    width, height = example.size
    if question.masks and seen.pixels is not None:
        pixels = upsample_mask(seen.pixels, (height, width))
        return pixels if pixels.any() else None
    return rasterise([example.words[i].box for i in sorted(seen.words)], (height, width)) if seen.words else None


def _pixel_clicks(mask: np.ndarray, seen: _Seen, rng: random.Random, later: bool) -> tuple[Point, ...]:
    """Draw clicks for an answer of pixels.

    The first click of the first round lies in the answer. All others lie in errors: missed pixels or extra ones.
    """
    points = [_drawn_from(mask, True, rng)] if mask.any() and not later else []
    if seen.pixels is None or not mask.any():
        return tuple(points)
    marked = upsample_mask(seen.pixels, mask.shape)
    missed, beside = mask & ~marked, marked & ~mask
    total = int(missed.sum()) + int(beside.sum())
    for _ in range((1 if later else rng.randrange(_MOST_CLICKS)) if total else 0):
        positive = rng.randrange(total) < int(missed.sum())
        points.append(_drawn_from(missed if positive else beside, positive, rng))
    return tuple(points)


def _drawn_from(region: np.ndarray, positive: bool, rng: random.Random) -> Point:
    places = np.flatnonzero(region)
    y, x = divmod(int(places[rng.randrange(len(places))]), region.shape[1])
    return (x + 0.5, y + 0.5, positive)


def upsample_mask(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Enlarge a mask of cells to the size of a page.

    Args:
        cells: bool [h, w]; its long side spans the long side of the page.
        shape: rows and columns of the page.

    Returns:
        Mask, bool of `shape`.
    """
    cell = max(shape) / max(cells.shape)
    rows = np.minimum((np.arange(shape[0]) / cell).astype(int), cells.shape[0] - 1)
    columns = np.minimum((np.arange(shape[1]) / cell).astype(int), cells.shape[1] - 1)
    large: np.ndarray = cells[rows][:, columns]
    return large


def _box_around(example: Example, question: Question, rng: random.Random) -> Box:
    """Return the bounds of the answer, loosened by up to a line height on each side."""
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

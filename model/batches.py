"""Build training batches from examples: pages, questions and targets of matching shapes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.drawn_prompts import MASK_STRIDE, shrink_mask
from model.examples import Example, Question
from model.inputs import (
    PageBatch,
    PreparedPage,
    QuestionBatch,
    batch_pages,
    batch_questions,
    prepare_page,
)
from model.masks import rasterise
from model.objectives.segmentation import Targets
from model.presets import NetworkConfig
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Batch:
    """Input and targets of one training step."""

    pages: PageBatch
    questions: QuestionBatch
    targets: Targets
    prepared: tuple[PreparedPage, ...]
    examples: tuple[Example, ...]


def make_batch(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    config: NetworkConfig,
    prepared: Sequence[PreparedPage] | None = None,
    without_anchors: Sequence[Sequence[bool]] | None = None,
) -> Batch:
    """Build a batch from pages that have equally many questions.

    Args:
        examples: pages with their questions. Images are used only if every page has one.
        vocabulary: ids of words.
        config: sizes of the network.
        prepared: the same pages already prepared, to save reading them twice.
        without_anchors: for each question of each page, whether its lexical anchors are hidden.

    Returns:
        The batch, on the CPU.
    """
    pages = prepared or [prepare_page(e.words, e.size, e.image, vocabulary, config) for e in examples]
    page_batch = batch_pages(pages)
    prompts = [[question.effective_prompt for question in example.questions] for example in examples]
    questions = batch_questions(pages, prompts, vocabulary, config, without_anchors)
    return Batch(page_batch, questions, _targets(examples, pages, page_batch, config), tuple(pages), tuple(examples))


def _targets(
    examples: Sequence[Example], pages: Sequence[PreparedPage], batch: PageBatch, config: NetworkConfig
) -> Targets:
    per_page = len(examples[0].questions)
    asked = [(example, question) for example in examples for question in example.questions]
    most = batch.valid.shape[1]
    alternatives = max(1, *(len(q.answers) + len(q.masks) for _, q in asked))
    words = torch.zeros(len(asked), alternatives, most)
    for row, (_, question) in enumerate(asked):
        for place in range(alternatives if question.answers else 0):
            words[row, place, list(question.answers[place if place < len(question.answers) else 0])] = 1
    area = (batch.boxes[..., 2] - batch.boxes[..., 0]) * (batch.boxes[..., 3] - batch.boxes[..., 1])
    return Targets(
        words=words,
        answered=torch.tensor([float(q.answered) for _, q in asked]),
        by_words=torch.tensor([float(bool(q.answers)) for _, q in asked]),
        word_area=(area * batch.valid).repeat_interleave(per_page, 0),
        valid=batch.valid.repeat_interleave(per_page, 0),
        **({} if batch.image is None else _pixel_targets(asked, pages, per_page, alternatives, batch, config)),
    )


def _pixel_targets(
    asked: Sequence[tuple[Example, Question]],
    pages: Sequence[PreparedPage],
    per_page: int,
    alternatives: int,
    batch: PageBatch,
    config: NetworkConfig,
) -> dict[str, torch.Tensor]:
    assert batch.image is not None
    height, width = (side // MASK_STRIDE for side in batch.image.shape[-2:])
    masks = torch.zeros(len(asked), alternatives, height, width)
    boxes, filled = torch.zeros(len(asked), alternatives, 4), torch.zeros(len(asked), alternatives)
    for row, (example, question) in enumerate(asked):
        image = pages[row // per_page].image
        acceptable = acceptable_masks(example, question)
        if image is None or not acceptable:
            continue
        for place in range(alternatives):
            source = place if place < len(acceptable) else 0
            if place and source == 0:
                masks[row, place], boxes[row, place], filled[row, place] = masks[row, 0], boxes[row, 0], filled[row, 0]
                continue
            grid = shrink_mask(acceptable[source], image, config.image.long_side)
            masks[row, place, : grid.shape[0], : grid.shape[1]] = grid
            box, filled[row, place] = _box_of(acceptable[source])
            boxes[row, place] = box * (config.image.long_side / max(example.size) / MASK_STRIDE)
    return {"masks": masks, "boxes": boxes, "filled": filled}


def _box_of(mask: np.ndarray) -> tuple[torch.Tensor, float]:
    """Return the box (pixels) around a mask (bool [H, W]) and the share it fills; zeros if it is empty."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return torch.zeros(4), 0.0
    box = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
    area = (box[2] - box[0]) * (box[3] - box[1])
    return torch.tensor(box, dtype=torch.float32), float(np.count_nonzero(mask) / area)


def acceptable_masks(example: Example, question: Question) -> list[np.ndarray]:
    """Return every acceptable answer as a mask, bool [H, W]: unions of word boxes first, then drawn masks."""
    width, height = example.size
    of_words = [rasterise([example.words[i].box for i in answer], (height, width)) for answer in question.answers]
    return of_words + list(question.masks)

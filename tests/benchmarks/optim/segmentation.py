"""Promptable segmentation: the nano network's encoders as shipped, its fusion and heads fresh, on generated documents."""

from __future__ import annotations

import random

from torch import Tensor, nn

from tests.benchmarks.optim.pages import Pages, drawn, mean_iou, mean_loss, paired

FRESH = ("fusion", "prompt_encoder", "word_head", "mask_decoder")
WORDS, IMAGES, QUESTIONS = 240, 24, 4
HELD_OUT_WORDS, HELD_OUT_IMAGES = 32, 2
IMAGE_EVERY = 10  # steps
PROMPTED = 0.3  # share of the steps with simulated clicks, boxes and masks


class SegmentationTask:
    """Held-out loss of both paths, words and pixels."""

    name = "segmentation"
    steps = 300
    rest_rate = 2e-3

    def __init__(self) -> None:
        self._pages = Pages()
        batch = self._pages.batch
        self._words = [batch(pair) for pair in paired(drawn(11, WORDS, QUESTIONS))]
        self._images = [batch([one]) for one in drawn(12, IMAGES, QUESTIONS, images=True)]
        self._held_out_words = [batch(pair) for pair in paired(drawn(13, HELD_OUT_WORDS, QUESTIONS))]
        self._held_out_images = [batch([one]) for one in drawn(14, HELD_OUT_IMAGES, QUESTIONS, images=True)]

    def network(self, seed: int) -> nn.Module:
        return self._pages.network(seed, FRESH)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        batches = self._images if step % IMAGE_EVERY == IMAGE_EVERY - 1 else self._words
        batch = random.Random(f"{seed}:{step}:batch").choice(batches)
        return self._pages.loss(network, batch, seed, step, PROMPTED)

    def held_out(self, network: nn.Module) -> float:
        return mean_loss(network, self._held_out_words + self._held_out_images)

    def measures(self, network: nn.Module) -> dict[str, float]:
        return {"mIoU": mean_iou(network, self._held_out_words)}

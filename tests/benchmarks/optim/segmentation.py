"""Promptable segmentation: the encoders of the nano network as shipped, fusion and heads fresh, on generated
documents."""

from __future__ import annotations

from torch import Tensor, nn

from tests.benchmarks.optim.pages import Pages, drawn, mean_iou, mean_loss, mean_pixel_iou, paired, visited

FRESH = ("fusion", "prompt_encoder", "word_head", "mask_decoder")
WORDS, IMAGES, QUESTIONS = 240, 30, 4
HELD_OUT_WORDS, HELD_OUT_IMAGES = 32, 3
MEASURED_IMAGES = 12  # more, for a figure that is asked for once a run
IMAGE_EVERY = 6  # steps; an image costs as much as eight pages of words
PROMPTED = 0.3  # share of the steps with simulated clicks, boxes and masks


class SegmentationTask:
    """Held-out loss of both paths, words and pixels."""

    name = "segmentation"
    rest_rate = 2e-3

    def __init__(self, *, tuning: bool = False) -> None:
        self._pages = Pages()
        batch = self._pages.batch
        other = 100 if tuning else 0  # pages
        self._words = [batch(pair) for pair in paired(drawn(11 + other, WORDS, QUESTIONS))]
        self._images = [batch([one]) for one in drawn(12 + other, IMAGES, QUESTIONS, images=True)]
        self._held_out_words = [batch(pair) for pair in paired(drawn(13 + other, HELD_OUT_WORDS, QUESTIONS))]
        self._held_out_images = [batch([one]) for one in drawn(14 + other, HELD_OUT_IMAGES, QUESTIONS, images=True)]
        self._measured_images = [batch([one]) for one in drawn(15 + other, MEASURED_IMAGES, QUESTIONS, images=True)]

    def network(self, seed: int) -> nn.Module:
        return self._pages.network(seed, FRESH)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        images, rest = divmod(step, IMAGE_EVERY)
        if rest == IMAGE_EVERY - 1:
            batch = visited(self._images, seed, images)
        else:
            batch = visited(self._words, seed, step - images)
        return self._pages.loss(network, batch, seed, step, PROMPTED)

    def held_out(self, network: nn.Module) -> float:
        return mean_loss(network, self._held_out_words + self._held_out_images)

    def measures(self, network: nn.Module) -> dict[str, float]:
        return {
            "mIoU": mean_iou(network, self._held_out_words),
            "mIoU, pixels": mean_pixel_iou(network, self._measured_images),
        }

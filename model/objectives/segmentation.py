"""Promptable segmentation: what the two paths learn from questions with answers.

Pixels: SAM's focal (20) + dice (1) + IoU L1, the lowest-loss of the multimasks alone is back-propagated, every IoU is
supervised, no mask loss where the page does not answer (https://arxiv.org/abs/2304.02643, appendix A; focal:
https://arxiv.org/abs/1708.02002, dice: https://arxiv.org/abs/1606.04797). Words: cross-entropy + dice over the words of
the page, the lowest over the acceptable answers.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from model.mask_decoder import PixelAnswer
from model.network import NetworkAnswer
from model.word_head import WordAnswer

FOCAL_WEIGHT, DICE_WEIGHT = 20.0, 1.0
_ALPHA, _GAMMA = 0.25, 2.0
_WORD_DICE = 1.5
_POSITIVE_WORD = 2.0  # weight of a word of the answer in the cross-entropy
_VERDICT_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Targets:
    """B questions, up to A acceptable answers each (the first repeated where there are fewer)."""

    words: Tensor  # [B, A, N] 0 or 1
    answered: Tensor  # [B] 1 where the page answers
    by_words: Tensor  # [B] 1 where words make the answer
    word_area: Tensor  # [B, N] area of each word, 0 for padding
    valid: Tensor  # [B, N] bool
    masks: Tensor | None = None  # [B, A, h / 4, w / 4] share of each cell, None without images


def loss_of(
    answer: NetworkAnswer, targets: Targets, pixel_weight: float = 1.0, multimask: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """The whole loss (scalar) and its parts, detached, for the log. Without ``multimask`` the one mask learns alone."""
    parts = word_losses(answer.words, targets)
    if answer.pixels is not None and targets.masks is not None:
        pixel = pixel_losses(answer.pixels, targets.masks, targets.answered)
        if not multimask:
            del pixel["mask_best"]
        parts |= {name: pixel_weight * value for name, value in pixel.items()}
    total = torch.stack(list(parts.values())).sum()
    return total, {name: value.detach() for name, value in parts.items()} | {"loss": total.detach()}


def word_losses(answer: WordAnswer, targets: Targets) -> dict[str, Tensor]:
    """Losses of the word path: which words, is it answered, is it answered by words, how good is the choice."""
    valid, has = targets.valid.float(), targets.by_words
    on_page = valid.any(1).float()
    logits = answer.logits[:, None].expand_as(targets.words)
    chance = logits.sigmoid() * valid[:, None]
    entropy = F.binary_cross_entropy_with_logits(
        logits, targets.words, pos_weight=logits.new_tensor(_POSITIVE_WORD), reduction="none"
    )
    size = targets.words.sum(-1)
    entropy = (entropy * valid[:, None]).sum(-1) / (size + 4)
    overlap = (2 * (chance * targets.words).sum(-1) + 1) / (chance.sum(-1) + size + 1)
    words = (entropy + _WORD_DICE * (1 - overlap) * has[:, None]).amin(-1)
    answered = F.binary_cross_entropy_with_logits(answer.answered, targets.answered, reduction="none")
    by_words = F.binary_cross_entropy_with_logits(answer.by_words, has, reduction="none") * targets.answered
    iou = (answer.iou - word_iou(answer.logits, targets)).abs() * has
    return {
        "words": (words * on_page).mean(),
        "answered": _VERDICT_WEIGHT * (answered * on_page).mean(),
        "by_words": _VERDICT_WEIGHT * (by_words * on_page).mean(),
        "word_iou": _VERDICT_WEIGHT * iou.mean(),
    }


@torch.no_grad()
def word_iou(logits: Tensor, targets: Targets) -> Tensor:
    """[B] best IoU, by area, of the words above 0 with an acceptable answer."""
    area = targets.word_area[:, None]
    chosen = ((logits > 0) & targets.valid).float()[:, None]
    both = (chosen * targets.words * area).sum(-1)
    either = (torch.maximum(chosen.expand_as(targets.words), targets.words) * area).sum(-1)
    return (both / either.clamp_min(1e-6)).amax(-1)


def pixel_losses(answer: PixelAnswer, masks: Tensor, answered: Tensor) -> dict[str, Tensor]:
    """Losses of the pixel path; masks [B, A, h, w], answered [B]."""
    logits = answer.logits[:, :, None].expand(-1, -1, masks.shape[1], -1, -1)  # [B, MASKS, A, h, w]
    truth = masks[:, None].expand_as(logits)
    each = (FOCAL_WEIGHT * focal(logits, truth) + DICE_WEIGHT * dice(logits, truth)).amin(-1)  # [B, MASKS]
    single, multi = each[:, 0], each[:, 1:].amin(-1)
    share = answered / answered.sum().clamp_min(1)
    iou = (answer.iou - mask_iou(logits, truth).amax(-1)).abs().mean(-1)
    return {
        "mask_one": (single * share).sum(),
        "mask_best": (multi * share).sum(),
        "mask_iou": (iou * share).sum(),
        "mask_answered": _VERDICT_WEIGHT * F.binary_cross_entropy_with_logits(answer.answered, answered),
    }


def focal(logits: Tensor, truth: Tensor) -> Tensor:
    """[..., h, w] -> [...]: focal loss, mean over pixels."""
    entropy = F.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    chance = logits.sigmoid()
    wrong = chance * (1 - truth) + (1 - chance) * truth
    alpha = _ALPHA * truth + (1 - _ALPHA) * (1 - truth)
    return (alpha * wrong**_GAMMA * entropy).mean((-2, -1))


def dice(logits: Tensor, truth: Tensor) -> Tensor:
    """[..., h, w] -> [...]: 1 - dice coefficient, smoothed by one pixel."""
    chance = logits.sigmoid()
    both = (chance * truth).sum((-2, -1))
    return 1 - (2 * both + 1) / (chance.sum((-2, -1)) + truth.sum((-2, -1)) + 1)


@torch.no_grad()
def mask_iou(logits: Tensor, truth: Tensor) -> Tensor:
    """[..., h, w] -> [...]: IoU of the thresholded mask."""
    chosen, real = logits > 0, truth > 0.5
    return (chosen & real).sum((-2, -1)) / (chosen | real).sum((-2, -1)).clamp_min(1)

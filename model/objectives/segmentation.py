"""Compute the losses of promptable segmentation, for both paths.

Pixels: SAM's focal (20) + dice (1) (https://arxiv.org/abs/2304.02643, appendix A; focal:
https://arxiv.org/abs/1708.02002, dice: https://arxiv.org/abs/1606.04797) + the L1 error of the predicted IoU, as SAM 2
has it. Only the multimask with the lowest loss is
back-propagated, and every IoU is supervised. There is no mask loss where the page does not answer. The box has losses
of its own (`model.heads.boxes`).

Words: the likelihood that the network points into an acceptable answer. From the seed, cross-entropy + dice over the
words of the page, the lowest over the acceptable answers that contain the seed.
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from model.blocks import MASKED
from model.heads.boxes import box_iou, edge_loss, place_loss
from model.heads.mask_decoder import PixelAnswer
from model.heads.word_head import WordAnswer
from model.network import NetworkAnswer

FOCAL_WEIGHT, DICE_WEIGHT = 20.0, 1.0
_ALPHA, _GAMMA = 0.25, 2.0
_ENTROPY, _WORD_DICE = 1.0, 1.0
_VERDICT_WEIGHT = 0.3
_PLACE_WEIGHT = 0.3
STRAIGHT = 0.7  # a mask that fills less of its box is not learned as a box


@dataclass(frozen=True, slots=True)
class Targets:
    """Targets of B questions with up to A acceptable answers each.

    The first answer is repeated where there are fewer than A.
    """

    words: Tensor  # [B, A, N] 0 or 1
    answered: Tensor  # [B] 1 where the page answers
    by_words: Tensor  # [B] 1 where words make the answer
    word_area: Tensor  # [B, N] area of each word, 0 for padding
    valid: Tensor  # [B, N] bool
    masks: Tensor | None = None  # [B, A, h / 4, w / 4] share of each cell, None without images
    boxes: Tensor | None = None  # [B, A, 4] around each mask, in cells
    filled: Tensor | None = None  # [B, A] share of that box which the mask fills
    towards: Tensor | None = None  # [B, N] words in which growth must begin; without any, where the network points


def loss_of(
    answer: NetworkAnswer, targets: Targets, pixel_weight: float = 1.0, multimask: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """Compute the whole loss.

    Args:
        answer: scores of both paths.
        targets: targets of the same questions.
        pixel_weight: weight of the pixel path.
        multimask: whether the three alternative masks learn too.

    Returns:
        The loss (scalar) and its parts, detached, for the log.
    """
    parts = word_losses(answer.words, targets)
    if answer.pixels is not None and targets.masks is not None:
        pixel = pixel_losses(answer.pixels, targets)
        if not multimask:
            del pixel["mask_best"]
        parts |= {name: pixel_weight * value for name, value in pixel.items()}
    total = torch.stack(list(parts.values())).sum()
    return total, {name: value.detach() for name, value in parts.items()} | {"loss": total.detach()}


def word_losses(answer: WordAnswer, targets: Targets) -> dict[str, Tensor]:
    """Compute the losses of the word path: pointing, words, answered, answered by words, predicted IoU.

    A word outside every acceptable answer teaches growth nothing but the predicted IoU. That is learned by
    cross-entropy with the IoU, whose minimum predicts the mean. The L1 distance of SAM 2 has its minimum at the median,
    and more than half of the answers are exact.
    """
    valid, has = targets.valid.float(), targets.by_words
    on_page = valid.any(1).float()
    chances = answer.pointing.masked_fill(~targets.valid, MASKED).log_softmax(-1)
    begun = -torch.logsumexp(chances + (1 - targets.words.amax(1)) * MASKED, -1) * has
    seeds = answer.seeds[:, :1]
    holds = targets.words.gather(2, seeds[:, None].expand(-1, targets.words.shape[1], -1))[..., 0]  # [B, A]
    logits = answer.logits[:, :1].expand_as(targets.words)
    probability = logits.sigmoid() * valid[:, None]
    entropy = F.binary_cross_entropy_with_logits(logits, targets.words, reduction="none")
    size = targets.words.sum(-1)
    entropy = (entropy * valid[:, None]).sum(-1) / (size + 4)
    overlap = (2 * (probability * targets.words).sum(-1) + 1) / (probability.sum(-1) + size + 1)
    grown = (_ENTROPY * entropy + _WORD_DICE * (1 - overlap)).masked_fill(holds == 0, -MASKED).amin(-1)
    grown = grown.where(holds.any(-1), grown.new_zeros(()))
    answered = F.binary_cross_entropy_with_logits(answer.answered, targets.answered, reduction="none")
    by_words = F.binary_cross_entropy_with_logits(answer.by_words, has, reduction="none") * targets.answered
    real_ious = torch.stack([word_iou(answer.taken[:, at], targets) for at in range(answer.taken.shape[1])], 1)
    fit = F.binary_cross_entropy_with_logits(answer.fit, real_ious, reduction="none").mean(1) * has
    return {
        "pointing": (begun * on_page).mean(),
        "words": (grown * on_page).mean(),
        "answered": _VERDICT_WEIGHT * (answered * on_page).mean(),
        "by_words": _VERDICT_WEIGHT * (by_words * on_page).mean(),
        "word_iou": _VERDICT_WEIGHT * fit.mean(),
    }


def begun_inside(targets: Targets, share: float) -> Targets:
    """Return targets that make growth begin inside an acceptable answer, in a `share` of the questions.

    The questions are drawn with torch's generator.
    """
    made = torch.rand(len(targets.answered), device=targets.answered.device) < share
    return replace(targets, towards=targets.words.amax(1) * made[:, None])


@torch.no_grad()
def word_iou(taken: Tensor, targets: Targets) -> Tensor:
    """Return the best IoU by area, [B], of the taken words (bool [B, N]) with an acceptable answer."""
    area = targets.word_area[:, None]
    chosen = taken.float()[:, None]
    both = (chosen * targets.words * area).sum(-1)
    either = (torch.maximum(chosen.expand_as(targets.words), targets.words) * area).sum(-1)
    return (both / either.clamp_min(1e-6)).amax(-1)


def pixel_losses(answer: PixelAnswer, targets: Targets) -> dict[str, Tensor]:
    """Compute the losses of the pixel path, of maps and box; ValueError if the pages have no images."""
    masks, answered = targets.masks, targets.answered
    if masks is None or targets.boxes is None or targets.filled is None:
        raise ValueError("Learning the masks of regions needs the pictures of the pages.")
    logits = answer.logits[:, :, None].expand(-1, -1, masks.shape[1], -1, -1)  # [B, MASKS, A, h, w]
    truth = masks[:, None].expand_as(logits)
    map_losses = (FOCAL_WEIGHT * focal(logits, truth) + DICE_WEIGHT * dice(logits, truth)).amin(-1)  # [B, MASKS]
    single, multi = map_losses[:, 0], map_losses[:, 1:].amin(-1)
    share = answered / answered.sum().clamp_min(1)
    iou = (answer.iou - mask_iou(logits, truth).amax(-1)).abs().mean(-1)
    return {
        "mask_one": (single * share).sum(),
        "mask_best": (multi * share).sum(),
        "mask_iou": (iou * share).sum(),
        "mask_answered": _VERDICT_WEIGHT * F.binary_cross_entropy_with_logits(answer.answered, answered),
        **box_losses(answer, masks, targets.boxes, targets.filled, share),
    }


def box_losses(answer: PixelAnswer, masks: Tensor, boxes: Tensor, filled: Tensor, share: Tensor) -> dict[str, Tensor]:
    """Compute the losses of the box: its position, its edges and its predicted IoU.

    Edges are learned from the answer that holds most of the probability.

    Args:
        answer: maps and boxes of B questions.
        masks: [B, A, h, w].
        boxes: [B, A, 4], in cells.
        filled: share of each box that its mask fills, [B, A].
        share: weight of each question, [B].

    Returns:
        The parts of the loss, scalars.
    """
    with torch.no_grad():
        chances = answer.place.flatten(1).softmax(-1)
        likeliest = (masks.flatten(2) * chances[:, None]).sum(-1).argmax(-1)
    rows = torch.arange(len(masks), device=masks.device)
    truth, box, fill = masks[rows, likeliest], boxes[rows, likeliest], filled[rows, likeliest]
    straight = (fill > STRAIGHT).float()
    real_iou = (box_iou(answer.box.detach()[:, None], boxes) * filled).amax(-1)
    return {
        "place": _PLACE_WEIGHT * (place_loss(answer.place, masks.amax(1)) * share).sum(),
        "edges": (edge_loss(answer.edges, truth, box) * share * straight).sum(),
        "box_iou": ((answer.box_iou - real_iou).abs() * share).sum(),
    }


def focal(logits: Tensor, truth: Tensor) -> Tensor:
    """Return the focal loss, mean over pixels: [..., h, w] -> [...]."""
    entropy = F.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    probability = logits.sigmoid()
    wrong = probability * (1 - truth) + (1 - probability) * truth
    alpha = _ALPHA * truth + (1 - _ALPHA) * (1 - truth)
    return (alpha * wrong**_GAMMA * entropy).mean((-2, -1))


def dice(logits: Tensor, truth: Tensor) -> Tensor:
    """Return 1 - dice coefficient, smoothed by one pixel: [..., h, w] -> [...]."""
    probability = logits.sigmoid()
    both = (probability * truth).sum((-2, -1))
    return 1 - (2 * both + 1) / (probability.sum((-2, -1)) + truth.sum((-2, -1)) + 1)


@torch.no_grad()
def mask_iou(logits: Tensor, truth: Tensor) -> Tensor:
    """Return the IoU of the thresholded mask: [..., h, w] -> [...]."""
    chosen, real = logits > 0, truth > 0.5
    return (chosen & real).sum((-2, -1)) / (chosen | real).sum((-2, -1)).clamp_min(1)

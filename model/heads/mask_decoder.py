"""Decode masks: SAM's two-way transformer over the fused page, with SAM 2's high-resolution skips.

Beside SAM's maps it predicts one box (`model.heads.boxes`), because most page elements other than words have straight
sides.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.anchors import RUNS
from model.blocks import CrossAttention, LayerNorm2d, Perceptron, additive_mask, soft_log
from model.encoders.image import ImageFeatures
from model.heads.boxes import box_at_peak, edges_from
from model.inputs import NEGATIVE, POSITIVE, PageBatch, QuestionBatch

MASKS = 4  # the first is the single answer, the others serve ambiguous questions
_BESIDE = 6  # features of a cell for each run


@dataclass(frozen=True, slots=True)
class PixelAnswer:
    """Maps and boxes for B questions; a map has a quarter of the scaled page's resolution."""

    logits: Tensor  # [B, MASKS, h / 4, w / 4]
    iou: Tensor  # [B, MASKS] predicted IoU 0..1
    answered: Tensor  # [B] logit: the page answers the question
    place: Tensor  # [B, h / 4, w / 4] logit: this cell predicts the region best
    edges: Tensor  # [B, 4, h / 4, w / 4] x0, y0, x1, y1 as each cell predicts them, in cells
    box: Tensor  # [B, 4] x0, y0, x1, y1 in cells
    box_iou: Tensor  # [B] predicted IoU of the box, 0..1
    box_fits: Tensor  # [B] bool: the box holds every positive point and no negative one


class TwoWayLayer(nn.Module):
    """Layer of SAM's two-way transformer (SAM, appendix A).

    Tokens attend to themselves and to the image, then the image attends to the tokens.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.among = CrossAttention(width, heads)
        self.to_tokens = CrossAttention(width, heads, width // 2)
        self.to_image = CrossAttention(width, heads, width // 2)
        self.mlp = Perceptron(width, 4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))

    def forward(
        self, tokens: Tensor, image: Tensor, token_places: Tensor, image_places: Tensor, token_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Update tokens and image.

        Args:
            tokens: [B, T, D].
            image: [B, K, D].
            token_places: position of the tokens, [B, T, D].
            image_places: encoded positions of the cells, [K, D].
            token_mask: additive mask of the tokens, [B, 1, 1, T].

        Returns:
            New tokens [B, T, D] and new image [B, K, D].
        """
        q = tokens + token_places
        tokens = self.norms[0](tokens + self.among(q, q, tokens, token_mask))
        tokens = self.norms[1](tokens + self.to_tokens(tokens + token_places, image + image_places, image))
        tokens = self.norms[2](tokens + self.mlp(tokens))
        moved = self.to_image(image + image_places, tokens + token_places, tokens, token_mask)
        return tokens, self.norms[3](image + moved)


class MaskDecoder(nn.Module):
    """Mask decoder batched as pages x questions; the questions of a page share its maps."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.iou_token = nn.Parameter(torch.randn(1, width) * 0.02)
        self.mask_tokens = nn.Parameter(torch.randn(MASKS, width) * 0.02)
        self.answered_token = nn.Parameter(torch.randn(1, width) * 0.02)
        self.box_token = nn.Parameter(torch.randn(1, width) * 0.02)
        self.spread = nn.Linear(width, width)
        self.norm_image, self.norm_words = LayerNorm2d(width), nn.LayerNorm(width)
        self.beside = Perceptron(RUNS * _BESIDE, width // 2, width)
        self.layers = nn.ModuleList(TwoWayLayer(width, heads) for _ in range(layers))
        self.last = CrossAttention(width, heads, width // 2)
        self.norm = nn.LayerNorm(width)
        self.up8 = nn.ConvTranspose2d(width, width // 4, 2, stride=2)
        self.norm8 = LayerNorm2d(width // 4)
        self.up4 = nn.ConvTranspose2d(width // 4, width // 8, 2, stride=2)
        self.to_weights = nn.ModuleList(Perceptron(width, width, width // 8) for _ in range(MASKS))
        self.iou = Perceptron(width, width, MASKS)
        self.answered = Perceptron(width, width, 1)
        self.to_place = Perceptron(width, width, width // 8)
        self.around = nn.Conv2d(width // 8, width // 4, 3, padding=1)
        self.to_edges = Perceptron(width, width, 4 * (width // 4 + 1))
        self.afar = nn.Sequential(
            nn.Conv2d(width // 4, width // 2, 3, padding=1),
            nn.GELU(),
            nn.Conv2d(width // 2, width // 2, 3, padding=2, dilation=2),
            nn.GELU(),
        )
        self.to_far_edges = Perceptron(width, width, 4 * (width // 2))
        self.box_iou = Perceptron(width, width, 1)

    def forward(
        self,
        features: ImageFeatures,
        places: Tensor,
        word_states: Tensor,
        prompt_tokens: Tensor,
        prompt_valid: Tensor,
        dense: Tensor,
        pages: PageBatch,
        questions: QuestionBatch,
    ) -> PixelAnswer:
        """Decode maps and a box for each question.

        Page and words are normalised first. Both are residual streams with norms up to 120, where an encoded position
        has norm 7, so a click would be lost. It would be lost in the word head's prompt tokens too, which are therefore
        not used.

        Args:
            features: image features; `coarse` is fused with words.
            places: encoded positions of the coarse cells, [K, D].
            word_states: word states after the word head, [B, N, D].
            prompt_tokens: from the prompt encoder, [B, T, D].
            prompt_valid: which tokens are not padding, bool [B, T].
            dense: dense part of the prompt, [B, D, ...].
            pages: the G pages.
            questions: the B questions.

        Returns:
            Maps, box and their predicted IoU.
        """
        height, width = features.coarse.shape[-2:]
        per_page = len(prompt_tokens) // len(features.coarse)
        step = 1 / max(
            height, width
        )  # side of a cell; the long side needs no padding, being scaled to a multiple of the stride
        cover = word_cover(pages, height, width, step)  # [G, K, N]
        words = self.spread(self.norm_words(word_states)).unflatten(0, (len(cover), per_page))
        spread = torch.einsum("gkn,gqnd->gqkd", cover, words).flatten(0, 1)
        image = self.norm_image(features.coarse).repeat_interleave(per_page, 0) + dense
        image = image.flatten(2).transpose(1, 2) + spread
        image = image + self.beside(beside_runs(questions.runs, pages.line_height, height, width, step))
        own = torch.cat([self.iou_token, self.mask_tokens, self.answered_token, self.box_token])
        tokens = torch.cat([own.expand(len(image), -1, -1), prompt_tokens], 1)
        token_places = tokens
        valid = torch.cat([prompt_valid.new_ones(len(tokens), len(own)), prompt_valid], 1)
        token_mask = additive_mask(valid)
        for layer in self.layers:
            tokens, image = layer(tokens, image, token_places, places, token_mask)
        tokens = self.norm(tokens + self.last(tokens + token_places, image + places, image))
        eighth, fine = self._upscale(image.transpose(1, 2).unflatten(-1, (height, width)), features, per_page)
        weights = torch.stack([layer(tokens[:, 1 + i]) for i, layer in enumerate(self.to_weights)], 1)
        box_token = tokens[:, 2 + MASKS]
        place = torch.einsum("bc,bchw->bhw", self.to_place(box_token), fine)
        edges = self._edges(box_token, eighth, fine)
        box = box_at_peak(place, edges)
        return PixelAnswer(
            logits=torch.einsum("bmc,bchw->bmhw", weights, fine),
            iou=self.iou(tokens[:, 0]).sigmoid(),
            answered=self.answered(tokens[:, 1 + MASKS])[..., 0],
            place=place,
            edges=edges,
            box=box,
            box_iou=self.box_iou(box_token)[..., 0].sigmoid(),
            box_fits=fits(box, questions, max(place.shape[-2:])),
        )

    def _edges(self, token: Tensor, eighth: Tensor, fine: Tensor) -> Tensor:
        """Predict edges [B, 4, h, w] from [B, D], [B, C, h / 2, w / 2] and [B, C / 2, h, w].

        An edge may be far from the cell that predicts it. The cell's surroundings are therefore complemented by a map
        of half the resolution that covers 14 of these cells.
        """
        weights = self.to_edges(token).unflatten(-1, (4, -1))
        around = nn.functional.gelu(self.around(fine))
        near = torch.einsum("bec,bchw->behw", weights[..., :-1], around) + weights[..., -1:, None]
        far = torch.einsum("bec,bchw->behw", self.to_far_edges(token).unflatten(-1, (4, -1)), self.afar(eighth))
        return edges_from(near + nn.functional.interpolate(far, scale_factor=2, mode="bilinear"))

    def _upscale(self, image: Tensor, features: ImageFeatures, per_page: int) -> tuple[Tensor, Tensor]:
        """Upscale the page to [B, C, h / 2, w / 2] and [B, C / 2, h, w]."""
        x = self.up8(image).unflatten(0, (-1, per_page)) + features.skip8[:, None]
        eighth = nn.functional.gelu(self.norm8(x.flatten(0, 1)))
        x = self.up4(eighth).unflatten(0, (-1, per_page)) + features.skip4[:, None]
        return eighth, nn.functional.gelu(x.flatten(0, 1))


def word_cover(pages: PageBatch, height: int, width: int, step: float) -> Tensor:
    """Compute the share of each cell that each word covers.

    Args:
        pages: G pages of N words.
        height: rows of the map.
        width: columns of the map.
        step: side of a cell; 1 is the page's long side.

    Returns:
        [G, height * width, N].
    """
    boxes, valid = pages.unit_boxes / step, pages.valid.float()
    x = torch.arange(width, device=boxes.device)[None, :, None]
    y = torch.arange(height, device=boxes.device)[None, :, None]
    across = (torch.minimum(boxes[:, None, :, 2], x + 1) - torch.maximum(boxes[:, None, :, 0], x)).clamp_min(0)
    down = (torch.minimum(boxes[:, None, :, 3], y + 1) - torch.maximum(boxes[:, None, :, 1], y)).clamp_min(0)
    return torch.einsum("gyn,gxn,gn->gyxn", down, across, valid).flatten(1, 2)


def beside_runs(runs: Tensor, line_height: Tensor, height: int, width: int, step: float) -> Tensor:
    """Describe each cell's position relative to the runs that look like the key.

    Args:
        runs: box in line heights and cover of each run, [B, RUNS, 5].
        line_height: line height of each page; 1 is the page's long side, [G].
        height: rows of the map.
        width: columns of the map.
        step: side of a cell; 1 is the page's long side.

    Returns:
        [B, height * width, RUNS * 6], zeros for runs that match nothing.
    """
    per_page = len(runs) // len(line_height)
    scale = step / line_height.repeat_interleave(per_page, 0)[:, None, None]  # cells -> line heights
    y = (torch.arange(height, device=runs.device) + 0.5).repeat_interleave(width)[None, :, None] * scale
    x = (torch.arange(width, device=runs.device) + 0.5).repeat(height)[None, :, None] * scale
    x0, y0, x1, y1, cover = runs[:, None].unbind(-1)  # [B, 1, RUNS]
    known = (cover > 0).float()
    numbers = [
        soft_log(x - x1),
        soft_log(x - x0),
        soft_log(y - (y0 + y1) / 2),
        torch.exp(-((y - (y0 + y1) / 2) ** 2)),
        ((x > x0) & (x < x1) & (y > y0) & (y < y1)).float(),
        cover.expand_as(x - x1),
    ]
    return (torch.stack(numbers, -1) * known[..., None]).flatten(2)


def select_mask(answer: PixelAnswer) -> Tensor:
    """Return the mask shown to the user: the first map, or the box where its predicted IoU is higher.

    The result is bool [B, h / 4, w / 4].
    """
    first_map = answer.logits[:, 0] > 0
    height, width = first_map.shape[-2:]
    y = (torch.arange(height, device=first_map.device) + 0.5)[:, None]
    x = (torch.arange(width, device=first_map.device) + 0.5)[None]
    x0, y0, x1, y1 = (edge[:, None, None] for edge in answer.box.unbind(-1))
    boxed = (x > x0) & (x < x1) & (y > y0) & (y < y1)
    better = answer.box_fits & (answer.box_iou > answer.iou[:, 0])
    return torch.where(better[:, None, None], boxed, first_map)


def fits(box: Tensor, questions: QuestionBatch, cells: int) -> Tensor:
    """Return whether the points of each question allow a box.

    Args:
        box: [B, 4], in cells.
        questions: points of the B questions.
        cells: number of cells on the page's long side.

    Returns:
        Bool [B]: the box contains every positive point and no negative one.
    """
    x, y = (questions.points * cells).unbind(-1)  # [B, P]
    x0, y0, x1, y1 = (edge[:, None] for edge in box.unbind(-1))
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    wrong = (inside & (questions.point_kinds == NEGATIVE)) | (~inside & (questions.point_kinds == POSITIVE))
    return ~wrong.any(1)

"""Turn pages and prompts into the tensors that the network reads; NumPy until the last step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from model.anchors import ANCHORS, RUNS, Anchors, find_anchors
from model.drawn_prompts import MASK_STRIDE, drawn_prompt, shows_a_place
from model.encoders.clip_tower import clip_ids
from model.examples import Prompt, Word
from model.kinds import Kind
from model.layout import Floats, Layout, read_layout
from model.presets import ImageConfig, NetworkConfig
from model.prompts import CLICKS, click_features
from model.ranking.keys import Key, find_keys
from model.vocabulary import SHAPES, Vocabulary, shape_of, weight_of, words_of

IMAGE_MULTIPLE = 32  # coarsest stride of the image encoder

# kinds of points in QuestionBatch.point_kinds
NO_POINT, NEGATIVE, POSITIVE, CORNER_FIRST, CORNER_SECOND = range(5)


@dataclass(frozen=True, slots=True)
class Bags:
    """Ids of many words laid end to end.

    Word i owns ids[offsets[i]:offsets[i + 1]]; padding owns none.
    """

    ids: Tensor
    offsets: Tensor


@dataclass(frozen=True, slots=True)
class PreparedPage:
    """One page read once: its layout, ids, word shapes and, where it has an image, the scaled pixels."""

    layout: Layout
    keys: tuple[Key, ...]  # printed keys with the values beside them, for the ranker
    size: tuple[int, int]  # width, height in pixels of the rendered page
    grams: list[np.ndarray]
    pieces: list[np.ndarray]
    shapes: Floats  # [N, SHAPES]
    positions: Floats  # [N, 6]
    image: Tensor | None  # [3, h, w], white margins at the right and at the bottom
    white: Tensor  # [3], a white pixel of `image`, normalised


@dataclass(frozen=True, slots=True)
class PageBatch:
    """G pages padded to N words."""

    grams: Bags  # G * N words
    pieces: Bags
    shapes: Tensor  # [G, N, SHAPES]
    positions: Tensor  # [G, N, 6]
    boxes: Tensor  # [G, N, 4] in line heights
    unit_boxes: Tensor  # [G, N, 4], 1 = the page's long side
    place: Tensor  # [G, N, 3] segment, line, rank
    valid: Tensor  # [G, N] bool
    line_height: Tensor  # [G], 1 = the page's long side
    image: Tensor | None  # [G, 3, h, w]


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """Q questions for each of G pages, B = G * Q, padded to M words and P points."""

    grams: Bags  # B * M words
    pieces: Bags
    weights: Tensor  # [B, M] weight of each word when keys are matched
    valid: Tensor  # [B, M] bool
    anchors: Tensor  # [B, N, ANCHORS]
    clicks: Tensor  # [B, N, CLICKS]
    runs: Tensor  # [B, RUNS, 5]
    points: Tensor  # [B, P, 2], 1 = the page's long side
    point_kinds: Tensor  # [B, P]
    drawn: Tensor | None  # [B, DRAWN, h / 4, w / 4], None if no question of the batch has a point, box or mask
    has_drawn: Tensor  # [B] bool
    tokens: Sequence[Sequence[str]] = ()  # of the B questions, for the ranker
    kinds: Sequence[Kind | None] = ()  # that the B questions want by the types of fields, for the ranker
    clip_ids: Tensor | None = None  # [B, L] of a public prompt tower, where the network has one
    clip_valid: Tensor | None = None  # [B, L] bool


def prepare_page(
    words: Sequence[Word],
    size: tuple[int, int],
    image: Image.Image | None,
    vocabulary: Vocabulary,
    config: NetworkConfig,
) -> PreparedPage:
    """Read a page once.

    Args:
        words: words in reading order, boxes in pixels.
        size: width and height of the page in pixels.
        image: the rendered page, or None.
        vocabulary: ids of words.
        config: sizes of the network.

    Returns:
        The prepared page, on the CPU.
    """
    layout = read_layout(words)
    texts, (width, height) = list(layout.texts), size
    boxes = layout.boxes
    positions = np.stack(
        [
            boxes[:, 0] * layout.height / width,
            boxes[:, 2] * layout.height / width,
            boxes[:, 1] * layout.height / height,
            boxes[:, 3] * layout.height / height,
            (boxes[:, 3] - boxes[:, 1]) / 2,
            np.log1p(np.maximum(boxes[:, 2] - boxes[:, 0], 0)) / 2,
        ],
        1,
    )
    return PreparedPage(
        layout=layout,
        keys=tuple(find_keys(layout)) if config.ranker_width is not None else (),
        size=size,
        grams=vocabulary.grams(texts),
        pieces=vocabulary.pieces(texts),
        shapes=np.array([shape_of(text) for text in texts], np.float32).reshape(-1, SHAPES),
        positions=positions.clip(-0.2, 2.5).astype(np.float32),
        image=None if image is None else scale_image(image, config.image),
        white=_normalise(np.full((1, 1, 3), 255, np.uint8), config.image).flatten(),
    )


def scale_image(image: Image.Image, config: ImageConfig) -> Tensor:
    """Scale, normalise and pad a page image.

    Args:
        image: the rendered page.
        config: long side in pixels, mean and standard deviation, padding.

    Returns:
        [3, h, w]; white padding at the right and bottom up to a multiple of `IMAGE_MULTIPLE`, or to a square.
    """
    scale = config.long_side / max(image.size)
    width, height = (max(1, round(side * scale)) for side in image.size)
    pixels = np.asarray(image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0))
    sides = (config.long_side,) * 2 if config.square else (_rounded_up(height), _rounded_up(width))
    canvas = np.full((*sides, 3), 255, np.uint8)
    canvas[:height, :width] = pixels
    return _normalise(canvas, config)


def _normalise(pixels: np.ndarray, config: ImageConfig) -> Tensor:
    """Normalise pixels: uint8 [h, w, 3] -> float [3, h, w]."""
    mean, std = np.array(config.mean, np.float32), np.array(config.std, np.float32)
    return torch.from_numpy(((pixels / np.float32(255) - mean) / std).transpose(2, 0, 1).copy())


def batch_pages(pages: Sequence[PreparedPage]) -> PageBatch:
    """Batch prepared pages; images are kept only if every page has one.

    Args:
        pages: G prepared pages.

    Returns:
        The batch, padded to the longest page.
    """
    most = max(1, *(len(page.layout.texts) for page in pages))
    scales = [page.layout.height / max(page.size) for page in pages]
    places = [
        np.stack([page.layout.segment, page.layout.line, page.layout.rank], 1).astype(np.float32) for page in pages
    ]
    images = [page.image for page in pages if page.image is not None]
    return PageBatch(
        grams=_bags([page.grams for page in pages], most),
        pieces=_bags([page.pieces for page in pages], most),
        shapes=_pad([page.shapes for page in pages], most, SHAPES),
        positions=_pad([page.positions for page in pages], most, 6),
        boxes=_pad([page.layout.boxes for page in pages], most, 4),
        unit_boxes=_pad(
            [page.layout.boxes * np.float32(scale) for page, scale in zip(pages, scales, strict=True)], most, 4
        ),
        place=_pad(places, most, 3, fill=-99.0),
        valid=torch.arange(most)[None] < torch.tensor([len(page.layout.texts) for page in pages])[:, None],
        line_height=torch.tensor(scales, dtype=torch.float32),
        image=_stack_images(images, pages[0].white) if len(images) == len(pages) else None,
    )


def batch_questions(
    pages: Sequence[PreparedPage],
    prompts: Sequence[Sequence[Prompt]],
    vocabulary: Vocabulary,
    config: NetworkConfig,
    without_anchors: Sequence[Sequence[bool]] | None = None,
    anchors: Sequence[Anchors] | None = None,
) -> QuestionBatch:
    """Batch prompts, equally many for each page.

    Args:
        pages: G prepared pages.
        prompts: Q prompts for each page.
        vocabulary: ids of words.
        config: sizes of the network.
        without_anchors: for each prompt, whether its anchors are hidden (training).
        anchors: those of the B prompts where they are known; found otherwise.

    Returns:
        The batch of B = G * Q questions, padded to the longest.
    """
    most_words = max(1, *(len(page.layout.texts) for page in pages))
    asked = [(page, prompt) for page, group in zip(pages, prompts, strict=True) for prompt in group]
    blank = [flag for group in without_anchors for flag in group] if without_anchors else [False] * len(asked)
    tokens = [words_of(prompt.text, config.prompt.context) for _, prompt in asked]
    most = max(len(group) for group in tokens)
    anchors = anchors or [
        find_anchors(page.layout, [] if drop else group)
        for (page, _), group, drop in zip(asked, tokens, blank, strict=True)
    ]
    sparse = [_points(page, prompt) for page, prompt in asked]
    most_points = max(len(kinds) for _, kinds in sparse)
    points = torch.zeros(len(asked), most_points, 2)
    kinds = torch.full((len(asked), most_points), NO_POINT)
    for row, (places, row_kinds) in enumerate(sparse):
        points[row, : len(row_kinds)] = torch.tensor(places).reshape(-1, 2)
        kinds[row, : len(row_kinds)] = torch.tensor(row_kinds, dtype=torch.long)
    has_drawn = torch.tensor([shows_a_place(prompt) for _, prompt in asked])
    ids = valid = None
    if config.prompt.tower is not None:
        # A shortened question reaches the tower shortened, because the tower's own limit would drop its end.
        texts = [
            " ".join(group) if len(group) == config.prompt.context else prompt.text
            for (_, prompt), group in zip(asked, tokens, strict=True)
        ]
        ids, valid = clip_ids(config.prompt.tower, texts)
    return QuestionBatch(
        grams=_bags([vocabulary.grams(group) for group in tokens], most),
        pieces=_bags([vocabulary.pieces(group) for group in tokens], most),
        weights=_pad([np.array([[weight_of(t)] for t in group], np.float32) for group in tokens], most, 1)[..., 0],
        valid=torch.arange(most)[None] < torch.tensor([len(group) for group in tokens])[:, None],
        anchors=_pad([question_anchors.features for question_anchors in anchors], most_words, ANCHORS),
        clicks=_pad([click_features(page.layout, prompt) for page, prompt in asked], most_words, CLICKS),
        runs=_pad([question_anchors.runs for question_anchors in anchors], RUNS, 5),
        points=points,
        point_kinds=kinds,
        drawn=_draw_prompts(asked, config.image.long_side) if has_drawn.any() else None,
        has_drawn=has_drawn,
        tokens=tokens,
        kinds=[prompt.kind for _, prompt in asked],
        clip_ids=ids,
        clip_valid=valid,
    )


def _draw_prompts(asked: Sequence[tuple[PreparedPage, Prompt]], long_side: int) -> Tensor | None:
    sizes = [page.image.shape[1:] for page, _ in asked if page.image is not None]
    if len(sizes) < len(asked):
        return None
    grid = (max(size[0] for size in sizes) // MASK_STRIDE, max(size[1] for size in sizes) // MASK_STRIDE)
    return torch.stack([drawn_prompt(prompt, page.size, grid, long_side) for page, prompt in asked])


def _points(page: PreparedPage, prompt: Prompt) -> tuple[list[tuple[float, float]], list[int]]:
    long_side = max(page.size)
    places = [(x / long_side, y / long_side) for x, y, _ in prompt.points]
    kinds = [POSITIVE if positive else NEGATIVE for _, _, positive in prompt.points]
    if prompt.box is not None:
        x0, y0, x1, y1 = (value / long_side for value in prompt.box)
        places += [(x0, y0), (x1, y1)]
        kinds += [CORNER_FIRST, CORNER_SECOND]
    return places, kinds


def _bags(groups: Sequence[Sequence[np.ndarray]], most: int) -> Bags:
    lengths = np.zeros(len(groups) * most, np.int64)
    for number, group in enumerate(groups):
        lengths[number * most : number * most + len(group)] = [len(ids) for ids in group]
    ids = [ids for group in groups for ids in group]
    flat = np.concatenate(ids) if ids else np.zeros(0, np.int64)
    return Bags(torch.from_numpy(flat), torch.from_numpy(np.cumsum(lengths) - lengths))


def _pad(rows: Sequence[np.ndarray], most: int, width: int, fill: float = 0.0) -> Tensor:
    rows_padded = torch.full((len(rows), most, width), fill)
    for number, row in enumerate(rows):
        rows_padded[number, : len(row)] = torch.from_numpy(np.ascontiguousarray(row))
    return rows_padded


def _stack_images(images: Sequence[Tensor], white: Tensor) -> Tensor:
    height, width = max(image.shape[1] for image in images), max(image.shape[2] for image in images)
    stacked = white[:, None, None].repeat(len(images), 1, height, width)
    for number, image in enumerate(images):
        stacked[number, :, : image.shape[1], : image.shape[2]] = image
    return stacked


def _rounded_up(side: int) -> int:
    return -(-side // IMAGE_MULTIPLE) * IMAGE_MULTIPLE


def some_questions(questions: QuestionBatch, rows: Sequence[int]) -> QuestionBatch:
    """Return some questions of one page for the pixel path, which does not read their words."""
    at = torch.tensor(rows, dtype=torch.long, device=questions.anchors.device)
    return replace(
        questions,
        weights=questions.weights[at],
        valid=questions.valid[at],
        anchors=questions.anchors[at],
        clicks=questions.clicks[at],
        runs=questions.runs[at],
        points=questions.points[at],
        point_kinds=questions.point_kinds[at],
        drawn=None if questions.drawn is None else questions.drawn[at],
        has_drawn=questions.has_drawn[at],
        tokens=[questions.tokens[row] for row in rows] if questions.tokens else (),
        kinds=[questions.kinds[row] for row in rows] if questions.kinds else (),
    )

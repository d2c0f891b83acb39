"""Train the choice of regions: which of the proposals is asked for, and whether words answer instead."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import cv2
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from model.answers import choose_words
from model.devices import to_device
from model.examples import Example, Point, Prompt, Question, Source
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, QuestionBatch, batch_pages, batch_questions, prepare_page
from model.layout import Floats
from model.masks import Mask
from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective
from model.objectives.region_masks import only
from model.ranking.choose import SEEDS, list_of, rank
from model.ranking.ranker import ranking_loss
from model.regions.choose import candidates
from model.regions.clicks import move_edges
from model.regions.features import EDGES, FEATURES, MAP, PIXELS
from model.regions.ink import read_ink
from model.regions.page import PageRegions, find_regions
from model.regions.proposals import BOX, overlaps
from model.regions.ranker import RegionRanker, question_vectors
from model.regions.sums import BoxSums
from model.vocabulary import Vocabulary

_PAGES = 4  # a step, while lists are made
_LISTS, _SHARES = 40, (0.65, 0.15, 0.2)  # a step later; shares of regions that are there, absent regions, and words
_CLICKS = (0.6, 0.22, 0.1, 0.08)  # shares of questions with 0, 1, 2, 3 clicks
_POSITIVE = 0.75  # share of the clicks that lie on the answer
_PARTLY = 0.6  # share of the clicked questions whose clicks correct a region that is partly right
_PART = (0.15, 0.85)  # its IoU
_MIDDLE = 0.7  # share of those in its middle
_WORDS_WEIGHT = 4.0
_DOUBTED = 0.5  # share of the lists that lack what the network drew, or its opinion, or are shifted
_SHIFT = 0.2  # standard deviations
_OWN_FRAME = (0.25, 0.7)  # IoU of a box to tick with the frame around it, where the frame is what is meant
_SMALL = 3.0  # line heights


@dataclass(frozen=True, slots=True)
class _RankedQuestion:
    """One question with its candidates."""

    features: np.ndarray  # [P, FEATURES] float16
    ious: Floats  # [P] IoU with the answer
    vector: Tensor  # of the question
    by_words: float
    best_words: float
    region: bool  # asks for a region, there or not
    decides: bool  # has words to choose from


class RegionRanking(NetworkObjective):
    """Cross-entropy of the predicted IoU of all regions; only `network.region_ranker` has a gradient.

    The lists come from the network as it is. Each of the first `steps` steps makes those of its pages; later steps draw
    from all of them. Real pages look unlike generated ones, and there the network's own maps are worth less. Therefore
    some lists lack them.
    """

    def __init__(self, network: GroundingNetwork, source: Source, steps: int) -> None:
        super().__init__(network)
        self._source, self._steps = source, steps
        self._vocabulary = Vocabulary(network.config.text.buckets)
        self._kept: dict[int, list[_RankedQuestion]] = {}
        self._groups: tuple[list[_RankedQuestion], ...] = ()  # all of them by what is asked for; made once

    @property
    def ranker(self) -> RegionRanker:
        """The ranker that learns. Raises ValueError for a network without one."""
        if self.network.region_ranker is None:
            raise ValueError("This network does not rank regions: choose a preset that does.")
        return self.network.region_ranker

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Rank the regions for the questions of a step; see `Objective.loss`. ValueError without images."""
        asked = self._make_lists(step) if step < self._steps else self._draw_lists(rng)
        with only(self.network, list(self.ranker.parameters())):
            features, ious, valid = _pad_lists(asked, rng)
            features, ious, valid = (part.to(self.device) for part in (features, ious, valid))
            vectors = torch.stack([question.vector for question in asked]).to(self.device)
            logits = self.ranker(features, valid, vectors)
            ranked = ranking_loss(logits, ious, valid)
            routed = self._routing(asked, vectors, logits.detach().masked_fill(~valid, -1e4).amax(1).sigmoid())
            loss = ranked + routed
        with torch.no_grad():
            present = ious.amax(1) > 0
            best = ious.gather(1, logits.masked_fill(~valid, -1e4).argmax(1, keepdim=True))[:, 0]
            chosen = best[present].mean() if bool(present.any()) else best.mean()
            parts = {"loss": loss.detach(), "routing": routed.detach(), "chosen_iou": chosen}
        return loss, parts

    def _make_lists(self, turn: int) -> list[_RankedQuestion]:
        """Return the lists of some pages, made at first use."""
        if turn not in self._kept:
            chance = random.Random(f"{turn} regions")
            self._kept[turn] = [
                question
                for page in range(turn * _PAGES, (turn + 1) * _PAGES)
                for example in self._source(page)
                for question in self._ask_example(example, chance)
            ]
        return self._kept[turn]

    def _draw_lists(self, rng: random.Random) -> list[_RankedQuestion]:
        """Return lists drawn from all pages: regions that are there, regions that are absent, and words."""
        if not self._groups:
            every = [question for turn in range(self._steps) for question in self._make_lists(turn)]
            self._groups = (
                [question for question in every if question.region and question.ious.any()],
                [question for question in every if question.region and not question.ious.any()],
                [question for question in every if not question.region],
            )
        counts = [round(share * _LISTS) for share in _SHARES]
        return [
            rng.choice(group) for group, count in zip(self._groups, counts, strict=True) if group for _ in range(count)
        ]

    def _routing(self, asked: Sequence[_RankedQuestion], vectors: Tensor, best: Tensor) -> Tensor:
        """Return the cross-entropy of "a region is asked for", before and after the look at the picture."""
        rows = [at for at, question in enumerate(asked) if question.decides]
        if not rows:
            return vectors.new_zeros(())
        region = torch.tensor([float(asked[at].region) for at in rows], device=self.device)
        by_words = torch.tensor([asked[at].by_words for at in rows], device=self.device)
        words = torch.tensor([asked[at].best_words for at in rows], device=self.device)
        # Words are asked for most, so a question that loses its words costs more than one that loses its region.
        weight = torch.where(region > 0, 1.0, _WORDS_WEIGHT)
        asks = self.ranker.asks_for_region(vectors[rows], by_words)
        answers = self.ranker.region_answers(asks.detach(), by_words, best[rows], words)
        present = torch.tensor([float(asked[at].region and asked[at].ious.any()) for at in rows], device=self.device)
        return F.binary_cross_entropy_with_logits(asks, region, weight) + F.binary_cross_entropy_with_logits(
            answers, region, weight * (0.2 + 0.8 * (present + 1 - region))
        )

    def _rank_answers(
        self, page: PreparedPage, answer: WordAnswer, questions: QuestionBatch, row: int
    ) -> list[tuple[list[int], float]]:
        """Return the answers by words to a question with their predicted IoU, best first."""
        ranker = self.network.ranker
        if ranker is not None and ranker.learned:
            return rank(ranker, list_of(page, answer, questions, row))
        return [(choice.words, choice.iou) for choice in choose_words(answer, row)]

    @torch.no_grad()
    def _ask_example(self, example: Example, chance: random.Random) -> list[_RankedQuestion]:
        if example.image is None:
            raise ValueError("Regions are ranked on pages with their images.")
        page = prepare_page(example.words, example.size, example.image, self._vocabulary, self.network.config)
        regions = regions_of(example.image, page)
        questions = [_add_clicks(question, example, regions, chance) for question in example.questions]
        prompts = [question.effective_prompt for question in questions]
        batch = to_device(batch_pages([page]), self.device)
        batched = to_device(batch_questions([page], [prompts], self._vocabulary, self.network.config), self.device)
        assert batch.image is not None
        with _as_used(self.network):
            state = self.network.read_words(batch)
            asked = self.network.ask_words(state, batched, SEEDS)
            pixels = self.network.ask_pixels(state, self.network.look(state, batch.image), asked, batched)
            ranked = [self._rank_answers(page, asked.words, batched, row) for row in range(len(prompts))]
        vectors = question_vectors(asked.prompts.tokens, asked.prompts.valid).cpu()
        lists = []
        for row, (question, prompt) in enumerate(zip(questions, prompts, strict=True)):
            chosen = ranked[row]
            listed = candidates(page, regions, asked.words, pixels, batched, row, prompt, chosen)
            region = not question.answers
            truth = [_meant(mask, regions, page.layout.height) for mask in question.masks] if region else []
            lists.append(
                _RankedQuestion(
                    listed.features.astype(np.float16),
                    _iou(truth, listed.boxes),
                    vectors[row],
                    float(asked.words.by_words[row]),
                    chosen[0][1] if chosen else 0.0,
                    region,
                    bool(example.words),
                )
            )
        return lists


@contextmanager
def _as_used(network: GroundingNetwork) -> Iterator[None]:
    """Let the network answer as it does when it is used: its rankers keep the statistics they have learned."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)


def regions_of(image: Image.Image, page: PreparedPage) -> PageRegions:
    """Find the regions of a page that was prepared."""
    return find_regions(read_ink(image, page.layout.height if page.layout.texts else None), page.layout, page.size)


def _add_clicks(question: Question, example: Example, regions: PageRegions, chance: random.Random) -> Question:
    """Return the question with clicks of a user: on its region or its words; none where the page lacks it."""
    count = chance.choices(range(len(_CLICKS)), _CLICKS)[0]
    if count and question.answers:
        x0, y0, x1, y1 = example.words[chance.choice(question.answers[0])].box
        return replace(question, prompt=Prompt(question.effective_prompt.text, (((x0 + x1) / 2, (y0 + y1) / 2, True),)))
    if not question.masks or not count:
        return question
    mask = chance.choice(question.masks)
    ys, xs = np.nonzero(mask)
    if not len(ys):
        return question
    points: list[Point] = []
    shown = _partly_right(mask, regions, chance) if chance.random() < _PARTLY else None
    for _ in range(count):
        if shown is not None:
            click = _correction(shown, mask)
            if click is None:
                break
            points.append(click)
            shown = move_edges(shown[None], [click], (mask.shape[1], mask.shape[0]))[0]
        elif chance.random() < _POSITIVE:
            x, y = (int(xs.min()) + int(xs.max())) // 2, (int(ys.min()) + int(ys.max())) // 2
            if chance.random() >= _MIDDLE or not mask[y, x]:
                at = chance.randrange(len(ys))
                x, y = int(xs[at]), int(ys[at])
            points.append((x + 0.5, y + 0.5, True))
        elif len(regions.proposed.boxes):
            x0, y0, x1, y1 = chance.choice(regions.proposed.boxes.tolist())
            x, y = min(int((x0 + x1) / 2), mask.shape[1] - 1), min(int((y0 + y1) / 2), mask.shape[0] - 1)
            if not mask[y, x]:
                points.append((x + 0.5, y + 0.5, False))
    return replace(question, masks=(mask,), prompt=Prompt(question.effective_prompt.text, tuple(points)))


def _partly_right(mask: Mask, regions: PageRegions, chance: random.Random) -> Floats | None:
    """Return a region that has the answer only in part, or more than it: what a person would correct by clicks."""
    shared = _iou([mask], regions.proposed.boxes)
    indices = np.flatnonzero((shared > _PART[0]) & (shared < _PART[1]))
    return regions.proposed.boxes[chance.choice(indices.tolist())] if len(indices) else None


def _correction(shown: Floats, mask: Mask) -> Point | None:
    """Return a click into the middle of the larger error of a region that is shown; None where it is right."""
    x0, y0, x1, y1 = np.rint(shown).astype(int).tolist()
    seen = np.zeros_like(mask)
    seen[max(0, y0) : y1, max(0, x0) : x1] = True
    missed, wrong = mask & ~seen, seen & ~mask
    positive = np.count_nonzero(missed) >= np.count_nonzero(wrong)
    error = missed if positive else wrong
    if not error.any():
        return None
    deep = cv2.distanceTransform(np.pad(error, 1).astype(np.uint8), cv2.DIST_L2, 3)
    y, x = np.unravel_index(int(deep.argmax()), deep.shape)
    return float(x) - 0.5, float(y) - 0.5, bool(positive)


def _meant(mask: Mask, regions: PageRegions, line_height: float) -> Mask:
    """Return the mask, or the frame around a box to tick: the field of a form is often larger than its frame."""
    ys, xs = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    frames = regions.proposed.boxes[regions.proposed.kinds == BOX]
    if not len(ys) or not len(frames):
        return mask
    box = np.array([[xs[0], ys[0], xs[-1] + 1, ys[-1] + 1]], np.float32)
    if max(box[0, 2] - box[0, 0], box[0, 3] - box[0, 1]) > _SMALL * line_height:
        return mask
    shared = overlaps(box, frames)[0]
    best = int(shared.argmax())
    if not _OWN_FRAME[0] <= shared[best] < _OWN_FRAME[1]:
        return mask
    x0, y0, x1, y1 = np.rint(frames[best]).astype(int).tolist()
    frame = np.zeros_like(mask)
    frame[y0:y1, x0:x1] = True
    return frame


def _iou(truth: Sequence[Mask], boxes: Floats) -> Floats:
    """Return the best IoU of each box with an acceptable mask, [P]; zeros without one."""
    best = np.zeros(len(boxes), np.float32)
    edges = np.rint(boxes).astype(np.float32)
    area = (edges[:, 2] - edges[:, 0]) * (edges[:, 3] - edges[:, 1])
    for mask in truth:
        sums = BoxSums(mask)
        both = sums(edges)
        best = np.maximum(best, both / np.maximum(1, area + sums.total - both))
    return best.clip(0, 1)


def _pad_lists(asked: Sequence[_RankedQuestion], rng: random.Random) -> tuple[Tensor, Tensor, Tensor]:
    most = max(1, *(len(question.ious) for question in asked))
    features, ious = torch.zeros(len(asked), most, FEATURES), torch.zeros(len(asked), most)
    valid = torch.zeros(len(asked), most, dtype=torch.bool)
    for row, question in enumerate(asked):
        own = torch.from_numpy(question.features.astype(np.float32))
        usable = torch.ones(len(own), dtype=torch.bool)
        if rng.random() < _DOUBTED:
            own[:, PIXELS] = 0
        if rng.random() < _DOUBTED:
            drawn = (own[:, MAP] > 0) | (own[:, EDGES] > 0)
            usable = ~drawn if bool((~drawn).any()) else usable
        if rng.random() < _DOUBTED and len(own) > 1:
            own = own + torch.randn(FEATURES) * own.std(0) * _SHIFT
        features[row, : len(own)], ious[row, : len(own)] = own, torch.from_numpy(question.ious)
        valid[row, : len(own)] = usable
    return features, ious, valid

"""Generated pages as batches of the nano network, drawn once: what the two tasks on documents share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import torch
from torch import Tensor, nn

from engine.grounded import GroundedQuestion
from engine.synthetic import generate
from engine.training.sources.examples import draw_questions, example_of
from model import checkpoint
from model.batches import Batch, make_batch
from model.examples import Example
from model.inference import SHIPPED
from model.network import GroundingNetwork
from model.objectives.promptable import Asking
from model.objectives.segmentation import begun_inside, loss_of, mask_iou, word_iou
from model.presets import NetworkConfig
from model.simulation import with_prompts
from model.vocabulary import Vocabulary

MOST_WORDS = 100  # of a page; cheap steps allow many of them
FEWEST_QUESTIONS = 3  # of a page, to be worth a place in a batch
PROMPTED_QUESTIONS = 0.6  # share, in a step with simulated prompts
ANCHORS_DROPPED = (
    0.15  # share of the questions whose lexical anchors are hidden, as model.objectives.promptable hides them
)


class Pages:
    """The shipped network and batches for it."""

    def __init__(self) -> None:
        loaded = checkpoint.load(SHIPPED)
        self._state: dict[str, Tensor] = {name: value.float() for name, value in loaded.state.items()}
        self._config = NetworkConfig.from_dict(loaded.config)
        self._vocabulary = Vocabulary(self._config.text.buckets)

    def network(self, seed: int, fresh: tuple[str, ...] = ()) -> GroundingNetwork:
        """The shipped network in train mode; parts whose names start with one of `fresh` are made anew from the
        seed."""
        torch.manual_seed(seed)
        network = GroundingNetwork(self._config)
        own = network.state_dict()
        network.load_state_dict(
            {name: own[name] if fresh and name.startswith(fresh) else value for name, value in self._state.items()}
        )
        return network.train()

    def batch(self, examples: Sequence[Example]) -> Batch:
        return make_batch(examples, self._vocabulary, self._config)

    def loss(self, network: nn.Module, batch: Batch, seed: int, step: int, prompted: float = 0.0) -> Tensor:
        """Training loss as in model.learning; a share `prompted` of the steps has simulated clicks, boxes and masks."""
        assert isinstance(network, GroundingNetwork)
        rng = random.Random(f"{seed}:{step}")
        torch.manual_seed(rng.getrandbits(62))
        hidden = [[rng.random() < ANCHORS_DROPPED for _ in example.questions] for example in batch.examples]
        batch = make_batch(batch.examples, self._vocabulary, self._config, batch.prepared, hidden)
        if rng.random() < prompted:
            batch = with_prompts(network, batch, self._vocabulary, rng, PROMPTED_QUESTIONS)
        targets = begun_inside(batch.targets, Asking().begun_inside)
        return loss_of(network(batch.pages, batch.questions, targets.towards), targets)[0]


def drawn(
    seed: int,
    pages: int,
    questions: int,
    *,
    images: bool = False,
    wanted: Callable[[GroundedQuestion], bool] = lambda _: True,
) -> list[Example]:
    """So many generated pages with so many of their `wanted` questions each.

    With images, up to half of the questions are about what no words make.
    """
    rng = random.Random(seed)
    kept = (
        (one, replace(one.page, questions=[question for question in one.page.questions if wanted(question)]))
        for one in generate(seed)
        if len(one.page.words) <= MOST_WORDS
    )
    usable = ((one, page) for one, page in kept if len(page.questions) >= FEWEST_QUESTIONS)
    if images:
        usable = ((one, page) for one, page in usable if any(question.masks for question in page.questions))
    return [
        example_of(page, one.render() if images else None, draw_questions(page, questions, rng, 0.5 if images else 0.0))
        for one, page in islice(usable, pages)
    ]


def paired(examples: Sequence[Example]) -> list[list[Example]]:
    """Two pages a batch, of about the same length."""
    by_length = sorted(examples, key=lambda example: len(example.words))
    return [by_length[i : i + 2] for i in range(0, len(by_length) - 1, 2)]


def visited(batches: Sequence[Batch], seed: int, visit: int) -> Batch:
    """The batch of a visit: each once before any twice, in an order that the seed gives."""
    turn, place = divmod(visit, len(batches))
    order = list(range(len(batches)))
    random.Random(f"{seed}:{turn}:order").shuffle(order)
    return batches[order[place]]


@torch.no_grad()
def mean_loss(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Mean loss over batches in eval mode; the network is in train mode afterwards."""
    network.eval()
    losses = [float(loss_of(network(batch.pages, batch.questions), batch.targets)[0]) for batch in batches]
    network.train()
    return sum(losses) / len(losses)


@torch.no_grad()
def mean_iou(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Mean IoU, by area, of the words chosen with the best acceptable answer, over questions that words answer."""
    network.eval()
    found = [
        word_iou(network(batch.pages, batch.questions).words.taken[:, 0], batch.targets)[batch.targets.by_words > 0]
        for batch in batches
    ]
    network.train()
    return float(torch.cat(found).mean())


@torch.no_grad()
def mean_pixel_iou(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Mean IoU of the first mask with the best acceptable answer, over answered questions of batches with images."""
    network.eval()
    found: list[Tensor] = []
    for batch in batches:
        pixels, masks = network(batch.pages, batch.questions).pixels, batch.targets.masks
        assert pixels is not None and masks is not None
        iou = mask_iou(pixels.logits[:, :1].expand_as(masks), masks).amax(1)
        found.append(iou[batch.targets.answered > 0])
    network.train()
    return float(torch.cat(found).mean())

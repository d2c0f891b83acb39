"""Generated pages as batches of the nano network, drawn once: what the two tasks on documents share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import islice

import torch
from torch import Tensor, nn

from engine.synthetic import generate
from engine.training.examples import draw_questions, example_of
from model import checkpoint
from model.batches import Batch, make_batch
from model.examples import Example
from model.inference import SHIPPED
from model.network import GroundingNetwork
from model.objectives.segmentation import loss_of
from model.presets import NetworkConfig
from model.simulation import with_prompts
from model.vocabulary import Vocabulary

MOST_WORDS = 100  # of a page; cheap steps allow many of them


class Pages:
    """The shipped network and batches for it."""

    def __init__(self) -> None:
        loaded = checkpoint.load(SHIPPED)
        self.state: dict[str, Tensor] = {name: value.float() for name, value in loaded.state.items()}
        self.config = NetworkConfig.from_dict(loaded.config)
        self.vocabulary = Vocabulary(self.config.text.buckets)

    def network(self, seed: int, fresh: tuple[str, ...] = ()) -> GroundingNetwork:
        """The shipped network in train mode; parts whose names start with one of `fresh` are initialised from the seed."""
        torch.manual_seed(seed)
        network = GroundingNetwork(self.config)
        network.load_state_dict(
            {name: own if name.startswith(fresh) else self.state[name] for name, own in network.state_dict().items()}
            if fresh
            else self.state
        )
        return network.train()

    def batch(self, examples: Sequence[Example]) -> Batch:
        return make_batch(examples, self.vocabulary, self.config)

    def loss(self, network: nn.Module, batch: Batch, seed: int, step: int, prompted: float = 0.0) -> Tensor:
        """Training loss; a share `prompted` of the steps has simulated clicks, boxes and masks beside the questions."""
        rng = random.Random(f"{seed}:{step}")
        torch.manual_seed(rng.getrandbits(62))
        assert isinstance(network, GroundingNetwork)
        if rng.random() < prompted:
            batch = with_prompts(network, batch, self.vocabulary, rng, 0.6)
        return loss_of(network(batch.pages, batch.questions), batch.targets)[0]


def drawn(seed: int, pages: int, questions: int, images: bool = False) -> list[Example]:
    """So many generated pages with so many questions each; with images, half of the questions are about what no words make."""
    rng = random.Random(seed)
    usable = (one for one in generate(seed) if len(one.page.questions) >= 3 and len(one.page.words) <= MOST_WORDS)
    if images:
        usable = (one for one in usable if any(question.masks for question in one.page.questions))
    return [
        example_of(
            one.page,
            one.render() if images else None,
            draw_questions(one.page, questions, rng, 0.5 if images else 0.0),
        )
        for one in islice(usable, pages)
    ]


def paired(examples: Sequence[Example]) -> list[list[Example]]:
    """Two pages a batch, of about the same length."""
    sorted_ = sorted(examples, key=lambda example: len(example.words))
    return [sorted_[i : i + 2] for i in range(0, len(sorted_) - 1, 2)]


@torch.no_grad()
def mean_loss(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Mean loss over batches in eval mode; the network is in train mode afterwards."""
    network.eval()
    losses = [float(loss_of(network(batch.pages, batch.questions), batch.targets)[0]) for batch in batches]
    network.train()
    return sum(losses) / len(losses)


@torch.no_grad()
def mean_iou(network: nn.Module, batches: Sequence[Batch]) -> float:
    """Mean IoU by area of the words whose chance is above a half with the best acceptable answer, over questions that words answer."""
    network.eval()
    found: list[Tensor] = []
    for batch in batches:
        targets = batch.targets
        chosen = (network(batch.pages, batch.questions).words.logits > 0) & targets.valid
        area = targets.word_area[:, None]
        wanted = targets.words.bool()
        both = ((chosen[:, None] & wanted) * area).sum(-1)
        either = ((chosen[:, None] | wanted) * area).sum(-1)
        found.append((both / either.clamp_min(1e-9)).amax(1)[targets.by_words > 0])
    network.train()
    return float(torch.cat(found).mean())

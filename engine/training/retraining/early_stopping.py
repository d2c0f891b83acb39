"""Early stopping: training ends when the held-out loss clearly exceeds its initial value.

A fixed share of the groups of like documents of a training is held out, so those that judge never decide when to stop.
The measure is the loss of the same plain questions at every checkpoint. The documents are few, so the loss fluctuates
from checkpoint to checkpoint even in good runs. Therefore the lowest checkpoint is not preferred, and a missing new low
does not end a run. Training ends when several checkpoints in a row exceed the initial loss by the factor LOST. A run
that ended before its first cycle did then hands in its best checkpoint; every other run hands in a finished cycle
(continuation.py). The measure is Prechelt's generalization loss ("Early Stopping - But When?", 1998, GL), relative to
the initial loss instead of the lowest.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch

from engine.grounded import GroundedPage
from engine.training.augmentation.negative_questions import with_negative_questions
from engine.training.retraining.run_files import read_figures, write_figures
from engine.training.sources.examples import page_source
from model import checkpoint
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation

FEWEST_GROUPS = 3  # of like documents: fewer give a loss of chance
LOST = 1.5  # times the initial loss: a smaller rise may be chance, or fall again with the learning rate
LOG_FILE, BEST_FILE = "watched.json", "best.safetensors"
_PLAINLY = Asking(prompted_steps=0.0, anchors_dropped=0.0, begun_inside=1.0)
_BATCHES = 6  # of pages, at most
_NEGATIVE = 0.2  # share of negative questions


def held_out_groups(groups: Iterable[str], share: float) -> set[str]:
    """Return the ids of the held-out groups of like documents: a share of them by hash.

    A document like one that is trained on would measure memory. Membership never changes: a document trained on earlier
    would be memorised by the champion, so its loss would seem to rise in every run.
    """
    return {group for group in groups if _place(group) < share}


def _place(group: str) -> float:
    """Return a uniform position of a group by hash, 0..1."""
    return int.from_bytes(hashlib.sha256(f"watched:{group}".encode()).digest()[:8], "big") / 2**64


def held_out_source(
    pages: Sequence[GroundedPage],
    *,
    at_once: int,
    questions: int,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[Source, int] | None:
    """Return the source of held-out questions and its number of steps; None without a question of weight.

    `weights`: as for examples.page_source; answers of weight 0 are not used here either.
    """
    try:
        drawn = page_source(
            pages, lambda _: None, 0, pages=at_once, questions=questions, badly=False, weights=weights, in_turn=True
        )
    except ValueError:
        return None
    source = with_negative_questions(drawn, _NEGATIVE, 0)
    return source, min(_BATCHES, -(-len(pages) // at_once))


class EarlyStopping:
    """Evaluates the network at each checkpoint in `folder`; called with the step, returns whether to stop.

    Losses and the best checkpoint are stored in `folder`, so a killed run resumes with them.
    """

    def __init__(
        self,
        network: GroundingNetwork,
        source: Source,
        batches: int,
        folder: Path,
        *,
        patience: int,
        on_loss: Callable[[int, float], None],
    ) -> None:
        self._objective = PromptableSegmentation(network, source, _PLAINLY)
        self._batches, self._folder, self._patience, self._on_loss = batches, folder, patience, on_loss
        self.seen = read_figures(folder / LOG_FILE)

    def __call__(self, step: int) -> bool:
        """Evaluate the step; return whether the last `patience` checkpoints all exceed the initial loss."""
        self.seen = {at: loss for at, loss in self.seen.items() if at < step}  # a resumed run may reach this step again
        loss = self._loss()
        taught = {at: value for at, value in self.seen.items() if at > 0}
        if step > 0 and loss < min(taught.values(), default=float("inf")):
            network = self._objective.network
            checkpoint.save(self._folder / BEST_FILE, network, network.config.to_dict())
        self.seen[step] = loss
        write_figures(self._folder / LOG_FILE, self.seen)
        self._on_loss(step, loss)
        last = sorted(at for at in self.seen if at > 0)[-self._patience :]
        return len(last) == self._patience and all(_exceeds_limit(self.seen, at) for at in last)

    @torch.no_grad()
    def _loss(self) -> float:
        network = self._objective.network
        network.eval()
        torch.manual_seed(0)
        losses = [self._objective.loss(step, random.Random(step))[0].item() for step in range(self._batches)]
        network.train()
        return sum(losses) / len(losses)


def best_file(folder: Path) -> Path:
    """Return the checkpoint that a run hands in: its last, or the best when the last exceeds the limit."""
    best = folder / BEST_FILE
    return best if has_lost(folder) and best.is_file() else folder / CHECKPOINT_FILE


def best_step(folder: Path) -> int | None:
    """Return the step of the checkpoint with the lowest loss; None before the first one."""
    taught = {step: loss for step, loss in read_figures(folder / LOG_FILE).items() if step > 0}
    return min(taught, key=lambda step: (taught[step], step)) if taught else None


def has_lost(folder: Path) -> bool:
    """Return whether the last checkpoint of a run exceeds the initial loss by the factor LOST."""
    seen = read_figures(folder / LOG_FILE)
    return bool(seen) and _exceeds_limit(seen, max(seen))


def _exceeds_limit(seen: Mapping[int, float], step: int) -> bool:
    return step > 0 and seen[step] > LOST * seen[min(seen)]

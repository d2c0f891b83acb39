"""Early stopping: some of the documents that could teach are only looked at, and a run that reads them worse than it did at its beginning ends.

They are documents of the training split, so the holdouts are never asked when to stop. What is measured is the loss of their
questions, asked plainly, the same ones each time. They are few, and between two checkpoints of a run that learns well the loss on them
goes up as easily as down (measured on five documents: .142, .213, .210, .201 on the way to the better model; .743 of unseen pages' questions
right at the lowest of them, .761 a hundred steps on, .776 at the end of the cosine). So a checkpoint is not taken for being the lowest, and a
run does not end for want of a new low. It ends when it has lost what it began with, clearly and several checkpoints in a row, and hands in the
best there was; a run whose last checkpoint has lost it does the same. Every other run hands in its last. The measure is Prechelt's generalization loss ("Early
Stopping - But When?", 1998, GL) against the beginning instead of the lowest.
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch

from engine.grounded import GroundedPage
from engine.training.augmentation.negative_questions import with_absent
from engine.training.sources.examples import page_source
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation

FEWEST_DOCUMENTS = 3  # that say anything about a run: of fewer, it is chance
LOST = 1.5  # times the loss at the beginning: what goes up by less may be chance, or come down again with the rate
LOG_FILE, BEST_FILE = "watched.json", "best.safetensors"
_PLAINLY = Asking(prompted_steps=0.0, anchors_dropped=0.0, begun_inside=1.0)
_BATCHES = 6  # of pages, at most
_ABSENT = 0.2  # share of the questions that have no answer


def watched_documents(documents: Iterable[str], share: float) -> set[str]:
    """Return the documents (ids) to look at: a share of them by their hash alone.

    So a document is watched for good, or never. If one that had taught were watched later, the champion would know it by heart, and
    every run would seem to lose it.
    """
    return {one for one in documents if _place(one) < share}


def _place(document: str) -> float:
    """Where a document stands among all that there could be, 0..1."""
    return int.from_bytes(hashlib.sha256(f"watched:{document}".encode()).digest()[:8], "big") / 2**64


def watched_source(
    pages: Sequence[GroundedPage],
    *,
    at_once: int,
    questions: int,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[Source, int] | None:
    """Return where the questions to look at come from, and how many steps it has; None when no page has a question that counts.

    `weights`: as of examples.page_source; an answer that teaches nothing says nothing of when to stop either.
    """
    try:
        drawn = page_source(pages, lambda _: None, 0, pages=at_once, questions=questions, badly=False, weights=weights)
    except ValueError:
        return None
    source = with_absent(drawn, _ABSENT, 0)
    return source, min(_BATCHES, -(-len(pages) // at_once))


class Watch:
    """Looks at the network whenever a checkpoint lies in `folder`; called with the step, returns whether the run should end.

    What it saw and the best checkpoint lie in `folder` too, so that a run that was killed goes on with what is known.
    """

    def __init__(
        self,
        network: GroundingNetwork,
        source: Source,
        batches: int,
        folder: Path,
        *,
        patience: int,
        on_look: Callable[[int, float], None],
    ) -> None:
        self._objective = PromptableSegmentation(network, source, _PLAINLY)
        self._batches, self._folder, self._patience, self._on_look = batches, folder, patience, on_look
        self.seen = _read(folder / LOG_FILE)

    def __call__(self, step: int) -> bool:
        """Look at the step, and return whether the last `patience` checkpoints had all lost what it began with."""
        self.seen = {
            at: loss for at, loss in self.seen.items() if at < step
        }  # a resumed run may come here a second time
        loss = self._loss()
        taught = {at: value for at, value in self.seen.items() if at > 0}
        if step > 0 and loss < min(taught.values(), default=float("inf")):
            _copy(self._folder / CHECKPOINT_FILE, self._folder / BEST_FILE)
        self.seen[step] = loss
        _write(self._folder / LOG_FILE, self.seen)
        self._on_look(step, loss)
        last = sorted(at for at in self.seen if at > 0)[-self._patience :]
        return len(last) == self._patience and all(_lost(self.seen, at) for at in last)

    @torch.no_grad()
    def _loss(self) -> float:
        network = self._objective.network
        network.eval()
        torch.manual_seed(0)
        losses = [self._objective.loss(step, random.Random(step))[0].item() for step in range(self._batches)]
        network.train()
        return sum(losses) / len(losses)


def best_file(folder: Path) -> Path:
    """Return the checkpoint that a run hands in: its last; the best that was looked at where the last lost what it began with."""
    seen, best = _read(folder / LOG_FILE), folder / BEST_FILE
    return best if seen and best.is_file() and _lost(seen, max(seen)) else folder / CHECKPOINT_FILE


def _lost(seen: Mapping[int, float], step: int) -> bool:
    return step > 0 and seen[step] > LOST * seen[min(seen)]


def _read(path: Path) -> dict[int, float]:
    try:
        return {int(step): float(loss) for step, loss in json.loads(path.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}


def _write(path: Path, seen: dict[int, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(seen), "utf-8")
    temporary.replace(path)


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    shutil.copyfile(source, temporary)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)

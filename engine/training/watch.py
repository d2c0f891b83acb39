"""Early stopping: some of the documents that could teach are only looked at, and the checkpoint that reads them best is handed in.

They are documents of the training split, so the holdouts are never asked when to stop. What is measured is the loss of their
questions, asked plainly, the same ones each time: over few documents it is steadier than a share of right answers. A run ends
when the last few checkpoints brought nothing (Prechelt, "Early Stopping - But When?", 1998, the criterion UP).
"""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from engine.interchange.grounded import GroundedPage
from engine.training.absent import with_absent
from engine.training.examples import page_source
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation

FEWEST_DOCUMENTS = 16  # that a share of them may be kept from teaching
LOG_FILE, BEST_FILE = "watched.json", "best.safetensors"
_PLAINLY = Asking(prompted_steps=0.0, anchors_dropped=0.0, begun_inside=1.0)
_BATCHES = 6  # of pages, at most
_ABSENT = 0.2  # share of the questions that have no answer


def watched_documents(documents: Sequence[str], share: float) -> set[str]:
    """Return the documents (ids) to look at: those of the smallest hashes, so that a document stays what it was as long as
    about as many are there; none where there are fewer than sixteen.
    """
    distinct = sorted(set(documents), key=lambda one: hashlib.sha256(f"watched:{one}".encode()).digest())
    if len(distinct) < FEWEST_DOCUMENTS:
        return set()
    return set(distinct[: round(share * len(distinct))])


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
    """Looks at the network whenever a checkpoint lies in `folder`; called with the step, returns whether the run may end.

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
        """Look at the step, unless that was done, and return whether `patience` checkpoints in a row were no better."""
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
        return self._idle() >= self._patience

    def _idle(self) -> int:
        taught = [self.seen[at] for at in sorted(self.seen) if at > 0]
        return len(taught) - 1 - taught.index(min(taught)) if taught else 0

    @torch.no_grad()
    def _loss(self) -> float:
        network = self._objective.network
        network.eval()
        torch.manual_seed(0)
        losses = [self._objective.loss(step, random.Random(step))[0].item() for step in range(self._batches)]
        network.train()
        return sum(losses) / len(losses)


def best_file(folder: Path) -> Path:
    """Return the checkpoint that a run hands in: the best that was looked at, else the last."""
    best = folder / BEST_FILE
    return best if best.is_file() else folder / CHECKPOINT_FILE


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

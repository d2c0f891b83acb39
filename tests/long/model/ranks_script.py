"""Runs of `model.learning.learn` in several processes on gloo.

`ranks_script.py compare FOLDER` runs equal samples in one and in two processes and saves where each ended.
`torchrun ranks_script.py killed FOLDER` kills its second process in the third step.
"""

import os
import random
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from model.distributed import RankLost, Ranks, join_ranks
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.objective import Objective
from model.objectives.promptable import Asking, PromptableSegmentation
from model.optim import NaturalGradient, parameter_groups
from model.presets import ImageConfig, NetworkConfig, TextConfig
from tests.support.drawn_pages import example

CONFIG = NetworkConfig(
    name="test", width=32, heads=2, image=ImageConfig(long_side=128, embed_dim=16), text=TextConfig(buckets=512)
)
PLAN = Plan(steps=6, seed=5, warmup=2, checkpoint_every=100, metrics_every=2)


class Alternating(Objective):
    """Each step trains one of two layers, so ranks have gradients for different ones; a third never gets any."""

    def __init__(self, killed_at: int | None = None) -> None:
        torch.manual_seed(3)
        self.layers = [nn.Linear(6, 4) for _ in range(3)]
        self.learned = nn.ModuleList(self.layers)
        self.killed_at = killed_at

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Fit random targets with a random layer."""
        if step == self.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        which = rng.randrange(2)
        loss = (self.layers[which](torch.randn(8, 6)) - torch.randn(8, 4)).square().mean()
        return loss, {"loss": loss.detach(), f"layer {which}": loss.detach()}

    def save(self, folder: Path) -> str:
        """Save nothing."""
        return "none"


def pages(step: int):
    """Return a page with three questions; some steps have its image."""
    rng = random.Random(step)
    page = example(image=rng.random() < 0.5)
    return [replace(page, questions=[rng.choice(page.questions) for _ in range(3)])]


def segmentation(ranks: Ranks) -> Objective:
    """Return the real objective on a small network; each rank draws other initial weights."""
    torch.manual_seed(7 + ranks.rank)
    network = GroundingNetwork(CONFIG)
    nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    return PromptableSegmentation(network, pages, Asking(prompted_steps=0.5))


OBJECTIVES = {"alternating": lambda ranks: Alternating(), "segmentation": segmentation}


def work(ranks: Ranks, folder: Path, name: str, accumulate: int, stop_after: int | None = None) -> dict[str, object]:
    """Run, or resume, and return the weights, the metrics and the outcome."""
    torch.set_num_threads(1)
    objective = OBJECTIVES[name](ranks)
    lines: list[Mapping[str, float]] = []
    shares: list[float] = []
    optimizer = NaturalGradient.from_mode(parameter_groups(objective.learned, weight_decay=0.02), "blocks", lr=1e-3)
    outcome = learn(
        objective,
        optimizer,
        replace(PLAN, accumulate=accumulate),
        folder=folder,
        resume=True,
        on_metrics=lambda line: lines.append(dict(line)),
        on_progress=shares.append,
        # Only the first process has any progress, so it decides for both.
        cancelled=lambda: stop_after is not None and len(shares) + 1 == stop_after,
        ranks=ranks,
    )
    return {
        "weights": {key: value.clone() for key, value in objective.learned.state_dict().items()},
        "metrics": lines,
        "step": outcome.step,
        "cancelled": outcome.cancelled,
        "version": outcome.version,
    }


def run(world: int, end: Path, *arguments: object) -> None:
    """Fork one process a rank, as torchrun starts them, and keep where each ended in the folder `end`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    children = []
    for rank in range(world):  # forked before any thread pool exists: one import of torch instead of one a rank
        child = os.fork()
        if child == 0:
            os.environ |= {
                "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank),
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
            }  # fmt: skip
            code = 1
            try:
                with join_ranks() as ranks:
                    end.mkdir(parents=True, exist_ok=True)
                    torch.save(work(ranks, *arguments), end / f"{rank}.pt")  # type: ignore[arg-type]
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert not any(codes), codes


def compare(folder: Path) -> None:
    """Run both objectives in one process, in two, and in two that were stopped and resumed as one."""
    for name in OBJECTIVES:
        run(1, folder / name / "one", folder / f"{name}-one", name, 2)
        run(2, folder / name / "two", folder / f"{name}-two", name, 1)
        run(2, folder / name / "part", folder / f"{name}-part", name, 1, 3)
        run(1, folder / name / "rest", folder / f"{name}-part", name, 2)


def killed(folder: Path) -> None:
    """Take part in a run whose second process kills itself in the third step; print how this one ends."""
    with join_ranks() as ranks:
        objective = Alternating(killed_at=5)  # a sample of the second rank
        try:
            learn(objective, torch.optim.AdamW(objective.learned.parameters()), PLAN, folder=folder, ranks=ranks)
        except RankLost as error:
            sys.exit(str(error))


if __name__ == "__main__":
    {"compare": compare, "killed": killed}[sys.argv[1]](Path(sys.argv[2]))

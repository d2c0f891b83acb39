"""Final loss of the optimizer's modes beside AdamW and Muon on a small character model of the standard library's source.

    python tests/benchmarks/optim_quality.py [--steps 300] [--seeds 1] [--rates 5] [--only default,orthogonal,adamw]

Every row gets the same number of learning rates at one seed, spaced by a factor of 2 around a centre, the best of which is run with
the other seeds. Only the matrices are given to the optimizer under test; embeddings, biases and norms get AdamW at one rate.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from model.optim import (
    MODES,
    Factor,
    History,
    Momentum,
    NaturalGradient,
    RangeFinder,
    Residual,
    Seeded,
    Svd,
    Tucker,
    state_bytes,
)

CONTEXT, BATCH, HELD_OUT = 12, 128, 8192


class CharacterModel(nn.Module):
    """Predicts a character from the CONTEXT before it: embeddings, three wide layers, two of them residual."""

    def __init__(self, letters: int, width: int = 256) -> None:
        super().__init__()
        self.table = nn.Embedding(letters, 20)
        self.first = nn.Linear(CONTEXT * 20, width)
        self.second, self.third = nn.Linear(width, width), nn.Linear(width, width)
        self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.head = nn.Linear(width, letters)

    def forward(self, letters: Tensor) -> Tensor:
        x = gelu(self.first(self.table(letters).flatten(1)))
        x = x + gelu(self.second(self.norm2(x)))
        x = x + gelu(self.third(self.norm3(x)))
        return self.head(x)

    def matrices(self) -> list[nn.Parameter]:
        return [self.first.weight, self.second.weight, self.third.weight]


def text() -> tuple[Tensor, Tensor, int]:
    """Training and held-out characters of the standard library, and how many different ones there are."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    letters = "".join(file.read_text(encoding="utf-8", errors="ignore") for file in files).encode("ascii", "ignore")
    codes = torch.frombuffer(bytearray(letters), dtype=torch.uint8).long()
    cut = int(0.95 * len(codes))
    return codes[:cut], codes[cut:], 128


def rows() -> dict[str, tuple[float, Callable[[list[nn.Parameter], float], torch.optim.Optimizer]]]:
    """Name -> centre of the learning rates, and how the optimizer is made."""

    def mode(name: str, **changes: object) -> Callable[[list[nn.Parameter], float], torch.optim.Optimizer]:
        return lambda params, lr: NaturalGradient.from_mode(params, replace(MODES[name], **changes), lr=lr)

    base = MODES["default"].subspace
    return {
        "adamw": (4e-3, lambda params, lr: torch.optim.AdamW(params, lr=lr, weight_decay=0.0)),
        "muon": (2e-2, lambda params, lr: torch.optim.Muon(params, lr=lr, weight_decay=0.0)),
        "sgd-momentum": (0.5, lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.9)),
        **{name: (1.2e-2, mode(name)) for name in MODES if name != "source"},
        "source": (32.0, lambda params, lr: NaturalGradient.source(params, lr=lr, damping=1.0)),
        "default, no residual": (1.2e-2, mode("default", residual=None)),
        "default, no rotation": (1.2e-2, mode("default", subspace=replace(base, rotate=False))),
        "default, no nesterov": (1.2e-2, mode("default", moments=Momentum(nesterov=False))),
        "default, svd": (1.2e-2, mode("default", subspace=Svd())),
        "default, range finder": (1.2e-2, mode("default", subspace=RangeFinder())),
        "default, tucker": (1.2e-2, mode("default", subspace=Tucker(fraction=0.5))),
        "default, refresh 50": (1.2e-2, mode("default", subspace=Seeded(refresh=50))),
        "default, refresh 20": (1.2e-2, mode("default", subspace=Seeded(refresh=20))),
        "default, rank m/16": (1.2e-2, mode("default", subspace=Seeded(fraction=0.0625))),
        "default, rank m/2": (1.2e-2, mode("default", subspace=Seeded(fraction=0.5))),
        "default, rank m/8": (1.2e-2, mode("default", subspace=Seeded(fraction=0.125))),
        "default, full rank": (1.2e-2, mode("default", subspace=Seeded(fraction=1.0))),
        "default, none": (1.2e-2, mode("default", preconditioner=None)),
        "default, beta .99": (1.2e-2, mode("default", preconditioner=Factor(beta=0.99))),
        "default, beta .8": (1.2e-2, mode("default", preconditioner=Factor(beta=0.8))),
        "default, beta 0": (1.2e-2, mode("default", preconditioner=Factor(beta=0.0, interval=1))),
        "default, residual limit 1.1": (1.2e-2, mode("default", residual=Residual(limit=1.1))),
        "history, s 10": (1.2e-2, mode("history", preconditioner=History(window=10))),
        "history, damping .1": (1.2e-2, mode("history", preconditioner=History(window=4, damping=0.1))),
    }


def run(
    make: Callable[[list[nn.Parameter], float], torch.optim.Optimizer],
    rate: float,
    seed: int,
    steps: int,
    characters: tuple[Tensor, Tensor, int],
) -> tuple[float, float, int]:
    """Held-out loss in nats, milliseconds a step of the optimizer, bytes of its state."""
    train, held_out, letters = characters
    torch.manual_seed(seed)
    network = CharacterModel(letters)
    matrices = network.matrices()
    rest = [p for p in network.parameters() if not any(p is m for m in matrices)]
    tested, other = make(matrices, rate), torch.optim.AdamW(rest, lr=4e-3, weight_decay=0.0)
    generator = torch.Generator().manual_seed(seed + 1000)
    window = torch.arange(CONTEXT + 1)
    seconds = 0.0
    for step in range(steps):
        share = min(1.0, (step + 1) / 20) * (0.1 + 0.45 * (1 + math.cos(math.pi * step / steps)))
        for optimizer, lr in ((tested, rate), (other, 4e-3)):
            for group in optimizer.param_groups:
                group["lr"] = lr * share
        pieces = train[torch.randint(len(train) - CONTEXT - 1, (BATCH,), generator=generator)[:, None] + window]
        network.zero_grad()
        cross_entropy(network(pieces[:, :CONTEXT]), pieces[:, CONTEXT]).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        start = time.process_time()
        tested.step()
        seconds += time.process_time() - start
        other.step()
    places = torch.randint(len(held_out) - CONTEXT - 1, (HELD_OUT,), generator=torch.Generator().manual_seed(1))
    pieces = held_out[places[:, None] + window]
    with torch.no_grad():
        loss = float(cross_entropy(network(pieces[:, :CONTEXT]), pieces[:, CONTEXT]))
    return loss if math.isfinite(loss) else math.inf, 1e3 * seconds / steps, state_bytes(tested)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rates", type=int, default=5)
    parser.add_argument("--only", default="", help="names of rows, separated by semicolons")
    given = parser.parse_args()
    torch.set_num_threads(1)
    characters = text()
    table = rows()
    names = given.only.split(";") if given.only else list(table)
    print(f"{'':24} {'loss':>7} {'+-95%':>6} {'best lr':>8} {'at edge':>7} {'ms/step':>8} {'KiB':>7}")
    for name in names:
        centre, make = table[name]
        rates = [centre * 2.0 ** (i - given.rates // 2) for i in range(given.rates)]
        found = [run(make, rate, 0, given.steps, characters) for rate in rates]
        best = min(range(len(rates)), key=lambda i: found[i][0])
        losses = [found[best][0]]
        losses += [run(make, rates[best], seed, given.steps, characters)[0] for seed in range(1, given.seeds)]
        spread = 1.96 * statistics.stdev(losses) / math.sqrt(len(losses)) if len(losses) > 1 else math.nan
        edge = "yes" if best in (0, len(rates) - 1) else ""
        _, milliseconds, size = found[best]
        print(
            f"{name:24} {statistics.mean(losses):7.4f} {spread:6.4f} {rates[best]:8.2g} {edge:>7} {milliseconds:8.2f} {size / 1024:7.0f}"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Bytes of optimizer state against AdamW's, counted from state_dict, over the parameter lists of nano and of a network
of base size.

    python -m tests.benchmarks.optim.state [--plots FOLDER] [--networks nano base]

State depends on a parameter's shape alone, so each distinct shape takes two steps by itself and counts as often as the
list has it (for nano the default mode is also counted over the whole network at once). "matrices" are what
`parameter_groups` sends to the subspace; the whole list has embeddings, norms and vectors with it, by AdamW inside the
same optimizer, or with the embeddings in the subspace too. Bars, default mode:
at most .16 of AdamW for the matrices, target .25 for the whole list.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytorch_optimizer
import torch
from torch import Tensor, nn

from model.optim import MODES, History, Mode, NaturalGradient, Seeded, Tucker, parameter_groups
from model.optim.basis import SeededBases
from model.optim.subspace import geometry
from tests.benchmarks import plots
from tests.benchmarks.markdown import table, verdict
from tests.benchmarks.optim.gradients import shipped_network
from tests.benchmarks.optim.lists import BASE, NETWORKS, Listed, parameters_of

MATRICES_BAR, WHOLE_BAR = 0.16, 0.25
LARGEST_TUCKER = 1 << 23  # elements of a table; a factor for every row of a larger one is state and time beyond reason

Make = Callable[[nn.Parameter], torch.optim.Optimizer]


@dataclass(frozen=True, slots=True)
class Row:
    """An optimizer. meta: its step runs on the meta device, where nothing is computed. takes: whether it has a way of
    its own with a shape; AdamW takes the rest."""

    make: Make
    meta: bool = False
    takes: Callable[[tuple[int, ...]], bool] = lambda shape: len(shape) >= 2


def adamw(parameter: nn.Parameter) -> torch.optim.Optimizer:
    return torch.optim.AdamW([parameter], foreach=True)


def of_mode(mode: Mode) -> Row:
    small = isinstance(mode.subspace, Tucker)
    return Row(
        lambda parameter: NaturalGradient.from_mode([parameter], mode),
        takes=lambda shape: len(shape) >= 2 and not (small and math.prod(shape) > LARGEST_TUCKER),
    )


def of_peer(name: str, meta: bool) -> Row:
    """GaLore and its kin at a rank of a quarter of the smaller side."""

    def make(parameter: nn.Parameter) -> torch.optim.Optimizer:
        rank = max(1, round(min(parameter.shape) / 4))
        group = {"params": [parameter], "rank": rank, "update_proj_gap": 200, "scale": 1.0, "projection_type": "std"}
        return getattr(pytorch_optimizer, name)([group])

    return Row(make, meta)


def rows() -> dict[str, Row]:
    history, seeded = MODES["history"], MODES["history"].subspace
    ours = {
        **{f"{name} (this one)" if name in ("galore", "fira") else name: mode for name, mode in MODES.items()},
        "history, s 10 float32": replace(history, preconditioner=History(window=10), subspace=seeded),
        "history, s 4 float32": replace(history, preconditioner=History(window=4), subspace=seeded),
    }
    return {
        "AdamW": Row(adamw, meta=True),
        "Muon (torch)": Row(lambda p: torch.optim.Muon([p]), meta=True, takes=lambda shape: len(shape) == 2),
        **{name: of_mode(mode) for name, mode in ours.items()},
        "GaLore": of_peer("GaLore", meta=True),
        "Fira": of_peer("Fira", meta=False),
        "APOLLO": of_peer("APOLLO", meta=False),
        "SOAP": Row(lambda p: pytorch_optimizer.SOAP([p]), meta=True),
    }


def tensor_bytes(value: object) -> int:
    """Bytes of all tensors in a state, inside of lists, dicts and objects too, where some optimizers keep theirs."""
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, dict):
        return sum(map(tensor_bytes, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(tensor_bytes, value))
    return tensor_bytes(vars(value)) if hasattr(value, "__dict__") else 0


def counted(row: Row, shape: tuple[int, ...]) -> int:
    """State of one parameter of that shape after two steps."""
    parameter = nn.Parameter(torch.zeros(shape, device="meta" if row.meta else "cpu"))
    parameter.grad = torch.randn(shape, device=parameter.device)
    optimizer = row.make(parameter)
    for _ in range(2):
        optimizer.step()
    return tensor_bytes(optimizer.state_dict()["state"])


def list_bytes(row: Row, parameters: Sequence[Listed], kinds: Sequence[str]) -> int:
    """State over a list: parameters of `kinds` by the row's optimizer, the others and what it does not take by
    AdamW."""
    other = Row(adamw, meta=True)
    total = 0
    for (shape, taken), times in Counter((p.shape, p.kind in kinds and row.takes(p.shape)) for p in parameters).items():
        total += times * counted(row if taken else other, shape)
    return total


def shares(row: Row, network: str) -> tuple[float, float, float]:
    """Of AdamW's state: the matrices; the whole list with embeddings by AdamW; the whole list with embeddings too."""
    parameters = parameters_of(network)
    matrices = [parameter for parameter in parameters if parameter.kind == "matrix"]
    reference = Row(adamw, meta=True)
    low = list_bytes(row, matrices, ["matrix"])
    beside = list_bytes(reference, [p for p in parameters if p.kind != "matrix"], [])
    rest = list_bytes(reference, [p for p in parameters if p.kind == "rest"], [])
    tables = list_bytes(row, [p for p in parameters if p.kind == "embedding"], ["embedding"])
    of_matrices = list_bytes(reference, matrices, ["matrix"])
    return low / of_matrices, (low + beside) / (of_matrices + beside), (low + rest + tables) / (of_matrices + beside)


def whole_network(mode: str) -> tuple[int, int]:
    """State of nano after one step of all its parameters in one optimizer, and of AdamW on the same."""
    network = shipped_network()
    for parameter in network.parameters():
        parameter.grad = torch.randn_like(parameter)
    found = []
    for optimizer in (
        NaturalGradient.from_mode(parameter_groups(network), mode),
        torch.optim.AdamW(network.parameters()),
    ):
        optimizer.step()
        found.append(tensor_bytes(optimizer.state_dict()["state"]))
    return found[0], found[1]


def working_copies(network: str) -> int:
    """Bytes of the bases that a seeded mode has at hand: one for each distinct (dimension, rank)."""
    bases, choice = SeededBases(), Seeded()
    for parameter in parameters_of(network):
        read = geometry(parameter.shape, choice) if parameter.kind == "matrix" else None
        if read is not None:
            bases.get(read.view[0], read.ranks[0], 0, torch.zeros(()))
    return bases.bytes()


def describe(network: str) -> str:
    parameters = parameters_of(network)
    count = {
        kind: sum(math.prod(p.shape) for p in parameters if p.kind == kind) for kind in ("matrix", "embedding", "rest")
    }
    parts = ", ".join(f"{kind} {number / 1e6:.2f} M" for kind, number in count.items())
    adam = list_bytes(Row(adamw, meta=True), parameters, []) / 2**20
    return f"{network}: {sum(count.values()) / 1e6:.1f} M parameters ({parts}), AdamW's state {adam:.1f} MiB"


def draw(found: dict[str, dict[str, tuple[float, float, float]]], folder: Path) -> None:
    names = [name for name in found if name not in ("AdamW", "SOAP")]  # 1, and beyond the picture
    plots.bars(
        folder / "state-matrices.png",
        {name: {network: each[0] for network, each in found[name].items()} for name in names},
        title=f"Optimizer state of the matrices, AdamW = 1 (line: {MATRICES_BAR:g}, the bar of the mode whole)",
        y="share of AdamW's bytes",
        line=MATRICES_BAR,
    )
    plots.bars(
        folder / "state-whole.png",
        {name: {network: min(each[1:]) for network, each in found[name].items()} for name in names},
        title=f"Optimizer state of the whole list, embeddings where they cost least, AdamW = 1 (line: target {WHOLE_BAR:g})",
        y="share of AdamW's bytes",
        line=WHOLE_BAR,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    plots.add_plots_argument(parser)
    given = parser.parse_args()
    print(
        "State after a step, of AdamW's, counted from state_dict; ranks a quarter of the projected dimension where there is one\n"
    )
    found = {name: {network: shares(row, network) for network in given.networks} for name, row in rows().items()}
    heads = [""]
    for network in given.networks:
        heads += [f"{network}: matrices", "whole list", "embeddings too"]
    lines = []
    for name, part in found.items():
        matrices, whole = max(each[0] for each in part.values()), max(min(each[1:]) for each in part.values())
        line = [name, *(f"{share:.3f}" for each in part.values() for share in each)]
        lines.append([*line, *("yes" if ok else "no" for ok in (matrices <= MATRICES_BAR, whole <= WHOLE_BAR))])
    print(table([*heads, f"matrices <= {MATRICES_BAR:g}", f"whole <= {WHOLE_BAR:g}"], lines))
    print(
        "\nwhole list: norms, vectors and embeddings by AdamW. embeddings too: tables in the subspace as well (not by Tucker where they have"
    )
    print(
        "over eight million entries). whole and blocks keep a byte an entry at any rank; history keeps 4 gradients in bfloat16, source 10 in float32."
    )
    print(f"\nbase: {BASE}")
    for network in given.networks:
        print(describe(network))
        copies = working_copies(network) / 2**20
        print(f"  seeded modes, bases made again from their seeds, in memory but not in the state: {copies:.1f} MiB")
        matrices, beside, tables = found["whole"][network]
        print(f"  whole, matrices: {matrices:.3f}, bar {MATRICES_BAR}: {verdict(matrices, MATRICES_BAR)}; ", end="")
        print(
            f"whole list {beside:.3f}, with embeddings {tables:.3f}, target {WHOLE_BAR}: {verdict(tables, WHOLE_BAR)}"
        )
    if "nano" in given.networks:
        ours, adam = whole_network("whole")
        print(f"  whole over nano as one network: {ours:,} bytes, AdamW {adam:,}: {ours / adam:.3f}")
    if given.plots:
        draw(found, given.plots)


if __name__ == "__main__":
    main()

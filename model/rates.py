"""Choose learning rates by preset, lower ones for parts that begin with public weights.

A stage of pretraining has rates that suit nano with fresh weights. Those rates would destroy what a public trunk, BERT
or prompt tower knows. Such a part takes a small share of them, and each of its layers less than the one above it
(layer-wise decay: ELECTRA, Clark et al. 2020, https://arxiv.org/abs/2003.10555, appendix B; BEiT, Bao et al. 2021,
https://arxiv.org/abs/2106.08254; MAE, He et al. 2021, https://arxiv.org/abs/2111.06377, table 9).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from model.network import GroundingNetwork

PARTS = ("trunk", "bert", "tower")  # that may begin with public weights, see model.hub


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Factors of a stage's learning rates.

    Attributes:
        fresh: of parameters without public weights. Adam's best rate falls with the width (Yang et al. 2022,
            https://arxiv.org/abs/2203.03466, table 3): nano has 96, base and large have 256.
        public: of the part above its top layer. The stage `words` of nano steps matrices at 4e-3 and the rest at 1e-3,
            so .05 gives the 2e-4 and 5e-5 at which BERT is fine-tuned (the optimizer's own rates are up to four times
            Adam's).
        decay: factor from a layer to the one below it.
    """

    fresh: float = 1.0
    public: float = 1.0
    decay: float = 1.0

    def __post_init__(self) -> None:
        if not (self.fresh > 0 and self.public > 0 and 0 < self.decay <= 1):
            raise ValueError("Factors of learning rates are above 0, and the decay is at most 1.")


RATES: Mapping[str, Rates] = {
    "nano": Rates(),
    "base": Rates(fresh=0.4, public=0.05, decay=0.75),
    "large": Rates(fresh=0.4, public=0.03, decay=0.8),
}


def with_rates(
    groups: Sequence[Mapping[str, Any]],
    network: GroundingNetwork,
    public: Collection[str] = (),
    *,
    times: float = 1.0,
    trained: float = 1.0,
    rates: Rates | None = None,
) -> list[dict[str, Any]]:
    """Split parameter groups so that every parameter has its own learning rate.

    Args:
        groups: groups with "params" and "lr", such as those of a stage. They may hold parameters of heads, which count
            as fresh.
        network: the network that they train.
        public: names of `PARTS` that began with public weights.
        times: factor of all rates.
        trained: further factor of the network's own parameters. A network that answers takes a small one where a fresh
            head learns beside it, whose first gradients would destroy what it knows.
        rates: factors; by default those of the network's preset, and those of nano for an unknown one.

    Returns:
        Groups in the order of the given ones, each split by rate. With all factors 1 they equal the given ones.

    Raises:
        ValueError: a part is unknown or not in the network, or a factor is not above 0.
    """
    if not (times > 0 and trained > 0):
        raise ValueError("The factor of the learning rates must be above 0.")
    rates = rates or RATES.get(network.config.name, Rates())
    factors = _factors(network, public, rates)
    own_of_network = {id(parameter) for parameter in network.parameters()}
    split_groups: list[dict[str, Any]] = []
    for group in groups:
        split: dict[float, list[nn.Parameter]] = {}
        for parameter in group["params"]:
            factor = times * factors.get(id(parameter), rates.fresh)
            split.setdefault(factor * trained if id(parameter) in own_of_network else factor, []).append(parameter)
        split_groups += [{**group, "params": own, "lr": group["lr"] * factor} for factor, own in split.items()]
    return split_groups


def _factors(network: GroundingNetwork, public: Collection[str], rates: Rates) -> dict[int, float]:
    """Return the factor of each parameter of the public parts, by its id."""
    unknown = [name for name in public if name not in PARTS]
    if unknown:
        raise ValueError(f"There is no part {unknown[0]!r} with public weights; choose from {', '.join(PARTS)}.")
    factors: dict[int, float] = {}
    for name in public:
        for parameter, below in _depths(network, name):
            factors[id(parameter)] = rates.public * rates.decay**below
    return factors


def _depths(network: GroundingNetwork, name: str) -> Iterator[tuple[nn.Parameter, int]]:
    """Yield the parameters of a part with their number of layers below its output: 1 for the top layer."""
    part, layers = _part(network, name)
    inside = {id(parameter): len(layers) - at for at, layer in enumerate(layers) for parameter in layer.parameters()}
    for own, parameter in part.named_parameters():
        embedding = 0 if own.startswith("ln_final") else len(layers) + 1
        yield parameter, inside.get(id(parameter), embedding)
    if name == "bert" and network.text_encoder.embedding.own is not None:
        for parameter in network.text_encoder.embedding.own.parameters():
            yield parameter, len(layers) + 1


def _part(network: GroundingNetwork, name: str) -> tuple[nn.Module, list[nn.Module]]:
    """Return the module of a public part and its layers from the input on."""
    trunk, bert, clip = network.image_encoder.trunk, network.text_encoder.bert, network.prompt_encoder.clip
    if name == "trunk":
        return trunk, list(trunk.blocks)
    if name == "bert" and bert is not None:
        return bert.bert, list(bert.bert.encoder.layer)
    if name == "tower" and clip is not None:
        return clip.tower, list(clip.tower.transformer.resblocks)
    raise ValueError(f"The preset {network.config.name!r} has no part {name!r} with public weights.")

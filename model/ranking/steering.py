"""Steer the choice of an answer by the kind of value that is wanted."""

from typing import Any

import torch
from torch import Tensor, nn

from model.blocks import MASKED
from model.ranking.kind_fit import WANTED

_WIDTH = 32


class Steering(nn.Module):
    """Network that adds to the logits of proposals where a kind of value is wanted, and 0 where none is.

    So a question without a kind has, to the bit, the answer that it had before kinds were learned. Weights that were
    saved before load: the last layer begins at 0. All initial weights are fixed, so that loading them is deterministic.

    Args:
        features: features of a proposal that the ranker reads.
        kinds: features of `model.ranking.kind_fit`.
    """

    def __init__(self, features: int, kinds: int) -> None:
        super().__init__()
        self.read = nn.Sequential(nn.Linear(features + kinds, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, _WIDTH), nn.GELU())
        self.judge = nn.Sequential(nn.Linear(2 * _WIDTH, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, 1))
        with torch.no_grad():
            fixed = torch.Generator().manual_seed(0)
            for parameter in self.parameters():
                if parameter.ndim > 1:
                    parameter.normal_(0, parameter.shape[1] ** -0.5, generator=fixed)
                else:
                    parameter.zero_()
            for parameter in self.judge[2].parameters():
                parameter.zero_()
        self.register_load_state_dict_pre_hook(_keep_where_missing)  # type: ignore[no-untyped-call]

    def forward(self, features: Tensor, kinds: Tensor, valid: Tensor) -> Tensor:
        """Return what is added to the logits of the proposals of Q questions, [Q, P].

        Args:
            features: scaled features, [Q, P, features].
            kinds: features about kinds of values, [Q, P, kinds].
            valid: which proposals are not padding, bool [Q, P].
        """
        own = self.read(torch.cat([features, kinds], -1))
        most = (own + (1 - valid[..., None].float()) * MASKED).amax(1, keepdim=True)
        judged: Tensor = self.judge(torch.cat([own, most.expand_as(own)], -1))[..., 0]
        return judged * kinds[..., WANTED].amax(-1)


def _keep_where_missing(steering: nn.Module, state: dict[str, Any], prefix: str, *_: object) -> None:
    """Add the weights that a state from before this network lacks."""
    for name, tensor in steering.state_dict().items():
        state.setdefault(f"{prefix}{name}", tensor)

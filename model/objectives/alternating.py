"""Alternate between several objectives on one network: each step learns one of them, drawn by their shares."""

import random
from collections.abc import Mapping, Sequence

from torch import Tensor

from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective


class Alternating(NetworkObjective):
    """Several objectives in turn; their heads are learned together, and the result is the network.

    Names in the log begin with the name of the step's objective, such as `words_loss`; `loss` is that of every step.
    """

    def __init__(
        self,
        network: GroundingNetwork,
        parts: Mapping[str, NetworkObjective],
        shares: Sequence[float],
        *,
        main: str | None = None,
    ) -> None:
        """Build it.

        Args:
            network: what all parts learn.
            parts: objectives by name.
            shares: relative frequency of each part, in their order.
            main: part whose figures keep their names, so that they compare with those of this part alone; `loss` is
                then that of its steps.
        """
        self.parts, self._shares, self._main = dict(parts), tuple(shares), main
        heads = {
            f"{name}_{head}": module
            for name, part in self.parts.items()
            if part.learned is not network
            for head, module in part.learned.named_children()
            if head != "network"
        }
        super().__init__(network, **heads)

    def draw_objective(self, step: int, rng: random.Random) -> str:
        """Draw the name of the objective that a step learns."""
        (name,) = rng.choices(list(self.parts), self._shares)
        return name

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Draw one of the objectives and compute its loss; see `Objective.loss`."""
        name = self.draw_objective(step, rng)
        loss, parts = self.parts[name].loss(step, rng)
        if name == self._main:
            return loss, parts
        named = {f"{name}_{part}": value for part, value in parts.items()}
        return loss, named if self._main is not None else {"loss": loss.detach(), **named}

    def after_step(self, done: float) -> None:
        """Update the moving averages of all objectives."""
        for part in self.parts.values():
            part.after_step(done)

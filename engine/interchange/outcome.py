"""What a writer of a format is, and what it says of what it wrote."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.interchange.destination import Destination
from engine.interchange.release import Release

Tick = Callable[[], None]  # called after each answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a writer wrote: counts by name. `loss`: figures of a format that cannot hold everything, by name."""

    counts: dict[str, int]
    loss: dict[str, float] = field(default_factory=dict)


Writer = Callable[[Release, Destination, Tick], Outcome]


class Likeness:
    """How like what was accepted is what a format holds of it: the mean IoU, gathered answer by answer."""

    def __init__(self) -> None:
        self._sum, self.answers, self.left_out = 0.0, 0, 0

    def add(self, iou: float) -> None:
        """Count an answer that the format holds, with the IoU of what it holds of it."""
        self._sum, self.answers = self._sum + iou, self.answers + 1

    def leave_out(self) -> None:
        """Count an answer that the format has no place for."""
        self.left_out += 1

    def figures(self) -> dict[str, float]:
        """Return the mean IoU of what is held, and how many answers are not."""
        mean = round(self._sum / self.answers, 4) if self.answers else 0.0
        return {"mean_iou": mean, "left_out": self.left_out}

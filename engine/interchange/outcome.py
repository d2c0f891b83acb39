"""What a writer of a format takes and returns."""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.interchange.destination import Destination
from engine.interchange.release import Release

Tick = Callable[[], None]  # called after each answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a writer.

    Attributes:
        counts: Numbers of things written, by name.
        loss: Figures of what the format cannot hold, by name; empty for a format that holds everything.
    """

    counts: dict[str, int]
    loss: dict[str, float] = field(default_factory=dict)


Writer = Callable[[Release, Destination, Tick], Outcome]


class Likeness:
    """Mean IoU of the accepted masks and of what a lossy format holds of them, answer by answer."""

    def __init__(self) -> None:
        self._sum, self.answers, self.left_out = 0.0, 0, 0

    def add(self, iou: float) -> None:
        """Count an answer, with the IoU of its accepted mask and of the mask that the format holds."""
        self._sum, self.answers = self._sum + iou, self.answers + 1

    def leave_out(self) -> None:
        """Count an answer that the format has no place for."""
        self.left_out += 1

    def figures(self) -> dict[str, float]:
        """Return the mean IoU of the answers that the format holds, and the number of those left out."""
        mean = round(self._sum / self.answers, 4) if self.answers else 0.0
        return {"mean_iou": mean, "left_out": self.left_out}

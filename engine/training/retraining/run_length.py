"""Length of a run: steps by the number of corrected pages, and what a longer run is expected to bring.

The figures come from runs on 60 corrected pages of FUNSD (docs/LOG.md, Retraining): after some passes over the pages,
more of them bring nothing.
"""

from bisect import bisect_left
from dataclasses import dataclass

from engine.plurals import count
from engine.training.retraining.run_settings import RunSettings

PASSES = 8  # over each corrected page, in the first cycle
FEWEST_STEPS, MOST_STEPS = 200, 20_000  # a fold takes half of the steps, and with fewer it loses what it gains
# Share of the possible gain by passes, from acc@.5 on unseen forms.
_GAINED = ((0.0, 0.0), (2.0, 0.4), (4.0, 0.65), (8.0, 1.0))
_WORTH_SAYING = 0.0005  # of mean IoU


def pages_a_step(settings: RunSettings) -> float:
    """Return the mean number of corrected pages that a step reads; the other pages are generated or have no labels."""
    own = settings.pages * (1 - settings.images) + settings.images  # a step with an image reads one page
    return own * (1 - settings.replay) * (1 - settings.unlabelled) * settings.accumulate


def steps_for(pages: float, settings: RunSettings) -> int:
    """Return the steps in which each of these corrected pages is read PASSES times, within limits.

    `pages`: as how many they count (sources.examples.read_as).
    """
    return min(MOST_STEPS, max(FEWEST_STEPS, round(PASSES * pages / pages_a_step(settings))))


def beside_folds(affordable: int, folds: int) -> tuple[int, bool]:
    """Return the steps of a run whose minutes allow for `affordable` ones, and whether it has a refit.

    Each of `folds` takes half of the steps, and a refit takes all. Folds of few steps lose what they gain, and then
    nothing is promoted: where the minutes do not suffice for FEWEST_STEPS, the folds get those of the refit.
    """
    if not folds or affordable >= FEWEST_STEPS:
        return affordable, True
    return min(FEWEST_STEPS, round(affordable * (1 + folds / 2) / (folds / 2))), False


def cycles_within(first: int, affordable: int) -> int:
    """Return the steps of all cycles that fit; each further one is as long as all before it (model.learning.Plan)."""
    steps = min(first, affordable)
    while 2 * steps <= affordable:
        steps *= 2
    return steps


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a run that has ended, on a number of corrected pages."""

    steps: int
    pages: int
    settings: RunSettings
    late: bool = False  # the clock ended a training
    read_as: float | None = None  # as how many pages they count (sources.examples.read_as); None: as many as they are

    @property
    def passes(self) -> float:
        """Return how often the run read each corrected page, on average."""
        return max(1, self.steps) * pages_a_step(self.settings) / max(1, self.read_as or self.pages)

    def estimate_gain(self, gained: float) -> float:
        """Return what PASSES passes are expected to bring beyond this run, in the unit of `gained`.

        `gained`: what this run brought. No gain promises nothing more.
        """
        share = _share(self.passes)
        return max(0.0, gained) * (1 / share - 1) if share else 0.0

    def sentence(self, gained: float | None) -> str:
        """Return what a longer run is expected to bring.

        `gained`: rise of mean IoU where weights answered that had not learned the page; None where it was not measured.
        """
        times = count(round(self.passes), "time")
        read = f"The newest run read each of {count(self.pages, 'corrected page')} about {times}."
        cycle = self.settings.cycle or self.settings.steps
        if self.late:
            return f"{read} The clock ended it, because the machine was slower than when it began: retrain again."
        if self.steps < 2 * (cycle // 2):  # of odd steps, folds take the smaller half, and a refit twice as many
            return f"{read} It ended early, because it got worse on answers kept back: a longer run would not help."
        if self.settings.steps > cycle and self.steps >= 2 * (cycle // 2) * (self.settings.steps // cycle):
            return f"{read} It still gained when its minutes ended: a longer run may bring more."
        if self.passes >= PASSES * 0.9:
            return f"{read} A longer run is not expected to bring more; more corrected pages are."
        sentence = f"{read} A run of {round(self.steps * PASSES / self.passes):,} steps would read them {PASSES} times"
        if gained is None:
            return f"{sentence}; what this brings cannot be estimated yet."
        more = self.estimate_gain(gained)
        if more < _WORTH_SAYING:
            return f"{sentence}; this run gained nothing from which more can be expected."
        return f"{sentence} and is expected to bring about {more:+.3f} of mean IoU."


def _share(passes: float) -> float:
    """Return the share of the possible gain after some passes, by linear interpolation."""
    if passes >= _GAINED[-1][0]:
        return 1.0
    at = max(1, bisect_left([passes for passes, _ in _GAINED], passes))
    (x0, y0), (x1, y1) = _GAINED[at - 1], _GAINED[at]
    return y0 + (y1 - y0) * (passes - x0) / (x1 - x0)

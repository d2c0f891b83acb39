"""Schedule of a pretraining run: its stages and steps, stored in the run's folder as its plan."""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.training.json_files import write_json
from engine.training.pretraining.pretraining_stage import PAGES
from engine.training.pretraining.stages import STAGES
from engine.training.pretraining.text_stages import DECODER_STAGES
from model.presets import NetworkConfig
from model.rates import PARTS

_PLAN_FILE = "plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Stages of a run in order with their steps, and its initial weights; stored for resumed runs.

    `start`: checkpoint of the same preset. `decoder`: folder, or name on the hub, for the text stages. `forms`: folder
    of fillable PDFs. `labelled`: grounded dataset of labelled pages. `corpus`: list of pages without labels
    (engine.training.unlabelled.page_corpus). `pages`: pages of words a micro-step; `accumulate`: micro-steps a step of
    each process. `rate`: factor of all learning rates. `public`: part (model.rates) -> name, file or folder of the
    public weights that it begins with; it takes lower rates. `start_rate`: factor of the rates of the weights of
    `start` in stages without questions. `minutes`: what a person gave in place of steps.
    """

    seed: int
    steps: Mapping[str, int]
    start: str | None = None
    decoder: str | None = None
    forms: str | None = None
    labelled: str | None = None
    corpus: str | None = None
    pages: int = PAGES
    accumulate: int = 1
    rate: float = 1.0
    start_rate: float = 0.1
    public: Mapping[str, str] = field(default_factory=dict)
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError("A step needs at least one page.")
        for factor in (self.rate, self.start_rate):
            if not 0 < factor < math.inf:
                raise ValueError(f"The factor of the learning rates must be above zero, not {factor:g}.")
        unknown = [name for name in self.steps if name not in STAGES]
        if unknown:
            raise ValueError(f"There is no stage {unknown[0]!r}; choose from {', '.join(STAGES)}.")
        if not self.steps:
            raise ValueError(f"Choose at least one stage of {', '.join(STAGES)}.")


def check_order(steps: Iterable[str]) -> None:
    """Raise ValueError where `distill` would come before a stage of its teacher; for new runs."""
    names = list(steps)
    if "distill" in names and (late := set(DECODER_STAGES) & set(names[names.index("distill") :])):
        raise ValueError(f"The stage distill learns from the stage {min(late)}: put distill after it.")


# As for the shipped weights.
RECIPE = Schedule(
    seed=1,
    steps={
        "words": 5800,
        "regions": 2400,
        "segment": 2000,
        "growth": 600,
        "practice": 3900,
        "ranking": 500,
        "pixels": 330,
        "region_ranking": 2000,
    },
)


_MOVABLE = ("start", "decoder", "forms", "labelled", "corpus")  # files and folders
_OPTIONS = {
    "pages": "batch",
    "steps": "stages",
    "start_rate": "start-rate",
}  # of the command
_NOWHERE = ""  # of public weights
# Values that say nothing of how a run began.
_UNKNOWN: dict[str, tuple[object, ...]] = {"minutes": (None,), **dict.fromkeys(PARTS, (_NOWHERE,))}


def plan_of(
    folder: Path, schedule: Schedule, config: NetworkConfig, resume: bool, chosen_fields: Collection[str] = ()
) -> Schedule:
    """Return the schedule of a run: that stored in `folder`, if it holds one, or else the given one.

    Files and folders that no longer lie where the run began are the given ones, which should be the same: a run goes on
    on another machine.

    Args:
        folder: of the run.
        schedule: stages and steps of a new run.
        config: network.
        resume: whether a run in the folder goes on.
        chosen_fields: fields of `schedule` that a person chose; they must equal those of the run. "stages": the order
            of the stages alone.

    Raises:
        ValueError: the folder holds a run that is not resumed, one of another network, or one with other settings than
            the given ones.
    """
    path = folder / _PLAN_FILE
    if path.is_file():
        if not resume:
            raise ValueError(f"{folder} already holds a run; continue it with --resume, or choose another folder.")
        stored, of = _read_plan(folder)
        if of != json.loads(json.dumps(config.to_dict())):
            raise ValueError(f"The run in {folder} is of another network; resume it with the same --preset.")
        _check_same(stored, schedule, chosen_fields, folder)
        moved = {name: getattr(schedule, name) for name in _MOVABLE if _has_moved(getattr(stored, name))}
        return replace(stored, **{name: path for name, path in moved.items() if path is not None})
    check_order(schedule.steps)
    return schedule


def _has_moved(path: str | None) -> bool:
    return path is not None and Path(path).is_absolute() and not Path(path).exists()


def _check_same(stored: Schedule, asked: Schedule, chosen_fields: Collection[str], folder: Path) -> None:
    """Raise ValueError where a run is asked to go on with settings that it did not begin with."""
    if "stages" in chosen_fields and list(stored.steps) == list(asked.steps):  # whose steps the run found itself
        chosen_fields = [name for name in chosen_fields if name != "stages"]
    for name in ["steps" if name == "stages" else name for name in chosen_fields]:
        before, now = _value(stored, name), _value(asked, name)
        if before in _UNKNOWN.get(name, ()):
            continue
        if isinstance(before, Mapping):  # the order counts
            before, now = list(before.items()), list(now.items())
        if before == now or (name in (*_MOVABLE, *PARTS) and _has_moved(before)):
            continue
        option = _OPTIONS.get(name, name)
        raise ValueError(
            f"The run in {folder} was begun {_describe_option(option, _value(stored, name))}, and goes on so. "
            f"Leave --{option} out, or choose another folder."
        )


def _value(schedule: Schedule, name: str) -> Any:
    return schedule.public.get(name) if name in PARTS else getattr(schedule, name)


def _describe_option(option: str, value: object) -> str:
    if value is None:
        return f"without --{option}"
    if isinstance(value, Mapping):
        return f"with --{option} " + ",".join(f"{name}={steps}" for name, steps in value.items())
    return f"with --{option} {value:g}" if option == "minutes" else f"with --{option} {value}"


def _read_plan(folder: Path) -> tuple[Schedule, dict[str, Any]]:
    """Return schedule and config of the run in `folder`. Raises ValueError for an unreadable plan."""
    path = folder / _PLAN_FILE
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        config = stored.pop("config")
        earlier = {"start_rate": 1.0}  # runs of earlier versions lack it
        public = stored.pop("public", {})
        if isinstance(public, list):  # runs of earlier versions do not say where the weights came from
            public = dict.fromkeys(public, _NOWHERE)
        return Schedule(**{**earlier, **stored, "public": public}), config
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not the plan of a run: {error}") from error


def write_plan(folder: Path, schedule: Schedule, config: NetworkConfig) -> None:
    """Store schedule and config of a run in its folder."""
    write_json(folder / _PLAN_FILE, {**asdict(schedule), "config": config.to_dict()})


def read_schedule(folder: Path) -> Schedule:
    """Return the schedule of the run in `folder`. Raises ValueError for an unreadable plan."""
    return _read_plan(folder)[0]


def has_run(folder: Path) -> bool:
    """Return whether `folder` holds a run."""
    return (folder / _PLAN_FILE).is_file()

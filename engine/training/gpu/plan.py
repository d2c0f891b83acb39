"""Plan of the work on a GPU: its pieces, in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT_CHAIN = ("decoder", "bidirectional", "contrast", "distill")  # each begins with the result of the one before it
LEFT_OUT: Mapping[str, str] = {
    "reading": "reads its pages by OCR; a step costs what a step of words costs",
    "region_ranking": "finds regions on the processor, and trains a small ranker",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Table of memory and seconds a step, with and without checkpointing."""

    name: str
    preset: str
    pages: tuple[int, ...] = (1, 4, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A few steps of each stage, stopped and resumed in the middle. `stages`: groups that share a folder."""

    name: str
    preset: str
    stages: tuple[tuple[str, ...], ...]
    pages: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Training of one network, stage by stage. `pages`: pages of words a step."""

    name: str
    preset: str
    steps: Mapping[str, int] = field(default_factory=dict)
    pages: int = 16
    checkpointing: bool = False


Piece = Costs | Proof | Training

PLAN: tuple[Piece, ...] = (
    Costs(name="costs-base", preset="base"),
    Proof(
        name="stages-base",
        preset="base",
        stages=(
            TEXT_CHAIN,
            *((name,) for name in ("mlm", "spans", "mim", "ijepa", "djepa", "tjepa", "joint", "mae")),
            *((name,) for name in ("words", "regions", "segment", "growth", "practice", "ranking", "pixels")),
        ),
    ),
    Costs(name="costs-nano", preset="nano"),
    Training(
        name="nano",
        preset="nano",
        steps={"words": 12_000, "regions": 4_000, "segment": 4_000, "growth": 600, "ranking": 500, "pixels": 600},
    ),
    Training(
        name="base",
        preset="base",
        steps={"words": 16_000, "regions": 6_000, "segment": 6_000, "growth": 600, "ranking": 500, "pixels": 600},
    ),
)

"""Sizes of the network: typed, frozen, written into every checkpoint."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """HieraDet trunk (SAM 2, https://arxiv.org/abs/2408.00714) and the size pages are scaled to."""

    long_side: int = 512  # pixels; the page keeps its aspect and is padded to a multiple of 32
    embed_dim: int = 32
    stages: tuple[int, ...] = (1, 2, 4, 1)
    global_attention: tuple[int, ...] = (5,)  # blocks that look at the whole page
    windows: tuple[int, ...] = (8, 4, 14, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextConfig:
    """Embedding and transformer of the words of a page."""

    buckets: int = 8192  # hashed character n-grams
    vector_width: int = 192  # reduced wordpiece vectors, frozen
    pieces: int = 30522
    layers: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """Text tower of the prompt encoder (built with open_clip's classes)."""

    layers: int = 1
    context: int = 40  # words of a question; the rest is cut


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """The whole network."""

    name: str = "nano"
    width: int = 96
    heads: int = 4
    image: ImageConfig = field(default_factory=ImageConfig)
    text: TextConfig = field(default_factory=TextConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    fusion_layers: int = 2
    word_layers: int = 3
    mask_layers: int = 2

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "NetworkConfig":
        """The config that ``to_dict`` wrote; TypeError on keys that this version does not know."""
        image = {key: tuple(value) if isinstance(value, list) else value for key, value in values["image"].items()}
        parts = {
            "image": ImageConfig(**image),
            "text": TextConfig(**values["text"]),
            "prompt": PromptConfig(**values["prompt"]),
        }
        return cls(**{**values, **parts})


NANO = NetworkConfig()
PRESETS: dict[str, NetworkConfig] = {"nano": NANO}

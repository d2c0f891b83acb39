"""Define the sizes of the network, stored in every checkpoint. Three presets share one code path."""

from dataclasses import asdict, dataclass, field
from typing import Any

_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """HieraDet trunk (SAM 2, https://arxiv.org/abs/2408.00714) and the size to which pages are scaled."""

    long_side: int = 512  # pixels, a multiple of 32; the page keeps its aspect and is padded
    square: bool = False  # pad to long_side x long_side, as public trunks were trained; else to a multiple of 32
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)  # of red, green, blue in 0..1
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)
    trunk: str | None = None  # a HieraDet by timm's name; without it the four settings below apply
    embed_dim: int = 32
    stages: tuple[int, ...] = (1, 2, 4, 1)
    global_attention: tuple[int, ...] = (5,)  # blocks that attend to the whole page
    windows: tuple[int, ...] = (8, 4, 14, 7)

    def __post_init__(self) -> None:
        if self.long_side < 32 or self.long_side % 32:
            raise ValueError(f"The long side of a page is scaled to a multiple of 32 pixels, not to {self.long_side}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextConfig:
    """Embedding and transformer of the page's words."""

    buckets: int = 8192  # hashed character n-grams
    vector_width: int = 192  # reduced wordpiece vectors, frozen
    pieces: int = 30522
    layers: int = 2
    bert: bool = False  # transformers' BERT, so that the weights of any BERT fit; else our own layers
    width: int | None = None  # None: that of the network
    heads: int | None = None  # None: those of the network

    def __post_init__(self) -> None:
        if not self.bert and (self.width is not None or self.heads is not None):
            raise ValueError("Only a BERT text encoder has a width and heads of its own: set bert as well.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """Text tower of the prompt encoder, built with open_clip's classes."""

    layers: int = 1
    context: int = 40  # words of a question; a longer one loses the least informative
    tower: str | None = None  # a CLIP by open_clip's name; without it `layers` applies


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """Sizes of the whole network."""

    name: str = "nano"
    width: int = 96
    heads: int = 4
    image: ImageConfig = field(default_factory=ImageConfig)
    text: TextConfig = field(default_factory=TextConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    fusion_layers: int = 2
    word_layers: int = 3
    mask_layers: int = 2
    ranker_width: int | None = None  # of the ranker of answers by words; None: ranked by pointing and predicted IoU
    region_ranker_width: int | None = None  # of the ranker of regions; None: the map or box of the mask decoder

    def to_dict(self) -> dict[str, Any]:
        """Return the config as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "NetworkConfig":
        """Build the config from what `to_dict` wrote, also in an older version.

        Args:
            values: plain values, as stored in a checkpoint.

        Returns:
            The config; settings that an older version lacks have their defaults.

        Raises:
            TypeError: a key is unknown to this version.
        """
        image: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values["image"].items()
        }
        parts = {
            "image": ImageConfig(**image),
            "text": TextConfig(**values["text"]),
            "prompt": PromptConfig(**values["prompt"]),
        }
        return cls(**{**values, **parts})


NANO = NetworkConfig(ranker_width=48, region_ranker_width=64)
BASE = NetworkConfig(
    name="base",
    width=256,
    heads=8,
    image=ImageConfig(long_side=768, trunk="sam2_hiera_base_plus", mean=_IMAGENET_MEAN, std=_IMAGENET_STD),
    text=TextConfig(buckets=30_522, bert=True, width=768, layers=12, heads=12),
    prompt=PromptConfig(tower="ViT-B-32"),
    ranker_width=48,
    region_ranker_width=64,
)
LARGE = NetworkConfig(
    name="large",
    width=256,
    heads=8,
    image=ImageConfig(long_side=1024, square=True, trunk="sam2_hiera_large", mean=_IMAGENET_MEAN, std=_IMAGENET_STD),
    text=TextConfig(buckets=30_522, bert=True, width=1024, layers=24, heads=16),
    prompt=PromptConfig(tower="ViT-L-14"),
    ranker_width=48,
    region_ranker_width=64,
)
PRESETS: dict[str, NetworkConfig] = {config.name: config for config in (NANO, BASE, LARGE)}

"""Encode the page as an image: HieraDet trunk, feature pyramid, and fine maps for the mask decoder."""

from dataclasses import dataclass

import timm
import torch
import torch.nn.functional as F
from timm.models.hieradet_sam2 import HieraDet
from torch import Tensor, nn

from model.encoders.feature_memory import FeatureMemory
from model.presets import ImageConfig

STRIDE = 16  # pixels a cell of the map that is fused with words


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """Features of G scaled pages of h x w pixels, D channels."""

    coarse: Tensor  # [G, D, h / 16, w / 16]
    skip8: Tensor  # [G, D / 4, h / 8, w / 8]
    skip4: Tensor  # [G, D / 8, h / 4, w / 4]


class ImageEncoder(nn.Module):
    """Hiera trunk and FPN neck (SAM 2, https://arxiv.org/abs/2408.00714, section C.1).

    The neck is top-down on the two coarse levels, nearest. The levels at stride 4 and 8 skip it and go to the mask
    decoder.
    """

    def __init__(self, config: ImageConfig, width: int) -> None:
        super().__init__()
        self.trunk = _trunk(config)
        self.trunk.head = nn.Identity()  # timm's head has a norm that nothing here would train
        dims = [level["num_chs"] for level in self.trunk.feature_info]
        self.lateral16 = nn.Conv2d(dims[2], width, 1)
        self.lateral32 = nn.Conv2d(dims[3], width, 1)
        self.to_skip8 = nn.Conv2d(dims[1], width // 4, 1)
        self.to_skip4 = nn.Conv2d(dims[0], width // 8, 1)
        self.memory: FeatureMemory[ImageFeatures] | None = None

    def freeze(self) -> None:
        """Stop training the encoder and cache its features from now on."""
        self.requires_grad_(False)
        self.memory = FeatureMemory()

    def forward(self, image: Tensor) -> ImageFeatures:
        """Encode images [G, 3, h, w]; h and w must be multiples of 32."""
        if self.memory is None:
            return self._compute_features(image)
        with torch.no_grad():
            return self.memory.recall(image, self._compute_features)

    def _compute_features(self, image: Tensor) -> ImageFeatures:
        level4, level8, level16, level32 = self.trunk.forward_intermediates(image, intermediates_only=True)
        coarse = self.lateral16(level16) + F.interpolate(self.lateral32(level32), scale_factor=2, mode="nearest")
        return ImageFeatures(coarse, self.to_skip8(level8), self.to_skip4(level4))


def _trunk(config: ImageConfig) -> HieraDet:
    if config.trunk is None:
        return HieraDet(
            embed_dim=config.embed_dim,
            stages=config.stages,
            global_att_blocks=config.global_attention,
            window_spec=config.windows,
            num_classes=0,
        )
    if not timm.is_model(config.trunk):
        raise ValueError(
            f"timm knows no model {config.trunk!r}; timm.list_models('*hiera*') names those that could fit."
        )
    trunk = timm.create_model(config.trunk, pretrained=False, num_classes=0)
    if not isinstance(trunk, HieraDet):
        raise ValueError(
            f"{config.trunk} does not fit as an image trunk: it must be a HieraDet, with maps at four strides."
        )
    return trunk

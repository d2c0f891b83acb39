"""How much of the network a run teaches: all of it, or what comes after the encoders.

quick: image and text encoder stay as they are, so an image is read once and its features are remembered, and no gradient flows
through either. Fusion, prompt encoder and both heads learn, as in SAM's data engine, where decoders are retrained far more
often than encoders (https://arxiv.org/abs/2304.02643, section 4).
"""

from typing import Literal

from model.network import GroundingNetwork

Depth = Literal["quick", "full"]


def set_depth(network: GroundingNetwork, depth: Depth) -> None:
    """Freeze what the depth does not teach."""
    if depth == "quick":
        network.text_encoder.requires_grad_(False)
        network.image_encoder.freeze()

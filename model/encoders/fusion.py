"""Fuse words and image by cross-attention in both directions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from model.blocks import CrossAttention, Perceptron, additive_mask


class FusionLayer(nn.Module):
    """One exchange between words and image, both ways.

    What words take from the image starts at zero. A network that has learned from words alone therefore begins its
    training with images with unchanged answers.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_words, self.norm_image = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_words = CrossAttention(width, heads, width // 2)
        self.to_image = CrossAttention(width, heads, width // 2)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = Perceptron(width, 2 * width, width)
        nn.init.zeros_(self.to_words.out.weight)
        nn.init.zeros_(self.to_words.out.bias)

    def forward(
        self, words: Tensor, image: Tensor, word_places: Tensor, image_places: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Exchange features between words and image.

        Args:
            words: [G, N, D].
            image: [G, K, D].
            word_places: encoded positions of the words, [G, N, D].
            image_places: encoded positions of the cells, [K, D].
            valid: which words are not padding, bool [G, N].

        Returns:
            New words [G, N, D] and new image [G, K, D].
        """
        w, i = self.norm_words(words), self.norm_image(image)
        words = words + self.to_words(w + word_places, i + image_places, i)
        has_words = valid.any(1)[:, None, None].float()
        image = image + has_words * self.to_image(i + image_places, w + word_places, w, additive_mask(valid))
        return words, image + self.mlp(self.norm_mlp(image))


class Fusion(nn.Module):
    """Several fusion layers.

    `checkpointing`: recompute the activations of each layer in the backward pass (`GroundingNetwork.checkpointing`).
    """

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(FusionLayer(width, heads) for _ in range(layers))
        self.checkpointing = False

    def forward(
        self, words: Tensor, image: Tensor, word_places: Tensor, image_places: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Apply all layers; arguments and results as in `FusionLayer.forward`."""
        for layer in self.layers:
            inputs = (words, image, word_places, image_places, valid)
            words, image = _recompute(layer, *inputs) if self.checkpointing else layer(*inputs)
        return words, image


def _recompute(layer: nn.Module, *inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Apply a layer that the backward pass recomputes, with the parameters frozen that are frozen now.

    An objective that trains one half of a layer freezes the other only while it computes the loss. A recomputation
    without the same frozen parameters would keep other activations, which torch refuses.
    """
    frozen = [parameter for parameter in layer.parameters() if not parameter.requires_grad]
    outputs: tuple[Tensor, Tensor] = checkpoint(
        layer, *inputs, use_reentrant=False, context_fn=lambda: (nullcontext(), _freeze(frozen))
    )
    return outputs


@contextmanager
def _freeze(parameters: Sequence[nn.Parameter]) -> Iterator[None]:
    thawed = [parameter for parameter in parameters if parameter.requires_grad]
    for parameter in thawed:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in thawed:
            parameter.requires_grad_(True)

"""Words look at the image and the image looks at the words."""

from torch import Tensor, nn

from model.blocks import CrossAttention, Perceptron, additive_mask


class FusionLayer(nn.Module):
    """One exchange both ways. What words take from the image starts at zero, so that a network that has learned from
    words alone begins its training with images where it stood."""

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
        """words [G, N, D], image [G, K, D], encoded places of both, valid [G, N] -> new words, new image."""
        w, i = self.norm_words(words), self.norm_image(image)
        words = words + self.to_words(w + word_places, i + image_places, i)
        has_words = valid.any(1)[:, None, None].float()
        image = image + has_words * self.to_image(i + image_places, w + word_places, w, additive_mask(valid))
        return words, image + self.mlp(self.norm_mlp(image))


class Fusion(nn.Module):
    """Cross-attention words <-> image, several layers."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(FusionLayer(width, heads) for _ in range(layers))

    def forward(
        self, words: Tensor, image: Tensor, word_places: Tensor, image_places: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            words, image = layer(words, image, word_places, image_places, valid)
        return words, image

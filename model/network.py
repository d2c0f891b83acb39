"""Compose the network. A page is read once and then asked many times.

words --text encoder--.             question --text tower--.
                       fusion  -->  page state              prompt tokens
image --image encoder-'                 |                        |
                                        +--> word head --> which words, answered?
                                        +--> mask decoder --> which pixels
"""

from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor, nn

from model import checkpoint
from model.blocks import PointEncoding
from model.encoders.fusion import Fusion
from model.encoders.image import ImageEncoder, ImageFeatures
from model.encoders.layout_bias import LayoutBias
from model.encoders.prompt import PromptEncoder
from model.encoders.text import TextEncoder
from model.heads.mask_decoder import MaskDecoder, PixelAnswer
from model.heads.word_head import WordAnswer, WordHead, meanings_of
from model.inputs import PageBatch, QuestionBatch
from model.presets import NetworkConfig


@dataclass(frozen=True, slots=True)
class PageState:
    """Encoded form of G pages, independent of any question."""

    pages: PageBatch
    words: Tensor  # [G, N, D]
    meanings: Tensor  # [G, N, vector_width]
    links: list[Tensor]  # of the word head, [G, heads, N, N] each
    image: ImageFeatures | None  # its coarse map is fused with the words
    image_places: Tensor | None  # [K, D]


@dataclass(frozen=True, slots=True)
class NetworkAnswer:
    """Scores of both paths for B = G * Q questions; `pixels` is None for pages without an image."""

    words: WordAnswer
    pixels: PixelAnswer | None


class GroundingNetwork(nn.Module):
    """Network that grounds the answer to a question in words and pixels of a page."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width, heads = config.width, config.heads
        self.places = PointEncoding(width)
        if config.text.bert:
            self.layout_bias = LayoutBias(config.word_layers + 1, heads, config.text.layers, config.text.heads or heads)
        else:
            self.layout_bias = LayoutBias(config.text.layers + config.word_layers + 1, heads)
        self.text_encoder = TextEncoder(config.text, width, heads)
        self.image_encoder = ImageEncoder(config.image, width)
        self.fusion = Fusion(config.fusion_layers, width, heads)
        self.prompt_encoder = PromptEncoder(config.prompt, width, heads, config.text.width)
        self.word_head = WordHead(config.word_layers, width, heads)
        self.mask_decoder = MaskDecoder(config.mask_layers, width, heads)

    def encode(self, pages: PageBatch) -> PageState:
        """Read the pages: the expensive half.

        Args:
            pages: G pages of N words each.

        Returns:
            What `ask` needs, for any number of questions.
        """
        bias = self.layout_bias(pages)
        layers = self.config.text.layers
        words, meanings = self.text_encoder(pages, bias[:layers])
        del bias[:layers]  # frees hundreds of megabytes of a long page
        image = image_places = None
        if pages.image is not None:
            image = self.image_encoder(pages.image)
            height, width = image.coarse.shape[-2:]
            image_places = self.places.grid(height, width, 1 / max(height, width))
            centres = self.places((pages.unit_boxes[..., :2] + pages.unit_boxes[..., 2:]) / 2)
            tokens = image.coarse.flatten(2).transpose(1, 2)
            words, tokens = self.fusion(words, tokens, centres, image_places, pages.valid)
            image = replace(image, coarse=tokens.transpose(1, 2).unflatten(-1, (height, width)))
        return PageState(pages, words, meanings, self.word_head.links(words, bias), image, image_places)

    def ask(
        self,
        state: PageState,
        questions: QuestionBatch,
        seeds: int = 1,
        towards: Tensor | None = None,
        favour: Tensor | None = None,
    ) -> NetworkAnswer:
        """Answer equally many questions for each page: the cheap half.

        Args:
            state: G encoded pages.
            questions: B = G * Q questions.
            seeds: answers by words to grow for each question.
            towards: [B, N], in training: words to grow from (see `model.heads.growth.pick_seeds`).
            favour: [B, N], added to the pointing logits when the words to grow from are picked.

        Returns:
            Scores of words and, for pages with an image, of pixels.
        """
        vectors, meaning = self.text_encoder.embedding(questions.grams, questions.pieces)
        shape = questions.valid.shape
        prompts = self.prompt_encoder(vectors.view(*shape, -1), self.places(questions.points), questions)
        meanings = meanings_of(meaning.view(*shape, -1), questions.weights, state.meanings)
        words = self.word_head(
            state.words, meanings, state.links, state.pages, prompts, questions, seeds, towards, favour
        )
        if state.image is None or state.image_places is None:
            return NetworkAnswer(words, None)
        pixels = self.mask_decoder(
            state.image, state.image_places, words.states, prompts.tokens, prompts.valid, prompts.dense,
            state.pages, questions,
        )  # fmt: skip
        return NetworkAnswer(words, pixels)

    def forward(self, pages: PageBatch, questions: QuestionBatch, towards: Tensor | None = None) -> NetworkAnswer:
        """Encode the pages and answer their questions; arguments as in `encode` and `ask`."""
        return self.ask(self.encode(pages), questions, towards=towards)


def load_network(path: str | Path) -> tuple[GroundingNetwork, str]:
    """Load a network from its checkpoint, in float32, ready to train.

    Args:
        path: a checkpoint file.

    Returns:
        The network and its version.

    Raises:
        ValueError: the file is no checkpoint, or this version does not know its config. The message is one sentence.
    """
    loaded = checkpoint.load(path)
    try:
        network = GroundingNetwork(NetworkConfig.from_dict(loaded.config))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} was saved with a config that this version does not know: {error}") from error
    try:
        network.load_state_dict(loaded.state)  # float16 weights become float32 here
    except RuntimeError as error:
        raise ValueError(
            f"The weights in {path} do not fit the preset {network.config.name!r} that it says it is of."
        ) from error
    return network, loaded.version

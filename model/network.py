"""Compose the network. A page is read once and then asked many times.

words --text encoder---> page state        question --text tower--> prompt tokens
              |              |                                           |
            fusion           +--------> word head <----------------------+   which words, answered?
              |                             |                            |
image --image encoder--> picture state ---> mask decoder <---------------+   which pixels

Answers made of words do not depend on the picture (measured: it added nothing), so it is looked at only where pixels
must answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from model import checkpoint
from model.blocks import PointEncoding
from model.encoders.fusion import Fusion
from model.encoders.image import ImageEncoder, ImageFeatures
from model.encoders.layout_bias import LayoutBias
from model.encoders.prompt import PromptEncoder, PromptTokens
from model.encoders.text import TextEncoder
from model.heads.mask_decoder import MaskDecoder, PixelAnswer
from model.heads.word_head import WordAnswer, WordHead, meanings_of
from model.inputs import PageBatch, QuestionBatch
from model.presets import NetworkConfig
from model.ranking.features import FEATURES
from model.ranking.kind_fit import KIND_FEATURES
from model.ranking.ranker import Ranker
from model.regions.ranker import RegionRanker

R = TypeVar("R", WordAnswer, PromptTokens)


@dataclass(frozen=True, slots=True)
class PictureState:
    """Encoded pictures of G pages, independent of any question."""

    image: ImageFeatures  # its coarse map is fused with the words
    places: Tensor  # encoded positions of its cells, [K, D]
    words: Tensor  # the words of the pages with the picture in view, [G, N, D]


@dataclass(frozen=True, slots=True)
class PageState:
    """Encoded form of G pages, independent of any question."""

    pages: PageBatch
    words: Tensor  # without the picture, [G, N, D]
    meanings: Tensor  # [G, N, vector_width]
    links: list[Tensor]  # of the word head, [G, heads, N, N] each
    picture: PictureState | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """B = G * Q questions after their words were matched: what the pixel path needs of them."""

    words: WordAnswer
    prompts: PromptTokens

    def rows(self, rows: Sequence[int]) -> "Asked":
        """Return some of the questions."""
        at = torch.tensor(rows, dtype=torch.long, device=self.words.by_words.device)
        return Asked(_take_rows(self.words, at), _take_rows(self.prompts, at))


def _take_rows(record: R, at: Tensor) -> R:
    """Return a record of tensors [B, ...] with some of its rows."""
    return replace(record, **{field.name: getattr(record, field.name)[at] for field in fields(record)})


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
        self.ranker = (
            None if config.ranker_width is None else Ranker(FEATURES, config.ranker_width, kinds=KIND_FEATURES)
        )
        regions = config.region_ranker_width
        self.region_ranker = None if regions is None else RegionRanker(regions, width)

    def checkpointing(self, on: bool) -> None:
        """Recompute activations in the backward pass instead of keeping them: less memory, a third more time.

        Gradient checkpointing (Chen et al. 2016, https://arxiv.org/abs/1604.06174, section 3) of each layer of the
        image trunk, the text encoder, the prompt tower and the fusion. Gradients are equal.
        """
        self.image_encoder.trunk.set_grad_checkpointing(on)
        self.text_encoder.checkpointing = self.fusion.checkpointing = on
        if self.text_encoder.bert is not None:
            self.text_encoder.bert.checkpointing(on)
        clip = self.prompt_encoder.clip
        tower = self.prompt_encoder.transformer if clip is None else clip.tower.transformer
        tower.grad_checkpointing = on

    def read_words(self, pages: PageBatch) -> PageState:
        """Read the words of G pages of N words each; all that answers made of words need."""
        bias = self.layout_bias(pages)
        layers = self.config.text.layers
        words, meanings = self.text_encoder(pages, bias[:layers])
        del bias[:layers]  # frees hundreds of megabytes of a long page
        return PageState(pages, words, meanings, self.word_head.links(words, bias))

    def look(self, state: PageState, image: Tensor) -> PictureState:
        """Look at the pictures [G, 3, h, w] of pages that were read."""
        pages, features = state.pages, self.image_encoder(image)
        height, width = features.coarse.shape[-2:]
        places = self.places.grid(height, width, 1 / max(height, width))
        centres = self.places((pages.unit_boxes[..., :2] + pages.unit_boxes[..., 2:]) / 2)
        tokens = features.coarse.flatten(2).transpose(1, 2)
        words, tokens = self.fusion(state.words, tokens, centres, places, pages.valid)
        coarse = tokens.transpose(1, 2).unflatten(-1, (height, width))
        return PictureState(replace(features, coarse=coarse), places, words)

    def encode(self, pages: PageBatch) -> PageState:
        """Read the pages and look at their pictures: the expensive half.

        Args:
            pages: G pages of N words each.

        Returns:
            What `ask` needs, for any number of questions.
        """
        state = self.read_words(pages)
        return state if pages.image is None else replace(state, picture=self.look(state, pages.image))

    def ask_words(
        self,
        state: PageState,
        questions: QuestionBatch,
        seeds: int = 1,
        towards: Tensor | None = None,
        favour: Tensor | None = None,
    ) -> Asked:
        """Answer questions by words; arguments as in `ask`.

        `favour`: [B, N], added to the pointing logits when the words to grow from are picked.
        """
        vectors, meaning = self.text_encoder.embedding(questions.grams, questions.pieces)
        shape = questions.valid.shape
        prompts = self.prompt_encoder(vectors.view(*shape, -1), self.places(questions.points), questions)
        meanings = meanings_of(meaning.view(*shape, -1), questions.weights, state.meanings)
        words = self.word_head(
            state.words, meanings, state.links, state.pages, prompts, questions, seeds, towards, favour
        )
        return Asked(words, prompts)

    def ask_pixels(
        self, state: PageState, picture: PictureState, asked: Asked, questions: QuestionBatch
    ) -> PixelAnswer:
        """Answer the same questions by pixels."""
        prompts = asked.prompts
        answer: PixelAnswer = self.mask_decoder(
            picture.image, picture.places, asked.words.states, prompts.tokens, prompts.valid, prompts.dense,
            state.pages, questions,
        )  # fmt: skip
        return answer

    def ask(
        self, state: PageState, questions: QuestionBatch, seeds: int = 1, towards: Tensor | None = None
    ) -> NetworkAnswer:
        """Answer equally many questions for each page: the cheap half.

        Args:
            state: G encoded pages.
            questions: B = G * Q questions.
            seeds: answers by words to grow for each question.
            towards: [B, N], in training: words to grow from (see `model.heads.growth.pick_seeds`).

        Returns:
            Scores of words and, for pages with a picture, of pixels.
        """
        asked = self.ask_words(state, questions, seeds, towards)
        pixels = None if state.picture is None else self.ask_pixels(state, state.picture, asked, questions)
        return NetworkAnswer(asked.words, pixels)

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
        network.load_state_dict(_with_own_rankers(loaded.state, network))  # float16 weights become float32 here
    except RuntimeError as error:
        raise ValueError(
            f"The weights in {path} do not fit the preset {network.config.name!r} that it says it is of."
        ) from error
    return network, loaded.version


def _with_own_rankers(state: Mapping[str, Tensor], network: GroundingNetwork) -> Mapping[str, Tensor]:
    """Return the state with the unlearned rankers of the network, where it was saved with some of other features.

    Such a network answers as one without a ranker does, until its next pretraining. A ranker of answers that was saved
    before it read kinds of values is kept.
    """
    for prefix, ranker in (("ranker.", network.ranker), ("region_ranker.", network.region_ranker)):
        own = {f"{prefix}{name}": tensor for name, tensor in ranker.state_dict().items()} if ranker else {}
        saved = {name for name in state if name.startswith(prefix)}
        added = {name for name in own if name.startswith("ranker.steering.")}
        if saved | added == set(own) and any(state[name].shape != own[name].shape for name in saved):
            state = {**state, **own}
    return state

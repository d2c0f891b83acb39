"""Encode the prompt: the question, points, a box, an earlier mask."""

from dataclasses import dataclass

import torch
from open_clip.transformer import TextTransformer
from torch import Tensor, nn

from model.blocks import MASKED, LayerNorm2d
from model.drawn_prompts import DRAWN
from model.encoders.clip_tower import ClipTower
from model.inputs import CORNER_SECOND, NO_POINT, QuestionBatch
from model.presets import PromptConfig


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """B encoded prompts: tokens to attend to, and a dense part for the image."""

    tokens: Tensor  # [B, M + P, D], the states of ALL words of the question, then points and corners
    valid: Tensor  # [B, M + P] bool
    dense: Tensor  # [B, D, h / 16, w / 16] or [B, D, 1, 1]


class PromptEncoder(nn.Module):
    """CLIP's text tower for the question, SAM's prompt encoder for points, box and mask.

    CLIP: https://arxiv.org/abs/2103.00020, built with open_clip. SAM: https://arxiv.org/abs/2304.02643, appendix A.
    All token states are passed on, not the pooled one alone, because a question has several words to find on the page.
    """

    def __init__(self, config: PromptConfig, width: int, heads: int, words_width: int | None = None) -> None:
        super().__init__()
        self.clip: ClipTower | None = None
        self.heads = heads
        if config.tower is not None:
            self.clip = ClipTower(config.tower, width)
        else:
            # vocab_size=1 and no projection, because words come as vectors from the page's own embedding.
            tower = TextTransformer(
                context_length=config.context,
                vocab_size=1,
                width=width,
                heads=heads,
                layers=config.layers,
                output_dim=None,
                no_causal_mask=True,
            )
            self.into = nn.Identity() if words_width in (None, width) else nn.Linear(words_width or width, width)
            self.positions, self.transformer, self.norm = tower.positional_embedding, tower.transformer, tower.ln_final
        self.point_kinds = nn.Embedding(CORNER_SECOND + 1, width)
        self.nothing_drawn = nn.Parameter(torch.zeros(width))
        self.drawn_in = nn.Sequential(
            nn.Conv2d(DRAWN, width // 8, 2, stride=2),
            LayerNorm2d(width // 8),
            nn.GELU(),
            nn.Conv2d(width // 8, width // 2, 2, stride=2),
            LayerNorm2d(width // 2),
            nn.GELU(),
            nn.Conv2d(width // 2, width, 1),
        )

    def forward(self, vectors: Tensor, point_places: Tensor, questions: QuestionBatch) -> PromptTokens:
        """Encode prompts.

        Args:
            vectors: word vectors of the questions for the own tower, [B, M, words_width]; a public tower reads its own
                ids.
            point_places: encoded positions of the points, [B, P, D].
            questions: ids, point kinds and drawn maps of the same questions.

        Returns:
            Tokens [B, M + P, D] and the dense part.

        Raises:
            ValueError: the questions were prepared for a network without this prompt tower.
        """
        if self.clip is None:
            text, text_valid = self._own(vectors, questions.valid), questions.valid
        else:
            if questions.clip_ids is None or questions.clip_valid is None:
                raise ValueError(
                    "These questions were prepared for another network: they bring no ids for its prompt tower."
                )
            text, text_valid = self.clip(questions.clip_ids), questions.clip_valid
        points = point_places + self.point_kinds(questions.point_kinds)
        tokens = torch.cat([text, points], 1)
        valid = torch.cat([text_valid, questions.point_kinds != NO_POINT], 1)
        dense = self.nothing_drawn[None, :, None, None]
        if questions.drawn is not None:
            has_drawn = questions.has_drawn.float()[:, None, None, None]
            dense = has_drawn * self.drawn_in(questions.drawn) + (1 - has_drawn) * dense
        return PromptTokens(tokens, valid, dense.expand(len(vectors), -1, -1, -1))

    def _own(self, vectors: Tensor, valid: Tensor) -> Tensor:
        most = vectors.shape[1]
        hidden = (~valid).float()[:, None, :] * MASKED
        text = self.transformer(
            self.into(vectors) + self.positions[:most],
            attn_mask=hidden.expand(-1, most, -1).repeat_interleave(self.heads, 0),
        )
        states: Tensor = self.norm(text)
        return states

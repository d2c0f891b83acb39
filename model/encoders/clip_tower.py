"""Encode questions with the text tower of a public CLIP, keeping the states of all tokens."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import open_clip
import torch
from open_clip.model import CLIPTextCfg, _build_text_tower
from open_clip.transformer import TextTransformer
from torch import Tensor, nn

_FIT = "its text tower must be a causal transformer that ends at its last token"


class ClipTower(nn.Module):
    """CLIP's text tower (https://arxiv.org/abs/2103.00020) by open_clip's name, projected to `width`.

    The pooled projection into the space of images is left out, because questions and images are not compared as wholes.
    """

    def __init__(self, name: str, width: int) -> None:
        super().__init__()
        self.tower = text_tower(name)
        self.tower.text_projection = None
        self.project = nn.Linear(self.tower.width, width)

    def forward(self, ids: Tensor) -> Tensor:
        """Encode token ids [B, L] as states [B, L, width]."""
        length = ids.shape[1]
        x = self.tower.token_embedding(ids) + self.tower.positional_embedding[:length]
        x = self.tower.transformer(x, attn_mask=self.tower.attn_mask[:length, :length])
        states: Tensor = self.project(self.tower.ln_final(x))
        return states


def text_tower(name: str) -> TextTransformer:
    """Build the text tower of a CLIP with fresh weights.

    Args:
        name: a model name of open_clip.

    Returns:
        The tower.

    Raises:
        ValueError: open_clip does not know the name, or the tower is not a causal transformer.
    """
    config: dict[str, Any] | None = open_clip.get_model_config(name)
    if config is None:
        raise ValueError(f"open_clip knows no model {name!r}; open_clip.list_models() names those it knows.")
    text = CLIPTextCfg(**config["text_cfg"])
    if text.hf_model_name or text.no_causal_mask or text.embed_cls or text.pool_type != "argmax":
        raise ValueError(f"{name} does not fit as a prompt tower: {_FIT}.")
    return _build_text_tower(config["embed_dim"], text, quick_gelu=config.get("quick_gelu", False))


@cache
def _tokenizer(name: str) -> Any:
    return open_clip.get_tokenizer(name)


def clip_ids(name: str, questions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Tokenise questions for a tower.

    Args:
        name: a model name of open_clip.
        questions: B texts.

    Returns:
        Ids [B, L], cut to the longest question, and which of them are valid, bool [B, L].
    """
    ids: Tensor = _tokenizer(name)(list(questions))
    valid = torch.arange(ids.shape[1])[None] <= ids.argmax(1)[:, None]  # the end token has the highest id
    longest = int(valid.sum(1).max())
    return ids[:, :longest], valid[:, :longest]

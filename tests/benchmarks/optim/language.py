"""A language model of 23 million weights on free text; the text is made by tests.benchmarks.optim.language_text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from tests.benchmarks.optim.characters import Block
from tests.benchmarks.optim.language_text import FILE, TOKENS

CONTEXT, BATCH, HELD_OUT = 512, 32, 128
WIDTH, HEADS, LAYERS = 512, 8, 6


class LanguageModel(nn.Module):
    """Predicts each next token; the output layer is the embedding's transpose."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(TOKENS, WIDTH)
        self.place_embedding = nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        blocks = [Block(WIDTH, HEADS) for _ in range(LAYERS)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        for block in blocks:  # each block adds to a sum of 2 LAYERS terms (Radford et al. 2019, section 2.3)
            for last in (block.out, block.narrow):
                nn.init.normal_(last.weight, std=0.02 / (2 * LAYERS) ** 0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """[B, T] integers -> logits [B, T, TOKENS]."""
        x = self.token_embedding(tokens) + self.place_embedding[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.token_embedding.weight.T


class LanguageTask:
    """Held-out nats a token; 16,384 tokens a step, so that 610 steps see 10 million."""

    name = "language"
    rest_rate = 2e-3

    def __init__(self, folder: Path, device: torch.device, *, tuning: bool = False) -> None:
        part = "tuning_" if tuning else ""
        self.device = device
        with np.load(folder / FILE) as arrays:
            self._train, held_out = (
                torch.from_numpy(arrays[part + name].astype(np.int32)).to(device) for name in ("train", "held_out")
            )
        self._window = torch.arange(CONTEXT + 1, device=device)
        places = self._places(held_out, HELD_OUT, 1)
        self._judged = held_out[places[:, None] + self._window].long()

    def network(self, seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return LanguageModel().to(self.device)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        places = self._places(self._train, BATCH, (seed + 1) * 1_000_003 + step)
        return self._loss(network, self._train[places[:, None] + self._window].long())

    @torch.no_grad()
    def held_out(self, network: nn.Module) -> float:
        pieces = self._judged.split(BATCH)
        return float(torch.stack([self._loss(network, piece) for piece in pieces]).mean())

    def measures(self, network: nn.Module) -> dict[str, float]:
        return {}

    def _places(self, text: Tensor, count: int, seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(len(text) - CONTEXT - 1, (count,), generator=generator).to(self.device, non_blocking=True)

    def _loss(self, network: nn.Module, pieces: Tensor) -> Tensor:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            logits = network(pieces[:, :-1])
        return cross_entropy(logits.flatten(0, 1).float(), pieces[:, 1:].flatten())

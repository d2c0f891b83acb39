"""Character transformers, narrow and wide, on the standard library's own source text."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

CONTEXT, BATCH, HELD_OUT, LETTERS = 64, 16, 128, 128


class Block(nn.Module):
    """Causal self-attention and a wide layer, normalised before (Xiong et al. 2020)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, width] -> [B, T, width]."""
        y = self.norm1(x)
        q, k, v = (
            part(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(-2))
        return x + self.narrow(gelu(self.widen(self.norm2(x))))


class CharacterTransformer(nn.Module):
    """Predicts each next character."""

    def __init__(self, width: int = 128, heads: int = 4, layers: int = 3) -> None:
        super().__init__()
        self.letter_embedding = nn.Embedding(LETTERS, width)
        self.place_embedding = nn.Parameter(torch.zeros(CONTEXT, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, LETTERS)

    def forward(self, letters: Tensor) -> Tensor:
        """[B, T] integers -> logits [B, T, LETTERS]."""
        x = self.letter_embedding(letters) + self.place_embedding[: letters.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class CharacterTask:
    """Held-out nats a character.

    Args:
        width: of the transformer.
        device: where it learns.
        tuning: whether the text is that of the tuning.
    """

    name = "characters"
    rest_rate = 2e-3

    def __init__(self, width: int, device: torch.device, *, tuning: bool = False) -> None:
        self._width, self._device = width, device
        files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
        files = [file for number, file in enumerate(files) if (number % 4 == 0) == tuning]  # never the same text
        text = "".join(file.read_text(encoding="utf-8", errors="ignore") for file in files).encode("ascii", "ignore")
        codes = torch.frombuffer(bytearray(text), dtype=torch.uint8).to(device).long()
        cut = int(0.95 * len(codes))
        self._train, self._held_out = codes[:cut], codes[cut:]
        self._window = torch.arange(CONTEXT + 1, device=device)
        places = self._places(self._held_out, HELD_OUT, 1)
        self._judged = self._held_out[places[:, None] + self._window]

    def network(self, seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return CharacterTransformer(self._width, heads=self._width // 32).to(self._device)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        places = self._places(self._train, BATCH, (seed + 1) * 1_000_003 + step)
        return self._loss(network, self._train[places[:, None] + self._window])

    @torch.no_grad()
    def held_out(self, network: nn.Module) -> float:
        return float(self._loss(network, self._judged))

    @torch.no_grad()
    def measures(self, network: nn.Module) -> dict[str, float]:
        guessed = network(self._judged[:, :-1]).argmax(-1)
        return {"accuracy": float((guessed == self._judged[:, 1:]).float().mean())}

    def _places(self, text: Tensor, count: int, seed: int) -> Tensor:
        places = torch.randint(len(text) - CONTEXT - 1, (count,), generator=torch.Generator().manual_seed(seed))
        return places.to(self._device)

    def _loss(self, network: nn.Module, pieces: Tensor) -> Tensor:
        return cross_entropy(network(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())

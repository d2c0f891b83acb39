"""Encoders of text that a smaller one learns from: what they make of every word, and of a text as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from model.pretraining.decoder_files import load_decoder
from model.pretraining.text_batches import Tokens, batches, evaluating, pooled, tokenise
from model.pretraining.token_vectors import teacher_folder

_READ = 16  # texts at once
_KEPT = 50_000  # readings


@dataclass(frozen=True, slots=True)
class Reading:
    """A text of W words as a teacher reads it, on the CPU."""

    words: Tensor  # [W, E] float16, each the mean of its pieces' states, layer-normed without scale
    seen: Tensor  # [W] bool: words within the teacher's length
    whole: Tensor  # [E] float32, the mean of all states


class Teacher:
    """A transformers model that reads both ways, frozen. Readings of texts that come again are kept."""

    def __init__(self, model: Any, tokenizer: Any, most: int = 128) -> None:
        """``model``: what gives ``last_hidden_state``; texts are cut to ``most`` tokens."""
        self._model = model.eval().requires_grad_(False)
        self._tokenizer, self._most = tokenizer, most
        self._kept: dict[str, Reading] = {}

    @property
    def width(self) -> int:
        """E, the numbers of a state."""
        return int(self._model.config.hidden_size)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """A reading of each text; its words are what ``text.split()`` gives."""
        fresh = sorted({text for text in texts if text not in self._kept}, key=len)
        if len(self._kept) + len(fresh) > _KEPT:
            self._kept, fresh = {}, sorted(set(texts), key=len)
        for some in batches(fresh, _READ):
            self._kept.update(zip(some, self._read(some), strict=True))
        return [self._kept[text] for text in texts]

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """[S, E]: each text as a whole."""
        return torch.stack([reading.whole for reading in self.read(texts)])

    def _read(self, texts: Sequence[str]) -> list[Reading]:
        tokens = tokenise(self._tokenizer, texts, self._most)
        device = next(self._model.parameters()).device
        with evaluating(self._model):
            states = self._model(
                input_ids=tokens.ids.to(device), attention_mask=tokens.valid.long().to(device)
            ).last_hidden_state.float()
        wholes = pooled(states, tokens.valid.to(device)).cpu()
        states = F.layer_norm(states, states.shape[-1:]).cpu()
        return [
            Reading(*_words(states[row], tokens, row, len(text.split())), wholes[row]) for row, text in enumerate(texts)
        ]


def minilm(folder: Path | None = None) -> Teacher:
    """all-MiniLM-L6-v2 from ``folder`` or as installed. ValueError, saying what to install, when it is not there."""
    folder = folder or teacher_folder()
    return Teacher(AutoModel.from_pretrained(folder, local_files_only=True), AutoTokenizer.from_pretrained(folder))


def from_decoder(name: str | Path) -> Teacher:
    """A bidirectional decoder. ValueError when there is none of that name, or it reads forward alone."""
    decoder, tokenizer = load_decoder(name)
    return of_decoder(decoder, tokenizer)


def of_decoder(decoder: Any, tokenizer: Any) -> Teacher:
    """A bidirectional decoder as a teacher. ValueError when it reads forward alone."""
    if getattr(decoder.config, "is_causal", True) is not False:
        raise ValueError("This decoder reads forward alone; make it bidirectional before it teaches.")
    return Teacher(decoder.base_model, tokenizer)


def _words(states: Tensor, tokens: Tokens, row: int, count: int) -> tuple[Tensor, Tensor]:
    """[T, E] -> words [count, E] float16, seen [count]."""
    inside = tokens.words[row] >= 0
    owners = tokens.words[row][inside]
    sums = torch.zeros(count, states.shape[-1]).index_add_(0, owners, states[inside])
    pieces = torch.bincount(owners, minlength=count)
    return (sums / pieces.clamp_min(1)[:, None]).half(), pieces > 0

"""Provide teachers: larger text encoders whose states of words and texts a smaller one learns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from model.pretraining.text_batches import Tokens, batches, evaluating, mean_pool, tokenise
from model.pretraining.token_vectors import teacher_folder

_READ = 16  # texts at once
_KEPT = 50_000  # readings


@dataclass(frozen=True, slots=True)
class Reading:
    """A text of W words as a teacher encodes it, on the CPU."""

    words: Tensor  # [W, E] float16, each the mean of its pieces' states, layer-normed without scale
    seen: Tensor  # [W] bool: words within the teacher's length
    whole: Tensor  # [E] float32, the mean of all states


class Teacher:
    """Frozen bidirectional transformers model; its readings are cached."""

    def __init__(self, model: Any, tokenizer: Any, most: int = 128) -> None:
        """Wrap a model that returns `last_hidden_state`; texts are cut to `most` tokens."""
        self._model = model.eval().requires_grad_(False)
        self._tokenizer, self._most = tokenizer, most
        self._kept: dict[str, Reading] = {}

    @property
    def width(self) -> int:
        """Width E of a state."""
        return int(self._model.config.hidden_size)

    def encode(self, texts: Sequence[str]) -> list[Reading]:
        """Encode each text; its words are those of `text.split()`."""
        fresh = sorted({text for text in texts if text not in self._kept}, key=len)
        if len(self._kept) + len(fresh) > _KEPT:
            self._kept, fresh = {}, sorted(set(texts), key=len)
        for some in batches(fresh, _READ):
            self._kept.update(zip(some, self._encode(some), strict=True))
        return [self._kept[text] for text in texts]

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Encode each text as a whole, [S, E]."""
        return torch.stack([reading.whole for reading in self.encode(texts)])

    def _encode(self, texts: Sequence[str]) -> list[Reading]:
        tokens = tokenise(self._tokenizer, texts, self._most)
        device = next(self._model.parameters()).device
        with evaluating(self._model):
            states = self._model(
                input_ids=tokens.ids.to(device), attention_mask=tokens.valid.long().to(device)
            ).last_hidden_state.float()
        wholes = mean_pool(states, tokens.valid.to(device)).cpu()
        states = F.layer_norm(states, states.shape[-1:]).cpu()
        return [
            Reading(*_words(states[row], tokens, row, len(text.split())), wholes[row]) for row, text in enumerate(texts)
        ]


def minilm(folder: Path | None = None, device: torch.device | str = "cpu") -> Teacher:
    """Load all-MiniLM-L6-v2 from `folder` or as installed; ValueError says what to install."""
    folder = folder or teacher_folder()
    model = AutoModel.from_pretrained(folder, local_files_only=True).to(device)
    return Teacher(model, AutoTokenizer.from_pretrained(folder))


def of_decoder(decoder: Any, tokenizer: Any) -> Teacher:
    """Use a bidirectional decoder as a teacher; ValueError if it is causal."""
    if getattr(decoder.config, "is_causal", True) is not False:
        raise ValueError("This decoder reads forward alone; make it bidirectional before it teaches.")
    return Teacher(decoder.base_model, tokenizer)


def _words(states: Tensor, tokens: Tokens, row: int, count: int) -> tuple[Tensor, Tensor]:
    """Average token states [T, E] by word: words [count, E] float16, seen [count]."""
    inside = tokens.words[row] >= 0
    owners = tokens.words[row][inside]
    sums = torch.zeros(count, states.shape[-1]).index_add_(0, owners, states[inside])
    pieces = torch.bincount(owners, minlength=count)
    return (sums / pieces.clamp_min(1)[:, None]).half(), pieces > 0

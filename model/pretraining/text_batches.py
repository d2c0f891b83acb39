"""Batch texts as padded tokens, with any fast tokenizer of transformers."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")
Texts = Callable[[int], Sequence[str]]  # step -> texts; pure
NO_WORD = -1


@dataclass(frozen=True, slots=True)
class Tokens:
    """B texts padded at the right to T tokens. Words are separated by spaces."""

    ids: Tensor  # [B, T]
    valid: Tensor  # [B, T] bool
    special: Tensor  # [B, T] bool: added by the tokenizer; padding too
    words: Tensor  # [B, T] which word of its text a token is part of, NO_WORD for special ones


def tokenise(tokenizer: Any, texts: Sequence[str], most: int) -> Tokens:
    """Tokenise texts, with single spaces between words as `text.split()` gives them.

    Args:
        tokenizer: a fast tokenizer of transformers.
        texts: B texts.
        most: number of tokens to keep of each.

    Returns:
        The tokens, on the CPU.
    """
    texts = [" ".join(text.split()) for text in texts]
    encoded = tokenizer(
        texts, truncation=True, max_length=most, return_special_tokens_mask=True, return_offsets_mapping=True
    )
    longest = max(1, *(len(ids) for ids in encoded["input_ids"]))
    shape = len(texts), longest
    ids = torch.zeros(shape, dtype=torch.long)
    valid, special = torch.zeros(shape, dtype=torch.bool), torch.ones(shape, dtype=torch.bool)
    words = torch.full(shape, NO_WORD)
    for row, (text, own) in enumerate(zip(texts, encoded["input_ids"], strict=True)):
        ids[row, : len(own)] = torch.tensor(own, dtype=torch.long)
        valid[row, : len(own)] = True
        special[row, : len(own)] = torch.tensor(encoded["special_tokens_mask"][row], dtype=torch.bool)
        starts = list(accumulate((len(word) + 1 for word in text.split()), initial=0))[:-1]
        for place, (begin, end) in enumerate(encoded["offset_mapping"][row]):
            if (
                end > begin and not special[row, place]
            ):  # by its last letter, because a byte-level token begins with the space
                words[row, place] = bisect_right(starts, end - 1) - 1
    return Tokens(ids, valid, special, words)


def mean_pool(states: Tensor, valid: Tensor) -> Tensor:
    """Average states over valid tokens: [B, T, D], [B, T] -> [B, D]."""
    share = valid[..., None].to(states.dtype)
    return (states * share).sum(1) / share.sum(1).clamp_min(1)


def batches(texts: Sequence[T], count: int) -> Iterator[Sequence[T]]:
    """Yield `texts`, or what stands for them, in batches of `count`."""
    for at in range(0, len(texts), count):
        yield texts[at : at + count]


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Switch off dropout and gradients; the module's mode is restored afterwards."""
    before = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(before)

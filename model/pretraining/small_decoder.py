"""Build a small decoder and its tokenizer, for use where no large decoder is available.

It is Llama-like (RMSNorm, rotary positions, SwiGLU: https://arxiv.org/abs/2302.13971). It reads the wordpieces of
model/weights/tokenizer.json, but only those that its text needs, because a small model would otherwise consist mostly
of vectors of pieces that it never sees.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from model.vocabulary import TOKENIZER_FILE

_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderSize:
    """Sizes of a decoder that is trained from scratch."""

    pieces: int = 6000
    width: int = 128
    layers: int = 4
    heads: int = 4
    most: int = 256  # tokens


def small_tokenizer(texts: Iterable[str], pieces: int) -> PreTrainedTokenizerFast:
    """Reduce the project's wordpieces to single characters and the most frequent pieces.

    Args:
        texts: texts in which pieces are counted.
        pieces: number of pieces to keep.

    Returns:
        A fast tokenizer of transformers.
    """
    whole = Tokenizer.from_file(str(TOKENIZER_FILE))
    whole.no_truncation()
    whole.no_padding()
    counts: Counter[str] = Counter()
    for encoding in whole.encode_batch(list(texts), add_special_tokens=False):
        counts.update(encoding.tokens)
    written = json.loads(whole.to_str())
    table: dict[str, int] = written["model"]["vocab"]
    needed = [*_SPECIAL.values(), *(piece for piece in table if len(piece.removeprefix("##")) == 1 and piece.isascii())]
    often = sorted(counts, key=lambda piece: (-counts[piece], piece))
    kept_pieces = list(dict.fromkeys([*needed, *often]))[: max(pieces, len(needed))]
    written["model"]["vocab"] = {piece: number for number, piece in enumerate(kept_pieces)}
    for added in written["added_tokens"]:
        added["id"] = written["model"]["vocab"][added["content"]]
    for name, special in written["post_processor"].get("special_tokens", {}).items():
        special["ids"] = [written["model"]["vocab"][name]]
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(written)), **_SPECIAL)


def small_decoder(tokenizer: Any, size: DecoderSize) -> LlamaForCausalLM:
    """Build a decoder with fresh weights from torch's seed."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.width,
            intermediate_size=size.width * 8 // 3,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            max_position_embeddings=size.most,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.cls_token_id,
            eos_token_id=tokenizer.sep_token_id,
        )
    )

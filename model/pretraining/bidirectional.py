"""Make a decoder attend in both directions: the first step of LLM2Vec.

BehnamGhader et al. 2024 (https://arxiv.org/abs/2404.05961), section 2.1. The second and third step are in
model.pretraining.masked_next_token and model.pretraining.contrastive.
"""

from typing import Any

import torch

from model.pretraining.text_batches import evaluating

_PROBE = 8  # tokens that the check reads


def make_bidirectional(decoder: Any) -> Any:
    """Let every token of a decoder attend to every other, in place.

    transformers marks a decoder as causal in three places, and each family of models reads one or more of them. The
    config decides the mask. The attention modules inform the kernels. Old families keep a triangle as a buffer. A
    sliding window stays, in both directions.

    Args:
        decoder: a decoder of transformers.

    Returns:
        The same decoder.

    Raises:
        ValueError: a later token still changes nothing before it. This holds for state space models, and for families
            that build a mask of their own.
    """
    for module in decoder.modules():
        config = getattr(module, "config", None)
        if config is not None:
            config.is_causal = False
        if hasattr(module, "is_causal"):
            module.is_causal = False
        for name, buffer in module.named_buffers(recurse=False):
            if name == "bias" and buffer.dtype == torch.bool and buffer.ndim == 4:
                buffer |= buffer.transpose(-1, -2).clone()
    if not looks_ahead(decoder):
        raise ValueError(
            f"{type(decoder).__name__} cannot be made bidirectional: a later token changes no earlier state. Choose a "
            "decoder with plain attention (Llama, Mistral, Qwen, Gemma, GPT-2, GPT-NeoX, OPT, Falcon, Phi ...)."
        )
    return decoder


def is_bidirectional(decoder: Any) -> bool:
    """Return whether the decoder was made bidirectional, in this process or before it was saved."""
    return getattr(decoder.config, "is_causal", True) is False


def looks_ahead(decoder: Any) -> bool:
    """Return whether the last of some tokens changes the state of the first."""
    device, size = next(decoder.parameters()).device, decoder.get_input_embeddings().num_embeddings
    ids = torch.arange(_PROBE, device=device)[None] % size
    changed = ids.clone()
    changed[0, -1] = (ids[0, -1] + size // 2) % size
    with evaluating(decoder):
        first, second = (
            decoder.base_model(
                input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False
            ).last_hidden_state[0, 0]
            for tokens in (ids, changed)
        )
    return not torch.equal(first, second)

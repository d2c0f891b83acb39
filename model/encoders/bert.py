"""Run BERT over word vectors in transformers' own module, so that the weights of any BERT fit.

That module is imported where a BERT is built: a server whose networks have none starts sooner.
"""

from torch import Tensor, nn

from model.presets import TextConfig


class BertLayers(nn.Module):
    """BERT (https://arxiv.org/abs/1810.04805) that reads one vector a word instead of wordpieces.

    All layers share one layout bias, added to their attention scores (LayoutLMv2, https://arxiv.org/abs/2012.14740,
    section 2.2), because transformers passes one mask to all of them. The table of wordpieces lives in
    `model.encoders.text.WordEmbedding`, where hiding a word hides all of it.
    """

    def __init__(self, config: TextConfig, width: int, heads: int) -> None:
        from transformers import BertConfig, BertModel

        super().__init__()
        self.bert = BertModel(
            BertConfig(
                vocab_size=1,
                hidden_size=width,
                num_hidden_layers=config.layers,
                num_attention_heads=heads,
                intermediate_size=4 * width,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
            ),
            add_pooling_layer=False,
        )
        self.bert.set_input_embeddings(None)
        self.bert.main_input_name = "inputs_embeds"  # else checkpointing looks for a table of wordpieces, and warns

    def checkpointing(self, on: bool) -> None:
        """Recompute the activations of each layer in the backward pass, while training."""
        # Versions of transformers up to 5.17 at least call it gradient checkpointing.
        name = "activation" if hasattr(self.bert, "activation_checkpointing_enable") else "gradient"
        if on:
            getattr(self.bert, f"{name}_checkpointing_enable")({"use_reentrant": False})
        else:
            getattr(self.bert, f"{name}_checkpointing_disable")()

    def forward(self, vectors: Tensor, rank: Tensor, bias: Tensor) -> Tensor:
        """Encode words in context.

        BERT has a fixed number of positions (512). All later words share the last one; layout tells them apart.

        Args:
            vectors: word vectors, [G, N, W].
            rank: position of each word in reading order, [G, N].
            bias: layout bias, [G, heads, N, N].

        Returns:
            States, [G, N, W].
        """
        positions = rank.long().clamp(0, self.bert.config.max_position_embeddings - 1)
        x = self.bert.embeddings(inputs_embeds=vectors, position_ids=positions)
        states: Tensor = self.bert.encoder(x, attention_mask=bias.to(x.dtype)).last_hidden_state
        return states

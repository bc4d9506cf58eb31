"""The parts of a language model by one name, whatever its architecture calls them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor, nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# What a model reads of a batch; the rest is for losses.
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def hidden_states(model: "PreTrainedModel", batch: Mapping[str, Tensor]) -> Tensor:
    """What the last layer makes of every position: what `logits` starts from.

    Args:
        model: as `build_model` gives it.
        batch: `input_ids` [B, S] int64, for T5 also `decoder_input_ids` [B, D]; `attention_mask` [B, S] where there is
            padding, `token_type_ids` [B, S] where there are types. Other keys are not looked at.

    Returns:
        [B, S, H]; of T5's decoder [B, D, H].
    """
    inputs = {name: batch[name] for name in _INPUTS if name in batch}
    if model.config.model_type != "t5":
        return model.base_model(**inputs, use_cache=False).last_hidden_state
    return model.decoder(
        input_ids=batch["decoder_input_ids"],
        attention_mask=batch.get("decoder_attention_mask"),
        encoder_hidden_states=model.encoder(**inputs).last_hidden_state,
        encoder_attention_mask=batch.get("attention_mask"),
        use_cache=False,
    ).last_hidden_state


def logits(model: "PreTrainedModel", hidden: Tensor) -> Tensor:
    """A number for each token of the vocabulary, by the model's whole head.

    Args:
        model: as `build_model` gives it.
        hidden: [N, H] or [..., H], any positions of `hidden_states`.

    Returns:
        [N, V] or [..., V].
    """
    if model.config.model_type == "t5" and model.config.scale_decoder_outputs:
        hidden = hidden * model.model_dim**-0.5
    return output_head(model)(hidden)


def sentence_logits(model: "PreTrainedModel", hidden: Tensor) -> Tensor:
    """What BERT's next-sentence head tells of each row: whether the second half follows, or is random.

    Args:
        model: a BERT with that head.
        hidden: [B, S, H] of `hidden_states`.

    Returns:
        [B, 2].
    """
    return model.cls.seq_relationship(model.bert.pooler(hidden))


def input_embeddings(model: "PreTrainedModel") -> nn.Embedding:
    """The table of token embeddings; of T5 the one that encoder and decoder share."""
    return model.get_input_embeddings()


def output_head(model: "PreTrainedModel") -> nn.Module:
    """From hidden states to logits: with dense layer, norm and bias where the architecture has them."""
    return model.cls.predictions if model.config.model_type == "bert" else model.lm_head


def output_bias(model: "PreTrainedModel") -> nn.Parameter | None:
    """[V], what the last layer adds to each token's logit: BERT and RoBERTa have it, the others do not."""
    return model.get_output_embeddings().bias


def is_tied(model: "PreTrainedModel") -> bool:
    """Whether the output's table is the input's."""
    return model.get_output_embeddings().weight is model.get_input_embeddings().weight


def freeze_unread(model: "PreTrainedModel") -> None:
    """Freeze what no output depends on: of an untied BERT or RoBERTa the second of two biases, which nothing reads."""
    bias = getattr(output_head(model), "bias", None)
    if bias is not None and bias is not output_bias(model):
        bias.requires_grad_(False)

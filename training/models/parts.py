"""Access to the parts of a language model by the same names for every architecture."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from transformers import ModernBertForMaskedLM
from transformers.modeling_layers import GradientCheckpointingLayer

from training.models.deberta import DebertaWithMaskDecoder
from training.models.document_masks import document_inputs
from training.models.next_sentence import ModernBertForPreTraining

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Arrays of a batch that are inputs of the model; the other arrays are inputs of the loss.
MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def model_inputs(model: "PreTrainedModel", batch: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the arrays of a batch that the model reads, without those of a decoder."""
    inputs: dict[str, Any] = {name: batch[name] for name in MODEL_INPUTS if name in batch}
    if isinstance(model, ModernBertForPreTraining):
        inputs.pop("token_type_ids", None)  # only its next-sentence head uses them
    if "document_ids" in batch:
        inputs |= document_inputs(model.config, batch["document_ids"])
    return inputs


def hidden_states(model: "PreTrainedModel", batch: Mapping[str, Tensor]) -> Tensor:
    """Return the output of the last layer at every position, from which `logits` computes logits.

    Args:
        model: a model from `build_model`.
        batch: `input_ids` [B, S] int64, and for T5 `decoder_input_ids` [B, D]; optionally `attention_mask` [B, S],
            `token_type_ids` [B, S], and `document_ids` [B, S] (see `document_masks`). Other keys are ignored.

    Returns:
        [B, S, H], where H is the hidden size; for T5 the decoder's output [B, D, H].
    """
    inputs = model_inputs(model, batch)
    if isinstance(model, DebertaWithMaskDecoder):
        return model.decode_masked(inputs)
    if not model.config.is_encoder_decoder:
        return model.base_model(**inputs, use_cache=False).last_hidden_state
    return model.decoder(
        input_ids=batch["decoder_input_ids"],
        attention_mask=batch.get("decoder_attention_mask"),
        encoder_hidden_states=model.encoder(**inputs).last_hidden_state,
        encoder_attention_mask=batch.get("attention_mask"),
        use_cache=False,
    ).last_hidden_state


def compile_layers(model: "PreTrainedModel") -> None:
    """Compile each layer with torch.compile.

    Layers are alike, so one is compiled for all. The masks of attention are made outside of them: in a compiled model,
    torch before 2.14 makes masks that let every token pass, too, and with a mask there is no flash attention.
    """
    for layer in model_layers(model):
        layer.compile()


def is_compiled(model: "PreTrainedModel") -> bool:
    """Return whether `compile_layers` was called on the model."""
    return any(layer._compiled_call_impl is not None for layer in model_layers(model))


def model_layers(model: "PreTrainedModel") -> Iterator[nn.Module]:
    """Yield the layers of a model of transformers, all of which can compute their activations again."""
    return (module for module in model.modules() if isinstance(module, GradientCheckpointingLayer))


def logits(model: "PreTrainedModel", hidden: Tensor) -> Tensor:
    """Return the logits of all V tokens of the vocabulary.

    Args:
        model: a model from `build_model`.
        hidden: [..., H], hidden states at any positions, from `hidden_states`.

    Returns:
        [..., V].
    """
    if getattr(model.config, "scale_decoder_outputs", False):  # of T5
        hidden = hidden * model.model_dim**-0.5
    return output_head(model)(hidden)


def sentence_logits(model: "PreTrainedModel", hidden: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
    """Return the logits of the next-sentence head.

    Class 0 means that the second segment follows the first, class 1 that the second segment is random.

    Args:
        model: a BERT or ModernBERT with the next-sentence head.
        hidden: [B, S, H] from `hidden_states`.
        batch: the inputs of `hidden_states`.

    Returns:
        [B, 2].
    """
    if isinstance(model, ModernBertForPreTraining):
        return model.sentence_logits(hidden, batch["attention_mask"], batch["token_type_ids"])
    return model.cls.seq_relationship(model.bert.pooler(hidden))


def input_embeddings(model: "PreTrainedModel") -> nn.Embedding:
    """Return the token embeddings; T5's encoder and decoder share them."""
    return model.get_input_embeddings()


def token_tables(model: "PreTrainedModel") -> list[nn.Embedding]:
    """Return all tables that tokens are looked up in: one, or two if there is a discriminator that has its own."""
    discriminator = getattr(model, "discriminator", None)
    own = None if discriminator is None else discriminator.get_input_embeddings()
    return [input_embeddings(model), *([own] if own is not None else [])]


def embedding_tables(model: "PreTrainedModel") -> list[nn.Embedding]:
    """Return the tables of token embeddings, which start alike, without a table of differences (`gdes`)."""
    has_differences = getattr(model.config, "embedding_sharing", None) == "gdes"
    return token_tables(model)[: 1 if has_differences else None]


def find_generator(model: "PreTrainedModel") -> "PreTrainedModel":
    """Return the generator of replaced-token detection, or the model itself if it has none."""
    return getattr(model, "generator", model)


def output_head(model: "PreTrainedModel") -> nn.Module:
    """Return the module that maps hidden states to logits, with the dense layer, norm and bias of the architecture."""
    model = find_generator(model)
    if isinstance(model, ModernBertForMaskedLM):
        return nn.Sequential(model.head, model.decoder)
    return model.cls.predictions if hasattr(model, "cls") else model.lm_head


def output_bias(model: "PreTrainedModel") -> nn.Parameter | None:
    """Return the bias [V] of the logits, which only masked language models have."""
    output = model.get_output_embeddings()
    return None if output is None else output.bias


def is_tied(model: "PreTrainedModel") -> bool:
    """Return whether the output layer and the token embeddings share one weight."""
    return model.get_output_embeddings().weight is model.get_input_embeddings().weight


def freeze_unused_parameters(model: "PreTrainedModel") -> None:
    """Freeze the parameters that no output depends on: the second of two biases of an untied BERT or RoBERTa."""
    bias = getattr(output_head(model), "bias", None)
    if bias is not None and bias is not output_bias(model):
        bias.requires_grad_(False)


def set_embeddings_frozen(model: nn.Module, frozen: bool) -> None:
    """Freeze or unfreeze the token embeddings of a model."""
    for table in token_tables(model):
        table.weight.requires_grad_(not frozen)


def freeze_all_but_embeddings(model: nn.Module) -> None:
    """Freeze all weights of a model except its token embeddings and a tied output layer."""
    embeddings = {table.weight for table in token_tables(model)}
    for weight in model.parameters():
        weight.requires_grad_(weight in embeddings)

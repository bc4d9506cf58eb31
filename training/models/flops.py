"""FLOPs that training really spends on a sequence, by architecture."""

from transformers import PreTrainedConfig

from bitcipher.errors import BitcipherError
from training.models.deberta import DECODER_LAYERS
from training.models.encoders import architecture_of
from training.models.matrix_flops import FORWARD_AND_BACKWARD, attention_flops, layer_flops, linear_flops


def training_flops(
    config: PreTrainedConfig, length: int, predictions: float, decoder_length: int | None = None
) -> float:
    """Return the FLOPs of the matrix products of one training sequence, forward and backward.

    The head computes logits only at the positions that are predicted, and the lookup of embeddings costs nothing.
    BERT's next-sentence head is left out: it predicts once per sequence.

    Args:
        config: configuration of a GPT-2, OPT, BERT, RoBERTa, ModernBERT, DeBERTa or T5.
        length: number of tokens of the sequence; for T5, of the encoder's input.
        predictions: number of predicted tokens per sequence, such as 0.15 times the length for masked models.
        decoder_length: number of tokens that T5's decoder reads.

    Raises:
        BitcipherError: if the architecture is another one, or `decoder_length` is missing for T5, or given for another.
    """
    architecture = architecture_of(config)
    if config.is_encoder_decoder != (decoder_length is not None):
        raise BitcipherError("`decoder_length` is needed for T5, and for no other architecture.")
    hidden, vocabulary = config.hidden_size, config.vocab_size
    head = linear_flops(predictions, hidden, vocabulary)
    match architecture:
        case "gpt2":
            layer = layer_flops(length, hidden, config.n_inner or 4 * hidden)
        case "opt":
            layer = layer_flops(length, hidden, config.ffn_dim)
        case "bert" | "roberta":
            layer = layer_flops(length, hidden, config.intermediate_size)
            head += linear_flops(predictions, hidden, hidden)
            if hasattr(config, "embedding_size"):
                head += linear_flops(length, config.embedding_size, hidden)
        case "modernbert":
            layer = layer_flops(length, hidden, config.intermediate_size, gated=True)
            head += linear_flops(predictions, hidden, hidden)
        case "deberta":
            # Products with the embeddings of distances, whose projections a batch shares.
            distances = 2 * linear_flops(length, hidden, 2 * config.max_relative_positions)
            layer = layer_flops(length, hidden, config.intermediate_size) + distances
            # The decoder reads keys and values of the layer before twice, and replaces the last layer.
            head += linear_flops(predictions, hidden, hidden) + (DECODER_LAYERS - 1) * layer
        case "t5":
            inner, gated = config.num_heads * config.d_kv, config.is_gated_act
            layer = layer_flops(length, hidden, config.d_ff, inner, gated)
            decoder = layer_flops(decoder_length or 0, hidden, config.d_ff, inner, gated)
            decoder += attention_flops(decoder_length or 0, length, hidden, inner)
            head += config.num_decoder_layers * decoder
        case _:
            raise BitcipherError(f"The FLOPs of {architecture!r} are not known; give one of the trained architectures.")
    return FORWARD_AND_BACKWARD * (config.num_hidden_layers * layer + head)

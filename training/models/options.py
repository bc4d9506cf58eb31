"""Model options: architecture and sizes."""

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import Field, model_validator

from bitcipher.files.records import Float, Record

Architecture = Literal["bert", "roberta", "modernbert", "deberta", "gpt2", "opt", "t5"]
ARCHITECTURES: tuple[str, ...] = get_args(Architecture)
EmbeddingSharing = Literal["es", "nes", "gdes"]


@dataclass(frozen=True)
class ArchitectureTraits:
    """How an architecture reads text, for the code that trains, fine-tunes and evaluates models of all of them."""

    kind: Literal["encoder", "decoder", "encoder-decoder"]
    token_types: bool = False
    """Whether there are embeddings for the first and the second text of a pair."""
    double_end: bool = False
    """Whether two end tokens separate the texts of a pair."""
    positions_after_padding: bool = False
    """Whether the first position is the one after the id of the padding token."""
    rotary_positions: bool = False
    """Whether positions have no weights, so that a trained model can be fine-tuned on longer sequences."""


TRAITS = {
    "bert": ArchitectureTraits("encoder", token_types=True),
    "roberta": ArchitectureTraits("encoder", double_end=True, positions_after_padding=True),
    "modernbert": ArchitectureTraits("encoder", rotary_positions=True),
    "deberta": ArchitectureTraits("encoder"),
    "gpt2": ArchitectureTraits("decoder"),
    "opt": ArchitectureTraits("decoder"),
    "t5": ArchitectureTraits("encoder-decoder"),
}
ENCODERS = tuple(name for name, traits in TRAITS.items() if traits.kind == "encoder")
DECODERS = tuple(name for name, traits in TRAITS.items() if traits.kind == "decoder")
ENCODER_DECODERS = tuple(name for name, traits in TRAITS.items() if traits.kind == "encoder-decoder")

# Standard deviation of the initial weights of all architectures of transformers except T5.
TRANSFORMERS_INITIALIZER_RANGE = 0.02
# Default of T5 in transformers.
RELATIVE_ATTENTION_NUM_BUCKETS = 32
# Defaults of ModernBERT in transformers.
GLOBAL_ATTN_EVERY_N_LAYERS = 3
LOCAL_ATTENTION = 128
_MODERNBERT_OPTIONS = {"global_attn_every_n_layers": GLOBAL_ATTN_EVERY_N_LAYERS, "local_attention": LOCAL_ATTENTION}


class ModelOptions(Record):
    """Architecture and sizes of a model; the size of its vocabulary comes from the tokenizer.

    The default is a RoBERTa of Deshpande et al. (2023), "Honey, I Shrunk the Language": 11.3 million parameters with a
    vocabulary of 19,010 tokens.
    """

    architecture: Architecture = "roberta"
    """`bert`, `roberta`, `modernbert` or `deberta` (encoders), `gpt2` or `opt` (decoders), or `t5`
    (encoder-decoder)."""
    num_hidden_layers: int = Field(8, ge=1)
    """Number of Transformer layers; T5 has this many in the encoder and in the decoder."""
    hidden_size: int = Field(256, ge=1)
    """Width of the hidden states, and of the token embeddings unless `embedding_size` is set."""
    num_attention_heads: int = Field(8, ge=1)
    """Attention heads per layer; must divide `hidden_size`."""
    intermediate_size: int = Field(1024, ge=1)
    """Width of the feed-forward layers, commonly four times `hidden_size`; 1.5 times for `modernbert`, whose layers are
    gated."""
    max_position_embeddings: int = Field(128, ge=1)
    """Maximum sequence length in tokens; also for T5 and ModernBERT, which have no position
    embeddings, and for DeBERTa, which has embeddings of distances."""
    dropout: Float = Field(0.1, ge=0, lt=1)
    """Dropout probability of every dropout layer of the architecture."""
    initializer_range: Float | None = Field(None, gt=0)
    """Standard deviation of the initial weights; by default 1/√`hidden_size` for `modernbert` and 0.02 for the others.
    T5 scales its weights itself."""
    relative_attention_num_buckets: int = Field(RELATIVE_ATTENTION_NUM_BUCKETS, ge=4, le=254)
    """Number of groups of distances that have a bias of their own in the attention of `t5`. The decoder tells half as
    many distances apart exactly, and the encoder a quarter in each direction; larger distances share groups. A model
    that must count equal tokens needs more of them."""
    global_attn_every_n_layers: int = Field(GLOBAL_ATTN_EVERY_N_LAYERS, ge=1)
    """Distance between layers of `modernbert` that attend to the whole sequence, beginning with the first; the others
    attend to `local_attention` tokens. With 1, all layers attend to the whole sequence."""
    local_attention: int = Field(LOCAL_ATTENTION, ge=2, multiple_of=2)
    """Number of tokens around a token that a local layer of `modernbert` attends to, half of them on either side."""
    tie_word_embeddings: bool = True
    """Share one weight between the input embeddings and the output layer."""
    embedding_size: int | None = Field(None, ge=1)
    """Width of the token embeddings if it differs from `hidden_size` (untied `roberta` only); a linear layer and a
    LayerNorm project them to `hidden_size`."""
    next_sentence: bool = False
    """Add the next-sentence head (`bert` and `modernbert` only)."""
    generator_layers: int | None = Field(None, ge=1)
    """Number of layers of the generator of replaced-token detection, which has the other sizes of the discriminator
    (encoders only). With it, all other options are those of the discriminator."""
    embedding_sharing: EmbeddingSharing = "gdes"
    """With `generator_layers`: token embeddings of the discriminator. `es`: those of the generator, trained by both;
    `nes`: a table of its own; `gdes`: those of the generator without gradients, plus a trained difference."""
    projector_size: int | None = Field(None, ge=1)
    """Width of the projections of sentences that self-supervised objectives compare (encoders only). With it, the model
    has a projector instead of the language-modeling head."""
    checkpoint: str | None = None
    """Run, or folder or URI of a model, with the initial weights; its sizes must equal these options."""

    @model_validator(mode="after")
    def _check(self) -> "ModelOptions":
        if self.embedding_size is not None and self.architecture != "roberta":
            raise ValueError(f"`model.embedding_size` needs a roberta; leave it out for {self.architecture}.")
        if self.embedding_size is not None and self.tie_word_embeddings:
            raise ValueError("`model.embedding_size` needs an untied model; set `model.tie_word_embeddings` to false.")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"`model.hidden_size` must be divisible by `model.num_attention_heads`, "
                f"got {self.hidden_size} and {self.num_attention_heads}."
            )
        if self.initializer_range is not None and self.architecture == "t5":
            raise ValueError("`model.initializer_range` has no effect on a t5, which scales its weights; leave it out.")
        if self.relative_attention_num_buckets != RELATIVE_ATTENTION_NUM_BUCKETS and self.architecture != "t5":
            raise ValueError(
                f"`model.relative_attention_num_buckets` needs a t5; leave it out for {self.architecture}."
            )
        for option, default in _MODERNBERT_OPTIONS.items():
            if getattr(self, option) != default and self.architecture != "modernbert":
                raise ValueError(f"`model.{option}` needs a modernbert; leave it out for {self.architecture}.")
        if self.next_sentence and self.architecture not in ("bert", "modernbert"):
            raise ValueError(f"`model.next_sentence` needs a bert or modernbert; leave it out for {self.architecture}.")
        self._check_encoder_option("generator_layers", ("embedding_size", "next_sentence", "checkpoint"))
        self._check_encoder_option("projector_size", ("embedding_size", "next_sentence", "generator_layers"))
        return self

    def _check_encoder_option(self, option: str, excluded: tuple[str, ...]) -> None:
        if getattr(self, option) is None:
            return
        if self.architecture not in ENCODERS:
            raise ValueError(f"`model.{option}` needs {', '.join(ENCODERS)}; leave it out for {self.architecture}.")
        for name in excluded:
            if getattr(self, name):
                raise ValueError(f"`model.{option}` and `model.{name}` exclude each other; set one of them.")

    @property
    def effective_initializer_range(self) -> float:
        """`initializer_range`, or its default for the architecture if it is not set.

        A ModernBERT of width 128 learns more slowly with a standard deviation of 0.02 (see docs/training-results.md).
        """
        if self.initializer_range is not None:
            return self.initializer_range
        return self.hidden_size**-0.5 if self.architecture == "modernbert" else TRANSFORMERS_INITIALIZER_RANGE

    @property
    def embedding_dim(self) -> int:
        """Width of the token embeddings."""
        return self.hidden_size if self.embedding_size is None else self.embedding_size

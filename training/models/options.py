"""Which transformer, and how large."""

from dataclasses import dataclass

from bitcipher.errors import BitcipherError

ARCHITECTURES = ("bert", "roberta", "gpt2", "opt", "t5")


@dataclass(frozen=True)
class ModelOptions:
    """The shape of a model; its vocabulary is that of its tokenizer.

    Unless told otherwise it is a RoBERTa of the downscaling study (SPEC section 7): 11.3 million weights at a
    vocabulary of 19,010 tokens.

    Raises:
        BitcipherError: if there is no such architecture, or a size does not fit.
    """

    architecture: str = "roberta"
    """`bert`, `roberta` (encoders), `gpt2`, `opt` (decoders) or `t5` (encoder and decoder)."""

    layers: int = 8
    """Transformer layers; of T5 so many in the encoder and as many in the decoder."""

    width: int = 256
    """Numbers in every hidden state, and in a token's embedding unless `embedding` says otherwise."""

    heads: int = 8
    """Attention heads of a layer; the width is shared out evenly among them."""

    inner: int = 1024
    """Width within the feed-forward part of a layer, commonly four times `width`."""

    positions: int = 128
    """Tokens of the longest sequence. What an architecture needs on top is added to it; T5 has no positions' table."""

    dropout: float = 0.1
    """The share of numbers that are left out at random while training, wherever the architecture has dropout."""

    tied: bool = True
    """Whether the output's table is the input's."""

    embedding: int | None = None
    """Numbers in a row of the table, where they are not `width`: a linear layer and a LayerNorm come between. RoBERTa
    alone, and untied."""

    next_sentence: bool = False
    """Whether a BERT has the head that tells if one half of its text follows the other."""

    checkpoint: str | None = None
    """A folder or URI whose weights the model starts from, or a run whose newest checkpoint has them; its sizes must be
    those given here, and its tokenizer is the text's."""

    def __post_init__(self) -> None:
        if self.architecture not in ARCHITECTURES:
            raise BitcipherError(
                f"There is no architecture {self.architecture!r}: choose one of {', '.join(ARCHITECTURES)}."
            )
        for name in ("layers", "width", "heads", "inner", "positions"):
            if getattr(self, name) < 1:
                raise BitcipherError(f"A model's {name} must be 1 or more, not {getattr(self, name)}.")
        if self.embedding is not None:
            self._check_embedding()
        if self.width % self.heads:
            raise BitcipherError(
                f"A model's width must be divisible by its heads, and {self.width} by {self.heads} is not."
            )
        if not 0 <= self.dropout < 1:
            raise BitcipherError(f"A model's dropout must be at least 0 and below 1, not {self.dropout}.")
        if self.next_sentence and self.architecture != "bert":
            raise BitcipherError(f"Only bert has a next-sentence head: leave it out for {self.architecture}.")

    @property
    def table_width(self) -> int:
        """Numbers in a row of the table of token embeddings."""
        return self.width if self.embedding is None else self.embedding

    def _check_embedding(self) -> None:
        if self.architecture != "roberta":
            raise BitcipherError(
                f"Only roberta has an embedding of another width than its states: "
                f"leave embedding out for {self.architecture}."
            )
        if self.embedding < 1:
            raise BitcipherError(f"A model's embedding must be 1 or more, not {self.embedding}.")
        if self.tied:
            raise BitcipherError(
                "A model whose embedding has a width of its own has a table of its own for output: set tied to false."
            )

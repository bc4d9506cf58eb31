"""What can be chosen in a build: one frozen record, from the command line, a YAML recipe, or Python."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from bitcipher.counts import ContextWindow
from bitcipher.embedding import MODES as CIPHER_MODES
from bitcipher.embedding import CipherEmbedding
from bitcipher.embedding.spectral import SpectralEmbedding
from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions
from pipelines.runtime.memory_budget import MemoryBudget

SPECTRAL = "spectral"
MODES = (SPECTRAL, *CIPHER_MODES)


@dataclass(frozen=True)
class EmbeddingOptions:
    """How vectors are made of counts. What is of another mode is checked, and of no effect."""

    bits: int = 25
    """Bits of the code; mode cat has 2 · radius · bits dimensions, sum and cipher have `bits`."""
    window: int = 4
    """The farthest context word on either side."""
    mode: str = SPECTRAL
    """spectral (the weighed counts factored), cat (a block of dimensions an offset), sum (all offsets in one) or cipher
    (no context)."""
    vector_size: int = 200
    """Of mode spectral: dimensions of the vectors; fewer where the counts have fewer."""
    context: str = "both"
    """Of mode spectral: positions (each offset on its own), window (all offsets added up) or both side by side. Summed
    counts have the window alone."""
    noise: str = "document_share"
    """Not of mode spectral. How far codes are trusted: document_share, frequency, document_ratio or none."""
    log: str = "aggregate"
    """Not of mode spectral. aggregate (log of each block's shares), counts (log of counts, before they are added) or
    none."""

    def __post_init__(self) -> None:
        """Refuse what no embedding understands."""
        if self.mode not in MODES:
            raise BitcipherError(f"There is no mode {self.mode!r}: choose {', '.join(MODES)}.")
        SpectralEmbedding(self.vector_size, self.context)
        CipherEmbedding(self.bits, self.window, noise=self.noise, log=self.log)

    def embedding(self) -> CipherEmbedding | SpectralEmbedding:
        """The estimator of these options."""
        if self.mode == SPECTRAL:
            return SpectralEmbedding(self.vector_size, self.context)
        return CipherEmbedding(self.bits, self.window, self.mode, self.noise, self.log)

    def check_context_window(self, context_window: ContextWindow) -> None:
        """Refuse what cannot be made of counts with such a window, as far as their offsets go."""
        _require(
            not (context_window.summed and self.mode == SPECTRAL and self.context == "positions"),
            "Summed counts have no positions to tell apart: choose context window, or build without summed.",
        )


@dataclass(frozen=True)
class BuildOptions:
    """How sources become counts, and counts vectors."""

    embedding: EmbeddingOptions = EmbeddingOptions()
    """The vectors that are made with the build; others can be had from its counts later."""
    format: str | None = None
    """text, jsonl, parquet or wet for all sources; told from the ending of each if not given."""
    document: str = "line"
    """In plain text: each line is a document, or the whole file."""
    field: str = "text"
    """The field of JSON lines, or the column of Parquet, that holds the text."""
    tokenizer: str = "spacy"
    """spacy, spacy-exact, whitespace, or the path of a Hugging Face tokenizer.json."""
    lowercase: bool = True
    """Lower-case tokens; a tokenizer.json has its own say."""
    min_count: int = 5
    """Words that occur less often become <oov>."""
    max_vocab_size: int | None = None
    """Keep that many words at most, the most frequent."""
    word_list: str | None = None
    """Keep exactly the words of this file, one a line."""
    summed: bool = False
    """Count all offsets into one matrix: for wide windows. It gives modes sum and spectral, the latter of the window
    alone."""
    shard_mib: int = 64
    """Text in a shard: what is lost when a worker dies, and counted again."""
    memory_mib: int = 1500
    """Memory of a worker; a shard for which it is too little is counted in slices."""

    def __post_init__(self) -> None:
        """Refuse what cannot go together, before anything is read."""
        ReadOptions(self.document, self.field)
        _require(self.min_count >= 1, f"The minimum count must be at least 1, not {self.min_count}.")
        _require(
            self.max_vocab_size is None or self.max_vocab_size >= 1,
            f"The maximum size must be at least 1, not {self.max_vocab_size}.",
        )
        _require(self.shard_mib >= 1, f"A shard must have at least 1 megabyte, not {self.shard_mib}.")
        _require(
            self.word_list is None or (self.max_vocab_size is None and self.min_count == BuildOptions.min_count),
            "A word list says which words are kept: leave out the minimum count and the maximum size.",
        )
        _require(
            not self.summed or self.embedding.mode != "cat",
            "Summed counts have no offsets to tell apart: choose mode spectral or sum with summed.",
        )
        MemoryBudget(self.memory_mib)
        self.embedding.check_context_window(self.context_window)  # which refuses a radius that cannot be counted

    @property
    def context_window(self) -> ContextWindow:
        """Which pairs are counted."""
        return ContextWindow(self.embedding.window, self.summed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, those of the embedding among the others: the form of recipes and manifests."""
        values = asdict(self)
        return {**values.pop("embedding"), **values}

    @classmethod
    def from_dict(cls, values: dict[str, Any], origin: str) -> "BuildOptions":
        """Options from plain values.

        Args:
            values: the form of `to_dict`; what is left out has its default.
            origin: what to call their source in errors.

        Raises:
            BitcipherError: if a name is not that of an option, or a value not of its type.
        """
        types = {field.name: field.type for record in (cls, EmbeddingOptions) for field in fields(record)}
        del types["embedding"]
        for name, value in values.items():
            _require(
                name in types,
                f"{origin} has an option {name!r} that does not exist; there are {', '.join(sorted(types))}.",
            )
            _require(
                type(value) in _ACCEPTED[types[name]],
                f"{origin} gives {name} as {value!r}, which is not of type {_type_name(types[name])}.",
            )
        names = [field.name for field in fields(EmbeddingOptions)]
        embedding = EmbeddingOptions(**{name: values[name] for name in names if name in values})
        return cls(embedding, **{name: value for name, value in values.items() if name not in names})


_ACCEPTED = {
    int: (int,),
    str: (str,),
    bool: (bool,),
    int | None: (int, type(None)),
    str | None: (str, type(None)),
}


def _type_name(type_: Any) -> str:
    return getattr(type_, "__name__", str(type_))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)

"""Options of builds, updates and embeddings.

Each option is one field: its type, bounds, default and help text stand together. YAML recipes, manifests, the command
line and the Python interface all use the names of these fields. Libraries that take long to import are imported in
functions, because the command line reads the options before it knows which command runs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from bitcipher.files.records import Metavar, Record
from bitcipher.normalization import Normalization
from pipelines.ingest.outside_lists import ListProtocols
from pipelines.ingest.read_options import ReadOptions
from pipelines.runtime.memory_budget import MIN_MIB

if TYPE_CHECKING:
    from bitcipher.counts.context_window import ContextWindow
    from bitcipher.embedding.cipher_embedding import CipherEmbedding
    from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding

# Folder of the shipped recipes.
RECIPES = Path(__file__).parent / "recipes"

Mode = Literal["spectral", "cat", "sum", "cipher"]
MODES: tuple[Mode, ...] = get_args(Mode)
SPECTRAL: Mode = "spectral"


def _check_landmarks(value: Any, field: ValidationInfo) -> Any:
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if number == "all" or (type(number) is int and number >= 1):
        return number
    raise ValueError(f"`{field.field_name}` must be at least 1, or all, got {value!r}.")


# A number of the most frequent words, or all words.
Landmarks = Annotated[int | Literal["all"], BeforeValidator(_check_landmarks), Metavar("INTEGER|all")]

# Maximum number of bits or dimensions, so that a slip of the keyboard does not fill the memory.
MAX_SIZE = 1 << 16
MAX_WINDOW = 128  # the widest window of Zhao & Williams 2023, section 5


@dataclass(frozen=True)
class ForModes:
    """Annotation of an option that exists in some modes only."""

    modes: tuple[Mode, ...]
    """Modes that have the option."""
    instead: str | None = None
    """Name of the option with the same purpose in the other modes."""


class EmbeddingOptions(Record):
    """Options of an embedding: how vectors are computed from counts.

    Options of other modes cannot be set, and `to_dict` leaves them out.

    Raises:
        BitcipherError: if an option is out of bounds, or belongs to another mode.
    """

    mode: Mode = SPECTRAL
    """spectral: factored PPMI weights, the best vectors; cat: one block of dimensions per offset, the fastest mode that
    uses context; sum: all offsets in one block; cipher: the code of the word itself, without context."""
    window: int = Field(4, ge=1, le=MAX_WINDOW)
    """Largest offset of a context word on either side (radius in Zhao & Williams 2023)."""
    vector_size: Annotated[int, ForModes(("spectral",), instead="bits")] = Field(200, ge=1, le=MAX_SIZE)
    """Number of dimensions of the vectors; fewer if the matrix of PPMI weights has a lower rank."""
    context: Annotated[Literal["both", "positions", "window"], ForModes(("spectral",))] = "both"
    """positions: weights per offset, which favor syntax; window: weights of the counts summed over all offsets, which
    favor meaning; both: weights of positions and of window, side by side."""
    landmarks: Annotated[Landmarks, ForModes(("spectral",))] = 20_000
    """Number of the most frequent words whose rows determine the directions of all vectors, or all. The memory and time
    of the factorization depend on this number instead of the size of the vocabulary."""
    landmark_contexts: Annotated[Landmarks, ForModes(("spectral",))] = 40_000
    """Number of the most frequent words that are used as context words, or all."""
    spelling_share: Annotated[float, ForModes(("spectral",))] = Field(0.5, ge=0, le=1)
    """Share of the character n-grams of a frequent word in its vector, relative to 1 for its contexts. It rises to 1
    for rare words. The n-grams are stored with the vectors, and give a vector to any string. 0 makes vectors from
    contexts alone, without n-grams."""
    bits: Annotated[int, ForModes(("cat", "sum", "cipher"), instead="vector_size")] = Field(25, ge=1, le=MAX_SIZE)
    """Bits of the code; mode cat has 2 x window x bits dimensions, modes sum and cipher have as many as bits."""
    noise: Annotated[
        Literal["document_share", "frequency", "document_ratio", "none"], ForModes(("cat", "sum", "cipher"))
    ] = "document_share"
    """Estimate of beta, the weight of a word's code in its cipher. The noise distribution has the weight 1 - beta."""
    noise_over: Annotated[Literal["bits", "words"], ForModes(("cat", "sum", "cipher"))] = "bits"
    """bits: the noise distribution is over the bits of the code; words: it is over the words, and then enciphered."""
    log: Annotated[Literal["aggregate", "counts", "none"], ForModes(("cat", "sum"))] = "aggregate"
    """aggregate: log of the values of each block, divided by their sum; counts: log of the counts at each offset,
    before they are added up; none: no log."""

    @model_validator(mode="after")
    def _check_mode(self) -> Self:
        for name in self.model_fields_set:
            limit = _for_modes(type(self), name)
            if limit and self.mode not in limit.modes:
                instead = f"; for {self.mode}, use `{limit.instead}`" if limit.instead else ""
                raise ValueError(
                    f"`{name}` is an option of mode {_join(limit.modes)}, not of mode {self.mode}{instead}."
                )
        if self.mode != SPECTRAL and self.bits == 1 and self.noise != "none":
            raise ValueError(
                "`bits` must be at least 2 with noise: a code of 1 bit has no other bit to confuse it with."
            )
        return self

    @model_serializer(mode="wrap")
    def _leave_out_other_modes(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in serialize(self).items() if is_option_of(name, self.mode)}

    def derive(self, changes: dict[str, Any]) -> Self:
        """Return a copy with some options changed.

        Args:
            changes: new values by name. If they change the mode, options that the new mode does not have are dropped.

        Raises:
            BitcipherError: if a changed option does not exist, is out of bounds, or belongs to another mode.
        """
        mode = changes.get("mode", self.mode)
        kept = {name: value for name, value in self.to_dict().items() if is_option_of(name, mode)}
        return type(self).parse({**kept, **changes})

    def estimator(self) -> "CipherEmbedding | SpectralEmbedding":
        """Return the estimator of vectors with these options."""
        if self.mode == SPECTRAL:
            from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding

            return SpectralEmbedding(self.vector_size, self.context, self.landmarks, self.landmark_contexts)
        from bitcipher.embedding.cipher_embedding import CipherEmbedding

        return CipherEmbedding(self.bits, self.window, self.mode, self.noise, self.log, self.noise_over)

    def conflict_with_summed(self) -> str | None:
        """Return the reason why these options conflict with `summed` counts, or None if there is no conflict."""
        if self.mode == "cat":
            return "`summed` counts have no offsets, which mode cat needs: use mode spectral or sum."
        if self.mode == SPECTRAL and self.context == "positions":
            return "`summed` counts have no offsets, which context positions needs: use context window."
        return None


class CountOptions(Record):
    """Options of counting, and of the vocabulary."""

    tokenizer: Annotated[str, Metavar("NAME_OR_PATH")] = "spacy"
    """spacy, spacy-exact, whitespace, or the path of a Hugging Face tokenizer.json."""
    lowercase: bool = True
    """Lowercase tokens; a tokenizer.json has its own normalizer."""
    normalization: Normalization = "NFC"
    """NFC: composed characters, without soft hyphens, zero-width spaces and bidirectional marks, so that words that
    look the same are the same; none: the text as it is. A tokenizer.json has its own normalizer."""
    min_count: int = Field(5, ge=1)
    """Minimum count of a word. Rarer words are replaced by <oov>."""
    max_vocab_size: int | None = Field(None, ge=1)
    """Maximum number of words; the most frequent are kept."""
    word_list: Annotated[str | None, Metavar("PATH")] = None
    """File with the words to keep, one per line, instead of a minimum count."""
    summed: bool = False
    """Sum the counts of all offsets into one matrix, for wide windows; not with mode cat."""
    shard_mib: int = Field(64, ge=1)
    """MiB of text per shard, the unit of work that is repeated when a worker dies."""
    memory_mib: int = Field(1500, ge=MIN_MIB)
    """MiB of memory per worker; without workers, per core. Work that needs more is split into batches and ranges."""

    @property
    def is_normalized(self) -> bool:
        """Whether text is normalized before it is tokenized."""
        return self.normalization != "none" and not self.tokenizer.endswith(".json")

    @model_validator(mode="after")
    def _check_word_list(self) -> Self:
        defaults = type(self).model_fields
        names = ("min_count", "max_vocab_size")
        if self.word_list is not None and any(getattr(self, name) != defaults[name].default for name in names):
            raise ValueError("`word_list` fixes the vocabulary: leave out `min_count` and `max_vocab_size`.")
        return self


class BuildOptions(EmbeddingOptions, CountOptions, ReadOptions):
    """Options of a build: reading, counting and embedding."""

    @model_validator(mode="after")
    def _check_context(self) -> Self:
        conflict = self.conflict_with_summed()
        if self.summed and conflict:
            raise ValueError(conflict)
        return self

    @property
    def embedding(self) -> EmbeddingOptions:
        """Options of the embedding."""
        values = self.to_dict()
        return EmbeddingOptions(**{name: values[name] for name in EmbeddingOptions.model_fields if name in values})

    @property
    def context_window(self) -> "ContextWindow":
        """Window of the counts."""
        from bitcipher.counts.context_window import ContextWindow

        return ContextWindow(self.window, self.summed)


class UpdateOptions(Record):
    """Options of an update."""

    replace: bool = False
    """Subtract the counts of files that changed or vanished, and count changed files again."""
    max_drift: float | None = Field(None, ge=0, le=1)
    """Maximum fraction of the neighbors of frequent words that may change. If more changed, do not publish, and exit
    with code 3."""
    align: Annotated[str | None, Metavar("VERSION_OR_PATH")] = None
    """Keep the ranks, and so the codes, of the words of a version of this build (its number), another build, or a
    folder of vectors; new words get the ranks after them."""
    basis: Literal["auto", "keep", "refresh"] = "auto"
    """keep: the axes of the previous version, so that vectors of both can be compared; refresh: new axes, as in a build
    from scratch; auto: keep them while they fit the counts, otherwise new axes, rotated to the previous vectors. Only
    mode spectral can keep axes."""
    tokenizer: Annotated[str | None, Metavar("NAME_OR_PATH")] = None
    """The tokenizer.json of the build, if it was read from the network or has another path now."""
    word_list: Annotated[str | None, Metavar("PATH")] = None
    """The word list of the build, if it was read from the network or has another path now."""
    vectors: Literal["now", "later"] = "now"
    """now: make the vectors of the new version; later: publish its counts and vocabulary only. Until a later update
    makes vectors, the version has those of the newest earlier version that made some."""
    list_protocols: ListProtocols = Field((), exclude=True)

    @model_validator(mode="after")
    def _check_vectors(self) -> Self:
        fields = type(self).model_fields
        for name in ("max_drift", "align", "basis") if self.vectors == "later" else ():
            if getattr(self, name) != fields[name].default:
                raise ValueError(f"`{name}` needs new vectors, and `vectors` later makes none: leave one of them out.")
        return self


def is_option_of(name: str, mode: Mode) -> bool:
    """Return whether a build option has an effect in a mode."""
    limit = _for_modes(BuildOptions, name)
    return limit is None or mode in limit.modes


def _for_modes(record: type[Record], name: str) -> ForModes | None:
    return next((each for each in record.model_fields[name].metadata if isinstance(each, ForModes)), None)


def _join(modes: tuple[Mode, ...]) -> str:
    *others, last = modes
    return f"{', '.join(others)} or {last}" if others else last

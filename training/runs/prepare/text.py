"""Preparation of text: sources to a tokenizer and token shards."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from bitcipher.files import storage
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.documents import read_documents
from pipelines.ingest.held_out import drop_held_out
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import Source, compression_of, list_sources
from pipelines.ingest.wrapped_lines import describe_wrapped
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.data.held_out import read_held_out, write_held_out
from training.data.token_shards import DatasetMetadata, ShardInfo, finish_dataset, part_name, split_parts, write_shard
from training.data.token_streams import TokenDataset
from training.data.tokenizer_files import save_tokenizer
from training.runs.prepare.cached_dir import cached_dir
from training.runs.prepare.held_out import describe_left_out, training_sources
from training.runs.prepare.tokenizer import make_tokenizer
from training.runs.recipe import TextOptions

# Increment when the same text results in different shards.
TEXT_VERSION = 4

# Minimum stored bytes of a source that several workers read. Each of them reads the whole source, and encodes its own
# parts. Reading takes a small share of the time of encoding.
SHARED_BYTES = 1 << 26
# Minimum number of inputs per worker, so that workers end at about the same time.
INPUTS_PER_WORKER = 2

METADATA, TOKENIZER = "text.json", "tokenizer.json"


@dataclass(frozen=True)
class TokenShardInput:
    """Parts of a source that one worker encodes: every `readers`-th part, from the part `reader` on."""

    name: str
    """Name of the source in the names of its token shards."""
    source: Source
    validation_fraction: float
    """Fraction of the documents in the validation split."""
    reader: int
    readers: int
    """Number of workers that read the source."""


@dataclass(frozen=True)
class EncodedParts:
    """Token shards of the parts of an input."""

    shards: tuple[ShardInfo, ...]
    source_bytes: float
    """Share of the input in the size of the source file, for progress."""
    decisions: dict[str, int]
    """Number of decisions of the reader by description (see `Quarantine`); none if another worker reads the source."""


class TokenShardStage:
    """Stage that encodes each part of a source into a token shard."""

    def __init__(self, folder: str, tokenizer: str, options: ReadOptions):
        self._folder = folder
        self._held_out = read_held_out(folder)
        self._tokenizer = load_tokenizer(tokenizer)
        self._options = options

    def __call__(self, item: TokenShardInput) -> Iterator[EncodedParts]:
        """Write the shards of an input, and yield their descriptions."""
        # Documents of validation sources are those that are held out.
        held_out = None if item.validation_fraction == 1 else self._held_out
        fraction, shards = item.validation_fraction, []
        quarantine = Quarantine(item.source.uri, self._options.max_bad_share)
        for number, documents in enumerate(split_parts(read_documents(item.source, self._options, quarantine))):
            if number % item.readers == item.reader:
                name = part_name(item.name, number)
                shards.append(write_shard(self._folder, name, documents, self._tokenizer, fraction, held_out))
            else:
                deque(documents, maxlen=0)
        decisions = dict(quarantine.decisions) if item.reader == 0 else {}
        yield EncodedParts(tuple(shards), item.source.size / item.readers, decisions)


def prepare_text(
    options: TextOptions, prepared: str, runtime: Runtime, progress: StageProgress, known: Sequence[Source] = ()
) -> str:
    """Return the folder of the tokenizer and token shards of a text, and create it if it does not exist.

    Args:
        options: sources, tokenizer and validation split.
        prepared: path or URI of the folder of the cached folders.
        runtime: runtime that encodes the sources; the result does not depend on it.
        progress: progress bars.
        known: sources that this command has hashed already.

    Raises:
        BitcipherError: if a source or the tokenizer is invalid, or a file of the folder is damaged.
    """
    sources = hash_sources(list_text(options, options.sources, progress.say), known, runtime)
    validation = []
    if options.validation_sources:
        listed = list_text(options, options.validation_sources, progress.say)
        validation = hash_sources(listed, known, runtime)
    reading = reading_options(options)
    # A given format is no reason to refuse a file whose content is of another kind than its name says.
    readers = reading.copy_with(format=options.format)
    train = training_sources(sources, validation)
    path = options.tokenizer.path
    inputs = {
        "version": TEXT_VERSION,
        "sources": _contents(sources),
        "validation_sources": _contents(validation),
        "reading": reading.to_dict(),
        "validation_fraction": effective_validation_fraction(options),
        "tokenizer": options.tokenizer.to_dict() if path is None else {"sha256": sha256(path)},
    }

    def make(folder: str) -> None:
        if sentence := describe_wrapped([*train.values(), *validation], options, "text.document"):
            progress.say(sentence)
        write_held_out(folder, _read_all(validation, readers))
        documents = drop_held_out(_read_all(list(train.values()), readers), read_held_out(folder))
        tokenizer = make_tokenizer(options.tokenizer, documents, progress)
        tokenizer_path = storage.join(folder, TOKENIZER)
        save_tokenizer(tokenizer, tokenizer_path)
        bar = progress.begin("pack", sum(source.size for source in [*train.values(), *validation]))
        arguments = {"folder": folder, "tokenizer": tokenizer_path, "options": readers}
        fraction = effective_validation_fraction(options)
        held_out = {number: (source, 1.0) for number, source in enumerate(validation, len(sources))}
        inputs = plan_inputs(
            {number: (source, fraction) for number, source in train.items()} | held_out, runtime.workers
        )
        shards: list[ShardInfo] = []
        decisions: Counter[str] = Counter()
        for result in runtime.stream(StageSpec("pack", TokenShardStage, arguments), inputs):
            shards += result.value.shards
            decisions.update(result.value.decisions)
            n_tokens = sum(shard.train.tokens + shard.validation.tokens for shard in shards)
            progress.advance(bar, result.value.source_bytes, f"{n_tokens / 1e6:,.1f} M tokens")
        if decisions:
            parts = (f"{number:,} × {description}" for description, number in sorted(decisions.items()))
            progress.say(f"Decided while reading: {'; '.join(parts)}.")
        finish_dataset(folder, shards, tokenizer, len(sources) - len(train))

    folder = cached_dir(prepared, "text", inputs, make, lambda uri: storage.exists(storage.join(uri, METADATA)))
    # Shards in a store are checked on each node that opens them.
    if storage.local_path(folder) is not None:
        TokenDataset.open(folder).check_tokens()
    metadata = DatasetMetadata.read(storage.join(folder, METADATA))
    if sentence := describe_left_out(metadata.held_out_sources, metadata.held_out_documents):
        progress.say(sentence)
    return folder


def plan_inputs(sources: Mapping[int, tuple[Source, float]], workers: int) -> list[TokenShardInput]:
    """Return the inputs that workers encode. The token shards do not depend on the number of workers.

    A large source becomes several inputs, unless it is on a web server, from which each worker would download it.

    Args:
        sources: sources by their number, each with the fraction of its documents in the validation split.
        workers: number of workers; 0 if this process encodes all parts, with one thread per core.
    """
    total = sum(source.size for source, _ in sources.values())
    share = max(SHARED_BYTES, total // max(1, workers * INPUTS_PER_WORKER))
    inputs = []
    for number, (source, fraction) in sources.items():
        is_downloaded = source.format == "hf" or storage.is_web_address(source.uri)
        readers = 1 if is_downloaded else max(1, min(workers, source.size // share))
        inputs += [
            TokenShardInput(_source_name(number), source, fraction, reader, readers) for reader in range(readers)
        ]
    return inputs


def name_sources(options: TextOptions) -> dict[str, str]:
    """Return the name of each source by its name in token shards: its URI without the folder of all sources.

    Raises:
        BitcipherError: if a source does not exist.
    """
    sources = list_text(options, options.sources)
    if options.validation_sources:
        sources += list_text(options, options.validation_sources)
    parts = [source.uri.split("/") for source in sources]
    folders = zip(*(names[:-1] for names in parts), strict=False)
    n_common = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, folders))
    return {_source_name(number): "/".join(names[n_common:]) for number, names in enumerate(parts)}


def list_text(options: TextOptions, patterns: Sequence[str], say: Callable[[str], None] | None = None) -> list[Source]:
    """Return the sources that patterns name, with the options of a text; see `list_sources`."""
    return list_sources(patterns, options.format, say, list_protocols=options.list_protocols)


def reading_options(options: TextOptions) -> ReadOptions:
    """Return the options of the readers, without the format, which is a property of each source.

    A file whose ending says its format equals one whose format is given.
    """
    return ReadOptions(**{name: getattr(options, name) for name in ReadOptions.model_fields if name != "format"})


def effective_validation_fraction(options: TextOptions) -> float:
    """Return the fraction of the documents in the validation split: 0 if the split has its own sources."""
    return 0.0 if options.validation_sources else options.validation_fraction


def _read_all(sources: Sequence[Source], reading: ReadOptions) -> Iterator[str]:
    return chain.from_iterable(read_documents(source, reading) for source in sources)


def _source_name(number: int) -> str:
    return f"{number:05d}"


def _contents(sources: Sequence[Source]) -> list[list[str]]:
    """Return the hash and format of each source. Names are left out, because renamed files have the same text."""
    return [[source.sha256, source.format + compression_of(source.uri)] for source in sources]

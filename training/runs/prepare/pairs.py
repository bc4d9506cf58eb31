"""Preparation of pairs of texts: tables to a tokenizer and token shards."""

from collections.abc import Sequence
from itertools import chain

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.sources import Source, compression_of
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.data.held_out import write_held_out
from training.data.pair_folder import TRAIN, VALIDATION, read_pairs_metadata, write_pairs
from training.data.table_rows import is_tsv, list_tables
from training.data.text_pairs import TextPair, read_text_pairs
from training.data.token_pairs import TokenPairs
from training.data.token_shards import ShardInfo, finish_dataset, is_validation, part_name, write_shard
from training.data.token_streams import TokenDataset
from training.data.tokenizer_files import plain_text_tokenizer, save_tokenizer
from training.objectives.text_pairs import TextPairs
from training.runs.prepare.cached_dir import cached_dir
from training.runs.prepare.text import METADATA, TOKENIZER, effective_validation_fraction
from training.runs.prepare.tokenizer import make_tokenizer
from training.runs.recipe import Recipe, TextOptions

# Increment when the same pairs result in different shards.
PAIRS_VERSION = 1


def list_pair_files(options: TextOptions) -> tuple[list[Source], list[Source]]:
    """Return the files of the sources and of the validation sources.

    Raises:
        BitcipherError: if a file is missing, or is neither TSV nor JSON lines.
    """
    given = (options.sources, options.validation_sources)
    train, validation = (list_tables(each, options.list_protocols) if each else [] for each in given)
    return train, validation


def prepare_pairs(
    recipe: Recipe,
    objective: TextPairs,
    prepared: str,
    runtime: Runtime,
    progress: StageProgress,
    known: Sequence[Source] = (),
) -> str:
    """Return the folder of the tokenizer, the token shards and the texts of pairs, and create it if it does not exist.

    Training pairs that are also validation pairs are left out. With `text.validation_fraction`, a hash of its source
    decides the split of a pair, so pairs with the same source are in the same split.

    Args:
        recipe: options of the run.
        objective: the objective of the recipe.
        prepared: path or URI of the folder of the cached folders.
        runtime: runtime that hashes the files.
        progress: progress bars.
        known: files that this command has hashed already.

    Raises:
        BitcipherError: if a file or the tokenizer is invalid, a split has no pairs, or all pairs are too long.
    """
    options, columns = recipe.text, (objective.source_column, objective.target_column)
    files, validation_files = (hash_sources(each, known, runtime) if each else [] for each in list_pair_files(options))
    path, fraction = options.tokenizer.path, effective_validation_fraction(options)
    inputs = {
        "version": PAIRS_VERSION,
        "sources": _contents(files),
        "validation_sources": _contents(validation_files),
        "columns": list(columns),
        "validation_fraction": fraction,
        "tokenizer": options.tokenizer.to_dict() if path is None else {"sha256": sha256(path)},
    }

    def make(folder: str) -> None:
        train, validation = read_text_pairs(files, *columns), read_text_pairs(validation_files, *columns)
        if not validation_files:
            validation = [pair for pair in train if is_validation(pair.source, fraction)]
        n_pairs, held_out = len(train), set(validation)
        train = [pair for pair in train if pair not in held_out]
        _check_splits(n_pairs, len(train), len(validation))
        # With a validation fraction, the validation pairs are no training pairs in the first place.
        left_out = n_pairs - len(train) if validation_files else 0
        write_pairs(folder, train, validation, left_out)
        tokenizer = make_tokenizer(options.tokenizer, chain.from_iterable(train), progress)
        save_tokenizer(tokenizer, storage.join(folder, TOKENIZER))
        write_held_out(folder, [])
        splits = [(train, 0.0), (validation, 1.0)]
        shards = [_write_split(folder, number, *split, tokenizer) for number, split in enumerate(splits)]
        finish_dataset(folder, shards, tokenizer)

    folder = cached_dir(prepared, "pairs", inputs, make, lambda uri: storage.exists(storage.join(uri, METADATA)))
    text = TokenDataset.open(folder)
    # Shards in a store are checked on each node that opens them.
    if storage.local_path(folder) is not None:
        text.check_tokens()
    for sentence in _describe(folder, text, recipe.model.max_position_embeddings):
        progress.say(sentence)
    return folder


def documents_of_pairs(options: TextOptions, folder: str) -> TextOptions:
    """Return the options of a text whose documents are the sources and the targets of prepared pairs."""
    train, validation = (storage.join(folder, name) for name in (TRAIN, VALIDATION))
    return options.copy_with(sources=(train,), validation_sources=(validation,))


def _write_split(
    folder: str, number: int, pairs: Sequence[TextPair], fraction: float, tokenizer: Tokenizer
) -> ShardInfo:
    shard = write_shard(folder, part_name(f"{number:05d}", 0), chain.from_iterable(pairs), tokenizer, fraction)
    if shard.train.documents + shard.validation.documents != 2 * len(pairs):
        encoder = plain_text_tokenizer(tokenizer)
        texts = chain.from_iterable(pairs)
        empty = next(text for text in texts if not encoder.encode(text, add_special_tokens=False).ids)
        raise BitcipherError(f"The tokenizer gives no tokens for {empty!r:.60}, a side of a pair; leave the pair out.")
    return shard


def _check_splits(n_pairs: int, n_train: int, n_validation: int) -> None:
    if not n_pairs:
        raise BitcipherError("The files of `text.sources` have no pairs of texts; provide some.")
    if not n_validation:
        raise BitcipherError(
            f"The validation split has no pairs of texts, and the training split {n_train:,}: provide more, raise "
            "`text.validation_fraction`, or name other files as `text.validation_sources`."
        )
    if not n_train:
        raise BitcipherError(
            f"All {n_pairs:,} pairs of `text.sources` are validation pairs; provide others, or lower "
            "`text.validation_fraction`."
        )


def _describe(folder: str, text: TokenDataset, max_length: int) -> list[str]:
    """Return sentences on pairs that are left out or that occur twice, and check that each split has some.

    Raises:
        BitcipherError: if all pairs of a split are too long.
    """
    metadata = read_pairs_metadata(folder)
    sentences = {
        f"Training pairs that are also validation pairs, and are left out: {metadata.left_out:,}.": metadata.left_out,
        f"Validation pairs whose source has another target in training: {metadata.shared_sources:,}.": (
            metadata.shared_sources
        ),
    }
    for stream, name in ((text.train, "training"), (text.validation, "validation")):
        pairs = TokenPairs(stream, max_length, name)
        sentence = (
            f"Of {len(pairs) + pairs.n_left_out:,} {name} pairs, {pairs.n_left_out:,} have a side of more than "
            f"{max_length} tokens (`model.max_position_embeddings`). Losses leave them out."
        )
        sentences[sentence] = pairs.n_left_out
    return [sentence for sentence, number in sentences.items() if number]


def _contents(files: Sequence[Source]) -> list[list[str]]:
    """Return the hash and format of each file. Names are left out, because renamed files have the same pairs."""
    return [[file.sha256, ("tsv" if is_tsv(file) else "jsonl") + compression_of(file.uri)] for file in files]

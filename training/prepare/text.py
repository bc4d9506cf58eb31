"""Sources → tokenizer and token shards."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from bitcipher import storage
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.documents import documents_of
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import Source, compression_of, list_sources
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Row, Runtime, StageSpec
from training.data import (
    PartNote,
    ShardNote,
    finish_text,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
    write_shard,
)
from training.prepare.cached_dir import cached_dir
from training.recipe import TextOptions

# To be raised when the same text comes to be cut into other shards.
TEXT_VERSION = 1

TOKENIZER = "tokenizer.json"


class PackStage:
    """Encodes sources into token shards, one each."""

    def __init__(self, folder: str, tokenizer: str, options: ReadOptions):
        self._folder = folder
        self._tokenizer = load_tokenizer(tokenizer)
        self._options = options

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a source to the note on its shard."""
        documents = documents_of(Source(**row["source"]), self._options)
        note = write_shard(self._folder, row["name"], documents, self._tokenizer, row["validation_share"])
        yield {"name": row["name"], "note": asdict(note), "bytes": row["source"]["size"]}


def prepare_text(options: TextOptions, prepared: Path, runtime: Runtime, progress: StageProgress) -> Path:
    """The folder of a text's tokenizer and token shards, made now if it is not there.

    Args:
        options: sources, tokenizer, share of held-out documents.
        prepared: where such folders are.
        runtime: where sources are encoded; the same bytes come out of each.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if the sources or the tokenizer do not allow it.
    """
    sources = hash_sources(list_sources(options.sources, options.format), [], runtime)
    held_out = hash_sources(list_sources(options.held_out, options.format), [], runtime) if options.held_out else []
    reading = ReadOptions(document=options.document, field=options.field)
    depends_on = {
        "version": TEXT_VERSION,
        "sources": _contents(sources),
        "held_out": _contents(held_out),
        "reading": reading.to_dict(),
        "validation_share": share_held_out(options),
        "tokenizer": asdict(options.tokenizer)
        if options.tokenizer.path is None
        else {"sha256": sha256(options.tokenizer.path)},
    }

    def make(folder: Path) -> None:
        path = storage.join(str(folder), TOKENIZER)
        if options.tokenizer.path is not None:
            tokenizer = load_tokenizer(options.tokenizer.path)
        else:
            learning = progress.begin("learn", 1)
            wanted = options.tokenizer
            tokenizer = train_tokenizer(
                chain.from_iterable(documents_of(source, reading) for source in sources),
                wanted.kind,
                wanted.size,
                lowercase=wanted.lowercase,
                sentinels=wanted.sentinels,
            )
            progress.advance(learning, 1, f"{tokenizer.get_vocab_size():,} tokens")
        save_tokenizer(tokenizer, path)
        bar = progress.begin("pack", sum(source.size for source in [*sources, *held_out]))
        arguments = {"folder": str(folder), "tokenizer": path, "options": reading}
        stage = StageSpec("pack", PackStage, arguments)
        shares = [share_held_out(options)] * len(sources) + [1.0] * len(held_out)
        rows = [
            {"name": f"{number:05d}", "source": asdict(source), "validation_share": share}
            for number, (source, share) in enumerate(zip([*sources, *held_out], shares, strict=True))
        ]
        notes = {}
        for result in runtime.stream(stage, rows):
            note = result["note"]
            notes[result["name"]] = ShardNote(note["name"], PartNote(**note["train"]), PartNote(**note["validation"]))
            progress.advance(bar, result["bytes"], f"{len(notes):,} of {len(rows):,} sources")
        finish_text(str(folder), [notes[name] for name in sorted(notes)], tokenizer)

    return cached_dir(prepared, "text", depends_on, make)


def share_held_out(options: TextOptions) -> float:
    """The share of the sources' own documents that are held out: none where there are files for that."""
    return 0.0 if options.held_out else options.validation_share


def _contents(sources: Sequence[Source]) -> list[list[str]]:
    """What files hold, and how it is read, whatever they are called."""
    return [[source.sha256, source.format + compression_of(source.uri)] for source in sources]

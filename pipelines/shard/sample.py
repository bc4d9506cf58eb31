"""Sample of the records of sources, as the pipeline sees them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.clean import Document, Drop, clean, load_rules
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import read_source
from pipelines.ingest.sources import Source, list_sources
from pipelines.shard.options import ShardOptions


@dataclass(frozen=True)
class SampledDocument:
    """A document of a sample."""

    source: str
    offset: int
    document: Document
    """The document after cleaning; the original document if a rule drops it."""
    dropped: str | None
    """Reason for which a rule drops the document, or None."""
    changed: tuple[str, ...]
    """Rules that change the text."""


def sample_documents(patterns: Sequence[str], options: ShardOptions, number: int) -> Iterator[SampledDocument]:
    """Yield the first documents of all sources in turn: the first of each, then the second of each, and so on.

    Args:
        patterns: files, folders or globs.
        options: options of the document shards. Bad records are passed over, whatever their share.
        number: maximum number of documents.

    Raises:
        BitcipherError: if sources or options are not valid.
    """
    load_rules(options.rules)
    options = options.copy_with(max_bad_share=1.0)
    streams = [_documents(source, options) for source in list_sources(patterns, options.format)[:number]]
    while streams and number > 0:
        for stream in list(streams):
            sampled = next(stream, None)
            if sampled is None:
                streams.remove(stream)
            elif number > 0:
                number -= 1
                yield sampled


def _documents(source: Source, options: ShardOptions) -> Iterator[SampledDocument]:
    for raw in read_source(source, options, Quarantine(source.uri, options.max_bad_share)):
        document = Document("".join(raw.strings), raw.url, raw.date, raw.language)
        if not document.text or document.text.isspace():
            continue
        cleaned = clean(document, options.rules)
        changed = tuple(options.rules[position].rule for position in cleaned.changed_by)
        if isinstance(cleaned.outcome, Drop):
            yield SampledDocument(source.uri, raw.offset, document, cleaned.outcome.reason, changed)
        else:
            yield SampledDocument(source.uri, raw.offset, cleaned.outcome, None, changed)

"""Sample of the records of sources, as the pipeline sees them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.clean.registry import load_rules
from pipelines.ingest.documents import read_whole_records
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.sources import Source, list_sources
from pipelines.shard.clean_record import EMPTY, CleanedRecord, clean_record
from pipelines.shard.options import ShardOptions


class SampledRecord(NamedTuple):
    """A record of a sample."""

    source: str
    record: CleanedRecord


def sample_records(patterns: Sequence[str], options: ShardOptions, number: int) -> Iterator[SampledRecord]:
    """Yield the first records with text of all sources in turn: the first of each, then the second of each, and so on.

    Args:
        patterns: files, folders or globs.
        options: options of the document shards. Bad records are passed over, whatever their share.
        number: maximum number of records.

    Raises:
        BitcipherError: if sources or options are not valid.
    """
    load_rules(options.rules)
    options = options.copy_with(max_bad_share=1.0)
    sources = list_sources(patterns, options.format, list_protocols=options.list_protocols)
    streams = [_iter_records(source, options) for source in sources[:number]]
    while streams and number > 0:
        for stream in list(streams):
            sampled = next(stream, None)
            if sampled is None:
                streams.remove(stream)
            elif number > 0:
                number -= 1
                yield sampled


def _iter_records(source: Source, options: ShardOptions) -> Iterator[SampledRecord]:
    for raw, text in read_whole_records(source, options, Quarantine(source.uri, options.max_bad_share)):
        record = clean_record(raw, text, options.rules)
        if record.dropped != EMPTY:
            yield SampledRecord(source.uri, record)

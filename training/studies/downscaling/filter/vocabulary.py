"""Vocabulary of a filter: all words or the most frequent words of a file, or the most frequent words of the corpus."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files, storage
from pipelines.clean.word_filter import extract_corpus_words, read_frequencies, read_words
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from training.studies.downscaling.filter.document_filter import most_frequent
from training.studies.downscaling.filter.filter_stage import FilterInput

# Maximum number of distinct tokens in memory. Above it, the tokens are replaced by their words, which are fewer.
_MAX_TOKENS = 500_000


@dataclass(frozen=True)
class CountedSource:
    """Output of `CountWordsStage`: a source whose word counts are written."""

    id: str
    """Number of the source, the name of its counts file."""


class CountWordsStage:
    """Stage that counts the words of a source (see `extract_corpus_words`), and writes the counts as Parquet.

    Args:
        folder: folder for the counts.
        options: options of the readers.
    """

    def __init__(self, folder: str, options: ReadOptions):
        self._folder = folder
        self._options = options

    def __call__(self, item: FilterInput) -> Iterator[CountedSource]:
        """Yield the id of a source when its counts are written."""
        counts: Counter[str] = Counter()
        tokens: Counter[str] = Counter()
        for document in read_documents(item.source, self._options):
            tokens.update(document.split())
            if len(tokens) > _MAX_TOKENS:
                _flush_tokens(tokens, counts)
        _flush_tokens(tokens, counts)
        words = sorted(counts)
        table = pa.table({"word": pa.array(words, pa.large_string()), "count": [counts[word] for word in words]})
        parquet_files.write_table(_counts_file(self._folder, item.id), table)
        yield CountedSource(item.id)


def read_vocabulary(uri: str, top: int | None) -> frozenset[str]:
    """Return the words of a file, or the `top` most frequent of them. Among equal counts, alphabetical order decides.

    Raises:
        BitcipherError: if the file is missing, has no words, or has no frequencies although `top` is given.
    """
    return read_words(uri) if top is None else frozenset(most_frequent(read_frequencies(uri), top))


def count_vocabulary(
    inputs: Sequence[FilterInput],
    options: ReadOptions,
    top: int,
    work: str,
    runtime: Runtime,
    progress: StageProgress,
) -> frozenset[str]:
    """Return the most frequent words of the sources. Among equal counts, alphabetical order decides.

    This process adds up the counts of all sources, so all distinct words must fit in memory.

    Args:
        inputs: the sources.
        options: options of the readers.
        top: maximum number of words.
        work: folder for the counts of each source. Sources whose counts are in the folder are not counted again.
        runtime: runtime of the counting stage.
        progress: progress bars.

    Raises:
        BitcipherError: if the sources have no words.
    """
    done = storage.list_files(work)
    sizes = {item.id: item.source.size for item in inputs}
    missing = [item for item in inputs if f"{item.id}.parquet" not in done]
    total = sum(sizes.values())
    bar = progress.begin("words", total, done=total - sum(item.source.size for item in missing))
    spec = StageSpec("words", CountWordsStage, {"folder": work, "options": options})
    for result in runtime.stream(spec, missing):
        progress.advance(bar, sizes[result.value.id], "counted")
    counts: Counter[str] = Counter()
    for item in inputs:
        table = parquet_files.read_table(_counts_file(work, item.id))
        counts.update(dict(zip(table["word"].to_pylist(), table["count"].to_pylist(), strict=True)))
    progress.end(bar)
    if not counts:
        raise BitcipherError("The sources have no words of letters, so there is no vocabulary: check their content.")
    return frozenset(most_frequent(counts, top))


def _counts_file(folder: str, name: str) -> str:
    return storage.join(folder, f"{name}.parquet")


def _flush_tokens(tokens: Counter[str], counts: Counter[str]) -> None:
    """Add the words of the counted tokens to the counts, and clear the tokens."""
    for token, count in tokens.items():
        for word in extract_corpus_words(token):
            counts[word] += count
    tokens.clear()

"""The words in use: those of a file, the most frequent of them, or the most frequent of the corpus itself."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.word_filter import read_frequencies, read_words
from pipelines.filter.filtering import most_frequent
from pipelines.filter.lexicon import corpus_words
from pipelines.ingest.documents import documents_of
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import Source
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Row, Runtime, StageSpec

# Words as they are written that are counted before they are taken apart.
_WRITTEN = 500_000


class CountWordsStage:
    """Counts the words of a source, as `corpus_words` has them, and writes them as Parquet.

    Args:
        folder: of these files.
        options: how files become documents.
    """

    def __init__(self, folder: str, options: ReadOptions):
        self._folder = folder
        self._options = options

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a source to nothing but its name, when its counts are written."""
        counts: Counter[str] = Counter()
        written: Counter[str] = Counter()
        for document in documents_of(Source(**row["source"]), self._options):
            written.update(document.split())
            if len(written) > _WRITTEN:
                _add_words(counts, written)
        _add_words(counts, written)
        words = sorted(counts)
        table = pa.table({"word": pa.array(words, pa.large_string()), "count": [counts[word] for word in words]})
        storage.write_table(_counts_of(self._folder, row["id"]), table)
        yield {"id": row["id"]}


def read_vocabulary(uri: str, top: int | None) -> frozenset[str]:
    """The words of a file, or the most frequent of them; of those that are equally frequent, the first by name.

    Raises:
        BitcipherError: if there is no such file, it holds no words, or not how frequent they are.
    """
    return read_words(uri) if top is None else frozenset(most_frequent(read_frequencies(uri), top))


def count_vocabulary(
    rows: Sequence[Row], reading: ReadOptions, top: int, work: str, runtime: Runtime, progress: StageProgress
) -> frozenset[str]:
    """The most frequent words of the sources themselves; of those that are equally frequent, the first by name.

    This process adds up the words of all sources, so it holds each of them once.

    Args:
        rows: with `id` and `source`.
        reading: what a document is.
        top: how many words.
        work: folder for the counts of each source, which are not counted again when they are there.
        runtime: where sources are counted.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if the sources hold no word.
    """
    done = storage.list_files(work)
    sizes = {row["id"]: row["source"]["size"] for row in rows}
    missing = [row for row in rows if f"{row['id']}.parquet" not in done]
    bar = progress.begin("words", sum(sizes.values()))
    progress.advance(bar, sum(sizes.values()) - sum(sizes[row["id"]] for row in missing), "")
    stage = StageSpec("words", CountWordsStage, {"folder": work, "options": reading})
    for result in runtime.stream(stage, missing):
        progress.advance(bar, sizes[result["id"]], "counted")
    counts: Counter[str] = Counter()
    for row in rows:
        table = storage.read_table(_counts_of(work, row["id"]))
        counts.update(dict(zip(table["word"].to_pylist(), table["count"].to_pylist(), strict=True)))
    progress.end(bar)
    if not counts:
        raise BitcipherError("The sources hold no word of letters, so there is no vocabulary: look at what they hold.")
    return frozenset(most_frequent(counts, top))


def _counts_of(folder: str, name: str) -> str:
    return storage.join(folder, f"{name}.parquet")


def _add_words(counts: Counter[str], written: Counter[str]) -> None:
    for text, count in written.items():
        for word in corpus_words(text):
            counts[word] += count
    written.clear()

"""Choice of the vocabulary of a build."""

import pyarrow as pa

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary
from pipelines.options import BuildOptions


def choose_vocabulary(
    words: pa.Table, total_passages: int, options: BuildOptions, known: pa.LargeStringArray | None = None
) -> Vocabulary:
    """Return the vocabulary that the options select from the words of a corpus.

    Args:
        words: table of `bitcipher.counts.merge_words` or `sum_words`.
        total_passages: number of passages of the corpus.
        options: options of the build.
        known: words that keep their ranks, in order of rank, or None.
    """
    return Vocabulary.from_counts(
        words["word"].combine_chunks(),
        words["count"].to_numpy(),
        words["passages"].to_numpy(),
        total_passages,
        min_count=options.min_count,
        max_vocab_size=options.max_vocab_size,
        word_list=None if options.word_list is None else read_word_list(options.word_list),
        ranked_words=known,
    )


def read_word_list(uri: str) -> list[str]:
    """Return the words of a file with one word per line. Empty lines are skipped."""
    with storage.reading(uri) as stream:
        try:
            lines = stream.read().decode().split("\n")
        except UnicodeDecodeError:
            raise BitcipherError(f"The word list {uri} is not UTF-8 text.") from None
    return [word for line in lines if (word := line.removesuffix("\r"))]

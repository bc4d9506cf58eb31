"""Choice of the vocabulary of a build: all words are added up in ranges, and few of them are held in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher.counts.segment_words import merge_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.text_files import read_lines
from bitcipher.normalization import normalize
from bitcipher.vocabulary import OOV, OtherWords, Vocabulary
from pipelines.merge.merge_plan import MergePlan
from pipelines.merge.merge_records import SumInput
from pipelines.merge.sample_stage import SampleStage
from pipelines.options import BuildOptions
from pipelines.runtime.runtime import Runtime, StageResult, StageSpec
from pipelines.store.segments import Merge, Segment


@dataclass(frozen=True)
class CandidateWords:
    """Output of `CandidateStage`: words of a range that the vocabulary can contain."""

    index: int
    """Number of the range; 0 for all words."""
    words: pa.Table
    """The words, with the columns word, count and passages."""
    others: OtherWords
    """Sums over the other words of the range."""


class CandidateStage:
    """Stage that adds up a range of words, and keeps those that the vocabulary can contain.

    Args:
        options: options of the build.
        required: words that are kept regardless of their counts, or None.
    """

    def __init__(self, options: BuildOptions, required: pa.LargeStringArray | None):
        self._options = options
        self._required = required

    def __call__(self, item: SumInput) -> Iterator[CandidateWords]:
        """Yield the candidates of a range."""
        words = merge_words(item.members, words=item.words)
        kept = self._are_candidates(words)
        others = words.filter(pa.array(~kept))
        sums = OtherWords(len(others), *(int(others[name].to_numpy().sum()) for name in ("count", "passages")))
        yield CandidateWords(item.index, words.drop_columns(["size"]).filter(pa.array(kept)), sums)

    def _are_candidates(self, words: pa.Table) -> np.ndarray:
        names, counts = words["word"].combine_chunks(), words["count"].to_numpy()
        kept = np.zeros(len(counts), np.bool_)
        if self._options.word_list is None:
            order = np.argsort(-counts, kind="stable")
            kept[order[:1]] = True  # an error message names its count if it is too small
            frequent = order[counts[order] >= self._options.min_count]
            frequent = frequent[~np.asarray(pc.equal(names, OOV), np.bool_)[frequent]]
            kept[frequent[: self._options.max_vocab_size]] = True
        if self._required is not None:
            kept |= np.asarray(pc.is_in(names, self._required), np.bool_)
        return kept


def find_candidates(
    segments: Sequence[Segment],
    build: str,
    options: BuildOptions,
    known: pa.LargeStringArray | None,
    range_words: int,
    runtime: Runtime,
    on_result: Callable[[StageResult[Any]], None] = lambda result: None,
) -> CandidateWords:
    """Add up the words of a corpus in ranges, and return those that the vocabulary can contain.

    Args:
        segments: segments of the corpus.
        build: folder of the build.
        options: options of the build.
        known: words that keep their ranks, in order of rank, or None.
        range_words: maximum number of words that a worker holds, in all segments.
        runtime: runtime of the stages.
        on_result: called with each result of a stage.

    Raises:
        BitcipherError: if there are no segments.
    """
    if not segments:
        raise BitcipherError("The sources have no documents: check that they contain text, and that `field` is right.")
    parts = [[storage.join(build, part) for part in segment.parts] for segment in segments]
    plan = MergePlan("words", Merge(tuple(segments)), parts, work="")
    for result in runtime.stream(StageSpec("words", SampleStage, {}, in_parallel=True), plan.samples(range_words)):
        on_result(result)
        plan.sampled[result.value.operand] = result.value.sample
    arguments = {"options": options, "required": _required_words(options, known)}
    found: dict[int, CandidateWords] = {}
    spec = StageSpec("words", CandidateStage, arguments, in_parallel=True)
    for result in runtime.stream(spec, plan.choose_ranges(range_words)):
        on_result(result)
        found[result.value.index] = result.value
    candidates = [found[index] for index in range(len(found))]
    words = pa.concat_tables([each.words for each in candidates]).combine_chunks()
    return CandidateWords(0, words, OtherWords(*map(sum, zip(*(each.others for each in candidates), strict=True))))


def choose_vocabulary(
    candidates: CandidateWords, total_passages: int, options: BuildOptions, known: pa.LargeStringArray | None = None
) -> Vocabulary:
    """Return the vocabulary that the options select from the words of a corpus.

    Args:
        candidates: words of the corpus.
        total_passages: number of passages of the corpus.
        options: options of the build.
        known: words that keep their ranks, in order of rank, or None.

    Raises:
        BitcipherError: if no word is chosen.
    """
    words = candidates.words
    return Vocabulary.from_counts(
        words["word"].combine_chunks(),
        words["count"].to_numpy(),
        words["passages"].to_numpy(),
        total_passages,
        min_count=options.min_count,
        max_vocab_size=options.max_vocab_size,
        word_list=_listed_words(options),
        ranked_words=known,
        others=candidates.others,
    )


def _required_words(options: BuildOptions, known: pa.LargeStringArray | None) -> pa.LargeStringArray | None:
    listed = _listed_words(options) or []
    if known is None:
        return pa.array(listed, pa.large_string()) if listed else None
    return pa.concat_arrays([known, pa.array(listed, pa.large_string())])


def _listed_words(options: BuildOptions) -> list[str] | None:
    """Return the words of the word list as they are in the text, or None without a list."""
    if options.word_list is None:
        return None
    words = read_word_list(options.word_list)
    return list(map(normalize, words)) if options.is_normalized else words


def read_word_list(uri: str) -> list[str]:
    """Return the words of a file with one word per line. Empty lines are skipped.

    Raises:
        BitcipherError: if there is no such file, or it is not text in UTF-8 and has no byte-order mark.
    """
    return [line for line in read_lines(uri) if line]

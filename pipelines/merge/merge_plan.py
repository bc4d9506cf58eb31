"""`MergePlan`: the inputs of the stages of one merge, made from the outputs of the stages before."""

from itertools import accumulate

from bitcipher.counts.word_ranges import ALL_WORDS, SegmentSample, WordRange, choose_ranges, sample_step
from bitcipher.files import storage
from pipelines.merge.merge_records import (
    MergeInput,
    NumberedWords,
    NumberInput,
    OrderInput,
    RangeRows,
    SumInput,
    SummedWords,
)
from pipelines.merge.number_tables import NumberTable
from pipelines.merge.sample_stage import SampleInput
from pipelines.merge.word_stages import first_numbers
from pipelines.store.segments import Merge


class MergePlan:
    """Plan of a merge. The driver fills `sampled`, `summed` and `numbered` with the outputs of the stages.

    Args:
        name: name of the merged segment.
        merge: the merge.
        operands: URIs of the parts of each operand; members come before subtracted segments.
        work: folder for temporary files.
    """

    def __init__(self, name: str, merge: Merge, operands: list[list[str]], work: str):
        self._name = name
        self._merge = merge
        self._operands = operands
        self._folder = storage.join(work, name)
        self._words = [ALL_WORDS]
        self._tables: list[NumberTable] = []
        self.sampled: dict[int, SegmentSample] = {}
        """Sample of each operand; empty if all words fit in memory."""
        self.summed: dict[int, SummedWords] = {}
        """Sums of each range of words."""
        self.numbered: dict[int, NumberedWords] = {}
        """Numbers of each range of words."""

    def samples(self, range_words: int) -> list[SampleInput]:
        """Return the operands to sample: none if all words fit in memory.

        Args:
            range_words: maximum number of words of a range, in all operands.
        """
        if sum(segment.types for segment in self._merge.operands) <= range_words:
            return []
        step = sample_step(range_words, len(self._operands))
        return [SampleInput(self._name, number, parts, None, step) for number, parts in enumerate(self._operands)]

    def choose_ranges(self, range_words: int) -> list[SumInput]:
        """Choose the ranges of words, and return them for `SumStage`."""
        if self.sampled:
            self._words = choose_ranges(self.sampled.values(), range_words)
        members = len(self._merge.members)
        inputs = []
        for index, words in enumerate(self._words):
            parts = self._parts_in(words)
            inputs.append(SumInput(self._name, index, words, parts[:members], parts[members:]))
        return inputs

    def numberings(self, range_words: int) -> list[NumberInput]:
        """Return the ranges of words for `NumberStage`."""
        summed = [self.summed[index] for index in range(len(self._words))]
        sizes = [self.sampled[number].size if self.sampled else 0 for number in range(len(self._operands))]
        self._tables = [
            NumberTable(storage.join(self._folder, f"numbers-{number}"), len(self._words), size, range_words)
            for number, size in enumerate([*sizes, sum(each.words for each in summed)])
        ]
        return [
            NumberInput(self._name, index, words, starts, self._parts_in(words), self._tables)
            for index, (words, starts) in enumerate(zip(self._words, first_numbers(summed), strict=True))
        ]

    def orders(self) -> list[OrderInput]:
        """Return the slices of number tables for `OrderStage`: none if each table is complete."""
        tables = self._tables if len(self._words) > 1 else []
        return [OrderInput(table, number) for table in tables for number in range(table.slices)]

    def ranges(self) -> list[MergeInput]:
        """Return the ranges of words and rows for `MergeStage`."""
        numbered = [self.numbered[index] for index in range(len(self._words))]
        sizes = [sum(counts) for counts in zip(*(each.operand_words for each in numbered), strict=True)]
        *tables, hashes = self._tables
        tables = [table._replace(rows=size) for table, size in zip(tables, sizes, strict=True)]
        signs = [1] * len(self._merge.members) + [-1] * len(self._merge.subtracted)
        before = [0, *accumulate(self.summed[index].words for index in range(len(self._words)))]
        inputs: list[MergeInput] = []
        for words in numbered:
            for number, (start, stop) in enumerate(words.bounds):
                rows = [
                    RangeRows(sign, table, row_ranges[number])
                    for sign, table, row_ranges in zip(signs, tables, words.row_ranges, strict=True)
                    if row_ranges[number]
                ]
                inputs.append(
                    MergeInput(
                        self._name,
                        len(inputs),
                        words.index,
                        before[words.index],
                        start,
                        stop,
                        words.piece_entries,
                        hashes,
                        rows,
                    )
                )
        return inputs

    @property
    def types(self) -> int:
        """Number of words of the merged segment with a count above 0."""
        return sum(each.types for each in self.summed.values())

    def _parts_in(self, words: WordRange) -> list[list[str]]:
        """Return the parts of each operand that can have words of a range."""
        if not self.sampled:
            return self._operands
        return [self.sampled[number].parts_in(parts, words) for number, parts in enumerate(self._operands)]

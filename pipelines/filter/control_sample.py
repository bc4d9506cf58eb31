"""The unconstrained twin of a source's kept spans: as many of all its spans, drawn at random (appendix C.1)."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

from pipelines.filter.options import FilterOptions
from pipelines.filter.segmentation import following
from pipelines.filter.splits import PARTS, draw, part_of


class ControlSample:
    """Counts the spans of all documents while they are read first, and takes those that are drawn the second time.

    Args:
        options: how documents are cut.
        source: the SHA-256 of the source.
    """

    def __init__(self, options: FilterOptions, source: str):
        self._options = options
        self._source = source
        self._spans = array("q")
        self._parts = array("b")

    def note(self, document: str) -> None:
        """Count the spans of the next document."""
        starts, _ = following(len(document.split()), self._options.span, self._options.min_span_words)
        self._spans.append(len(starts))
        self._parts.append(PARTS.index(part_of(document, self._options.held_out_share)))

    def draw(self, documents: Iterable[str], wanted: dict[str, int]) -> Iterator[tuple[str, str]]:
        """Part and text of each span that is drawn; all spans of a part where it has fewer than are wanted.

        Args:
            documents: the same ones again.
            wanted: spans by part.
        """
        drawn = {part: draw(self._positions(part), wanted[part], self._options.seed, self._source) for part in PARTS}
        first = 0
        for document, spans, number in zip(documents, self._spans, self._parts, strict=True):
            chosen = drawn[PARTS[number]].intersection(range(first, first + spans))
            if chosen:
                words = document.split()
                starts, stops = following(len(words), self._options.span, self._options.min_span_words)
                for place in sorted(position - first for position in chosen):
                    yield PARTS[number], " ".join(words[starts[place] : stops[place]])
            first += spans

    def _positions(self, part: str) -> Iterator[int]:
        """The numbers of a part's spans among all of the source."""
        first, ranges = 0, []
        for spans, number in zip(self._spans, self._parts, strict=True):
            if PARTS[number] == part:
                ranges.append(range(first, first + spans))
            first += spans
        return chain.from_iterable(ranges)

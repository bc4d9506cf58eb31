"""Control sample: random spans that are not restricted to a vocabulary (Deshpande et al. 2023, appendix C.1)."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

from pipelines.clean.segmentation import consecutive_spans
from training.studies.downscaling.filter.document_splits import PARTS, draw_positions, part_of
from training.studies.downscaling.filter.options import FilterOptions


class ControlSample:
    """Sampler of the spans of a source in two passes over its documents: `count`, then `draw`.

    Args:
        options: options of the filter.
        source: SHA-256 of the source.
    """

    def __init__(self, options: FilterOptions, source: str):
        self._options = options
        self._source = source
        self._spans = array("q")
        self._parts = array("b")

    def count(self, document: str) -> None:
        """Count the spans of the next document, in the first pass."""
        starts, _ = consecutive_spans(len(document.split()), self._options.span, self._options.min_span_words)
        self._spans.append(len(starts))
        self._parts.append(PARTS.index(part_of(document, self._options.held_out_share)))

    def draw(self, documents: Iterable[str], sizes: dict[str, int]) -> Iterator[tuple[str, str]]:
        """Yield the part and the text of each drawn span, in the second pass.

        Args:
            documents: the documents of the first pass, in the same order.
            sizes: number of spans to draw by part. If a part has fewer spans, all are drawn.
        """
        drawn = {
            part: draw_positions(self._positions(part), sizes[part], self._options.seed, self._source) for part in PARTS
        }
        first = 0
        for document, spans, number in zip(documents, self._spans, self._parts, strict=True):
            chosen = drawn[PARTS[number]].intersection(range(first, first + spans))
            if chosen:
                words = document.split()
                starts, stops = consecutive_spans(len(words), self._options.span, self._options.min_span_words)
                for span in sorted(position - first for position in chosen):
                    yield PARTS[number], " ".join(words[starts[span] : stops[span]])
            first += spans

    def _positions(self, part: str) -> Iterator[int]:
        """Return the positions of a part's spans among all spans of the source."""
        first, ranges = 0, []
        for spans, number in zip(self._spans, self._parts, strict=True):
            if PARTS[number] == part:
                ranges.append(range(first, first + spans))
            first += spans
        return chain.from_iterable(ranges)

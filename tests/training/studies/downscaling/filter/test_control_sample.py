"""Control sample of spans, and assignment of documents to parts."""

from hypothesis import given
from hypothesis import strategies as st

from training.studies.downscaling.filter.control_sample import ControlSample
from training.studies.downscaling.filter.document_splits import (
    DEVELOPMENT,
    PARTS,
    TEST,
    TRAIN,
    draw_positions,
    part_of,
)
from training.studies.downscaling.filter.options import FilterOptions

OPTIONS = FilterOptions(span=8, stride=3, held_out_share=0.3)


def all_spans(documents):
    """Yield the part and the text of every span."""
    for document in documents:
        words = document.split()
        for start in range(0, len(words), OPTIONS.span):
            if len(words[start : start + OPTIONS.span]) >= OPTIONS.min_span_words:
                yield part_of(document, OPTIONS.held_out_share), " ".join(words[start : start + OPTIONS.span])


def draw_spans(documents, sizes):
    control = ControlSample(OPTIONS, "source")
    for document in documents:
        control.count(document)
    return list(control.draw(documents, sizes))


def numbered(lengths):
    """Return documents whose words are all distinct."""
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    return [" ".join(f"w{n}" for n in range(start, start + size)) for start, size in zip(starts, lengths, strict=True)]


@given(st.lists(st.integers(1, 40), max_size=8), *[st.integers(0, 12)] * 3)
def test_number_of_drawn_spans_is_the_requested_or_the_available_one(lengths, train, development, test):
    documents = numbered(lengths)
    sizes = {TRAIN: train, DEVELOPMENT: development, TEST: test}
    drawn = draw_spans(documents, sizes)
    every = list(all_spans(documents))
    for part in PARTS:
        available = [text for own, text in every if own == part]
        assert sum(own == part for own, _ in drawn) == min(sizes[part], len(available))
    assert drawn == [each for each in every if each in set(drawn)]  # sorted and distinct


def test_drawn_positions_depend_only_on_seed_and_source():
    assert draw_positions(range(1_000), 10, 0, "a") == draw_positions(reversed(range(1_000)), 10, 0, "a")
    assert draw_positions(range(1_000), 10, 0, "a") < draw_positions(range(1_000), 11, 0, "a")
    others = [draw_positions(range(1_000), 10, 1, "a"), draw_positions(range(1_000), 10, 0, "b")]
    assert draw_positions(range(1_000), 10, 0, "a") not in others


def test_spans_are_drawn_evenly():
    drawn = draw_positions(range(10_000), 5_000, 3, "source")
    assert all(420 < sum(position // 1_000 == block for position in drawn) < 580 for block in range(10))


def test_parts_have_the_held_out_share():
    documents = [f"document {number}" for number in range(4_000)]
    for share in (0, 0.01, 0.3):
        for part in (DEVELOPMENT, TEST):
            found = sum(part_of(document, share) == part for document in documents) / len(documents)
            assert abs(found - share) <= 4 * (share * (1 - share) / len(documents)) ** 0.5

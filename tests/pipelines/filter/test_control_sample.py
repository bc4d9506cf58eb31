"""Control sample of spans, and splits of documents."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.filter.control_sample import ControlSample
from pipelines.filter.document_splits import DEVELOPMENT, PARTS, TEST, TRAIN, draw_positions, part_of
from pipelines.filter.options import FilterOptions

OPTIONS = FilterOptions(span=8, stride=3, held_out_share=0.3)


def all_spans(documents):
    """Return the split and the text of every span."""
    for document in documents:
        words = document.split()
        for start in range(0, len(words), OPTIONS.span):
            if len(words[start : start + OPTIONS.span]) >= OPTIONS.min_span_words:
                yield part_of(document, OPTIONS.held_out_share), " ".join(words[start : start + OPTIONS.span])


def twin_of(documents, wanted, **options):
    twin = ControlSample(OPTIONS, "source")
    for document in documents:
        twin.count(document)
    return list(twin.draw(documents, wanted))


def numbered(lengths):
    """Return documents whose words are all distinct."""
    starts = [sum(lengths[:place]) for place in range(len(lengths))]
    return [" ".join(f"w{n}" for n in range(start, start + size)) for start, size in zip(starts, lengths, strict=True)]


@given(st.lists(st.integers(1, 40), max_size=8), *[st.integers(0, 12)] * 3)
def test_as_many_are_drawn_as_are_wanted_or_there(lengths, train, development, test):
    documents = numbered(lengths)
    wanted = {TRAIN: train, DEVELOPMENT: development, TEST: test}
    drawn = twin_of(documents, wanted)
    every = list(all_spans(documents))
    for part in PARTS:
        there = [text for own, text in every if own == part]
        assert sum(own == part for own, _ in drawn) == min(wanted[part], len(there))
    assert drawn == [each for each in every if each in set(drawn)]  # sorted and distinct


def test_a_draw_depends_on_seed_and_source_alone():
    assert draw_positions(range(1_000), 10, 0, "a") == draw_positions(reversed(range(1_000)), 10, 0, "a")
    assert draw_positions(range(1_000), 10, 0, "a") < draw_positions(range(1_000), 11, 0, "a")
    others = [draw_positions(range(1_000), 10, 1, "a"), draw_positions(range(1_000), 10, 0, "b")]
    assert draw_positions(range(1_000), 10, 0, "a") not in others


def test_spans_are_drawn_evenly():
    drawn = draw_positions(range(10_000), 5_000, 3, "source")
    assert all(420 < sum(position // 1_000 == block for position in drawn) < 580 for block in range(10))


def held_out_shares_of_parts():
    documents = [f"document {number}" for number in range(4_000)]
    for share in (0, 0.01, 0.3):
        for part in (DEVELOPMENT, TEST):
            found = sum(part_of(document, share) == part for document in documents) / len(documents)
            assert abs(found - share) <= 4 * (share * (1 - share) / len(documents)) ** 0.5

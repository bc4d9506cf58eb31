from dataclasses import fields, replace
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.published import published
from training.studies.downscaling.scaling.shape import LENGTH, SEQUENCES, Shape
from training.studies.downscaling.scaling.shapes import ANCHOR

# 29,000 tokens of the unconstrained language and ten special tokens (Appendix C.2).
UNCONSTRAINED = 29_010
# Rows of Table 3 that have the size of the tied model.
TIED = {"256-256-128-8-8", "256-256-256-8-8", "256-256-512-8-8"}
# Rows of Table 3 whose FLOPs are those of 35,000 updates of 256 sequences (section 4.2).
OF_35_000_UPDATES = {"128-256-1024-8-8", "256-64-1024-8-8"}

shapes = st.builds(
    lambda embedding, width, intermediate, layers, heads: Shape(embedding, width * heads, intermediate, layers, heads),
    *(st.integers(1, 512) for _ in range(3)),
    *(st.integers(1, 16) for _ in range(2)),
)


def agrees(exact: float, printed: float, decimals: int) -> bool:
    """Return whether the printed number is the exact one, rounded or truncated."""
    scale = 10**decimals
    return round(printed * scale) in (round(exact * scale), floor(exact * scale))


@pytest.mark.parametrize(
    ("name", "tied", "expected"),
    [
        ("128-32-256-2-2", False, 3_125_122),
        ("256-128-512-1-8", False, 7_601_346),
        ("256-256-1024-8-8", True, 11_304_258),
        ("128-256-1024-8-8", False, 13_753_922),
    ],
)
def test_numbers_of_parameters(name, tied, expected):
    assert Shape.from_name(name).parameters(tied=tied) == expected


def test_parameters_match_tables_3_and_7():
    rows = [*published().pretrained, *published().larger]
    assert len(rows) == 27
    for row in rows:
        size = row.shape.parameters(tied=row.shape.name in TIED) / 1e6
        assert agrees(size, row.parameters, 2), row.shape.name


def test_flops_match_table_7():
    for row in published().larger:
        assert agrees(SEQUENCES * row.shape.flops_published() / 1e15, row.flops, 0), row.shape.name


def test_flops_match_table_3():
    rows = published().pretrained
    for row in rows[:16]:
        sequences = 35_000 * 256 if row.shape.name in OF_35_000_UPDATES else SEQUENCES
        assert agrees(sequences * row.shape.flops_published() / 1e15, row.flops, 0), row.shape.name
    for row in rows[:16]:
        if row.shape.name in OF_35_000_UPDATES:
            assert not agrees(SEQUENCES * row.shape.flops_published() / 1e15, row.flops, 0)
    # The FLOPs of the last three rows are printed in reverse order.
    smallest = [row.shape.flops_published() * SEQUENCES / 1e15 for row in rows[16:]]
    assert all(agrees(ours, row.flops, 2) for ours, row in zip(reversed(smallest), rows[16:], strict=True))


def test_differences_match_table_4():
    for row in published().unconstrained:
        shape = row.shape
        more = shape.parameters(vocabulary=UNCONSTRAINED) - shape.parameters()
        assert agrees(more / 1e6, row.parameters, 2)
        # In rows of set 1, the FLOPs of the constrained model lack the layer from embedding to hidden size.
        lacking = 6 * LENGTH * shape.embedding * shape.hidden if shape.embedding == 256 else 0
        ratio = shape.flops_published(UNCONSTRAINED) / (shape.flops_published() - lacking)
        assert agrees(100 * (ratio - 1), row.flops, 2), shape.name


def test_formula_of_appendix_a_exceeds_table_3():
    assert SEQUENCES * ANCHOR.flops_published() / 1e15 == pytest.approx(110.48, abs=0.005)
    assert round(SEQUENCES * ANCHOR.flops_hoffmann() / 1e15, 1) == 116.0


def hoffmann(shape: Shape, vocabulary: int, length: int) -> int:
    """Return the FLOPs of Appendix A, line by line, with the length in the feed-forward layer as in Hoffmann et al."""
    s, v, e, h, i, a = length, vocabulary, shape.embedding, shape.hidden, shape.intermediate, shape.heads
    k = h // a
    embedding = 2 * s * (v * e + e * h)
    attention = 2 * 3 * s * h * (k * a)
    attention += 2 * s * s * (k * a)
    attention += 3 * s * s * a
    attention += 2 * s * s * (k * a)
    attention += 2 * s * h * (k * a)
    feed_forward = 2 * s * (h * i + i * h)
    forward = embedding + 2 * s * h * v + shape.layers * (attention + feed_forward)
    return forward + 2 * forward


@given(shapes, st.integers(1, 50_000), st.integers(1, 512))
def test_flops_hoffmann_matches_appendix_a(shape, vocabulary, length):
    assert shape.flops_hoffmann(vocabulary, length) == hoffmann(shape, vocabulary, length)
    difference = shape.flops_hoffmann(vocabulary, length) - shape.flops_published(vocabulary, length)
    assert difference == 6 * shape.layers * length * shape.hidden * (length + shape.hidden)


@given(shapes, st.sampled_from([field.name for field in fields(Shape)]))
def test_costs_increase_with_each_size(shape, size):
    doubled = {size: 2 * getattr(shape, size)}
    if size == "heads":  # which must divide the hidden size
        shape = replace(shape, hidden=2 * shape.hidden)
    larger = replace(shape, **doubled)
    assert larger.flops_published() > shape.flops_published()
    assert larger.flops_hoffmann() > shape.flops_hoffmann()
    # The number of heads does not change the number of parameters.
    assert larger.parameters() > shape.parameters() or (size == "heads" and larger.parameters() == shape.parameters())


@given(shapes)
def test_costs_increase_with_vocabulary_length_and_positions(shape):
    assert shape.parameters(vocabulary=1001) - shape.parameters(vocabulary=1000) == shape.embedding + shape.hidden + 1
    assert shape.parameters(positions=131) - shape.parameters() == shape.embedding
    assert shape.parameters(types=3) - shape.parameters() == shape.embedding
    assert shape.flops_published(vocabulary=1001) > shape.flops_published(vocabulary=1000)
    assert shape.flops_published(length=129) > shape.flops_published(length=128)


@given(shapes)
def test_name_round_trip(shape):
    assert Shape.from_name(shape.name) == shape


def test_name_lists_sizes_in_order_of_paper():
    assert Shape(1, 4, 3, 5, 2).name == "1-4-3-5-2"


@pytest.mark.parametrize("name", ["", "256-256-1024-8", "256-256-1024-8-8-8", "256-256-1024-8-0", "256-256-1024-8-8\n"])
def test_invalid_name_raises(name):
    with pytest.raises(BitcipherError, match=r"is not a shape; give embedding, hidden"):
        Shape.from_name(name)


def test_invalid_sizes_raise():
    with pytest.raises(BitcipherError, match=r"The size `layers` must be an integer of at least 1, got 0\."):
        Shape(256, 256, 1024, 0, 8)
    with pytest.raises(BitcipherError, match=r"The size `hidden` must be an integer of at least 1, got 256\.0\."):
        Shape(256, 256.0, 1024, 8, 8)
    with pytest.raises(BitcipherError, match=r"A hidden size of 256 is not divisible by 3 heads"):
        Shape(256, 256, 1024, 8, 3)
    with pytest.raises(BitcipherError, match=r"The size `vocabulary` must be an integer"):
        ANCHOR.parameters(vocabulary=0)
    with pytest.raises(BitcipherError, match=r"The size `length` must be an integer"):
        ANCHOR.flops_published(length=-1)


def test_tied_shape_with_different_widths_raises():
    with pytest.raises(BitcipherError, match=r"The head of 128-256-1024-8-8 cannot share the token embeddings"):
        Shape(128, 256, 1024, 8, 8).parameters(tied=True)

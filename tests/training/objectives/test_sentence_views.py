"""Views of sentences, and the losses of SimCLR and VICReg against plain NumPy."""

import numpy as np
import pytest
import torch
from batch_contexts import SPECIALS, gradients, model_for, tensors
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.data.special_tokens import SpecialTokens
from training.models.options import ModelOptions
from training.objectives.base import check_objective
from training.objectives.simclr import SimCLR
from training.objectives.vicreg import VICReg

KEY = 7


def sentences_of(lengths, seed=0):
    random = np.random.default_rng(seed)
    return [random.integers(15, 80, length) for length in lengths]


def views_of(sentences, first=0, **options):
    rows = np.arange(first, first + len(sentences))
    return SimCLR(**options).make_view_batch(sentences, rows, KEY, SPECIALS)


def read_views(batch):
    """Return the tokens of all views without padding."""
    return [ids[mask == 1].tolist() for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)]


def removes_span(whole, kept, length):
    """Return whether `kept` is `whole` without a span of this length, except for masked tokens."""
    starts = range(len(whole) - length + 1)
    rests = [np.delete(whole, np.s_[start : start + length]) for start in starts]
    kept = np.array(kept)
    return any(((kept == rest) | (kept == SPECIALS.mask)).all() for rest in rests)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.floats(0, 0.9), st.floats(0, 0.9))
def test_views_are_the_sentence_without_a_span_and_with_masks(lengths, mask_probability, span_fraction):
    sentences = sentences_of(lengths)
    batch = views_of(sentences, mask_probability=mask_probability, span_fraction=span_fraction)
    for view, whole in zip(read_views(batch), [*sentences, *sentences], strict=True):
        length = int(span_fraction * len(whole))
        assert (view[0], view[-1]) == (SPECIALS.begin, SPECIALS.end)
        assert len(view) == len(whole) - length + 2
        assert removes_span(whole, view[1:-1], length)
    assert (batch["input_ids"][batch["attention_mask"] == 0] == SPECIALS.pad).all()
    assert batch["input_ids"].shape[1] == max(map(len, read_views(batch)))


def test_views_depend_on_the_row_only():
    sentences = sentences_of([9, 4, 17, 12])
    whole = read_views(views_of(sentences))
    for row, sentence in enumerate(sentences):
        assert read_views(views_of([sentence], row)) == [whole[row], whole[row + len(sentences)]]


def test_masks_and_spans_have_the_given_probabilities_and_are_independent():
    sentences = [np.arange(20, 40)] * 2_000
    first, second = np.split(np.array(read_views(views_of(sentences, mask_probability=0.3, span_fraction=0))), 2)
    masked = np.stack([first, second])[:, :, 1:-1] == SPECIALS.mask
    assert masked.mean() == pytest.approx(0.3, abs=0.01)
    assert (masked[0] & masked[1]).mean() == pytest.approx(0.09, abs=0.01)
    views = np.array(read_views(views_of(sentences, mask_probability=0, span_fraction=0.25)))[:, 1:-1]
    starts = [next((at for at, token in enumerate(view) if token != 20 + at), 15) for view in views]
    assert np.bincount(starts, minlength=16) / len(starts) == pytest.approx(np.full(16, 1 / 16), abs=0.015)


def test_views_without_masks_and_spans_are_the_sentences():
    sentences = sentences_of([3, 5])
    views = read_views(views_of(sentences, mask_probability=0, span_fraction=0))
    assert views == [[SPECIALS.begin, *sentence.tolist(), SPECIALS.end] for sentence in [*sentences, *sentences]]


def nt_xent(projections, temperature):
    """Return both parts of each sentence by loops over views (Chen et al. 2020, equation 1)."""
    views = np.concatenate([projections[:, 0], projections[:, 1]])
    views = views / np.linalg.norm(views, axis=1, keepdims=True)
    n_rows, parts = len(projections), []
    for row in range(n_rows):
        positive = views[row] @ views[row + n_rows] / temperature
        others = [
            np.log(sum(np.exp(views[view] @ other / temperature) for at, other in enumerate(views) if at != view))
            for view in (row, row + n_rows)
        ]
        parts.append((-positive, np.mean(others)))
    return np.array(parts).T


def vicreg(projections, invariance_weight, variance_weight, covariance_weight):
    """Return both parts of each sentence (Bardes et al. 2022, section 4.1)."""
    invariance = invariance_weight * np.square(projections[:, 0] - projections[:, 1]).mean(axis=1)
    regularization = 0.0
    for view in (projections[:, 0], projections[:, 1]):
        covariance = np.cov(view.T)
        deviations = np.sqrt(np.var(view, axis=0, ddof=1) + 1e-4)
        variance = np.maximum(0, 1 - deviations).mean()
        off_diagonal = sum(covariance[i, j] ** 2 for i in range(5) for j in range(5) if i != j) / 5
        regularization += variance_weight * variance + covariance_weight * off_diagonal
    return invariance, np.full(len(projections), regularization)


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
def test_losses_are_those_of_the_papers(scale):
    projections = np.random.default_rng(1).normal(size=(6, 2, 5)) * scale
    cases = [
        (SimCLR(temperature=0.3), nt_xent(projections, 0.3)),
        (VICReg(invariance_weight=3, variance_weight=5, covariance_weight=2), vicreg(projections, 3, 5, 2)),
    ]
    for objective, expected in cases:
        found = objective.row_losses(torch.from_numpy(projections))
        for part, values in zip(found, expected, strict=True):
            np.testing.assert_allclose(part.numpy(), values, rtol=1e-6)
        total = objective.batch_loss((torch.from_numpy(projections),))
        assert total.item() == pytest.approx(sum(part.sum() for part in expected))


def test_equal_views_have_no_invariance_loss_and_collapse_has_the_largest_regularization():
    projections = torch.randn(8, 1, 4, generator=torch.Generator().manual_seed(0)).expand(8, 2, 4)
    assert SimCLR(temperature=0.5).row_losses(projections)[0].tolist() == pytest.approx([-2] * 8)
    assert not VICReg().row_losses(projections)[0].any()
    collapsed = torch.ones(8, 2, 4)
    assert VICReg().row_losses(collapsed)[1][0].item() == pytest.approx(2 * 25 * (1 - 0.01))
    assert SimCLR(temperature=0.5).row_losses(collapsed)[1].tolist() == pytest.approx([2 + np.log(15)] * 8)


@pytest.mark.parametrize("objective", [SimCLR(), VICReg()])
def test_loss_has_gradients_for_all_weights_and_equals_the_sums_of_rows(objective):
    model = model_for("roberta", 24, projector_size=6)
    batch = tensors(objective.make_view_batch(sentences_of([9, 4, 17, 12]), np.arange(4), KEY, SPECIALS))
    loss = objective.loss(model, batch)
    sums = {name: of_rows.sum(0) for name, of_rows in objective.row_sums(model, batch).items()}
    assert tuple(sums) == objective.metrics
    assert [count.item() for _, count in sums.values()] == [4, 4, 4]
    total, invariance, regularization = (value.item() for value, _ in sums.values())
    assert loss.item() == pytest.approx(total) == pytest.approx(invariance + regularization)
    found = gradients(model, loss)
    assert {name for name, _ in model.named_parameters()} == found.keys()
    assert all(torch.isfinite(gradient).all() for gradient in found.values())


def test_views_that_cannot_differ_and_missing_mask_token_raise():
    equal = SimCLR(mask_probability=0, span_fraction=0)
    with pytest.raises(BitcipherError, match=r"set `model\.dropout`, `objective\.mask_probability` or"):
        check_objective(equal, ModelOptions(projector_size=8, dropout=0.0))
    check_objective(equal, ModelOptions(projector_size=8, dropout=0.1))
    no_mask = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=None, sentinels=())
    with pytest.raises(BitcipherError, match="no mask token; add <mask>, or set"):
        SimCLR().make_view_batch(sentences_of([3]), np.arange(1), KEY, no_mask)
    with pytest.raises(BitcipherError, match="at least 3 positions, got 2"):
        SimCLR().text_length(2)
